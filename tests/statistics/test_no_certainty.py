"""Agreement is no certainty, and no interval is a point (ruling S11), however the numbers were rounded."""

from itertools import permutations
from math import inf, isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.statistics import (
    ItemPairs,
    PairedDifference,
    alpha,
    cluster_mean,
    clustered_t_mean,
    excess_disagreement,
    mcnemar,
    mean_absolute_difference,
    mean_difference,
    mean_of_clusters,
    t_test,
    weighted_kappa,
)
from affidavit.statistics.estimate import LEAST_CHANCE
from affidavit.statistics.means import clustered_standard_error, mean_by_cluster
from support.laws import few

THIRDS = [[1 / 3, 2 / 3]] * 20
PERFECT = [[0, 0], [1, 1], [2, 2]] * 10
ONE_APART = [[0, 0]] * 19 + [[0, 1]]
SAME_SAMPLES, SAME_CLUSTERS = "every sample gives the same: no interval", "all {} clusters are equal: no interval"


@pytest.mark.parametrize(
    ("found", "value", "method"),
    [
        (weighted_kappa(PERFECT, weights="linear", seed=0), 1.0, SAME_SAMPLES),
        (weighted_kappa(PERFECT, weights="quadratic", seed=0), 1.0, SAME_SAMPLES),
        (weighted_kappa(ONE_APART, weights="linear", seed=0), 0.0, SAME_SAMPLES),
        (weighted_kappa(THIRDS, weights="quadratic", seed=0), 0.0, SAME_SAMPLES),
        (alpha(PERFECT, seed=0), 1.0, SAME_SAMPLES),
        (alpha([[0.1, 0.1], [0.7, 0.7]] * 10, seed=0, level="interval"), 1.0, SAME_SAMPLES),
        (mean_absolute_difference(PERFECT, seed=0), 0.0, SAME_CLUSTERS.format(30)),
        (mean_absolute_difference(THIRDS, seed=0), 1 / 3, SAME_CLUSTERS.format(20)),
        # Equal but for the last digit: 0.3 and 0.30000000000000004.
        (mean_absolute_difference([[0.1, 0.4], [0.2, 0.5], [0.0, 0.3]], seed=0), 0.3, SAME_CLUSTERS.format(3)),
        (mean_absolute_difference([[0.3, 0.1 + 0.2], [0.3, 0.3]], seed=0), 0.0, SAME_CLUSTERS.format(2)),
        (cluster_mean([(n, 7.0) for n in range(9)], seed=0), 7.0, SAME_CLUSTERS.format(9)),
        (cluster_mean([(n, x) for n in range(4) for x in (0.1, 0.2, -0.3)], seed=0), 0.0, SAME_CLUSTERS.format(4)),
        (cluster_mean([("a", 1.0), ("a", 3.0), ("b", 2.0)], seed=0), 2.0, SAME_CLUSTERS.format(2)),
        (mean_of_clusters([1, 2, 3], [1, 2, 3], [1, 1, 5000], seed=0), 1.0, SAME_CLUSTERS.format("5,002")),
        (mean_of_clusters([0.1 * 3, 0.3], [1, 1], seed=0), 0.3, SAME_CLUSTERS.format(2)),
        (clustered_t_mean([0.1 * 3, 0.3, 0.6], [1, 1, 2], ), 0.3, SAME_CLUSTERS.format(3)),
        (clustered_t_mean([0, 0], [1, 1]), 0.0, SAME_CLUSTERS.format(2)),
        (mean_by_cluster([(n, 0.1 * 3 if n % 2 else 0.3) for n in range(12)]), 0.3, "all 12 are equal: no interval"),
        (mean_difference([0.3, 0.1 + 0.2], [5, 7]), 0.3, "all 12 differences are equal: no interval"),
        (
            PairedDifference.of_counts([1] * 12, [3] * 12, [2, 4] * 6, [3, 6] * 6).estimate(),
            1 / 3,
            "all 12 differences are equal",
        ),
        (
            PairedDifference.of_means([0.1, 0.2] * 6, [0.4, 0.5] * 6, scale=1).estimate(),
            0.3,
            "all 12 differences are equal",
        ),
    ],
)  # fmt: skip
def test_what_is_equal_has_a_value_and_no_interval(found, value, method):
    assert (found.value, found.low, found.high) == (pytest.approx(value, abs=1e-15), -inf, inf)
    assert found.method == method


