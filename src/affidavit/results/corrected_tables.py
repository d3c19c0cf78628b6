"""Figures of judges and readings as labels by people correct them (ruling S10): shares and scores.

Beside each corrected figure stand the instrument's own, that of people alone by the same formula, and of shares a
second reading. Where there is no corrected figure, the row says why.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from affidavit.plain_text import counted_noun
from affidavit.results.corrected_differences import difference_tables
from affidavit.results.corrected_figures import FEW_EVENTS, Corrected
from affidavit.results.groups import CELL
from affidavit.results.label_set import DrawnLabels
from affidavit.results.labelled_judging import JUDGES, LabelledJudging, MeasuredGroup
from affidavit.results.table import Table
from affidavit.results.values import Value
from affidavit.statistics.estimate import Estimate

FIGURES = (
    "outputs", "not judged", "labels", "uncorrected", "corrected", "people alone", "Rogan-Gladen", "weight",
    "no figure because",
)  # fmt: skip
_HOW = (
    "All figures are over the outputs that labels were drawn from. Corrected: PPI++, with t over labels; the "
    "weight is how much of the judge or reading is in it. People alone: the same formula without it. "
    "docs/people-and-judges.md says when neither holds."
)
_SECOND = (
    "Rogan-Gladen: from sensitivity and specificity over the labels, with the interval of Lang and Reiczigel; "
    "outputs are taken as independent, and those whose raters disagree are left out."
)
_SUMS = "Each verdict is corrected by itself: the shares of one target need not add up to 100 %."
_NAMED = 4
"""Rows that a note names."""


def figure_columns(*, shares: bool) -> tuple[str, ...]:
    """The columns of figures; a second reading is of shares alone."""
    return FIGURES if shares else tuple(name for name in FIGURES if name != "Rogan-Gladen")


def figure_cells(
    naive: Estimate | None, found: Corrected, shown: Callable[[Estimate | None], Value], *, shares: bool
) -> tuple[Value, ...]:
    """The cells of a row, by `figure_columns`."""
    return (
        found.outputs,
        found.not_judged,
        found.labels,
        shown(naive),
        shown(found.estimate),
        shown(found.alone),
        *((found.second,) if shares else ()),
        found.weight,
        found.why_not,
    )


def figure_notes(
    labels: DrawnLabels, rows: Sequence[tuple[str, Corrected]], *, shares: bool, later: int
) -> Iterator[str]:
    """What is to be known of the figures of one question, each with its name; `later` are not on the list."""
    yield _HOW
    if shares:
        yield _SECOND
        yield from _why_no_second([each for _, each in rows])
        yield from _few_events(rows)
    if any(each.not_judged for _, each in rows):
        yield (
            "Not judged: outputs without a valid judgement. People alone and the corrected figure are over them "
            "too, where the judge's mean over the others stands for its word; what stands uncorrected and "
            "Rogan-Gladen leave them out."
        )
    draw = labels.draw
    if draw is not None and (left := len(draw.outputs) - len(labels.labelled)):
        yield (
            f"{left:,} of the {len(draw.outputs):,} outputs that were drawn are not labelled: if these differ "
            "from the others, no figure corrects that."
        )
    if later:
        verb = "is" if later == 1 else "are"
        yield (
            f"{counted_noun(later, 'output')} {verb} not on the list that was drawn from for {labels.about}, and "
            "in no figure here: a further draw starts from the same list."
        )


def _why_no_second(rows: Sequence[Corrected]) -> Iterator[str]:
    reasons = Counter(each.why_no_second for each in rows if each.why_no_second is not None)
    if reasons:
        said = "; ".join(f"{counted_noun(count, 'row')} ({why})" for why, count in sorted(reasons.items()))
        yield f"Without Rogan-Gladen: {said}."


def _few_events(rows: Sequence[tuple[str, Corrected]]) -> Iterator[str]:
    """Where labels nearly all say the same."""
    said = (f"{name} ({each.few:,} of {each.labels:,})" for name, each in rows if each.few is not None)
    if few := list(dict.fromkeys(said)):
        more = f" and {len(few) - _NAMED:,} more" if len(few) > _NAMED else ""
        yield (
            f"Fewer than {FEW_EVENTS} labels say yes, or say no: {', '.join(few[:_NAMED])}{more}. Such intervals "
            "cover less than they say."
        )


# --- tables ---


def judge_tables(judging: LabelledJudging, by: Sequence[str] = CELL) -> Iterator[Table]:
    """Verdicts and scores of each judge, by target and by variant; over all judges where there are several."""
    variants = len({each.variant for each in judging.valid}) > 1
    alone = () if set(by) <= set(CELL) else (_BY,)
    for pooled in (False, *((True,) if judging.several else ())):
        for own in (("target",), *((("target", "variant"),) if variants else ())):
            yield from _by(judging, [*judging.task, *own], alone, pooled=pooled)
    yield from difference_tables(judging)


_BY = "These figures are by target, and by variant: another grouping of outputs does not reach them."


def _by(judging: LabelledJudging, by: Sequence[str], more: Sequence[str], *, pooled: bool) -> Iterator[Table]:
    columns = (*(JUDGES[1:2] if pooled else JUDGES), *by)
    every = list(judging.groups(by, pooled=pooled))
    ending = " by variant" if "variant" in by else ""
    for shares, kind in ((True, "verdicts"), (False, "scores")):
        chosen = [each for each in every if each.measure.is_share is shares]
        if not chosen:
            continue
        rows = tuple(
            (
                *each.names,
                each.measure.name,
                *figure_cells(each.naive, each.found, each.measure.shown, shares=shares),
            )
            for each in chosen
        )
        name = f"{'pooled ' if pooled else ''}corrected {kind}{ending}"
        over = ", over all judges" if pooled else ""
        question = f"Which {kind} would people give{', by variant' if ending else ''}{over}?"
        heads = (*columns, "verdict" if shares else "dimension", *figure_columns(shares=shares))
        notes = (*_notes(judging, chosen, shares=shares), *([_SUMS] if shares else ()), *more)
        foot = "; ".join([judging.figures.primary.identities, *_coverage(judging, chosen)])
        yield Table(name, question, heads, rows, foot, tuple(dict.fromkeys(notes)))


def _coverage(judging: LabelledJudging, chosen: Sequence[MeasuredGroup]) -> list[str]:
    abouts = dict.fromkeys(each.measure.about for each in chosen)
    return [said for about in abouts if (said := judging.labels.of(about).coverage)]


def _notes(judging: LabelledJudging, chosen: Sequence[MeasuredGroup], *, shares: bool) -> Iterator[str]:
    keys = [key for found in judging.outputs(()).values() for key in found]
    for about in dict.fromkeys(each.measure.about for each in chosen):
        own = [(each.name, each.found) for each in chosen if each.measure.about == about]
        labels = judging.labels.of(about)
        yield from figure_notes(labels, own, shares=shares, later=labels.later(keys))
