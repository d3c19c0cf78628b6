"""A sentence for summaries of a judging, which show judges' own figures: what people who labelled say of these."""

from collections.abc import Iterator
from math import isfinite

from affidavit.results.labelled_judging import LabelledJudging, MeasuredGroup
from affidavit.statistics.estimate import Form, in_words, worded


def said_by_people(judging: LabelledJudging) -> Iterator[str]:
    """How much was labelled, and the figure that people move the most; the accounting of what was drawn.

    A move is one whose corrected interval has not the judges' own figure in it.
    """
    found = list(judging.groups((*judging.task, "target"), pooled=judging.several))
    if not found:
        return
    abouts = [
        about for about in dict.fromkeys(each.measure.about for each in found) if judging.labels.of(about).draw
    ]
    drawn = [judging.labels.of(about) for about in abouts]
    if not drawn:
        return
    said = " and ".join(
        f"{len(each.labelled):,} of {len(each.strata):,} outputs for {each.about}" for each in drawn
    )
    moved = _most_moved(found, 1 + len(judging.task))
    yield f"These are the judges' own figures. People labelled {said}: {moved}."
    yield "; ".join(each.coverage for each in drawn)


def _most_moved(found: list[MeasuredGroup], places: int) -> str:
    """In words; so many of the last names of a group say whose outputs it is."""
    corrected = [each for each in found if each.found.estimate is not None]
    if not corrected:
        return "too few for a corrected figure"
    moved = [(by, each) for each in corrected if (by := _move(each)) > 0]
    if not moved:
        return "the interval of no corrected figure excludes the judges' own"
    _, most = max(moved, key=lambda each: each[0])
    form = Form.SHARE if most.measure.is_share else Form.MEAN
    estimate, naive = most.found.estimate, most.naive
    if estimate is None or naive is None:
        raise AssertionError(most.name)
    what = f"{most.measure.name} of {', '.join(most.names[-places:])}"
    return f"corrected, {what} is {in_words(estimate, form)} in place of {worded(naive, form).figure}"


def _move(each: MeasuredGroup) -> float:
    """How far the corrected figure is from the judges' own, on its scale; 0 where its interval has that in it."""
    estimate, naive = each.found.estimate, each.naive
    if estimate is None or naive is None or not isfinite(estimate.low):
        return 0.0
    if estimate.low <= naive.value <= estimate.high:
        return 0.0
    low, high = each.measure.scale
    return abs(estimate.value - naive.value) / (high - low)
