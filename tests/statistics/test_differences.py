"""Two conditions over the same clusters: differences and tests, against known values, enumeration and scipy."""

from itertools import product
from math import inf, isfinite

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binomtest, permutation_test

from affidavit.statistics.differences import MOST_FLIPPED_EXACTLY, difference_of_clusters, mcnemar, sign_flip_test
from support.laws import few

scores = st.integers(-20, 20).map(float)


def test_what_two_conditions_share_cancels_out():
    random = np.random.default_rng(0)
    easy = random.random(40)
    first, second, counts = easy * 10, easy * 10 + 1, np.full(40, 10)
    change = difference_of_clusters(first, counts, second, counts, seed=0)
    assert (change.value, change.low, change.high) == pytest.approx((0.1, 0.1, 0.1))
    assert (change.n, change.method) == (40, "paired cluster bootstrap 95%, 40 clusters")
    back = difference_of_clusters(second, counts, first, counts, seed=0)
    assert back.value == pytest.approx(-change.value)


def test_a_cluster_may_be_silent_under_one_condition():
    change = difference_of_clusters([1, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1], seed=0)
    assert change.value == pytest.approx(2 / 3 - 1)
    assert isfinite(change.low)
    alone = difference_of_clusters([1, 0], [1, 0], [1, 1], [1, 1], seed=0)
    assert (alone.low, alone.high, alone.method) == (-inf, inf, "one cluster: no interval")


@few
@given(st.lists(st.tuples(scores, st.integers(1, 4), scores, st.integers(1, 4)), min_size=2, max_size=12))
def test_differences_hold_their_value_are_blind_to_order_and_repeat(rows):
    change = difference_of_clusters(*np.array(rows).T, seed=1, resamples=300)
    assert change.low <= change.value <= change.high
    assert difference_of_clusters(*np.array(rows[::-1]).T, seed=1, resamples=300) == change


@pytest.mark.parametrize(
    ("first_only", "second_only", "p_value"),
    [
        (9, 2, 0.06543),  # Fay (2010), table of 21, 9, 2, 12
        (1, 8, 20 / 512),
        (0, 5, 2 / 32),
        (5, 5, 1.0),
        (0, 0, 1.0),
    ],
)
def test_mcnemar_gives_the_known_values(first_only, second_only, p_value):
    found = mcnemar(first_only, second_only, pairs=44)
    assert found.p_value == pytest.approx(p_value, rel=1e-4)
    assert found.n == 44
    assert mcnemar(second_only, first_only, pairs=44) == found


@few
@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_binomial_test(first_only, second_only):
    assume(first_only + second_only)
    expected = binomtest(first_only, first_only + second_only).pvalue
    assert mcnemar(first_only, second_only, pairs=200).p_value == pytest.approx(expected)


@few
@given(st.lists(st.integers(-5, 5).map(lambda each: each / 10), min_size=1, max_size=8))
def test_sign_flips_are_all_tried(differences):
    sums = [abs(sum(np.multiply(signs, differences))) for signs in product((1, -1), repeat=len(differences))]
    expected = np.mean(np.array(sums) >= abs(sum(differences)) - 1e-9)
    found = sign_flip_test(differences, seed=0)
    assert (found.p_value, found.n) == (pytest.approx(expected), len(differences))
    assert sign_flip_test(differences[::-1], seed=1) == found


def test_sign_flips_agree_with_scipy_and_with_their_own_draws():
    random = np.random.default_rng(4)
    differences = random.normal(0.4, 1, MOST_FLIPPED_EXACTLY)
    exact = sign_flip_test(differences, seed=0)
    theirs = permutation_test(
        (differences,), np.mean, vectorized=True, permutation_type="samples", n_resamples=20_000, rng=random
    )
    assert exact.method == "sign flips, all patterns"
    assert exact.p_value == pytest.approx(theirs.pvalue, abs=0.01)
    drawn = sign_flip_test(np.append(differences, 1e-9), seed=0)
    assert drawn.method == "sign flips, 9,999 patterns drawn"
    assert drawn.p_value == pytest.approx(exact.p_value, abs=0.01)
    assert sign_flip_test(np.append(differences, 1e-9), seed=0) == drawn
    # What was found is one of the patterns: nothing is impossible.
    assert sign_flip_test(np.ones(40), seed=0, patterns=99).p_value == 0.01
