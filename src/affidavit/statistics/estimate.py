"""A figure that can be defended, and how it is worded everywhere: in a terminal, on a page, in Markdown.

73.3% [55.6, 85.8] n=30          a share
98.8% [90.3, 99.9] n=80 (40 clusters)   a share of outputs in clusters, such as samples of one item
−5.1 points [−12.7, +2.5] n=40   a difference of two shares
1.50 [1.10, 1.90] n=12           a mean
99.95% [99.72, 99.99] n=2,000    as many digits as it takes: no interval looks like a point (ruling S11)
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import ceil, floor, inf, isclose, isfinite
from typing import NamedTuple

from affidavit.json_values import Fields

EQUAL = 1e-12
"""What rounding may leave between equal numbers, as a part of their scale."""
LEAST_CHANCE = 1e-300
"""No p-value is 0: what is smaller than a float can hold is given as this (ruling S11)."""
MOST_DIGITS = 6
"""After the point; what is closer together than they tell apart is rounded outwards."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One figure that can be defended."""

    value: float
    low: float
    high: float
    n: int
    method: str
    clusters: int | None = None
    """What varies, where that is not each of the n: items with several samples, groups of items."""

    def __str__(self) -> str:
        return in_words(self)

    def fields(self) -> Fields:
        """The estimate as JSON values; the ends of an interval that there is none of are null."""
        low, high = (end if isfinite(end) else None for end in (self.low, self.high))
        clusters = self.n if self.clusters is None else self.clusters
        interval = {"value": self.value, "low": low, "high": high}
        return {**interval, "n": self.n, "clusters": clusters, "method": self.method}


def without_interval(value: float, n: int, why: str, clusters: int | None = None) -> Estimate:
    """A value that nothing at hand gives an interval: not a point, but none, and the method says why (ruling S11).

    >>> print(without_interval(1.0, 20, "every sample gives the same: no interval"))
    100.0% n=20, every sample gives the same: no interval
    """
    return Estimate(value, -inf, inf, n, why, clusters)


class Form(StrEnum):
    """What kind of figure it is."""

    SHARE = "share"
    POINTS = "points"
    """A difference of two shares."""
    MEAN = "mean"


class Wording(NamedTuple):
    """A figure, its interval, empty where it has none, and its n."""

    figure: str
    interval: str
    size: str


def worded(estimate: Estimate, form: Form = Form.SHARE) -> Wording:
    """The parts of an estimate in words, all three numbers with the same digits after the point.

    There are as many digits as it takes to show the value and the ends apart where they differ, and to show no
    share as 0 % or 100 % that is not: one if that does, two of a mean.

    >>> worded(Estimate(-0.051, -0.127, 0.025, 40, ""), Form.POINTS)
    Wording(figure='−5.1 points', interval='[−12.7, +2.5]', size='n=40')
    >>> worded(Estimate(1.0, 0.99952, 1.0, 8000, ""))
    Wording(figure='100.00%', interval='[99.95, 100.00]', size='n=8,000')
    >>> worded(Estimate(0.9998, float("-inf"), float("inf"), 5000, "")).figure
    '99.98%'
    """
    style = _STYLES[form]
    value, low, high = (style.scale * number for number in (estimate.value, estimate.low, estimate.high))
    there = isfinite(low) and isfinite(high)
    digits = digits_apart((value, low, high) if there else (value,), style.digits)
    if form is Form.SHARE:
        digits = max(digits, digits_apart((0.0, value, style.scale), style.digits))
        least = 10.0**-digits
        value = min(max(value, least), style.scale - least) if 0 < value < style.scale else value
    if there and low < high and round(low, digits) == round(high, digits):
        low, high = floor(low * 10**digits) / 10**digits, ceil(high * 10**digits) / 10**digits
    interval = f"[{style.write(low, digits)}, {style.write(high, digits)}]" if there else ""
    size, clusters = f"n={estimate.n:,}", estimate.clusters
    if clusters is not None and clusters != estimate.n:
        size += f" ({clusters:,} cluster{'' if clusters == 1 else 's'})"
    return Wording(f"{style.write(value, digits)}{style.unit}", interval, size)


def digits_apart(numbers: Iterable[float], fewest: int) -> int:
    """So many digits after the point, at most six, that numbers do not look alike unless they are.

    Numbers that differ by no more than rounding are alike.

    >>> digits_apart([0.3, 0.1 + 0.2, 12.0], 1), digits_apart([99.95, 100.0], 1), digits_apart([0.0, 1e-9], 1)
    (1, 2, 6)
    """
    given = sorted(numbers)
    different = 1 + sum(not isclose(one, other, rel_tol=EQUAL, abs_tol=EQUAL) for one, other in pairwise(given))
    enough = (
        digits for digits in range(fewest, MOST_DIGITS)
        if len({round(number, digits) for number in given}) >= different
    )  # fmt: skip
    return next(enough, MOST_DIGITS)


def in_words(estimate: Estimate, form: Form = Form.SHARE) -> str:
    """An estimate in words; where it has no interval, its method says why.

    >>> in_words(Estimate(0.5, float("-inf"), float("inf"), 2, "one cluster: no interval"))
    '50.0% n=2, one cluster: no interval'
    """
    parts = worded(estimate, form)
    said = " ".join(part for part in parts if part)
    return said if parts.interval else f"{said}, {estimate.method}"


def signed(points: float, digits: int = 1) -> str:
    """A difference with its sign, a true minus; none for nothing.

    >>> signed(2.5), signed(-0.04), signed(-12.74), signed(-0.04, 2)
    ('+2.5', '0.0', '−12.7', '−0.04')
    """
    text = f"{points:+.{digits}f}"
    return text.replace("-", "−") if text.strip("+-0.") else text[1:]


class _Style(NamedTuple):
    """How the numbers of a kind of figure are written."""

    scale: float
    digits: int
    """The fewest after the point."""
    write: Callable[[float, int], str]
    unit: str


def _plain(number: float, digits: int) -> str:
    text = f"{number:.{digits}f}"
    return text.replace("-", "−") if text.strip("-0.") else text.removeprefix("-")


_STYLES = {
    Form.SHARE: _Style(100.0, 1, _plain, "%"),
    Form.POINTS: _Style(100.0, 1, signed, " points"),
    Form.MEAN: _Style(1.0, 2, _plain, ""),
}
