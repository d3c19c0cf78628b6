"""Figures of judges and readings as labels by people correct them (ruling S10): shares, scores, differences.

Beside each corrected figure stand the instrument's own, that of people alone by the same formula, and of shares a
second reading. Where there is no corrected figure, the row says why.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite

from affidavit.contracts.rubric import Verdict
from affidavit.judging.label_questions import SCORE, VERDICT, LabelValue
from affidavit.plain_text import counted_noun
from affidavit.results.corrected_figures import Corrected, Measured, corrected
from affidavit.results.judge_scores import Group, grouped
from affidavit.results.judging import POOLED, Evaluation, JudgingFigures, output_share
from affidavit.results.label_set import DrawnLabels, LabelSet
from affidavit.results.table import Table
from affidavit.results.values import Chance, Mean, Points, Value
from affidavit.statistics.corrected_means import Correction, corrected_difference, corrected_verdicts
from affidavit.statistics.estimate import Estimate, Form
from affidavit.statistics.means import mean_by_cluster
from affidavit.statistics.multiplicity import Verdict as SaidOfDifference

FIGURES = (
    "outputs", "labels", "uncorrected", "corrected", "people alone", "Rogan-Gladen", "weight", "no figure because",
)  # fmt: skip
_HOW = (
    "Corrected: PPI++ over all listed outputs, with t over labels; its weight is how much of the judge or reading "
    "is in it. People alone: the same formula without it. docs/people-and-judges.md says when neither holds."
)
_SECOND = (
    "Rogan-Gladen: from sensitivity and specificity over the labels, with the interval of Lang and Reiczigel; "
    "outputs are taken as independent, and those whose raters disagree are left out."
)
JUDGES = ("judge", "judging condition", "method")


def figure_cells(
    naive: Estimate | None, found: Corrected, shown: Callable[[Estimate | None], Value]
) -> tuple[Value, ...]:
    """The cells of a row, by the columns of `FIGURES`."""
    return (
        found.outputs,
        found.labels,
        shown(naive),
        shown(found.estimate),
        shown(found.alone),
        found.second,
        found.weight,
        found.why_not,
    )


def figure_notes(labels: DrawnLabels, *, shares: bool) -> tuple[str, ...]:
    """What is to be known of the figures of one question."""
    draw = labels.draw
    left = 0 if draw is None else len(draw.outputs) - len(labels.labelled)
    open_still = (
        f"{left:,} of the {draw.n:,} outputs that were drawn are not labelled: if these differ from the others, "
        "no figure corrects that."
        if draw is not None and left
        else ""
    )
    return tuple(note for note in (_HOW, _SECOND if shares else "", open_still) if note)


@dataclass(frozen=True)
class _Measure:
    """One figure of judges: of a verdict, or of a score."""

    about: str
    name: str
    scale: tuple[float, float]
    of: Callable[[Evaluation], float]
    number: Callable[[str, LabelValue], float]

    @property
    def is_share(self) -> bool:
        """Whether it is shown in per cent."""
        return self.about == VERDICT

    def shown(self, estimate: Estimate | None) -> Value:
        """As it stands in a table."""
        return estimate if self.is_share else Mean.of(estimate)

    def naive(self, evaluations: Sequence[Evaluation]) -> Estimate | None:
        """The judges' own figure, as other tables have it."""
        if self.is_share:
            return output_share(evaluations, lambda each: self.of(each) == 1)
        return mean_by_cluster([(each.cluster, self.of(each)) for each in evaluations])


def _measures(figures: JudgingFigures, labels: LabelSet) -> Iterator[_Measure]:
    rubric, asked = figures.rubric, labels.questions
    if VERDICT in asked:
        for verdict in Verdict:
            yield _Measure(VERDICT, verdict.value, (0.0, 1.0), _gives(verdict), _is_verdict(verdict))
    for name in (each for each in rubric.ids if f"{SCORE}{each}" in asked):
        ends = float(rubric.scores[0]), float(rubric.scores[-1])
        yield _Measure(f"{SCORE}{name}", name, ends, _score(name), lambda _key, value: float(value))


