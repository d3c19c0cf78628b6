"""Means of observations that come in clusters, with intervals over clusters: by bootstrap or by Student's t."""

from collections.abc import Hashable, Iterable
from math import inf
from typing import TYPE_CHECKING

from affidavit.statistics.bootstrap import RESAMPLES, percentile_interval, resampled_totals
from affidavit.statistics.clusters import NO_INTERVAL, cluster_columns, distinct
from affidavit.statistics.estimate import Estimate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def cluster_mean(values: Iterable[tuple[Hashable, float]], *, seed: int) -> Estimate:
    """The mean of values that come in clusters, with a 95 % percentile bootstrap over the clusters.

    Values of one cluster, such as samples of one question, are drawn together: they are not independent. Of a
    single cluster nothing can be said about others, and its interval is as wide as the numbers go.

    >>> mean = cluster_mean([("a", 1.0), ("a", 3.0), ("b", 5.0)], seed=0)
    >>> mean.value, mean.low, mean.high, mean.method
    (3.0, 2.0, 5.0, 'cluster bootstrap 95%, 2 clusters')
    """
    sums: dict[Hashable, float] = {}
    counts: dict[Hashable, int] = {}
    for cluster, value in values:
        sums[cluster] = sums.get(cluster, 0.0) + value
        counts[cluster] = counts.get(cluster, 0) + 1
    return mean_of_clusters(list(sums.values()), list(counts.values()), seed=seed)


def mean_of_clusters(
    sums: "ArrayLike", counts: "ArrayLike", times: "ArrayLike" = 1, *, seed: int, resamples: int = RESAMPLES
) -> Estimate:
    """The mean over all observations, from each cluster's sum and count, with a bootstrap over the clusters.

    Clusters without observations are left out. `n` counts observations; the method says how many clusters. Equal
    clusters may be given once, with how many `times` there are.

    >>> mean = mean_of_clusters([4, 0, 9, 5], [2, 2, 3, 2], seed=0)
    >>> mean.value, mean.n, mean.method
    (2.0, 9, 'cluster bootstrap 95%, 4 clusters')
    >>> round(mean.low, 3), round(mean.high, 3)
    (0.625, 2.818)
    """
    import numpy as np

    sum_of, count_of, often = np.broadcast_arrays(
        *(np.asarray(column, dtype=float) for column in (sums, counts, times))
    )
    seen = (count_of > 0) & (often > 0)
    cluster_columns(sum_of, count_of)  # refuses what is no sum and count
    columns, often = distinct(np.column_stack([sum_of, count_of])[seen], often[seen])
    (total, n), clusters = often @ columns, int(often.sum())
    if clusters == 1:
        return Estimate(float(total / n), -inf, inf, int(n), NO_INTERVAL)
    drawn = resampled_totals(columns, often, seed=seed, resamples=resamples)
    low, high = percentile_interval(float(total / n), drawn[:, 0] / drawn[:, 1])
    return Estimate(float(total / n), low, high, int(n), f"cluster bootstrap 95%, {clusters} clusters")


def clustered_standard_error(sums: "ArrayLike", counts: "ArrayLike") -> float:
    """The standard error of the mean over all observations, with whole clusters as what varies.

    The residuals of a cluster are added up before they are squared, and the sum is corrected by
    clusters / (clusters - 1). With one observation in each cluster this is the usual standard error of a mean.

    >>> round(clustered_standard_error([4, 0, 9, 5], [2, 2, 3, 2]), 4)
    0.6542
    """
    import numpy as np

    columns = cluster_columns(sums, counts)
    clusters = len(columns)
    if clusters == 1:
        raise ValueError("no standard error from one cluster")
    total, n = columns.sum(axis=0)
    residuals = columns[:, 0] - total / n * columns[:, 1]
    return float(np.sqrt(clusters / (clusters - 1) * (residuals**2).sum()) / n)


def clustered_t_mean(sums: "ArrayLike", counts: "ArrayLike") -> Estimate:
    """The same mean with its clustered standard error and Student's t on clusters - 1 degrees of freedom.

    It needs no seed, and with few clusters of one kind it is wider than the bootstrap, as it should be.

    >>> mean = clustered_t_mean([4, 0, 9, 5], [2, 2, 3, 2])
    >>> round(mean.low, 3), round(mean.high, 3), mean.method
    (-0.082, 4.082, 'clustered t 95%, 4 clusters')
    """
    from scipy.special import stdtrit

    columns = cluster_columns(sums, counts)
    total, n = columns.sum(axis=0)
    value, clusters = float(total / n), len(columns)
    if clusters == 1:
        return Estimate(value, -inf, inf, int(n), NO_INTERVAL)
    reach = float(stdtrit(clusters - 1, 0.975)) * clustered_standard_error(columns[:, 0], columns[:, 1])
    return Estimate(value, value - reach, value + reach, int(n), f"clustered t 95%, {clusters} clusters")
