"""What a comparison could have found, and how much it would take: before a study, or after one that found nothing.

All figures are for two-sided tests at the given level. But for those of McNemar's exact test they are normal
approximations: good for planning, not for a verdict.
"""

from math import ceil, isfinite, sqrt
from typing import TYPE_CHECKING

from affidavit.statistics.arguments import LEAST_LEVEL, MOST, finite, whole

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

    Floats = NDArray[float64]
    Integers = NDArray[int64]

LEVEL, POWER = 0.05, 0.8


def observations_needed(first: float, second: float, *, level: float = LEVEL, power: float = POWER) -> int:
    """How many independent observations each of two conditions needs to tell these two shares apart.

    >>> observations_needed(0.6, 0.7)
    356
    """
    if not (0 <= first <= 1 and 0 <= second <= 1) or first == second:
        raise ValueError(f"first, second: expected two different shares, found {first} and {second}")
    wide, narrow = _quantiles(level, power)
    return _squared(_spread(first, second, wide, narrow) / (second - first))


def detectable_difference(baseline: float, n: int, *, level: float = LEVEL, power: float = POWER) -> float:
    """The smallest difference between two shares that n independent observations of each would show.

    It is taken from the baseline towards one half and beyond, where shares vary most; in the other direction less
    is enough.

    >>> round(detectable_difference(0.6, 356), 3)
    0.104
    """
    from scipy.optimize import brentq

    if not 0 <= baseline <= 1 or not n >= 1:
        raise ValueError(f"baseline, n: expected a share and at least one observation, found {baseline} and {n}")
    n = whole("n", n)
    wide, narrow = _quantiles(level, power)
    lower = min(baseline, 1 - baseline)

    def excess(difference: float) -> float:
        return sqrt(n) * difference - _spread(lower, lower + difference, wide, narrow)

    if excess(1 - lower) < 0:
        raise ValueError(f"n: no difference between two shares could be shown with {n} observations of each")
    # From a baseline of 0 a difference of 0 solves it too, and is no answer (ruling S11).
    return float(brentq(excess, _NEXT_TO_NOTHING / n, 1 - lower, xtol=min(1e-10, 1e-3 / n)))


def pairs_needed(difference: float, discordance: float, *, level: float = LEVEL, power: float = POWER) -> int:
    """How many pairs McNemar's test needs to tell a difference of shares.

    `discordance` is the share of pairs in which exactly one of the two conditions is right.

    >>> pairs_needed(0.1, 0.2)
    155
    """
    if not 0 < abs(difference) <= discordance <= 1:
        expected = "expected 0 < difference <= discordance <= 1"
        raise ValueError(f"difference, discordance: {expected}, found {difference} and {discordance}")
    wide, narrow = _quantiles(level, power)
    return _squared(_paired_spread(difference, discordance, wide, narrow) / difference)


def detectable_paired_difference(
    discordance: float, pairs: int, *, level: float = LEVEL, power: float = POWER
) -> float:
    """The smallest difference of shares that McNemar's test would show in so many pairs.

    A difference larger than the discordance brings its own discordant pairs.

    >>> round(detectable_paired_difference(0.2, 155), 3), round(detectable_paired_difference(0, 155), 3)
    (0.1, 0.05)
    """
    from scipy.optimize import brentq

    _refuse_discordance(discordance, pairs)
    wide, narrow = _quantiles(level, power)

    def excess(difference: float) -> float:
        return sqrt(pairs) * difference - _paired_spread(difference, max(discordance, difference), wide, narrow)

    if excess(1.0) < 0:
        found = f"{pairs} pairs, {discordance:.1%} of them discordant"
        raise ValueError(f"pairs: no difference could be shown with {found}")
    return float(brentq(excess, _NEXT_TO_NOTHING / pairs, 1.0, xtol=min(1e-10, 1e-3 / pairs)))


def mcnemar_power(
    difference: float, discordance: float, pairs: int, *, level: float = LEVEL, mid_p: bool = False
) -> float:
    """How often McNemar's test finds a true difference of shares, summed over all numbers of discordant pairs.

    Only findings in the right direction count. Where the difference is larger than the discordance, all discordant
    pairs are of the difference.

    >>> round(mcnemar_power(0.1, 0.2, 155), 3), mcnemar_power(1.0, 0.2, 5)
    (0.762, 0.0)
    """
    import numpy as np
    from scipy.special import bdtr, ndtr

    _refuse_discordance(discordance, pairs)
    if not 0 < difference <= 1:
        raise ValueError(f"difference: expected a number above 0 and at most 1, found {difference}")
    wide, _ = _quantiles(level, POWER)
    discordant = max(discordance, difference)
    if pairs * discordant > _TOO_MANY:
        beyond, spread = sqrt(pairs) * difference - wide * sqrt(discordant), sqrt(discordant - difference**2)
        return float(ndtr(beyond / spread)) if spread else float(beyond > 0)
    # What is further than this from the expected number of discordant pairs does not happen.
    middle, reach = pairs * discordant, 8 * sqrt(pairs * discordant * (1 - discordant)) + 8
    counts = np.arange(max(0, int(middle - reach)), min(pairs, int(middle + reach)) + 1)
    most = _most_against(counts, level, mid_p=mid_p)
    found = np.where(most < 0, 0.0, bdtr(np.maximum(most, 0), counts, (1 - difference / discordant) / 2))
    return float((_binomial_chances(counts, pairs, discordant) * found).sum())


