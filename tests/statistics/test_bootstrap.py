"""The cluster bootstrap: large samples are drawn from the same lottery as small ones."""

import tracemalloc
from math import sqrt

import numpy as np
import pytest

from affidavit.statistics.bootstrap import MOST_DRAWN_BY_BINOMIALS, resampled_totals
from affidavit.statistics.means import clustered_t_mean, mean_of_clusters


@pytest.mark.parametrize("values", ["few", "many"])
def test_large_samples_are_drawn_from_the_same_lottery(values):
    """Beyond a thousand clusters they are drawn another way: equal rows together, or one by one."""
    clusters, random = MOST_DRAWN_BY_BINOMIALS + 500, np.random.default_rng(1)
    sums = random.integers(0, 2, clusters) if values == "few" else random.random(clusters)
    rows = np.column_stack([sums, np.ones(clusters)]).astype(float)
    found = resampled_totals(rows, seed=5)
    assert (found[:, 1] == clusters).all()
    assert found[:, 0].mean() == pytest.approx(sums.sum(), rel=0.003)
    assert found[:, 0].std() == pytest.approx(sums.std() * sqrt(clusters), rel=0.06)
    mean, t = mean_of_clusters(sums, np.ones(clusters), seed=2), clustered_t_mean(sums, np.ones(clusters))
    assert (mean.low, mean.high) == pytest.approx((t.low, t.high), abs=0.003)


@pytest.mark.slow
def test_a_hundred_thousand_clusters_fit_in_little_memory():
    random = np.random.default_rng(0)
    sums, counts = random.random(100_000), np.ones(100_000)
    tracemalloc.start()
    mean_of_clusters(sums, counts, seed=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200e6
