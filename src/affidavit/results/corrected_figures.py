"""One figure of an instrument, such as a judge, as labels correct it; people alone and a second reading beside."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import NamedTuple

from affidavit.judging.label_questions import LabelValue
from affidavit.results.label_set import DrawnLabels
from affidavit.statistics.corrected_means import (
    FEWEST_LABELS,
    Correction,
    TooFewLabelsError,
    corrected_mean,
    people_alone,
)
from affidavit.statistics.corrected_shares import JudgedLabels, rogan_gladen
from affidavit.statistics.estimate import Estimate

NOT_DRAWN = "labels not drawn by `affidavit label draw`"


class Measured(NamedTuple):
    """What an instrument says of one output."""

    key: str
    cluster: Hashable
    value: float | None
    """None where it says nothing, such as an invalid judgement."""


FEW_EVENTS = 5
"""Of labels that say yes, or that say no: below, intervals of shares cover less than they say."""


@dataclass(frozen=True)
class Corrected:
    """A figure over outputs as labels correct it; or why there is none."""

    outputs: int
    labels: int
    correction: Correction | None = None
    alone: Estimate | None = None
    second: Estimate | None = None
    """By Rogan and Gladen, of a share."""
    why_not: str | None = None
    not_judged: int = 0
    """Those of the outputs of which the instrument says nothing."""
    why_no_second: str | None = None
    """Of a share that has a corrected figure."""
    few: int | None = None
    """How many labels say what the fewer of them say, where these are fewer than five."""

    @property
    def estimate(self) -> Estimate | None:
        """The corrected figure."""
        return None if self.correction is None else self.correction.estimate

    @property
    def weight(self) -> float | None:
        """λ: how much of the instrument is in it."""
        return None if self.correction is None else self.correction.weight


def corrected(
    measured: Sequence[Measured],
    labels: DrawnLabels,
    number: Callable[[str, LabelValue], float],
    *,
    scale: tuple[float, float],
) -> Corrected:
    """The figure over these outputs; `number` makes a number of what was said of an output."""
    if labels.draw is None:
        return Corrected(len(measured), 0, why_not=NOT_DRAWN if labels.said else "no labels")
    listed = [each for each in measured if each.key in labels.strata]
    said = [_label(each.key, labels, number) for each in listed]
    values, clusters = [each.value for each in listed], [each.cluster for each in listed]
    count, lacking = sum(label is not None for label in said), values.count(None)
    if count < FEWEST_LABELS:
        why = f"{count} labels: fewer than {FEWEST_LABELS}"
        return Corrected(len(listed), count, why_not=why, not_judged=lacking)
    strata = [labels.strata[each.key] for each in listed] if labels.draw.by else None
    try:
        found = corrected_mean(values, said, scale=scale, clusters=clusters, strata=strata)
        alone = people_alone(values, said, scale=scale, clusters=clusters, strata=strata)
    except TooFewLabelsError as error:
        return Corrected(len(listed), count, why_not=str(error), not_judged=lacking)
    shown = replace(found, estimate=within(found.estimate, scale))
    second = _second(values, said) if strata is None or len(set(strata)) == 1 else _STRATA
    return Corrected(
        len(listed),
        count,
        shown,
        within(alone.estimate, scale),
        second if isinstance(second, Estimate) else None,
        not_judged=lacking,
        why_no_second=second if isinstance(second, str) else None,
        few=_few(said) if scale == (0.0, 1.0) else None,
    )


_STRATA = "several strata, which it does not weigh"


def _few(said: Sequence[float | None]) -> int | None:
    """How many labels are of the rarer kind, if these are few."""
    there = [label for label in said if label is not None]
    fewer = min(sum(label > 0 for label in there), sum(label < 1 for label in there))
    return fewer if fewer < FEW_EVENTS else None


def _label(key: str, labels: DrawnLabels, number: Callable[[str, LabelValue], float]) -> float | None:
    return labels.label_of(key, lambda value: number(key, value))


def within(estimate: Estimate, scale: tuple[float, float]) -> Estimate:
    """The estimate with nothing beyond its scale, unless nothing of its interval would be left.

    >>> str(within(Estimate(0.98, 0.92, 1.04, 40, "t"), (0, 1)))
    '98.0% [92.0, 100.0] n=40'
    """
    low, high = scale
    value, ends = min(high, max(low, estimate.value)), (max(low, estimate.low), min(high, estimate.high))
    if not isfinite(estimate.low) or not ends[0] <= value <= ends[1] or ends[0] >= ends[1]:
        return estimate
    return replace(estimate, value=value, low=ends[0], high=ends[1])


def _second(values: Sequence[float | None], said: Sequence[float | None]) -> Estimate | str:
    """Rogan and Gladen's share, or why there is none.

    Only of an instrument that says yes or no, over the outputs that it judged, by those whose raters agree.
    """
    judged = [value for value in values if value is not None]
    if not set(judged) <= {0.0, 1.0}:
        return "more than yes and no is said of an output"
    both = zip(values, said, strict=True)
    labelled = [(value, label) for value, label in both if value is not None and label in (0.0, 1.0)]
    yes, no = ([value for value, label in labelled if label == wanted] for wanted in (1.0, 0.0))
    if not (yes and no):
        return "labels of one kind only"
    found = rogan_gladen(
        int(sum(judged)),
        len(judged),
        among_yes=JudgedLabels(int(sum(yes)), len(yes)),
        among_no=JudgedLabels(sum(value == 0 for value in no), len(no)),
    )
    return "no better than a coin within the labels" if found is None else found
