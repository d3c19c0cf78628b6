"""How large a share is, with one interval everywhere (ruling S1), and its bounds where observations are missing.

Observations come in clusters: an item with its samples, a judged output with its judgements. Where each cluster
holds one, the interval is Wilson's; otherwise it is Wilson's at the effective size: as many observations as there
are, divided by the design effect. docs/statistics.md says what each figure assumes, and how often its interval was
right when that was measured.
"""

from collections.abc import Iterable
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from affidavit.statistics.arguments import MOST, together, whole, whole_numbers
from affidavit.statistics.estimate import Estimate

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[float64]

Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


class Shares(NamedTuple):
    """Many shares with their intervals, by position."""

    value: "Floats"
    low: "Floats"
    high: "Floats"


class Bounds(NamedTuple):
    """A share under the two extreme guesses about what is missing."""

    if_wrong: Estimate
    if_right: Estimate


class ClusterSums(NamedTuple):
    """All that a share and its interval need to know of clusters, n_g observations in each, s_g of them successes.

    Whole numbers, so that they are the same in whichever order the clusters are added up.

    >>> ClusterSums.of([(2, 2), (1, 2), (0, 1)])
    ClusterSums(clusters=3, n=5, squares=9, successes=3, squared_successes=5, products=6)
    """

    clusters: int
    n: int
    """Σ n_g."""
    squares: int
    """Σ n_g²."""
    successes: int
    """Σ s_g."""
    squared_successes: int
    """Σ s_g²."""
    products: int
    """Σ s_g n_g."""

    @classmethod
    def of(cls, clusters: Iterable[tuple[int, int]]) -> "ClusterSums":
        """The sums of clusters, given as successes and observations; those without an observation are left out."""
        return cls.counted((successes, n, 1) for successes, n in clusters)

    @classmethod
    def counted(cls, kinds: Iterable[tuple[int, int, int]]) -> "ClusterSums":
        """The same of successes, observations and how many clusters have just these.

        >>> ClusterSums.counted([(1, 2, -3)])
        Traceback (most recent call last):
        ValueError: times: expected a whole number from 0 to 1,000,000,000,000, found -3
        """
        clusters = total = squares = right = squared = products = 0
        for kind in kinds:
            successes, n, times = map(whole, ("successes", "n", "times"), kind)
            if successes > n:
                raise ValueError(f"successes: no share of {successes} in {n}")
            if n:
                clusters += times
                total += times * n
                squares += times * n * n
                right += times * successes
                squared += times * successes * successes
                products += times * successes * n
        return cls(clusters, total, squares, right, squared, products)

    @classmethod
    def single(cls, successes: int, n: int) -> "ClusterSums":
        """Observations that are clusters of their own."""
        return cls(n, n, n, successes, successes, successes)

    def plus(self, others: "ClusterSums") -> "ClusterSums":
        """Both sets of clusters as one."""
        return ClusterSums(*(one + other for one, other in zip(self, others, strict=True)))

    @property
    def opposite(self) -> "ClusterSums":
        """The same clusters, with what is no success as one."""
        return ClusterSums(
            self.clusters,
            self.n,
            self.squares,
            self.n - self.successes,
            self.squares - 2 * self.products + self.squared_successes,
            self.squares - self.products,
        )


def wilson(successes: int, n: int) -> Estimate:
    """The share of successes in independent observations with its 95 % Wilson score interval.

    >>> print(wilson(22, 30))
    73.3% [55.6, 85.8] n=30
    """
    return share(ClusterSums.single(whole("successes", successes), whole("n", n)))


def share(sums: ClusterSums) -> Estimate:
    """The share of successes with its 95 % interval over clusters (ruling S1).

    The design effect is found with two clusters more, one all right and one all wrong, of the mean size: clusters
    that happen to agree are no certainty. The lower end is never above the one that all-right would have, nor the
    upper one below that of all-wrong: 79 of 80 passes no gate at which 80 of 80 fails.

    >>> print(share(ClusterSums.of([(2, 2)] * 39 + [(1, 2)])))
    98.8% [90.3, 99.9] n=80 (40 clusters)
    >>> print(share(ClusterSums.of([(2, 2)] * 40)))
    100.0% [91.0, 100.0] n=80 (40 clusters)
    """
    _refuse_sums(sums)
    value = sums.successes / sums.n
    low, high = wilson_ends(value, sums.n / _design_effect(sums))
    if sums.squares == sums.n:
        return Estimate(value, low, high, sums.n, "Wilson 95%")
    lowest, highest = _certain_ends(sums.clusters, sums.n, sums.squares)
    method = f"Wilson 95% at the effective size, {sums.clusters:,} clusters"
    return Estimate(value, min(low, lowest), max(high, highest), sums.n, method, sums.clusters)


