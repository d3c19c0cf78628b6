"""A figure that can be defended, and how it is worded everywhere: in a terminal, on a page, in Markdown.

73.3% [55.6, 85.8] n=30          a share
−5.1 points [−12.7, +2.5] n=40   a difference of two shares
1.50 [1.10, 1.90] n=12           a mean
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import NamedTuple

from affidavit.json_values import Fields


@dataclass(frozen=True, slots=True)
class Estimate:
    """One figure that can be defended."""

    value: float
    low: float
    high: float
    n: int
    method: str

    def __str__(self) -> str:
        return in_words(self)

    def fields(self) -> Fields:
        """The estimate as JSON values; the ends of an interval that there is none of are null."""
        low, high = (end if isfinite(end) else None for end in (self.low, self.high))
        return {"value": self.value, "low": low, "high": high, "n": self.n, "method": self.method}


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
    """The parts of an estimate in words.

    >>> worded(Estimate(-0.051, -0.127, 0.025, 40, ""), Form.POINTS)
    Wording(figure='−5.1 points', interval='[−12.7, +2.5]', size='n=40')
    """
    three = (estimate.value, estimate.low, estimate.high)
    write, unit = _WRITTEN[form]
    value, low, high = map(write, three)
    interval = f"[{low}, {high}]" if isfinite(estimate.low) else ""
    return Wording(f"{value}{unit}", interval, f"n={estimate.n:,}")


def in_words(estimate: Estimate, form: Form = Form.SHARE) -> str:
    """An estimate in words; where it has no interval, its method says why.

    >>> in_words(Estimate(0.5, float("-inf"), float("inf"), 2, "one cluster: no interval"))
    '50.0% n=2, one cluster: no interval'
    """
    parts = worded(estimate, form)
    said = " ".join(part for part in parts if part)
    return said if parts.interval else f"{said}, {estimate.method}"


def signed(points: float) -> str:
    """A difference with its sign, a true minus; none for nothing.

    >>> signed(2.5), signed(-0.04), signed(-12.74)
    ('+2.5', '0.0', '−12.7')
    """
    text = f"{points:+.1f}"
    return text[1:] if text[1:] == "0.0" else text.replace("-", "−")


_WRITTEN: dict[Form, tuple[Callable[[float], str], str]] = {
    Form.SHARE: (lambda number: f"{number * 100:.1f}", "%"),
    Form.POINTS: (lambda number: signed(number * 100), " points"),
    Form.MEAN: (lambda number: f"{number:.2f}", ""),
}
"""How the numbers of each kind of figure are written, and their unit."""
