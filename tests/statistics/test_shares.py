"""Shares: published intervals, laws, and how often Wilson's interval holds the truth."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binomtest

from affidavit.statistics.shares import bounds_of_share, wilson, wilson_shares
from support.laws import few
from support.measure_coverage import wilson_coverage


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    # Newcombe (1998), table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_the_published_intervals(successes, n, low, high):
    share = wilson(successes, n)
    assert (round(share.low, 4), round(share.high, 4)) == (low, high)
    assert (share.value, share.n) == (successes / n, n)


@few
@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_that_of_scipy_and_of_the_columns(counts):
    share, theirs = wilson(*counts), binomtest(*counts).proportion_ci(method="wilson")
    assert share.low == pytest.approx(theirs.low, abs=1e-12)
    assert share.high == pytest.approx(theirs.high, abs=1e-12)
    columns = wilson_shares([counts[0], 1], [counts[1], 2])
    assert [each[0] for each in columns] == pytest.approx([share.value, share.low, share.high], abs=1e-15)


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.integers(2, 50))
def test_wilson_holds_its_value_mirrors_and_narrows(counts, times):
    successes, n = counts
    share, mirrored, more = wilson(successes, n), wilson(n - successes, n), wilson(successes * times, n * times)
    assert 0 <= share.low <= share.value <= share.high <= 1
    assert share.low == pytest.approx(1 - mirrored.high)
    assert more.high - more.low < share.high - share.low


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.data())
def test_bounds_hold_the_share_whatever_is_missing(right, wrong, missing, data):
    assume(right + wrong + missing)
    bounds = bounds_of_share(right, right + wrong, missing)
    truly_right = data.draw(st.integers(0, missing))
    share = (right + truly_right) / (right + wrong + missing)
    assert bounds.if_wrong.value <= share <= bounds.if_right.value
    assert bounds.if_wrong.n == bounds.if_right.n == right + wrong + missing


def test_wilson_covers_on_the_stated_grid():
    """n from 50, shares from 0.1 to 0.9: exact, no simulation."""
    found = [wilson_coverage(n, share) for n in (50, 100, 400) for share in np.arange(0.1, 0.901, 0.05)]
    assert 0.945 < np.mean(found) < 0.96
    assert min(found) > 0.93