def detectable_by_mcnemar(
    discordance: float, pairs: int, *, level: float = LEVEL, power: float = POWER, mid_p: bool = False
) -> float | None:
    """The smallest true difference that McNemar's exact test finds with this power; None if it never does.

    `discordance` is that of a study without a difference. With one the differences of pairs are taken to vary as
    much around it, so that its square is added to the discordance.

    >>> round(detectable_by_mcnemar(0.2, 155), 3), round(detectable_by_mcnemar(0.0, 100), 3)
    (0.107, 0.078)
    >>> detectable_by_mcnemar(0.2, 5) is None
    True
    """
    from scipy.optimize import brentq

    _refuse_discordance(discordance, pairs)
    wide, narrow = _quantiles(level, power)

    def excess(difference: float) -> float:
        with_it = min(1.0, max(difference, discordance + difference**2))
        if pairs * discordance >= _MANY:
            return sqrt(pairs) * difference - _paired_spread(difference, with_it, wide, narrow)
        return mcnemar_power(difference, with_it, pairs, level=level, mid_p=mid_p) - power

    if excess(1.0) < 0:
        return None
    return float(brentq(excess, _NEXT_TO_NOTHING / pairs, 1.0, xtol=min(1e-6, 0.1 / pairs)))


_NEXT_TO_NOTHING = 1e-9
_TOO_MANY = 1_000_000
"""Discordant pairs from which on a sum over all their numbers takes long, and the approximation says the same."""
_MANY = 500
"""Discordant pairs from which on the normal approximation is within a fiftieth of what the exact test needs."""


def _most_against(counts: "Integers", level: float, *, mid_p: bool) -> "Integers":
    """The most pairs on the other side with which McNemar's test rejects, of so many discordant ones; else -1."""
    import numpy as np
    from scipy.special import bdtr

    low, high = np.full(len(counts), -1), counts // 2
    while (low < high).any():
        middle = (low + high + 1) // 2
        p_values = 2 * bdtr(middle, counts, 0.5)
        if mid_p:
            p_values = p_values - _binomial_chances(middle, counts, 0.5)
        rejects = p_values <= level
        low, high = np.where(rejects, middle, low), np.where(rejects, high, middle - 1)
    return low


def _binomial_chances(successes: "Integers", n: "Integers | int", chance: float) -> "Floats":
    """The chances of just so many successes."""
    import numpy as np
    from scipy.special import gammaln, xlog1py, xlogy

    ways = gammaln(np.asarray(n) + 1) - gammaln(successes + 1) - gammaln(n - successes + 1)
    chances: Floats = np.exp(ways + xlogy(successes, chance) + xlog1py(n - successes, -chance))
    return chances


def _refuse_discordance(discordance: float, pairs: int) -> None:
    if not 0 <= discordance <= 1 or not pairs >= 1:
        expected = "expected 0 <= discordance <= 1 and at least one pair"
        raise ValueError(f"discordance, pairs: {expected}, found {discordance} and {pairs}")
    whole("pairs", pairs)


def detectable_mean(standard_error: float, clusters: int, *, level: float = LEVEL, power: float = POWER) -> float:
    """The smallest mean, or mean difference, that would show with this clustered standard error.

    >>> round(detectable_mean(0.02, 50), 4)
    0.0572
    """
    from scipy.special import stdtrit

    _quantiles(level, power)
    if not finite("standard_error", standard_error) > 0:
        raise ValueError(f"standard_error: expected a number above 0, found {standard_error}")
    degrees = whole("clusters", clusters, least=2) - 1
    return float(stdtrit(degrees, power) - stdtrit(degrees, level / 2)) * standard_error


def clusters_needed(
    difference: float, standard_error: float, clusters: int, *, level: float = LEVEL, power: float = POWER
) -> int:
    """How many clusters like those at hand it takes to show a mean difference; at least two.

    The standard error of the `clusters` at hand shrinks with the square root of their number.

    >>> clusters_needed(0.04, 0.02, 50)
    101
    """
    if finite("difference", difference) == 0:
        raise ValueError("difference: no number of clusters shows a difference of 0")
    detectable_mean(standard_error, clusters, level=level, power=power)
    one = standard_error * sqrt(clusters)

    def enough(number: int) -> bool:
        return detectable_mean(one / sqrt(number), number, level=level, power=power) <= abs(difference)

    if not enough(MOST):
        raise ValueError(f"difference: not shown by {MOST:,} clusters, found {difference}")
    above = 2
    while not enough(min(above, MOST)):
        above *= 2
    below = above // 2
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if enough(middle) else (middle, above)
    return max(2, above)


def _quantiles(level: float, power: float) -> tuple[float, float]:
    from scipy.special import ndtri

    if not LEAST_LEVEL <= level < 1 or not 0.5 <= power < 1:
        expected = f"expected a level from {LEAST_LEVEL:g}, below 1, and a power of 0.5 or more"
        raise ValueError(f"level, power: {expected}, found {level} and {power}")
    return -float(ndtri(level / 2)), float(ndtri(power))


def _squared(root: float) -> int:
    """How many are needed, from its root."""
    if not isfinite(root * root):
        raise ValueError("difference: expected one that can be counted out, found one that is next to nothing")
    return ceil(root * root)


def _spread(first: float, second: float, wide: float, narrow: float) -> float:
    middle = (first + second) / 2
    pooled, apart = 2 * middle * (1 - middle), first * (1 - first) + second * (1 - second)
    return wide * sqrt(pooled) + narrow * sqrt(apart)


def _paired_spread(difference: float, discordance: float, wide: float, narrow: float) -> float:
    return wide * sqrt(discordance) + narrow * sqrt(discordance - difference**2)