def _gives(verdict: Verdict) -> Callable[[Evaluation], float]:
    return lambda each: float(each.verdict == verdict)


def _is_verdict(verdict: Verdict) -> Callable[[str, LabelValue], float]:
    return lambda _key, value: float(value == verdict.value)


def _score(name: str) -> Callable[[Evaluation], float]:
    return lambda each: float((each.scores or {})[name])


# --- shares and scores ---


def judge_tables(figures: JudgingFigures, labels: LabelSet) -> Iterator[Table]:
    """Verdicts and scores of each judge, by target and by variant; over all judges where there are several."""
    valid = [each for each in figures.primary.evaluations if each.valid]
    measures = list(_measures(figures, labels))
    task = ("task",) if len(figures.tasks) > 1 else ()
    several = len({each.judge for each in valid}) > 1
    variants = len({each.variant for each in valid}) > 1
    for pooled in (False, *((True,) if several else ())):
        for by in (("target",), *((("target", "variant"),) if variants else ())):
            yield from _by(figures, labels, measures, [*task, *by], valid, pooled=pooled)
    yield from _differences(figures, labels, measures, valid, task)


def judge_figures(figures: JudgingFigures, labels: LabelSet) -> Iterator[tuple[str, str, Corrected]]:
    """Question, name and figure of each judge and target, over all variants."""
    valid = [each for each in figures.primary.evaluations if each.valid]
    named = _names(figures, pooled=False)
    for measure in _measures(figures, labels):
        for group, members in grouped(valid, lambda each: (*named(each), each.target)).items():
            yield measure.about, ", ".join((measure.name, *group)), _corrected(measure, members, labels)


def _names(figures: JudgingFigures, *, pooled: bool) -> Callable[[Evaluation], Group]:
    if pooled:
        return lambda each: (each.condition,)
    return lambda each: (each.judge, each.condition, POOLED if figures.pooled else each.method)


def _by(  # noqa: PLR0913 - which figures, of whom, by what
    figures: JudgingFigures,
    labels: LabelSet,
    measures: Sequence[_Measure],
    by: Sequence[str],
    valid: Sequence[Evaluation],
    *,
    pooled: bool,
) -> Iterator[Table]:
    named = _names(figures, pooled=pooled)
    columns = (*(JUDGES[1:2] if pooled else JUDGES), *by)
    groups = grouped(valid, lambda each: (*named(each), *(getattr(each, name) for name in by)))
    ending = " by variant" if "variant" in by else ""
    for shares, kind in ((True, "verdicts"), (False, "scores")):
        chosen = [each for each in measures if each.is_share is shares]
        if not chosen:
            continue
        rows = [
            (
                *group,
                measure.name,
                *figure_cells(measure.naive(members), _corrected(measure, members, labels), measure.shown),
            )
            for group, members in groups.items()
            for measure in chosen
        ]
        name = f"{'pooled ' if pooled else ''}corrected {kind}{ending}"
        over = ", over all judges" if pooled else ""
        question = f"Which {kind} would people give{', by variant' if ending else ''}{over}?"
        notes = [
            note
            for about in dict.fromkeys(each.about for each in chosen)
            for note in figure_notes(labels.of(about), shares=shares)
        ]
        heads = (*columns, "verdict" if shares else "dimension", *FIGURES)
        yield Table(name, question, heads, tuple(rows), figures.primary.identities, tuple(dict.fromkeys(notes)))


def _corrected(measure: _Measure, evaluations: Sequence[Evaluation], labels: LabelSet) -> Corrected:
    return corrected(
        measured_by(evaluations, measure.of), labels.of(measure.about), measure.number, scale=measure.scale
    )


def measured_by(evaluations: Sequence[Evaluation], of: Callable[[Evaluation], float]) -> list[Measured]:
    """What judges say of each output: the mean over all valid evaluations of it."""
    values: dict[tuple[str, tuple[str, str]], list[float]] = defaultdict(list)
    for each in evaluations:
        values[each.output, each.cluster].append(of(each))
    return [Measured(key, cluster, sum(found) / len(found)) for (key, cluster), found in values.items()]


# --- differences between targets ---


