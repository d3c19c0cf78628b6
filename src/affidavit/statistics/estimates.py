"""Numbers that say how sure they are: a value, its interval, its n and its method.

Observations of one cluster, such as samples of one question, are not independent, so whole clusters are drawn and
never single observations. A bootstrap needs each cluster's sums only. The clusters are put in order first: the
same seed gives the same interval, in whichever order the records came. docs/statistics.md says what each figure
assumes, how often its interval was right when that was measured, and when it misleads.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from math import inf, sqrt
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[float64]

Z95 = 1.959963984540054
RESAMPLES = 2000
CELLS_AT_ONCE = 200_000
"""Cells of the matrix of draws that are held at once: more does not fit the caches."""
MOST_DRAWN_BY_BINOMIALS = 1_000
"""Above this many kinds of clusters, drawing them one by one is faster than counting how often each is drawn."""
NO_INTERVAL = "one cluster: no interval"


@dataclass(frozen=True, slots=True)
class Estimate:
    """One figure that can be defended."""

    value: float
    low: float
    high: float
    n: int
    method: str

    def __str__(self) -> str:
        return f"{self.value:.1%} [{self.low:.1%}, {self.high:.1%}]"


class Shares(NamedTuple):
    """Many shares with their intervals, by position."""

    value: "Floats"
    low: "Floats"
    high: "Floats"


class Bounds(NamedTuple):
    """A share under the two extreme guesses about what is missing."""

    if_wrong: Estimate
    if_right: Estimate


def wilson(successes: int, n: int) -> Estimate:
    """The share of successes with its 95 % Wilson score interval.

    >>> print(wilson(22, 30))
    73.3% [55.6%, 85.8%]
    """
    if not 0 <= successes <= n or n == 0:
        raise ValueError(f"no share of {successes} in {n}")
    share, z2 = successes / n, Z95 * Z95
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    reach = Z95 * sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    # At the ends the interval touches the share exactly; rounding must not take it beyond.
    low = 0.0 if successes == 0 else max(0.0, middle - reach)
    high = 1.0 if successes == n else min(1.0, middle + reach)
    return Estimate(share, low, high, n, "Wilson 95%")


def wilson_shares(successes: "ArrayLike", n: "ArrayLike") -> Shares:
    """The same for whole columns at once.

    A share of nothing has no value, here as in `wilson`: one position with n = 0 raises ValueError for all, and
    says which. Leave such rows out first; there is no null and no NaN in what comes back.

    >>> shares = wilson_shares([22, 0], [30, 20])
    >>> shares.value.round(3).tolist(), shares.low.round(3).tolist(), shares.high.round(3).tolist()
    ([0.733, 0.0], [0.556, 0.0], [0.858, 0.161])
    """
    import numpy as np

    right, total = np.broadcast_arrays(np.asarray(successes, dtype=float), np.asarray(n, dtype=float))
    wrong = ~((right >= 0) & (right <= total) & (total > 0))
    if right.size == 0 or wrong.any():
        raise ValueError(f"no share at positions {np.flatnonzero(wrong)[:10].tolist()}")
    share, z2 = right / total, Z95 * Z95
    middle = (share + z2 / (2 * total)) / (1 + z2 / total)
    reach = Z95 * np.sqrt(share * (1 - share) / total + z2 / (4 * total * total)) / (1 + z2 / total)
    low = np.where(right == 0, 0.0, np.maximum(0.0, middle - reach))
    high = np.where(right == total, 1.0, np.minimum(1.0, middle + reach))
    return Shares(share, low, high)


def bounds_of_share(successes: int, observed: int, missing: int) -> Bounds:
    """The share if all that is missing were wrong, and if it were all right, each with its interval.

    Whatever the missing ones were, the share lies between the two values.

    >>> bounds = bounds_of_share(60, 80, 20)
    >>> print(bounds.if_wrong, "to", bounds.if_right)
    60.0% [50.2%, 69.1%] to 80.0% [71.1%, 86.7%]
    """
    if not 0 <= successes <= observed or missing < 0:
        raise ValueError(f"no bounds of {successes} in {observed} with {missing} missing")
    return Bounds(wilson(successes, observed + missing), wilson(successes + missing, observed + missing))


def cluster_mean(values: Iterable[tuple[Hashable, float]], *, seed: int) -> Estimate:
    """The mean of values that come in clusters, with a 95 % percentile bootstrap over the clusters.

    Values of one cluster, such as samples of one question, are drawn together: they are not independent. Of a
    single cluster nothing can be said about others, and its interval is as wide as the numbers go.

    >>> mean = cluster_mean([("a", 1.0), ("a", 3.0), ("b", 5.0)], seed=0)
    >>> mean.value, mean.low, mean.high, mean.method
    (3.0, 2.0, 5.0, 'cluster bootstrap 95%, 2 clusters')
    """
    totals: dict[Hashable, list[float]] = {}
    for cluster, value in values:
        total = totals.setdefault(cluster, [0.0, 0.0])
        total[0] += value
        total[1] += 1
    return mean_of_clusters(
        [each[0] for each in totals.values()], [each[1] for each in totals.values()], seed=seed
    )


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
        *(np.asarray(each, dtype=float) for each in (sums, counts, times))
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


def cluster_columns(*columns: "ArrayLike") -> "Floats":
    """Sums and counts in turn as one row for each cluster that has an observation, in an order of their own.

    >>> cluster_columns([3, 0, 1], [2, 0, 1]).tolist()
    [[1.0, 1.0], [3.0, 2.0]]
    """
    import numpy as np

    rows = np.array(columns, dtype=float).T
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError("expected one finite sum and one count for each cluster")
    sums, counts = rows[:, 0::2], rows[:, 1::2]
    if (counts < 0).any() or (sums[counts == 0] != 0).any():
        raise ValueError("expected counts of 0 or more, and no sum without a count")
    rows = rows[counts.any(axis=1)]
    if not len(rows) or not counts.any(axis=0).all():
        raise ValueError("no mean of nothing")
    return ordered(rows)


def ordered(rows: "Floats") -> "Floats":
    """The same rows, in an order that depends on nothing but what they hold.

    >>> import numpy as np
    >>> ordered(np.array([[2.0, 1.0], [1.0, 3.0], [1.0, 2.0]])).tolist()
    [[1.0, 2.0], [1.0, 3.0], [2.0, 1.0]]
    """
    import numpy as np

    return rows[np.lexsort(rows.T[::-1])]


def distinct(rows: "Floats", times: "Floats | None" = None) -> "tuple[Floats, Floats]":
    """Different rows in order, and how often each is there.

    >>> import numpy as np
    >>> kinds, times = distinct(np.array([[1.0, 2.0], [0.0, 2.0], [1.0, 2.0]]))
    >>> kinds.tolist(), times.tolist()
    ([[0.0, 2.0], [1.0, 2.0]], [1.0, 2.0])
    """
    import numpy as np

    order = np.lexsort(rows.T[::-1])
    arranged = rows[order]
    often = np.ones(len(rows)) if times is None else np.asarray(times, dtype=float)[order]
    first = np.flatnonzero(np.r_[True, (arranged[1:] != arranged[:-1]).any(axis=1)])
    return arranged[first], np.add.reduceat(often, first)


def resampled_totals(
    rows: "Floats", times: "Floats | None" = None, *, seed: int, resamples: int = RESAMPLES
) -> "Floats":
    """The column totals of samples of whole rows, drawn with replacement, as many as there are rows.

    A sample is held as how often each row is in it, a few samples at a time, so that memory does not grow with
    their number. Equal rows are drawn together, which is the same lottery; they may be given once, with how many
    `times` there are.

    >>> import numpy as np
    >>> resampled_totals(np.array([[1.0, 2.0], [1.0, 2.0]]), seed=0, resamples=2).tolist()
    [[2.0, 4.0], [2.0, 4.0]]
    """
    import numpy as np

    draws, (kinds, often) = np.random.default_rng(seed), distinct(rows, times)
    count, found = int(often.sum()), np.empty((resamples, rows.shape[1]))
    by_binomials = len(kinds) <= MOST_DRAWN_BY_BINOMIALS
    if not by_binomials:
        kinds = np.repeat(kinds, often.astype(np.intp), axis=0)
    at_once = max(1, CELLS_AT_ONCE // len(kinds))
    for start in range(0, resamples, at_once):
        size = min(at_once, resamples - start)
        if by_binomials:
            drawn = draws.multinomial(count, often / count, size=size)
        else:
            cells = draws.integers(0, count, size=(size, count))
            cells += count * np.arange(size)[:, None]
            drawn = np.bincount(cells.ravel(), minlength=cells.size).reshape(cells.shape)
        found[start : start + size] = drawn.astype(float) @ kinds
    return found


def percentile_interval(value: float, resampled: "Floats") -> tuple[float, float]:
    """The middle 95 % of what the samples gave; it holds the value itself, whatever the rounding.

    >>> import numpy as np
    >>> percentile_interval(50.0, np.arange(101.0))
    (2.5, 97.5)
    """
    import numpy as np

    low, high = np.quantile(resampled, [0.025, 0.975])
    return min(float(low), value), max(float(high), value)
