"""Numbers that say how sure they are: a value, its interval, its n and its method."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from math import inf, sqrt

Z95 = 1.959963984540054
RESAMPLES = 2000


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


def cluster_mean(values: Iterable[tuple[Hashable, float]], *, seed: int) -> Estimate:
    """The mean of values that come in clusters, with a 95 % percentile bootstrap over the clusters.

    Values of one cluster, such as samples of one question, are drawn together: they are not independent. Of a
    single cluster nothing can be said about others, and its interval is as wide as the numbers go.

    >>> mean = cluster_mean([("a", 1.0), ("a", 3.0), ("b", 5.0)], seed=0)
    >>> mean.value, mean.low, mean.high, mean.method
    (3.0, 2.0, 5.0, 'cluster bootstrap 95%, 2 clusters')
    """
    import numpy as np  # noqa: PLC0415 - heavy, and few need it

    sums: dict[Hashable, list[float]] = {}
    for cluster, value in values:
        total = sums.setdefault(cluster, [0.0, 0.0])
        total[0] += value
        total[1] += 1
    if not sums:
        raise ValueError("no mean of nothing")
    totals, counts = np.array(list(sums.values())).T
    n, mean = int(counts.sum()), float(totals.sum() / counts.sum())
    if len(sums) == 1:
        return Estimate(mean, -inf, inf, n, "one cluster: no interval")
    drawn = np.random.default_rng(seed).multinomial(len(sums), [1 / len(sums)] * len(sums), size=RESAMPLES)
    low, high = np.quantile((drawn @ totals) / (drawn @ counts), [0.025, 0.975])
    return Estimate(mean, float(low), float(high), n, f"cluster bootstrap 95%, {len(sums)} clusters")