@dataclass(frozen=True)
class _Side:
    target: str
    naive: float
    correction: Correction


def _differences(
    figures: JudgingFigures,
    labels: LabelSet,
    measures: Sequence[_Measure],
    valid: Sequence[Evaluation],
    task: Sequence[str],
) -> Iterator[Table]:
    """Every two targets that have a corrected figure, paired by question; all rows are one family (ruling S3)."""
    named = _names(figures, pooled=False)
    groups = grouped(valid, lambda each: (*named(each), *(getattr(each, name) for name in task), each.target))
    chosen = [each for each in measures if not each.is_share or each.name == Verdict.PASS]
    pairs: list[tuple[Group, _Measure, _Side, _Side]] = []
    notes: list[str] = []
    for measure in chosen:
        sides: dict[Group, list[_Side]] = defaultdict(list)
        for group, members in groups.items():
            found = _corrected(measure, members, labels)
            naive = measure.naive(members)
            if found.correction is not None and naive is not None:
                sides[group[:-1]].append(_Side(group[-1], naive.value, found.correction))
        for names, own in sides.items():
            pairs += [(names, measure, first, second) for first, second in combinations(own, 2)]
    differences = [corrected_difference(first.correction, second.correction) for _, _, first, second in pairs]
    verdicts = corrected_verdicts(differences)
    rows = tuple(
        (*names, measure.name, first.target, second.target, *_difference_cells(measure, first, second, said))
        for (names, measure, first, second), said in zip(pairs, verdicts, strict=True)
    )
    notes += _rankings(pairs, verdicts)
    notes.append(
        "The second target less the first. Outputs to one question are paired; t tests, Holm over the table, each "
        "interval at the level of its verdict."
    )
    columns = (
        *JUDGES, *task, "measure", "from", "to", "labels", "uncorrected difference", "difference", "level", "p",
        "p, Holm", "in words",
    )  # fmt: skip
    question = "Do targets differ once the judges are corrected by people?"
    if rows:
        yield Table("corrected differences", question, columns, rows, figures.primary.identities, tuple(notes))


def _difference_cells(measure: _Measure, first: _Side, second: _Side, said: SaidOfDifference) -> tuple[Value, ...]:
    naive = second.naive - first.naive
    words = (
        said.in_words(Form.POINTS if measure.is_share else Form.MEAN)
        if isfinite(said.estimate.low)
        else said.estimate.method
    )
    return (
        said.estimate.n,
        naive if measure.is_share else round(naive, 4),
        Points(said.estimate) if measure.is_share else Mean(said.estimate),
        Chance(said.level),
        Chance(said.significance.p_value),
        Chance(said.adjusted),
        words,
    )


def _rankings(
    pairs: Sequence[tuple[Group, _Measure, _Side, _Side]], verdicts: Sequence[SaidOfDifference]
) -> Iterator[str]:
    """For each judge and measure, whether its order of targets is that of the corrected figures."""
    together: dict[tuple[Group, str], dict[str, _Side]] = defaultdict(dict)
    told: dict[tuple[Group, str], list[bool | None]] = defaultdict(list)
    for (names, measure, first, second), said in zip(pairs, verdicts, strict=True):
        key = names, measure.name
        together[key] |= {first.target: first, second.target: second}
        agrees = (second.naive > first.naive) == (said.direction == "higher")
        told[key].append(None if said.direction is None else agrees)
    for (names, name), sides in together.items():
        before, after = (_order(sides, by) for by in (lambda s: s.naive, lambda s: s.correction.estimate.value))
        own = told[names, name]
        clear, turned = sum(each is not None for each in own), sum(each is False for each in own)
        kept = "is the same" if before == after else f"becomes {', '.join(after)}"
        yield (
            f"{name} by {names[0]}: the order of targets by the judge, {', '.join(before)}, {kept} after "
            f"correction; of {counted_noun(len(own), 'difference')}, {clear:,} can be told then, {turned:,} of "
            "these the other way round."
        )


def _order(sides: Mapping[str, _Side], by: Callable[[_Side], float]) -> list[str]:
    return [side.target for side in sorted(sides.values(), key=lambda side: (-by(side), side.target))]
