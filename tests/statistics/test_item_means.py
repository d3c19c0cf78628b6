"""Means over items against formulas written out, and edges (rulings S2, S5 and S11)."""

from math import isfinite, sqrt

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from affidavit.statistics.item_means import mean_difference, mean_share, standard_error, t_test
from affidavit.statistics.shares import Z95, wilson
from support.laws import few

shares = st.lists(st.tuples(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0]), st.integers(1, 9)), min_size=1)


def told(kinds):
    values, times = zip(*kinds, strict=True)
    return list(values), list(times)


@few
@given(shares, st.none() | st.integers(1, 4))
@example([(0.5, 40)], 4)
def test_a_mean_of_shares_is_wilson_at_the_effective_size_but_at_that_of_the_outputs_at_most(kinds, samples):
    values, times = told(kinds)
    each = np.repeat(values, times)
    n = len(each)
    found = mean_share(values, times, outputs=samples and n * samples)
    assert (found.n, found.value) == (n, pytest.approx(each.mean()))
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0
    if set(values) <= {0.0, 1.0}:
        expected = wilson(int(each.sum()), n)
        assert (found.low, found.high) == (pytest.approx(expected.low), pytest.approx(expected.high))
        return
    padded = np.append(each, [0.0, 1.0])
    middle = padded.mean()
    size = n * (middle * (1 - middle) / len(padded)) / (padded.var(ddof=0) / (len(padded) - 1))
    size = min(size, n * samples) if samples else size
    root = Z95 * sqrt(found.value * (1 - found.value) / size + Z95**2 / (4 * size**2)) / (1 + Z95**2 / size)
    middle = (found.value + Z95**2 / (2 * size)) / (1 + Z95**2 / size)
    assert found.low == pytest.approx(min(middle - root, wilson(n, n).low), abs=1e-9)
    assert found.high == pytest.approx(max(middle + root, wilson(0, n).high), abs=1e-9)


@pytest.mark.slow
@few
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=10, max_size=40))
def test_a_mean_of_differences_has_students_interval_and_test(values):
    found, once = mean_difference(values), [1] * len(values)
    if len(set(values)) == 1:
        assert t_test(values, once) is None
        assert isfinite(found.low) == (values[0] == 0)
        assert found.low < found.high
        return
    low, high = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
    assert (found.low, found.high) == (pytest.approx(max(-1, low)), pytest.approx(min(1, high)))
    assert t_test(values, once) == pytest.approx(stats.ttest_1samp(values, 0).pvalue)
    assert standard_error(values, once) == pytest.approx(stats.sem(values))


def test_few_items_have_no_interval():
    assert not isfinite(mean_difference([0.5, 0.1] * 4).low)
    assert t_test([0.5, 0.1], [4, 4]) is None
    assert isfinite(mean_difference([0.5, 0.1] * 5).low)
    for made in (mean_share, mean_difference):
        with pytest.raises(ValueError, match=r"no mean of no|at least one item"):
            made([])
