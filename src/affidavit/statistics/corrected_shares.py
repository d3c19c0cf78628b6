"""A share that a judge gave, corrected by how often it is right about yes and about no (ruling S10).

Rogan and Gladen (1978), with the interval of Lang and Reiczigel (2014). A second reading beside the corrected
mean: it wants yes and no alone, a judge that is better than a coin, and errors that are the same in every group.
"""

from math import sqrt
from typing import NamedTuple

from affidavit.statistics.arguments import whole
from affidavit.statistics.estimate import Estimate, without_interval
from affidavit.statistics.shares import Z95


class JudgedLabels(NamedTuple):
    """Labels against a judge's word: of those who are one thing, how many it called so."""

    right: int
    n: int


def rogan_gladen(yes: int, n: int, *, among_yes: JudgedLabels, among_no: JudgedLabels) -> Estimate | None:
    """The share of yes among n outputs, of which the judge called `yes` so.

    `among_yes` is its sensitivity over labelled outputs that people call yes, `among_no` its specificity over the
    others. None where it is no better than a coin: nothing can be corrected then.

    >>> print(rogan_gladen(400, 1000, among_yes=JudgedLabels(180, 200), among_no=JudgedLabels(140, 200)))
    16.7% [5.6, 26.3] n=1,000
    """
    whole("yes", yes, most=whole("n", n, least=1))
    for name, (right, of) in (("among_yes", among_yes), ("among_no", among_no)):
        whole(name, right, most=whole(name, of))
    if not (among_yes.n and among_no.n):
        return None
    value = _adjusted(yes / n, among_yes.right / among_yes.n, among_no.right / among_no.n)
    if value is None:
        return None
    value = min(1.0, max(0.0, value))
    ends = _ends(yes / n, n, among_yes, among_no)
    if ends is None:
        return without_interval(value, n, "no better than a coin within its labels: no interval")
    low, high = (min(1.0, max(0.0, end)) for end in ends)
    low, high = min(low, value), max(high, value)
    if not low < high:
        return without_interval(value, n, "beyond what its labels can correct: no interval")
    return Estimate(value, low, high, n, "Rogan-Gladen, Lang-Reiczigel 95%")


def _adjusted(share: float, sensitivity: float, specificity: float) -> float | None:
    better = sensitivity + specificity - 1
    return (share + specificity - 1) / better if better > 0 else None


def _ends(share: float, n: int, among_yes: JudgedLabels, among_no: JudgedLabels) -> tuple[float, float] | None:
    """Low and high: everything moved towards a half by as much as its n lets it, then moved back on average."""
    z2 = Z95**2
    called = (n * share + z2 / 2) / (n + z2)
    (sensitivity, of_yes), (specificity, of_no) = (
        ((each.right + 1) / (each.n + 2), each.n + 2) for each in (among_yes, among_no)
    )
    middle = _adjusted(called, sensitivity, specificity)
    if middle is None:
        return None
    by_yes = sensitivity * (1 - sensitivity) / of_yes
    by_no = specificity * (1 - specificity) / of_no
    shift = 2 * z2 * (middle * by_yes - (1 - middle) * by_no)
    spread = called * (1 - called) / (n + z2) + middle**2 * by_yes + (1 - middle) ** 2 * by_no
    half = Z95 / (sensitivity + specificity - 1) * sqrt(spread)
    return middle + shift - half, middle + shift + half