def test_the_standard_error_of_equal_clusters_is_nought():
    assert clustered_standard_error([0.1 * 3, 0.3, 0.6], [1, 1, 2]) == 0.0
    assert clustered_standard_error([1e-150, 2e-150], [1, 1]) == pytest.approx(5e-151)


def test_no_p_value_is_nought():
    """Two thousand pairs that all fall to one side are less likely than a float can say."""
    assert mcnemar(0, 2_000, pairs=2_000).p_value == LEAST_CHANCE
    assert mcnemar(0, 10**12, pairs=10**12, mid_p=True).p_value == LEAST_CHANCE
    assert t_test([0.5, 0.501], [10**6, 10**6]) == LEAST_CHANCE


def test_one_third_is_one_third_however_it_came_about():
    """Differences of 2/3 − 1/3, 5/6 − 1/2 and 1/3 − 0 differ in the last digit where they are taken one by one."""
    ways = [ItemPairs(6, 4, 3, 1), ItemPairs(6, 5, 2, 1), ItemPairs(6, 2, 3, 0), ItemPairs(3, 3, 3, 2)]
    for one, other in permutations(ways, 2):
        found = excess_disagreement({one: 5, other: 7})
        assert found is not None
        assert (found.excess.value, found.excess.low) == (pytest.approx(1 / 3), -inf)
        assert found.excess.method == "all 12 differences are equal: no interval"


@pytest.mark.slow
@few
@given(
    st.lists(st.sampled_from([0.1, 0.2, 0.3, 1 / 3, 2 / 3]), min_size=2, max_size=4).flatmap(
        lambda parts: st.lists(st.permutations(parts), min_size=10, max_size=14)
    )
)
def test_sums_of_the_same_numbers_are_the_same_difference(rows):
    """Whatever the order in which they are added up, and around 0 as well."""
    sums = [sum(row) / len(row) for row in rows]
    found = mean_difference(sums)
    assert (found.low, found.method) == (-inf, f"all {len(rows)} differences are equal: no interval")
    assert t_test(sums, [1] * len(sums)) is None
    around = [total - sums[0] for total in sums]
    nought = mean_difference(around)
    assert (nought.value, nought.low < 0 < nought.high) == (0.0, True)
    assert nought.method == "all differences are 0: Tango 95% over items"


units = st.lists(st.lists(st.sampled_from([0, 1, 1 / 3, 2 / 3]), min_size=2, max_size=2), min_size=2, max_size=12)


@pytest.mark.slow
@few
@given(units)
def test_no_interval_is_a_point(rows):
    for figure in (
        lambda: weighted_kappa(rows, weights="quadratic", seed=0),
        lambda: weighted_kappa(rows, weights="linear", seed=0),
        lambda: alpha(rows, seed=0),
        lambda: alpha(rows, seed=0, level="nominal"),
        lambda: mean_absolute_difference(rows, seed=0),
        lambda: cluster_mean(((at % 3, value) for at, row in enumerate(rows) for value in row), seed=0),
        lambda: mean_of_clusters([sum(row) for row in rows], [2] * len(rows), seed=0, resamples=50),
        lambda: clustered_t_mean([sum(row) for row in rows], [2] * len(rows)),
        lambda: mean_by_cluster((at, value) for at, row in enumerate(rows) for value in row),
    ):
        try:
            found = figure()
        except ValueError as refused:
            assert "all ratings are the same" in str(refused)  # noqa: PT017 - a figure would do as well
            continue
        assert found.low <= found.value <= found.high
        assert found.high - found.low > 1e-9
        assert isfinite(found.low) == isfinite(found.high)
