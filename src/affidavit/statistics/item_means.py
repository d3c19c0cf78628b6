"""Means of one value for each item: of shares, which lie between 0 and 1, and of differences, which need not.

Items are what varies. Equal values may be given once, with how many `times` there are. No interval has no width:
items that happen to agree are no certainty (ruling S11).
"""

from collections.abc import Sequence
from math import fsum, sqrt

from affidavit.statistics.arguments import whole
from affidavit.statistics.estimate import EQUAL, LEAST_CHANCE, Estimate, without_interval
from affidavit.statistics.power import LEVEL
from affidavit.statistics.shares import wilson_ends

FEWEST_ITEMS = 10
"""With fewer items than this, differences have no interval (ruling S2)."""


def mean_share(
    shares: Sequence[float], times: Sequence[int] | None = None, *, outputs: int | None = None
) -> Estimate:
    """The mean of shares, one of each item, with Wilson's interval at the effective size.

    As ruling S1 does it for clusters: the variance is found with two items more, one all right and one all wrong,
    and the lower end is never above the one that all-right would have. Items that are right or wrong as a whole
    have Wilson's own interval; shares in between vary less, and count as more items, but never as more than the
    `outputs` that they are made of.

    >>> print(mean_share([1.0, 0.0], [22, 8]))
    73.3% [55.6, 85.8] n=30
    >>> print(mean_share([1.0, 0.5], [22, 8]))
    86.7% [75.3, 93.3] n=30
    >>> print(mean_share([0.5], [40]), mean_share([0.5], [40], outputs=160))
    50.0% [46.6, 53.4] n=40 50.0% [42.3, 57.7] n=40
    """
    counts, n = _counted("shares", shares, times, lowest=0)
    value = min(1.0, fsum(share * count for share, count in zip(shares, counts, strict=True)) / n)
    if all(share in (0, 1) for share in shares):
        return Estimate(value, *wilson_ends(value, n), n, "Wilson 95% over items")
    items, middle = n + 2, (value * n + 1) / (n + 2)
    own = fsum(count * (share - middle) ** 2 for share, count in zip(shares, counts, strict=True))
    variance = (own + (1 - middle) ** 2 + middle**2) / (items - 1) / items
    effective = n * middle * (1 - middle) / items / variance
    low, high = wilson_ends(value, effective if outputs is None else min(effective, outputs))
    low, high = min(low, wilson_ends(1.0, n)[0]), max(high, wilson_ends(0.0, n)[1])
    return Estimate(value, low, high, n, "Wilson 95% over items at the effective size")


def mean_difference(
    differences: Sequence[float],
    times: Sequence[int] | None = None,
    *,
    units: str = "items",
    level: float = LEVEL,
) -> Estimate:
    """The mean of differences between shares, one of each item, with Student's t over items, or whatever varies.

    `level` is that of the test beside it. Below ten items there is only the value. Where all differences are 0
    the interval is Tango's for as many pairs without a discordant one; where all are equal and not 0 there is
    none, and the method says so (ruling S2).

    >>> print(mean_difference([0.5, 0.0, -0.5], [4, 10, 2]))
    6.2% [−10.2, 22.7] n=16
    >>> round(mean_difference([0.0], [16]).high, 4)  # z²/(n + z²)
    0.1936
    >>> mean_difference([0.5, 0.0], [2, 1]).method
    'fewer than 10 items: no interval'
    """
    counts, n = _counted("differences", differences, times, lowest=-1)
    value = fsum(each * count for each, count in zip(differences, counts, strict=True)) / n
    if n < FEWEST_ITEMS:
        return without_interval(value, n, f"fewer than {FEWEST_ITEMS} {units}: no interval")
    from scipy.special import ndtri, stdtrit

    error, sure = standard_error(differences, counts), f"{100 * (1 - level):.3g}%"
    if error == 0:
        if abs(value) <= EQUAL:
            z = -float(ndtri(level / 2))
            reach = z**2 / (n + z**2)
            return Estimate(0.0, -reach, reach, n, f"all differences are 0: Tango {sure} over {units}")
        return without_interval(value, n, f"all {n:,} differences are equal: no interval")
    reach = -float(stdtrit(n - 1, level / 2)) * error
    return Estimate(value, max(-1.0, value - reach), min(1.0, value + reach), n, f"t {sure} over {units}")


def _counted(
    name: str, values: Sequence[float], times: Sequence[int] | None, *, lowest: int
) -> tuple[list[int], int]:
    """How often each value is there, and how many there are; values beyond their scale, up to 1, are refused."""
    counts = [1] * len(values) if times is None else [whole("times", count) for count in times]
    if len(counts) != len(values):
        raise ValueError(f"times: expected one for each of {len(values)} {name}, found {len(counts)}")
    if not (n := whole("times", sum(counts))):
        raise ValueError(f"{name}: no mean of no {name}, expected at least one item")
    for value in values:
        if not lowest <= value <= 1:
            raise ValueError(f"{name}: expected numbers from {lowest} to 1, found {value}")
    return counts, n


def standard_error(values: Sequence[float], times: Sequence[int]) -> float:
    """The standard error of the mean of at least two values; exactly 0 if they are equal but for rounding.

    >>> round(standard_error([0.0, 1.0], [2, 2]), 4), standard_error([0.1], [7])
    (0.2887, 0.0)
    >>> standard_error([0.3, 0.1 + 0.2], [5, 7])
    0.0
    """
    n = sum(times)
    mean = fsum(value * count for value, count in zip(values, times, strict=True)) / n
    spread = fsum(count * (value - mean) ** 2 for value, count in zip(values, times, strict=True))
    error = sqrt(spread / (n - 1) / n)
    # The values are shares or differences of shares: their scale is 1.
    return error if error > EQUAL else 0.0


def t_test(differences: Sequence[float], times: Sequence[int]) -> float | None:
    """How often chance alone would give a mean so far from 0, by Student's t over items, in both directions.

    None where the differences have no interval by t: below ten items, or if all are equal and not 0.

    >>> round(t_test([0.5, 0.0, -0.5], [4, 10, 2]), 3)
    0.432
    """
    counts, n = _counted("differences", differences, times, lowest=-1)
    mean = fsum(each * count for each, count in zip(differences, counts, strict=True)) / n
    if n < FEWEST_ITEMS:
        return None
    if (error := standard_error(differences, counts)) == 0:
        return 1.0 if abs(mean) <= EQUAL else None
    from scipy.special import stdtr

    return max(LEAST_CHANCE, 2 * float(stdtr(n - 1, -abs(mean) / error)))
