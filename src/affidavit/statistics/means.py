"""Means of observations that come in clusters, with intervals over clusters: by bootstrap or by Student's t.

Clusters that all have the same mean, up to rounding, have no interval: they are no certainty (ruling S11).
"""

from collections.abc import Hashable, Iterable
from dataclasses import replace
from math import fsum, isfinite
from typing import TYPE_CHECKING, NamedTuple

from affidavit.statistics.arguments import finite, numbers, together, whole, whole_numbers
from affidavit.statistics.bootstrap import RESAMPLES, bootstrapped, resampled_totals
from affidavit.statistics.clusters import NO_INTERVAL, cluster_columns, distinct
from affidavit.statistics.estimate import EQUAL, Estimate, without_interval

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[float64]

FEWEST_CLUSTERS = 10
"""With fewer clusters a mean by cluster has no interval."""


class _Clustered(NamedTuple):
    """Values by cluster, added up."""

    sums: list[float]
    counts: list[int]
    scale: float
    """The largest value: what is left of zero when equal values are added up is small beside it."""

    @classmethod
    def of(cls, values: Iterable[tuple[Hashable, float]]) -> "_Clustered":
        held: dict[Hashable, list[float]] = {}
        for cluster, value in values:
            held.setdefault(cluster, []).append(finite("values", value))
        # Sums without rounding until the end: they are the same in whichever order the values came.
        sums = [fsum(each) for each in held.values()]
        scale = max((abs(value) for each in held.values() for value in each), default=0.0)
        return cls(sums, [len(each) for each in held.values()], scale)


def cluster_mean(values: Iterable[tuple[Hashable, float]], *, seed: int) -> Estimate:
    """The mean of values that come in clusters, with a 95 % percentile bootstrap over the clusters.

    Values of one cluster, such as samples of one question, are drawn together: they are not independent. Of a
    single cluster nothing can be said about others, nor of clusters that are all equal: then there is no interval.

    >>> mean = cluster_mean([("a", 1.0), ("a", 3.0), ("b", 5.0)], seed=0)
    >>> mean.value, mean.low, mean.high, mean.method
    (3.0, 2.0, 5.0, 'cluster bootstrap 95%, 2 clusters')
    """
    sums, counts, scale = _Clustered.of(values)
    return bootstrapped_mean((sums, counts, 1), scale=scale, seed=seed)


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
    return bootstrapped_mean((sums, counts, times), scale=0.0, seed=seed, resamples=resamples)


def bootstrapped_mean(
    columns: "tuple[ArrayLike, ArrayLike, ArrayLike]", *, scale: float, seed: int, resamples: int = RESAMPLES
) -> Estimate:
    """The same of sums, counts and times, where the values that were added up are known to be of this size."""
    import numpy as np

    sums, counts, times = columns
    whole("resamples", resamples, least=1)
    given = together(
        sums=numbers("sums", sums), counts=whole_numbers("counts", counts), times=whole_numbers("times", times)
    )
    sum_of, count_of, often = map(np.atleast_1d, given)
    cluster_columns(sum_of, count_of)  # refuses a sum without a count
    seen = (count_of > 0) & (often > 0)
    if not seen.any():
        raise ValueError("times: no mean of nothing, found no cluster with an observation")
    rows, often = distinct(np.column_stack([sum_of, count_of])[seen] + 0.0, often[seen])
    clusters, n = whole("times", float(often.sum())), whole("counts", float(often @ rows[:, 1]))
    value, scale = fsum((often * rows[:, 0]).tolist()) / n, max(scale, _scale(rows))
    if clusters == 1:
        return without_interval(value, n, NO_INTERVAL)
    means = rows[:, 0] / rows[:, 1]
    if means.max() - means.min() <= EQUAL * scale:
        return without_interval(value, n, _all_equal(clusters))
    drawn = resampled_totals(rows, often, seed=seed, resamples=resamples)
    method = f"cluster bootstrap 95%, {clusters} clusters"
    return bootstrapped(value, drawn[:, 0] / drawn[:, 1], n, method, scale=scale)


