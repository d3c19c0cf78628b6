"""Things that come again are counted as a dictionary would count them, however they are cut into batches."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.reading.repeat_counts import RepeatCounts, hashes_of

few = st.integers(0, 5)
alike = st.integers(0, 5).map(lambda number: number << 24)  # they share the place of their mark
many = st.integers(0, 2**64 - 1)


def counted(batches: list[list[int]]) -> list[list[int]]:
    before, found = Counter(), []
    for batch in batches:
        found.append([])
        for each in batch:
            found[-1].append(before[each])
            before[each] += 1
    return found


@given(st.lists(st.lists(few | alike | many, max_size=12), max_size=8))
def test_counts_are_those_of_a_dictionary(batches):
    repeats = RepeatCounts()
    assert [repeats.before(np.array(batch, np.uint64)).tolist() for batch in batches] == counted(batches)


@pytest.mark.parametrize("times", [1, 3])
def test_large_batches_that_are_merged(times):
    chance = np.random.default_rng(7)
    numbers = chance.permutation(chance.integers(0, 2**63, 4_000).repeat(times))
    batches = [numbers[place : place + 900].tolist() for place in range(0, len(numbers), 900)]
    repeats = RepeatCounts()
    assert [repeats.before(np.array(batch, np.uint64)).tolist() for batch in batches] == counted(batches)


def test_names_with_half_a_surrogate_pair_have_numbers_too():
    hashes = hashes_of([["a", "\ud800", "a"]])
    assert hashes[0] == hashes[2] != hashes[1]
