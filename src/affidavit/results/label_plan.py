"""How many labels it takes for intervals of a width, if labels and judges go on as in a pilot."""

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
    rows = tuple((about, name, *_cells(each, width)) for about, name, each in found)
    notes = (
        f"Labels for an interval that is {width:g} wide from end to end, on the scale of the figure: 0.1 is ten "
        "points of a share. Drawn like those at hand, from the same outputs; a further draw holds the first.",
        "To look at figures and draw until an interval is narrow enough makes intervals cover less than they say: "
        "settle the number by a pilot, draw it, and then look.",
    )
    columns = ("question", "figure", "outputs", "labels", "width", "labels needed", "in words")
    question = f"How many labels does it take for intervals that are {width:g} wide?"
    return Table("label plan", question, columns, rows, identity(groups(records)), notes)


def _cells(found: Corrected, width: float) -> tuple[Value, ...]:
    if found.correction is None:
        return found.outputs, found.labels, None, None, found.why_not
    estimate = found.correction.estimate
    needed = labels_for_width(found.correction, width)
    said = "all outputs labelled would not be enough" if needed is None else _in_words(needed, found.labels)
    return found.outputs, found.labels, f"{estimate.high - estimate.low:.3g}", needed, said


def _in_words(needed: int, there: int) -> str:
    return "there are enough" if needed <= there else f"{needed - there:,} more"