def _refuse_sums(sums: ClusterSums) -> None:
    """Nothing is said of sums that no clusters have."""
    clusters, n, successes = map(whole, ("clusters", "n", "successes"), (sums.clusters, sums.n, sums.successes))
    squares, squared_successes, products = (
        whole("squares", sums.squares, most=MOST**2),
        whole("squared_successes", sums.squared_successes, most=MOST**2),
        whole("products", sums.products, most=MOST**2),
    )
    if n == 0 or successes > n:
        raise ValueError(f"successes: no share of {successes} in {n}")
    rising = clusters <= n <= squares and successes <= squared_successes <= products <= squares
    if not rising or n * n > clusters * squares:
        raise ValueError(f"sums: expected those of clusters, as ClusterSums.of gives them, found {sums}")


@lru_cache(maxsize=1_000)
def _certain_ends(clusters: int, n: int, squares: int) -> tuple[float, float]:
    """The lower end of all-right and the upper one of all-wrong; a table has many shares of the same clusters."""
    right = ClusterSums(clusters, n, squares, n, squares, squares)
    lowest, _ = wilson_ends(1.0, n / _design_effect(right))
    _, highest = wilson_ends(0.0, n / _design_effect(right.opposite))
    return lowest, highest


def wilson_ends(value: float, n: float) -> tuple[float, float]:
    """Wilson's interval for a share of n independent observations; n need not be a whole number."""
    z2 = Z95 * Z95
    middle = (value + z2 / (2 * n)) / (1 + z2 / n)
    reach = Z95 * sqrt(value * (1 - value) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    # At the ends the interval touches the share exactly; rounding must not take it beyond.
    low = 0.0 if value == 0 else min(value, max(0.0, middle - reach))
    return low, 1.0 if value == 1 else max(value, min(1.0, middle + reach))


def _design_effect(sums: ClusterSums) -> float:
    """How many times the variance of a share is that of as many independent observations; at least 1."""
    if sums.squares == sums.n:
        return 1.0
    size = sums.n / sums.clusters
    clusters, n = sums.clusters + 2, sums.n + 2 * size
    middle = (sums.successes + size) / n
    squares, own, products = sums.squares + 2 * size**2, sums.squared_successes + size**2, sums.products + size**2
    spread = own - 2 * middle * products + middle**2 * squares
    variance = clusters / (clusters - 1) * spread / n**2
    return max(1.0, variance / (middle * (1 - middle) / n))


def wilson_shares(successes: "ArrayLike", n: "ArrayLike") -> Shares:
    """The same for whole columns at once.

    A share of nothing has no value, here as in `wilson`: one position with n = 0 raises ValueError for all, and
    says which. Leave such rows out first; there is no null and no NaN in what comes back, and none is taken.

    >>> shares = wilson_shares([22, 0], [30, 20])
    >>> shares.value.round(3).tolist(), shares.low.round(3).tolist(), shares.high.round(3).tolist()
    ([0.733, 0.0], [0.556, 0.0], [0.858, 0.161])
    """
    import numpy as np

    right, total = together(successes=whole_numbers("successes", successes), n=whole_numbers("n", n))
    wrong = (right > total) | (total == 0)
    if right.size == 0 or wrong.any():
        raise ValueError(f"successes, n: no share at positions {np.flatnonzero(wrong)[:10].tolist()}")
    share, z2 = right / total, Z95 * Z95
    middle = (share + z2 / (2 * total)) / (1 + z2 / total)
    reach = Z95 * np.sqrt(share * (1 - share) / total + z2 / (4 * total * total)) / (1 + z2 / total)
    low = np.where(right == 0, 0.0, np.minimum(share, np.maximum(0.0, middle - reach)))
    high = np.where(right == total, 1.0, np.maximum(share, np.minimum(1.0, middle + reach)))
    return Shares(share, low, high)


def bounds(right: ClusterSums, wrong: ClusterSums) -> Bounds:
    """A share under the two extreme guesses: all that is not known to be right is wrong, or the other way round.

    Both are over the same clusters, with the missing observations among them, and each has its interval (ruling
    S6): whatever the missing ones were, the share lies between the two values, and the range from the lower end of
    the one to the upper end of the other covers sampling too.

    >>> print(*bounds_of_share(60, 80, 20), sep=" to ")
    60.0% [50.2, 69.1] n=100 to 80.0% [71.1, 86.7] n=100
    """
    _refuse_sums(right)
    _refuse_sums(wrong)
    if right.n != wrong.n or right.squares != wrong.squares or right.successes + wrong.successes > right.n:
        raise ValueError(
            f"right, wrong: no bounds of what is not over the same observations, found {right} and {wrong}"
        )
    return Bounds(share(right), share(wrong.opposite))


def bounds_of_share(successes: int, observed: int, missing: int) -> Bounds:
    """The same where every observation is a cluster of its own.

    >>> bounds_of_share(60, 80, 20).if_right.value
    0.8
    """
    successes, observed = whole("successes", successes), whole("observed", observed)
    if successes > observed:
        raise ValueError(f"successes: no bounds of {successes} in {observed} with {missing} missing")
    n = observed + whole("missing", missing)
    return bounds(ClusterSums.single(successes, n), ClusterSums.single(observed - successes, n))
