"""How many labels it takes for intervals of a width, if labels and judges go on as in a pilot."""

from math import ceil

from affidavit.judging.label_draws import LabelDraw
from affidavit.results.corrected_figures import Corrected
from affidavit.results.corrected_readings import reading_figures
from affidavit.results.counting import RecordSet, groups
from affidavit.results.groups import identity
from affidavit.results.label_set import LabelSet
from affidavit.results.labelled_judging import LabelledJudging, judge_figures
from affidavit.results.table import Table
from affidavit.results.values import Value
from affidavit.statistics.corrected_means import labels_for_width


def label_plan(records: RecordSet, labels: LabelSet, judging: LabelledJudging | None, *, width: float) -> Table:
    """A row for each figure that labels correct: how wide its interval is, and how many labels make it so wide."""
    found = [*([] if judging is None else judge_figures(judging)), *reading_figures(records, labels)]
    rows = tuple((about, name, *_cells(each, labels.of(about).draw, width)) for about, name, each in found)
    notes = (
        f"Labels for an interval that is {width:g} wide from end to end, on the scale of the figure: 0.1 is ten "
        "points of a share. Labels needed are of the outputs of the row alone. Draw -n is what to type for them: "
        "it counts all outputs of the question, over all strata, those of the first draw among them; it is taken "
        "that they spread over the rows, and are labelled, as at first. For several rows, type the greatest.",
        "An interval speaks of further questions like these, not of these outputs alone: it has a width even with "
        "every output labelled.",
        "To look at figures and draw until an interval is narrow enough makes intervals cover less than they say: "
        "settle the number by a pilot, draw it, and then look.",
    )
    columns = ("question", "figure", "outputs", "labels", "width", "labels needed", "draw -n", "in words")
    question = f"How many labels does it take for intervals that are {width:g} wide?"
    return Table("label plan", question, columns, rows, identity(groups(records)), notes)


def _cells(found: Corrected, draw: LabelDraw | None, width: float) -> tuple[Value, ...]:
    if found.correction is None:
        return found.outputs, found.labels, None, None, None, found.why_not
    # Cut at the ends of its scale, as it stands in the tables.
    there, estimate = found.labels, found.correction.estimate
    is_narrow = estimate.high - estimate.low <= width
    needed = there if is_narrow else labels_for_width(found.correction, width)
    shown = f"{estimate.high - estimate.low:.3g}"
    if needed is None:
        return found.outputs, there, shown, None, None, "all outputs labelled would not be enough"
    if needed <= there:
        return found.outputs, there, shown, needed, None, "there are enough"
    return found.outputs, there, shown, needed, _to_draw(draw, needed / there), f"{needed - there:,} more"


def _to_draw(draw: LabelDraw | None, times: float) -> int | None:
    """How many outputs to draw in all, if each part of the draw grows alike."""
    return None if draw is None else min(draw.size, ceil(draw.n * times))
