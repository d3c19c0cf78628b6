"""What a comparison could have found, and how much it would take: before a study, or after one that found nothing.

All figures are for two-sided tests at the given level, and normal approximations: good for planning, not for a
verdict.
"""

from math import ceil, sqrt

LEVEL, POWER = 0.05, 0.8


def observations_needed(first: float, second: float, *, level: float = LEVEL, power: float = POWER) -> int:
    """How many independent observations each of two conditions needs to tell these two shares apart.

    >>> observations_needed(0.6, 0.7)
    356
    """
    if not (0 <= first <= 1 and 0 <= second <= 1) or first == second:
        raise ValueError(f"expected two different shares, found {first} and {second}")
    wide, narrow = _quantiles(level, power)
    return ceil((_spread(first, second, wide, narrow) / (second - first)) ** 2)


def detectable_difference(baseline: float, n: int, *, level: float = LEVEL, power: float = POWER) -> float:
    """The smallest difference between two shares that n independent observations of each would show.

    It is taken from the baseline towards one half and beyond, where shares vary most; in the other direction less
    is enough.

    >>> round(detectable_difference(0.6, 356), 3)
    0.104
    """
    from scipy.optimize import brentq

    if not 0 <= baseline <= 1 or n < 1:
        raise ValueError(f"expected a share and at least one observation, found {baseline} and {n}")
    wide, narrow = _quantiles(level, power)
    lower = min(baseline, 1 - baseline)

    def excess(difference: float) -> float:
        return sqrt(n) * difference - _spread(lower, lower + difference, wide, narrow)

    if excess(1 - lower) < 0:
        raise ValueError(f"no difference between two shares could be shown with {n} observations of each")
    return float(brentq(excess, 0.0, 1 - lower, xtol=1e-10))


def pairs_needed(difference: float, discordance: float, *, level: float = LEVEL, power: float = POWER) -> int:
    """How many pairs McNemar's test needs to tell a difference of shares.

    `discordance` is the share of pairs in which exactly one of the two conditions is right.

    >>> pairs_needed(0.1, 0.2)
    155
    """
    if not 0 < abs(difference) <= discordance <= 1:
        raise ValueError(f"expected 0 < difference <= discordance <= 1, found {difference} and {discordance}")
    wide, narrow = _quantiles(level, power)
    return ceil((_paired_spread(difference, discordance, wide, narrow) / difference) ** 2)


def detectable_paired_difference(
    discordance: float, pairs: int, *, level: float = LEVEL, power: float = POWER
) -> float:
    """The smallest difference of shares that McNemar's test would show in so many pairs.

    >>> round(detectable_paired_difference(0.2, 155), 3)
    0.1
    """
    from scipy.optimize import brentq

    if not 0 < discordance <= 1 or pairs < 1:
        raise ValueError(f"expected 0 < discordance <= 1 and at least one pair, found {discordance} and {pairs}")
    wide, narrow = _quantiles(level, power)

    def excess(difference: float) -> float:
        return sqrt(pairs) * difference - _paired_spread(difference, discordance, wide, narrow)

    if excess(discordance) < 0:
        raise ValueError(f"no difference could be shown with {pairs} pairs, {discordance:.1%} of them discordant")
    return float(brentq(excess, 0.0, discordance, xtol=1e-10))


def detectable_mean(standard_error: float, clusters: int, *, level: float = LEVEL, power: float = POWER) -> float:
    """The smallest mean, or mean difference, that would show with this clustered standard error.

    >>> round(detectable_mean(0.02, 50), 4)
    0.0572
    """
    from scipy.special import stdtrit

    if standard_error <= 0 or clusters < 2:
        raise ValueError(f"expected a standard error above 0 of two clusters or more, found {standard_error}")
    return float(stdtrit(clusters - 1, 1 - level / 2) + stdtrit(clusters - 1, power)) * standard_error


def clusters_needed(
    difference: float, standard_error: float, clusters: int, *, level: float = LEVEL, power: float = POWER
) -> int:
    """How many clusters like those at hand it takes to show a mean difference; at least two.

    The standard error of the `clusters` at hand shrinks with the square root of their number.

    >>> clusters_needed(0.04, 0.02, 50)
    101
    """
    if difference == 0:
        raise ValueError("no number of clusters shows a difference of 0")
    detectable_mean(standard_error, clusters, level=level, power=power)
    one = standard_error * sqrt(clusters)

    def enough(number: int) -> bool:
        return detectable_mean(one / sqrt(number), number, level=level, power=power) <= abs(difference)

    above = 2
    while not enough(above):
        above *= 2
    below = above // 2
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if enough(middle) else (middle, above)
    return max(2, above)


def _quantiles(level: float, power: float) -> tuple[float, float]:
    from scipy.special import ndtri

    if not 0 < level < 1 or not 0.5 <= power < 1:
        raise ValueError(f"expected a level between 0 and 1 and a power of 0.5 or more, found {level} and {power}")
    return float(ndtri(1 - level / 2)), float(ndtri(power))


def _spread(first: float, second: float, wide: float, narrow: float) -> float:
    middle = (first + second) / 2
    pooled, apart = 2 * middle * (1 - middle), first * (1 - first) + second * (1 - second)
    return wide * sqrt(pooled) + narrow * sqrt(apart)


def _paired_spread(difference: float, discordance: float, wide: float, narrow: float) -> float:
    return wide * sqrt(discordance) + narrow * sqrt(discordance - difference**2)
