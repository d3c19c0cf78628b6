"""Means of clusters: laws, known cases, and how often their intervals hold the truth."""

from math import inf, isfinite

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from affidavit.statistics.means import (
    cluster_mean,
    clustered_standard_error,
    clustered_t_mean,
    mean_by_cluster,
    mean_of_clusters,
)
from support.laws import few
from support.measure_coverage import WORLDS, by_bootstrap, by_t, coverage

scores = st.integers(-20, 20).map(float)
clusters_of_values = st.lists(st.lists(scores, min_size=1, max_size=4), min_size=2, max_size=12)


def totals(clusters):
    return [sum(values) for values in clusters], [len(values) for values in clusters]


def test_the_draws_of_a_seed_are_fixed():
    """A report that is made again shows the same digits: multinomial counts over kinds of clusters, in order of their sums."""
    values = [(cluster, float((7 * cluster + 3 * sample) % 11)) for cluster in range(12) for sample in range(3)]
    mean = cluster_mean(values, seed=3)
    sums = [sum(v for c, v in values if c == each) for each in range(12)]
    kinds, times = np.unique(sums, return_counts=True)
    drawn = np.random.default_rng(3).multinomial(12, times / 12, size=2000)
    low, high = np.quantile(drawn @ kinds / (drawn @ np.full(len(kinds), 3)), [0.025, 0.975])
    assert (mean.value, mean.low, mean.high) == pytest.approx((sum(sums) / 36, low, high))
    assert (mean.n, mean.method) == (36, "cluster bootstrap 95%, 12 clusters")


def test_one_cluster_says_nothing_about_others():
    for mean in (mean_of_clusters([3], [2], seed=0), clustered_t_mean([3, 0], [2, 0])):
        assert (mean.value, mean.low, mean.high, mean.n) == (1.5, -inf, inf, 2)
        assert mean.method == "one cluster: no interval"


def test_single_observations_have_the_usual_standard_error():
    values = np.array([1.0, 4.0, 2.0, 8.0])
    assert clustered_standard_error(values, np.ones(4)) == pytest.approx(values.std(ddof=1) / 2)
    mean = clustered_t_mean(values, np.ones(4))
    # Student's t with 3 degrees of freedom: 3.182.
    assert mean.high - mean.value == pytest.approx(3.182446 * values.std(ddof=1) / 2)


def test_samples_that_repeat_each_other_add_nothing():
    """Ten copies of each observation in its cluster: the standard error is that of the observations alone."""
    values = np.array([1.0, 4.0, 2.0, 8.0])
    assert clustered_standard_error(10 * values, np.full(4, 10)) == pytest.approx(
        clustered_standard_error(values, np.ones(4))
    )


@pytest.mark.slow
@few
@given(clusters_of_values, st.randoms(use_true_random=False), st.integers(0, 5))
def test_means_hold_their_value_and_are_blind_to_order(clusters, random, seed):
    mean, t = mean_of_clusters(*totals(clusters), seed=seed, resamples=300), clustered_t_mean(*totals(clusters))
    observations = [value for cluster in clusters for value in cluster]
    assert mean.value == pytest.approx(np.mean(observations))
    assert mean.low <= mean.value <= mean.high
    assert t.low <= t.value <= t.high
    if isfinite(mean.low):
        assert min(observations) <= mean.low < mean.high <= max(observations)
    random.shuffle(clusters)
    assert mean_of_clusters(*totals(clusters), seed=seed, resamples=300) == mean
    assert clustered_t_mean(*totals(clusters)) == t


@pytest.mark.slow
@few
@given(st.lists(st.lists(scores, min_size=1, max_size=4), min_size=5, max_size=12), st.integers(0, 5))
def test_more_of_the_same_clusters_narrow_the_interval(clusters, seed):
    assume(clustered_standard_error(*totals(clusters)) > 0.01)
    for interval in (clustered_t_mean, lambda *columns: mean_of_clusters(*columns, seed=seed, resamples=500)):
        once, often = interval(*totals(clusters)), interval(*totals(clusters * 5))
        assert often.value == pytest.approx(once.value)
        assert often.high - often.low < once.high - once.low


@pytest.mark.slow
def test_means_of_fifty_clusters_cover():
    plain = WORLDS[0]
    assert 0.93 <= coverage(plain, 50, by_t, rounds=300) <= 0.97
    assert 0.91 <= coverage(plain, 50, by_bootstrap, rounds=100) <= 0.98


@pytest.mark.slow
def test_means_of_clusters_cover_on_the_stated_grid():
    """From 50 clusters, shares from 0.1 to 0.9, samples that correlate."""
    for interval in (by_bootstrap, by_t):
        found = [coverage(world, clusters, interval, rounds=300) for world in WORLDS[:2] for clusters in (50, 100)]
        assert 0.93 <= np.mean(found) <= 0.97


def test_a_mean_by_cluster_has_no_interval_below_ten_clusters_nor_where_all_are_equal():
    # rulings S2 and S11
    values = [(n % 9, float(n)) for n in range(18)]
    few = mean_by_cluster(values)
    assert (few.value, few.low, few.high, few.n, few.clusters) == (8.5, -inf, inf, 18, 9)
    assert few.method == "9 clusters: no interval below 10"
    equal = mean_by_cluster([(n, 0.1) for n in range(12)])
    assert (equal.low, equal.method) == (-inf, "all 12 are equal: no interval")
    many = mean_by_cluster([*values, (9, 4.0)])
    sums = [sum(v for c, v in values if c == cluster) for cluster in range(9)]
    expected = clustered_t_mean([*sums, 4.0], [*[2] * 9, 1])
    assert (many.value, many.low, many.high, many.clusters) == (expected.value, expected.low, expected.high, 10)
