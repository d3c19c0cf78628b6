"""Scores of evaluations: means over questions, differences between variants, bounds, agreement, self-preference.

Means are over valid evaluations; beside them stand those with the clause `evidence_not_located` set aside (ruling
J6). Intervals are Student's t over questions, from ten questions on.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import inf, isfinite
from typing import NamedTuple

from affidavit.contracts.evaluation import JudgingMethod
from affidavit.contracts.rubric import TOTAL, Rubric
from affidavit.results.judging import Evaluation, Given, JudgedSide, JudgeFigures, JudgingFigures
from affidavit.statistics.agreement import alpha, exact_agreement, weighted_kappa
from affidavit.statistics.differences import PairedDifference
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.means import FEWEST_CLUSTERS, mean_by_cluster
from affidavit.statistics.self_preference import JudgedScore, SelfPreference, self_preference

MAPPED = "mapped overall"
"""The sum of mapped dimensions (ruling J11)."""
Group = tuple[str, ...]
Question = tuple[str, str]
"""Its task and its id: two tasks may have questions of one id (ruling S8)."""


class ScoreColumn(NamedTuple):
    """One score of an evaluation: a dimension, or a sum; and between which numbers it lies."""

    name: str
    lowest: float
    highest: float

    @property
    def range(self) -> str:
        """The two ends in words."""
        return f"{self.lowest:g}–{self.highest:g}"


def score_columns(rubric: Rubric) -> list[ScoreColumn]:
    """Dimensions in the rubric's order, as they are mapped; the sum of mapped ones; then the native total (J11).

    >>> from affidavit.contracts.rubric import DEFAULT
    >>> [(column.name, column.range) for column in score_columns(DEFAULT)][-2:]
    [('COMPLETENESS', '0–2'), ('overall_score', '0–8')]
    """
    low, high = rubric.scores[0], rubric.scores[-1]
    names = list(rubric.mapped(dict.fromkeys(rubric.ids, low)))
    columns = [ScoreColumn(name, low, high) for name in names]
    if rubric.maps_to:
        columns.append(ScoreColumn(MAPPED, low * len(names), high * len(names)))
    return [*columns, ScoreColumn(TOTAL, low * len(rubric.ids), rubric.highest_total)]


def scores_of(evaluation: Evaluation, rubric: Rubric) -> dict[str, float]:
    """All scores of an evaluation that has them, by the names of `score_columns`."""
    if evaluation.scores is None:
        return {}
    mapped = rubric.mapped(evaluation.scores)
    return {**mapped, MAPPED: sum(mapped.values()), TOTAL: evaluation.overall}


# --- means ---


@dataclass(frozen=True)
class ScoreMean:
    """The mean of one score over a group of evaluations."""

    group: Group
    column: ScoreColumn
    mean: Estimate | None
    """Over valid evaluations."""
    mean_quotes_aside: Estimate | None
    """With the clause `evidence_not_located` set aside (ruling J6)."""


def grouped(
    evaluations: Iterable[Evaluation], key: Callable[[Evaluation], Group]
) -> dict[Group, list[Evaluation]]:
    """Evaluations by their group, in the order of names."""
    groups: dict[Group, list[Evaluation]] = defaultdict(list)
    for each in evaluations:
        groups[key(each)].append(each)
    return dict(sorted(groups.items()))


def score_means(
    evaluations: Iterable[Evaluation], rubric: Rubric, key: Callable[[Evaluation], Group]
) -> Iterator[ScoreMean]:
    """Means of every score by group; a group without a score has none."""
    for group, members in grouped((each for each in evaluations if each.scores is not None), key).items():
        given = [(each, scores_of(each, rubric)) for each in members]
        for column in score_columns(rubric):
            values = [(each.cluster, scores[column.name], each.valid) for each, scores in given]
            strict = [(cluster, value) for cluster, value, valid in values if valid]
            aside = [(cluster, value) for cluster, value, _ in values]
            yield ScoreMean(group, column, mean_by_cluster(strict) if strict else None, mean_by_cluster(aside))


# --- differences between variants ---


class QuestionCounts(NamedTuple):
    """The questions that a target has answered under two variants or one; each is counted exactly once."""

    paired: int
    """The same judge has scored both variants."""
    different_judges: int
    """Both variants are scored, and no judge has scored both."""
    one_variant: int
    not_judged: int
    """No valid evaluation of either variant."""


@dataclass(frozen=True)
class VariantDifference:
    """Overall scores of one target under two variants of the same questions, paired by question (ruling S2)."""

    group: Group
    first: str
    second: str
    questions: QuestionCounts
    scores: PairedDifference | None
    """The second variant less the first; None where no question is paired."""


_Totals = Mapping[str, Sequence[int]]
"""The overall scores of one question under one variant, by judge."""


def variant_differences(
    side: JudgedSide, figures: JudgingFigures, names: Callable[[Given], Group], *, by_task: bool
) -> Iterator[VariantDifference]:
    """Every two variants of a target, for all that was asked under the same names; nothing asked is left out.

    A question's difference is formed within each judge, and is the mean over the judges that have scored both.
    """
    column = score_columns(figures.rubric)[-1]
    answered: dict[str, dict[Group, dict[str, set[Question]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(set))
    )
    for place in figures.places:
        answered[place.target][(place.task,) if by_task else ()][place.variant].add(place.cluster)
    totals: dict[tuple[Group, str, str], dict[Question, dict[str, list[int]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for each in side.evaluations:
        if each.valid:
            totals[names(each), each.target, each.variant][each.cluster][each.judge].append(each.overall)
    asked = {(names(each), each.target) for each in side.given}
    rows = [(group, task, target) for group, target in asked for task in answered[target]]
    for group, task, target in sorted(rows):
        variants = answered[target][task]
        for first, second in combinations(sorted(variants), 2):
            one, two = (totals.get((group, target, variant), {}) for variant in (first, second))
            questions = sorted(variants[first] | variants[second])
            both = [(one.get(question, {}), two.get(question, {})) for question in questions]
            counts, paired = _paired(both, scale=column.highest - column.lowest)
            yield VariantDifference((*group, *task, target), first, second, counts, paired)


def _paired(
    questions: Sequence[tuple[_Totals, _Totals]], *, scale: float
) -> tuple[QuestionCounts, PairedDifference | None]:
    """What both variants of each question were given, as counts and as the difference of those that are paired."""
    pairs = [(one, two, sorted(one.keys() & two.keys())) for one, two in questions]
    # Fractions: thirds of points that add up to nothing are no difference.
    first = [_mean_over(one, judges) for one, _, judges in pairs if judges]
    second = [_mean_over(two, judges) for _, two, judges in pairs if judges]
    counts = QuestionCounts(
        len(first),
        sum(bool(one and two and not judges) for one, two, judges in pairs),
        sum(bool(one) != bool(two) for one, two, _ in pairs),
        sum(not one and not two for one, two, _ in pairs),
    )
    if not first:
        return counts, None
    return counts, PairedDifference.of_means(list(map(float, first)), list(map(float, second)), scale=scale)


def _mean_over(totals: _Totals, judges: Sequence[str]) -> Fraction:
    """The mean over these judges of what each gave on average."""
    return sum((Fraction(sum(totals[judge]), len(totals[judge])) for judge in judges), Fraction()) / len(judges)


# --- bounds ---


class OverallBounds(NamedTuple):
    """The mean overall score if every missing evaluation gave the lowest total, and if every one the highest.

    From the lower end of the one to the upper end of the other is a range that covers sampling too (ruling S6).
    """

    lowest: Estimate
    highest: Estimate
    missing: int


def overall_bounds(given: Sequence[Given], judges: Sequence[JudgeFigures], rubric: Rubric) -> OverallBounds | None:
    """The bounds over everything that the judges were to judge; None if that is nothing.

    Each has t over questions, from ten questions on, within the scale. While judgements are pending there is none:
    nothing says here which questions they are about.
    """
    planned, column = sum(judge.planned for judge in judges), score_columns(rubric)[-1]
    if not planned:
        return None
    known = [
        (each.cluster, each.overall if isinstance(each, Evaluation) and each.valid else None) for each in given
    ]
    missing = planned - sum(total is not None for _, total in known)
    lowest, highest = (_bound(known, planned, column, end) for end in (column.lowest, column.highest))
    return OverallBounds(lowest, highest, missing)


def _bound(
    known: Sequence[tuple[Question, int | None]], planned: int, column: ScoreColumn, end: float
) -> Estimate:
    """The mean with this total in place of every missing one."""
    filled = [(question, end if total is None else float(total)) for question, total in known]
    if pending := planned - len(filled):
        value = (sum(total for _, total in filled) + pending * end) / planned
        return Estimate(value, -inf, inf, planned, f"{pending:,} pending: {NO_SAMPLING}")
    found = mean_by_cluster(filled)
    if not isfinite(found.low):
        return replace(found, method=f"{found.method}; {NO_SAMPLING}")
    return replace(found, low=max(column.lowest, found.low), high=min(column.highest, found.high))


NO_SAMPLING = "sampling is not in it"
"""Said of a bound that has no interval."""


# --- agreement ---


class Agreement(NamedTuple):
    """How far raters of the same outputs agree on one score."""

    column: ScoreColumn
    exact: Estimate
    kappa: Estimate | None
    """Quadratic weights; None of more than two raters, or where all ratings are one."""
    alpha: Estimate | None


def agreements(
    evaluations: Iterable[Evaluation], rubric: Rubric, rater: Callable[[Evaluation], Hashable], seed: int
) -> list[Agreement]:
    """The agreement of raters over outputs that two of them have scored; of each, its first valid evaluation."""
    raters: dict[Hashable, int] = {}
    given: dict[str, dict[int, dict[str, float]]] = defaultdict(dict)
    for each in sorted(evaluations, key=lambda e: (str(rater(e)), e.output, e.repeat)):
        if each.valid:
            place = raters.setdefault(rater(each), len(raters))
            given[each.output].setdefault(place, scores_of(each, rubric))
    units = [scores for _, scores in sorted(given.items()) if len(scores) > 1]
    if not units:
        return []
    return [
        _agreement(column, [[_score(unit, place, column) for place in range(len(raters))] for unit in units], seed)
        for column in score_columns(rubric)
    ]


def _score(unit: Mapping[int, Mapping[str, float]], place: int, column: ScoreColumn) -> float | None:
    return unit[place][column.name] if place in unit else None


def _agreement(column: ScoreColumn, ratings: Sequence[Sequence[float | None]], seed: int) -> Agreement:
    kappa = None
    if len(ratings[0]) == 2:
        kappa = coefficient(lambda: weighted_kappa(ratings, weights="quadratic", seed=seed))
    return Agreement(column, exact_agreement(ratings), kappa, coefficient(lambda: alpha(ratings, seed=seed)))


def coefficient(found_by: Callable[[], Estimate]) -> Estimate | None:
    """The coefficient where there is one; few outputs are no certainty, nor is agreement on all (ruling S11)."""
    try:
        found = found_by()
    except ValueError:  # all ratings are one, or the scale is too long to be ordinal
        return None
    if found.n < FEWEST_CLUSTERS:
        why = f"{found.n} output{'s' * (found.n != 1)}: no interval below {FEWEST_CLUSTERS}"
        return Estimate(found.value, -inf, inf, found.n, why)
    if found.low == found.high:
        return Estimate(found.value, -inf, inf, found.n, "every sample gives the same: no interval")
    return found


# --- self-preference ---


class Preference(NamedTuple):
    """Self-preference under one condition of judging, and the raw means, which are no measure of it."""

    judging_condition: str
    fitted: SelfPreference
    own_mean: Estimate
    """Raw: what the judges give their own outputs."""
    others_mean: Estimate
    """Raw: what other judges give the same outputs."""
    questions_in_fit: int
    """Of all outputs that two judges have scored, whoever wrote them: what the interval is over."""


def self_preferences(figures: JudgingFigures) -> Iterator[Preference]:
    """γ of every judge that has judged outputs of its own which another judge has judged too (ruling S7)."""
    both = [*figures.primary.evaluations, *figures.own.evaluations]
    for (condition,), members in grouped((each for each in both if each.valid), lambda e: (e.condition,)).items():
        scores = [
            JudgedScore(e.judge, e.output, e.cluster, e.overall, e.method == JudgingMethod.SELF) for e in members
        ]
        judges: dict[Hashable, set[str]] = defaultdict(set)
        for each in scores:
            judges[each.output].add(each.judge)
        in_fit = len({each.question for each in scores if len(judges[each.output]) > 1})
        for fitted in self_preference(scores):
            own = [e for e in scores if e.own and e.judge in fitted.judges and len(judges[e.output]) > 1]
            written = {(e.judge, e.output) for e in own}
            theirs = {output for _, output in written}
            others = [e for e in scores if e.output in theirs and (e.judge, e.output) not in written]
            yield Preference(condition, fitted, _raw_mean(own), _raw_mean(others), in_fit)


def _raw_mean(scores: Sequence[JudgedScore]) -> Estimate:
    return mean_by_cluster([(each.question, each.score) for each in scores])