def _scale(rows: "Floats") -> float:
    """The largest mean of a cluster, without its sign."""
    return float(abs(rows[:, 0] / rows[:, 1]).max())


def _all_equal(clusters: int) -> str:
    return f"all {clusters:,} clusters are equal: no interval"


def clustered_standard_error(sums: "ArrayLike", counts: "ArrayLike") -> float:
    """The standard error of the mean over all observations, with whole clusters as what varies.

    The residuals of a cluster are added up before they are squared, and the sum is corrected by
    clusters / (clusters - 1). With one observation in each cluster this is the usual standard error of a mean. Of
    clusters that are equal up to rounding it is 0, which is no certainty but the lack of anything to go by.

    >>> round(clustered_standard_error([4, 0, 9, 5], [2, 2, 3, 2]), 4)
    0.6542
    """
    columns = cluster_columns(sums, counts)
    if len(columns) == 1:
        raise ValueError("counts: no standard error from one cluster")
    return _standard_error(columns, _scale(columns))


def _standard_error(columns: "Floats", scale: float) -> float:
    """Reckoned in units of the scale, so that the squares of very small or large numbers are not lost."""
    import numpy as np

    clusters, n = len(columns), columns[:, 1].sum()
    if scale == 0:
        return 0.0
    sums = columns[:, 0] / scale
    residuals = sums - fsum(sums.tolist()) / n * columns[:, 1]
    error = float(np.sqrt(clusters / (clusters - 1) * (residuals**2).sum()) / n)
    return scale * error if error > EQUAL else 0.0


def clustered_t_mean(sums: "ArrayLike", counts: "ArrayLike") -> Estimate:
    """The same mean with its clustered standard error and Student's t on clusters - 1 degrees of freedom.

    It needs no seed, and with few clusters of one kind it is wider than the bootstrap, as it should be. There is
    no interval over a single cluster, nor over clusters that are all equal.

    >>> mean = clustered_t_mean([4, 0, 9, 5], [2, 2, 3, 2])
    >>> round(mean.low, 3), round(mean.high, 3), mean.method
    (-0.082, 4.082, 'clustered t 95%, 4 clusters')
    """
    return _t_mean(cluster_columns(sums, counts), scale=0.0)


def _t_mean(columns: "Floats", *, scale: float) -> Estimate:
    from scipy.special import stdtrit

    clusters, n = len(columns), whole("counts", columns[:, 1].sum())
    value = fsum(columns[:, 0].tolist()) / n
    if clusters == 1:
        return without_interval(value, n, NO_INTERVAL)
    error = _standard_error(columns, max(scale, _scale(columns)))
    if error == 0:
        return without_interval(value, n, _all_equal(clusters))
    reach = float(stdtrit(clusters - 1, 0.975)) * error
    return Estimate(value, value - reach, value + reach, n, f"clustered t 95%, {clusters} clusters")


def mean_by_cluster(values: Iterable[tuple[Hashable, float]]) -> Estimate:
    """The mean of values that come in clusters, with t over the clusters, from ten clusters on.

    Below that, and where all values are equal, there is a value and no interval: neither few clusters nor equal
    ones are a certainty.

    >>> print(mean_by_cluster([("a", 1.0), ("a", 3.0), ("b", 5.0)]).method)
    2 clusters: no interval below 10
    >>> few = mean_by_cluster((n, float(n % 3)) for n in range(12))
    >>> round(few.value, 3), round(few.low, 3), round(few.high, 3), few.method
    (1.0, 0.458, 1.542, 'clustered t 95%, 12 clusters')
    """
    sums, counts, scale = _Clustered.of(values)
    # Values are scores and shares: what is left of zero is measured against 1 at least.
    found, clusters = _t_mean(cluster_columns(sums, counts), scale=max(1.0, scale)), len(sums)
    if clusters < FEWEST_CLUSTERS:
        why = f"{clusters} {'cluster' if clusters == 1 else 'clusters'}: no interval below {FEWEST_CLUSTERS}"
        return without_interval(found.value, found.n, why, clusters)
    if not isfinite(found.low):
        return without_interval(found.value, found.n, f"all {clusters} are equal: no interval", clusters)
    return replace(found, clusters=clusters)
