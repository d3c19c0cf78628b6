"""What was labelled, and how far people and judges agree (ruling S10): counts, agreement, confusion, bias."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from affidavit.contracts.rubric import Verdict
from affidavit.judging.label_questions import ANSWER, CORRECT, SCORE, VERDICT, LabelValue
from affidavit.plain_text import counted_noun
from affidavit.results.corrected_figures import NOT_DRAWN
from affidavit.results.judge_scores import coefficient, grouped
from affidavit.results.judging import POOLED, Evaluation, JudgingFigures
from affidavit.results.label_set import LabelSet
from affidavit.results.labelled_judging import JUDGES, LabelledJudging
from affidavit.results.table import Table
from affidavit.results.values import Mean, Value
from affidavit.statistics.agreement import alpha, exact_agreement, weighted_kappa
from affidavit.statistics.means import mean_by_cluster
from affidavit.statistics.shares import ClusterSums, share

_STEPS = {verdict.value: float(step) for step, verdict in enumerate((Verdict.FAIL, Verdict.PARTIAL, Verdict.PASS))}


def label_tables(labels: LabelSet, judging: LabelledJudging | None, *, seed: int, foot: str) -> Iterator[Table]:
    """A table for each question about labels; those without rows are left out."""
    yield _counts(labels, foot)
    judged = [] if judging is None else list(_judged(judging.figures, labels))
    yield from (table for table in (_agreement(labels, judged, seed, foot),) if table.rows)
    if judging is not None:
        for table in (_confusion(labels, judged, judging.figures), _bias(labels, judged, judging)):
            if table.rows:
                yield table


def _counts(labels: LabelSet, foot: str) -> Table:
    rows = []
    for about in labels.questions:
        own = labels.of(about)
        drawn = own.labelled
        rows.append(
            (
                about,
                None if own.draw is None else own.draw.size,
                None if own.draw is None else len(own.drawn),
                len(drawn),
                None if own.draw is None else len(own.drawn) - len(drawn),
                sum(len(own.answers[key]) > 1 for key in drawn),
                len(own.labelled_before),
                len(own.said) - len(drawn) - len(own.labelled_before),
                len(own.raters),
                labels.corrections[about],
                "" if own.draw is None else ", ".join(own.draw.by),
                NOT_DRAWN if own.draw is None else None,
            )
        )
    columns = (
        "question", "outputs listed", "outputs drawn", "drawn and labelled", "drawn, not labelled",
        "by several raters", "labelled before drawn", "labelled, not drawn", "raters", "corrections", "strata",
        "no figure because",
    )  # fmt: skip
    notes = [
        f"{about}: {counted_noun(len(before), 'drawn output')} had labels before the draw, and none since. "
        "Somebody picked them, so they correct no figure; they count for agreement."
        for about in labels.questions
        if (before := labels.of(about).labelled_before)
    ]
    drawn_from = "; ".join(said for about in labels.questions if (said := labels.of(about).coverage))
    return Table("labels", "What did people label?", columns, tuple(rows), drawn_from or foot, tuple(notes))


# --- numbers of what was said ---


def number_of(about: str) -> Callable[[LabelValue], float] | None:
    """Labels of a question as steps of a scale; None where they are on none, such as answers.

    >>> number_of("verdict")("PARTIAL"), number_of("correct")(True), number_of("answer")
    (1.0, 1.0, None)
    """
    if about == ANSWER:
        return None
    if about == VERDICT:
        return lambda value: _STEPS[str(value)]
    return float


@dataclass(frozen=True)
class _Judged:
    """What one judge said to one question, by output: its first valid evaluation of each."""

    names: tuple[str, str, str]
    about: str
    of: Mapping[str, Evaluation]

    def value(self, key: str) -> float:
        """As a step of the scale."""
        said = self.of[key]
        if self.about == VERDICT:
            return _STEPS[str(said.verdict)]
        return float((said.scores or {})[self.about.removeprefix(SCORE)])


def _judged(figures: JudgingFigures, labels: LabelSet) -> Iterator[_Judged]:
    valid = [each for each in figures.primary.evaluations if each.valid]
    asked = [
        each for each in labels.questions if each == VERDICT or each.removeprefix(SCORE) in figures.rubric.ids
    ]
    for group, members in grouped(valid, lambda each: _names(each, figures)).items():
        first: dict[str, Evaluation] = {}
        for each in sorted(members, key=lambda each: (each.output, each.repeat)):
            first.setdefault(each.output, each)
        for about in asked:
            yield _Judged((group[0], group[1], group[2]), about, first)


def _names(each: Evaluation, figures: JudgingFigures) -> tuple[str, ...]:
    return each.judge, each.condition, POOLED if figures.pooled else each.method


# --- agreement ---


def _agreement(labels: LabelSet, judged: Sequence[_Judged], seed: int, foot: str) -> Table:
    """Between every two raters, between all of them, and of each judge with each rater."""
    rows: list[tuple[Value, ...]] = []
    for about in labels.questions:
        said = labels.said(about)
        number, raters = _steps(labels, about), labels.of(about).raters
        by_rater = {
            rater: {key: number(each[rater]) for key, each in said.items() if rater in each} for rater in raters
        }
        for one, other in combinations(raters, 2):
            rows += _row((about, one, other), [by_rater[one], by_rater[other]], about, seed)
        if len(raters) > 2:
            rows += _row((about, "all raters", ""), list(by_rater.values()), about, seed)
        for judge in (each for each in judged if each.about == about):
            own = {key: judge.value(key) for key in judge.of if key in said}
            for rater in raters:
                named = " · ".join(name for name in (judge.names[0], judge.names[1]) if name)
                rows += _row((about, rater, named), [by_rater[rater], own], about, seed)
    columns = (
        "question",
        "rater",
        "other rater or judge",
        "outputs",
        "exact agreement",
        "weighted kappa",
        "alpha",
        "kind of alpha",
    )
    with_judges = any(each.about in labels.questions for each in judged)
    notes = (
        "All labels, drawn or not. Kappa has quadratic weights, which make no difference between yes and no; of "
        "answers, which have no order, there is none. Alpha is ordinal where what may be said has an order, and "
        "nominal for yes and no and for answers. The interval of exact agreement is Wilson's. Those of kappa "
        "and alpha are percentile bootstraps over outputs, from ten on; with few outputs they are too narrow.",
    )
    return Table(
        "label agreement",
        f"Do people agree with each other{' and with the judges' if with_judges else ''}?",
        columns,
        tuple(rows),
        foot,
        notes,
    )


def _steps(labels: LabelSet, about: str) -> Callable[[LabelValue], float]:
    """Steps of the scale; of answers, a number for each."""
    number = number_of(about)
    if number is not None:
        return number
    every = sorted({str(value) for said in labels.said(about).values() for value in said.values()})
    return lambda value: float(every.index(str(value)))


def _row(
    names: tuple[str, str, str], sides: Sequence[Mapping[str, float]], about: str, seed: int
) -> list[tuple[Value, ...]]:
    counts = Counter(key for side in sides for key in side)
    shared = sorted(key for key, count in counts.items() if count > 1)
    if not shared:
        return []
    ratings = [[side.get(key) for side in sides] for key in shared]
    ordered, exact = about != ANSWER, exact_agreement(ratings)
    kappa = None
    if len(sides) == 2 and ordered:
        kappa = coefficient(lambda: weighted_kappa(ratings, weights="quadratic", seed=seed))
    level: Literal["ordinal", "nominal"] = "ordinal" if ordered and about != CORRECT else "nominal"
    return [
        (
            *names,
            exact.n,
            exact,
            Mean.of(kappa),
            Mean.of(coefficient(lambda: alpha(ratings, level=level, seed=seed))),
            level,
        )
    ]


# --- confusion and bias ---


def _confusion(labels: LabelSet, judged: Sequence[_Judged], figures: JudgingFigures) -> Table:
    """What judges say where a rater says this; of several raters of an output each one counts."""
    rows: list[tuple[Value, ...]] = []
    for judge in judged:
        number = number_of(judge.about)
        said = {key: each for key, each in labels.said(judge.about).items() if key in judge.of}
        if number is not None:
            rows += [(judge.about, *judge.names, *cells) for cells in _confused(said, judge, number)]
    columns = ("question", *JUDGES, "people", "judge says", "ratings", "raters", "share")
    notes = (
        "Every rating counts, also several of one output; the share is of all ratings that say the same, and the "
        "ratings of one output are a cluster. All labels, drawn or not.",
    )
    question = "What do judges say where people say this?"
    return Table("label confusion", question, columns, tuple(rows), figures.primary.identities, notes)


def _confused(
    said: Mapping[str, Mapping[str, LabelValue]], judge: _Judged, number: Callable[[LabelValue], float]
) -> Iterator[tuple[Value, ...]]:
    """For each word of people and of the judge: how many ratings, by how many raters, of all that say so."""
    ratings: dict[float, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for key, each in said.items():
        for rater, value in each.items():
            ratings[number(value)][key].append(rater)
    for people, by_output in sorted(ratings.items(), reverse=True):
        for own in sorted({judge.value(key) for key in by_output}, reverse=True):
            here = {key: raters for key, raters in by_output.items() if judge.value(key) == own}
            sums = ClusterSums.of((len(raters) * (key in here), len(raters)) for key, raters in by_output.items())
            names = {rater for raters in here.values() for rater in raters}
            worded = (_worded(judge.about, people), _worded(judge.about, own))
            yield *worded, sum(map(len, here.values())), len(names), share(sums)


def _worded(about: str, step: float) -> str:
    if about == VERDICT:
        return next(name for name, place in _STEPS.items() if place == step)
    return f"{step:g}"


def _bias(labels: LabelSet, judged: Sequence[_Judged], judging: LabelledJudging) -> Table:
    """How much more judges give than people do, on the outputs that were drawn and labelled.

    Of a question that nothing was drawn for it is over whatever was labelled, and a note says so.
    """
    rows: list[tuple[Value, ...]] = []
    figures = judging.figures
    variants = len({each.variant for each in figures.primary.evaluations}) > 1
    not_drawn: set[str] = set()
    for judge in judged:
        own, number = labels.of(judge.about), number_of(judge.about)
        if number is None:
            continue
        if own.draw is None:
            not_drawn.add(judge.about)
        apart: dict[tuple[str, str], list[tuple[Hashable, float]]] = defaultdict(list)
        for key in own.said if own.draw is None else own.labelled:
            label = own.mean_of_all(key, number) if own.draw is None else own.label_of(key, number)
            if key in judge.of and label is not None:
                each = judge.of[key]
                gap = judging.places.cluster(each), judge.value(key) - label
                for place in ((each.target, ""), *(((each.target, each.variant),) if variants else ())):
                    apart[place].append(gap)
        rows += [
            (judge.about, *judge.names, target, variant or None, len(gaps), Mean(mean_by_cluster(gaps)))
            for (target, variant), gaps in sorted(apart.items())
        ]
    columns = ("question", *JUDGES, "target", "variant", "labels", "judge minus people")
    notes = (
        "Steps of the scale that the judge gives more than people; a verdict is 0, 1 or 2. A dash stands for all "
        "variants. Intervals are t over questions, or over the clusters that were named, from ten on. Of a "
        "draw by strata it is about what was drawn.",
        *(f"{about}: {NOT_DRAWN}; this is about the labelled outputs alone." for about in sorted(not_drawn)),
    )
    return Table(
        "judge bias", "Do judges give more than people?", columns, tuple(rows), figures.primary.identities, notes
    )
