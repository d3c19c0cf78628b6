"""Changed answers against chance (ruling S4): pairs counted one by one, and what a condition without effect gives."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.statistics.disagreement import ItemPairs, excess_disagreement
from support.laws import few
from support.simulate_disagreement import coverage, simulated

answers = st.dictionaries(st.integers(0, 4), st.sampled_from("ABC"), max_size=4)


@few
@given(answers, answers)
def test_pairs_of_equal_sample_numbers_are_left_out(control, condition):
    """Ruling S4: equal numbers share a request seed."""
    found = ItemPairs.of(control, condition, right="A")
    pairs = [(one, other) for (i, one), (j, other) in product(control.items(), condition.items()) if i != j]
    assert (found.across, found.across_differ) == (len(pairs), sum(one != other for one, other in pairs))
    assert found.within == len(control) * (len(control) - 1) // 2
    to_wrong = sum(one == "A" != other for one, other in pairs)
    to_right = sum(one != "A" == other for one, other in pairs)
    assert (found.keyed, found.to_wrong) == (len(pairs), to_wrong - to_right)
    assert ItemPairs.of(control, condition)[:4] == found[:4]


@few
@given(answers)
def test_the_control_against_itself_has_no_excess(control):
    found = ItemPairs.of(control, control, right="A")
    assert (found.across, found.across_differ, found.to_wrong) == (2 * found.within, 2 * found.within_differ, 0)


def test_one_sample_has_no_null():
    assert excess_disagreement({ItemPairs.of({0: "A"}, {0: "B", 1: "B"}): 40}) is None
    assert excess_disagreement({}) is None
    found = excess_disagreement({ItemPairs.of({0: "A", 1: "A"}, {0: "B", 1: "B"}): 5, ItemPairs(1, 0, 1, 0): 5})
    assert found is not None
    assert (found.excess.value, found.excess.n, found.to_wrong) == (0.5, 10, None)
    assert found.excess.low < found.excess.value < found.excess.high


@pytest.mark.slow
@pytest.mark.parametrize("shared", [0.0, 0.5])
def test_without_an_effect_the_interval_covers_zero(shared):
    """A small version of the table in docs/statistics.md."""
    excess, moves, flipped = coverage(50, 2, shared, 400)
    assert 0.92 <= excess <= 0.98
    assert 0.92 <= moves <= 0.98
    assert flipped > 0.1, "what counting changed answers alone would call an effect"


def test_where_equal_seeds_give_equal_answers_nothing_is_found():
    excess, moves, _ = coverage(50, 2, 1.0, 50)
    assert (excess, moves) == (1.0, 1.0)
    found, _ = simulated(np.random.default_rng(1), 50, 2, 1.0)
    assert found.excess.value == 0
    assert found.excess.low < 0 < found.excess.high


def test_an_effect_is_found():
    found, _ = simulated(np.random.default_rng(1), 200, 3, 0.5, moved=0.4)
    assert found.excess.low > 0
