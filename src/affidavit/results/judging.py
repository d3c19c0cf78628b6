"""What a judging came to: coverage, flags, quotes, scores, verdicts, differences, and what judges give themselves.

The primary tables hold evaluations of other models' outputs only (ruling J8); a judge's own have tables of their
own, unless both are pooled, which every title then says. Invalid evaluations are counted and never averaged:
*invalid* does not mean *low quality*. Beside the mean over the valid ones stands the mean with the clause
`evidence_not_located` set aside (ruling J6), and the bounds between which it would lie if all that is missing were
lowest or highest.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

from affidavit.archive.record import Judgement, Record
from affidavit.contracts.evaluation import EvidenceKind, JudgingMethod
from affidavit.contracts.finding import ADVISORY, Code
from affidavit.contracts.rubric import TOTAL, Rubric
from affidavit.judging.plan import JudgeCell
from affidavit.reading.accounting import identity
from affidavit.reading.tally import Tally
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.means import cluster_mean
from affidavit.statistics.shares import wilson

POOLED = "cross + self"
_FOUND = (EvidenceKind.EXACT, EvidenceKind.NORMALISED, EvidenceKind.ELIDED)


class Scored(NamedTuple):
    """One evaluation whose scores can be read, valid or valid but for its quotes."""

    judge: str
    condition: str
    method: str
    target: str
    variant: str
    question: str
    output: str
    verdict: str
    scores: Mapping[str, Any]
    """Whole numbers as the judge gave them, or what the rubric makes of them."""
    overall: int
    valid: bool
    """False: only its quotes were nowhere to be found."""


@dataclass
class Judgements:
    """Everything that the tables are made of, gathered record by record."""

    scored: list[Scored] = field(default_factory=list)

    def add(self, record: Record) -> None:
        """One record; only evaluations with scores are kept."""
        if not isinstance(record, Judgement) or record.scores is None or record.verdict is None:
            return
        codes = set(record.codes) - set(ADVISORY)
        if codes - {Code.EVIDENCE_NOT_LOCATED}:
            return
        subject, asked = record.subject, record.subject.asked
        self.scored.append(
            Scored(
                subject.judge,
                subject.judging_condition,
                subject.method,
                subject.target_model,
                asked["prompt_variant"],
                asked["question_id"],
                subject.judged_key,
                record.verdict,
                record.scores,
                sum(record.scores.values()),
                not codes,
            )
        )


# --- the figures ---


@dataclass(frozen=True)
class ScoreMean:
    """The mean score of one dimension, or the overall one, of a target's outputs to one variant."""

    target: str
    variant: str
    dimension: str
    mean: Estimate | None
    """Over valid evaluations."""
    mean_quotes_aside: Estimate | None
    """With the clause `evidence_not_located` set aside (ruling J6)."""


@dataclass(frozen=True)
class Verdicts:
    """The shares of the verdicts of valid evaluations, by target and variant."""

    target: str
    variant: str
    shares: Mapping[str, Estimate]


@dataclass(frozen=True)
class VariantDifference:
    """Overall scores of two variants of the same questions, of one target: the mean difference, paired."""

    target: str
    first: str
    second: str
    difference: Estimate


@dataclass(frozen=True)
class OverallBounds:
    """The mean overall score if every missing evaluation gave the lowest total, and if every one the highest."""

    lowest: float
    highest: float
    missing: int
    n: int


@dataclass(frozen=True)
class JudgeFigures:
    """What came of one judge under one condition, on outputs of others or on its own."""

    judge: str
    judging_condition: str
    method: str
    coverage: Mapping[str, int]
    """Valid, invalid, failed and pending judgements; every planned one is there exactly once (rulings C5, J9)."""
    valid: Estimate | None
    valid_quotes_aside: Estimate | None
    flags: Mapping[str, Estimate]
    findings: Mapping[str, int]
    quotes: Mapping[str, int]
    fabricated: Estimate | None
    """Quotes that are nowhere in the judged text, of those that were looked for (ruling J6)."""
    declared_by_judge: Mapping[str, int]
    scores: Sequence[ScoreMean]
    overall_bounds: OverallBounds | None
    verdicts: Sequence[Verdicts]
    variant_differences: Sequence[VariantDifference]

    @property
    def names(self) -> tuple[str, str, str]:
        """Judge, condition and method."""
        return self.judge, self.judging_condition, self.method

    @property
    def planned(self) -> int:
        """All planned judgements."""
        return sum(self.coverage.values())

    @property
    def identity(self) -> str:
        """The accounting identity of this judge (ruling C5)."""
        return f"{', '.join(self.names)}: {identity(self.coverage)}"


@dataclass(frozen=True)
class SelfPreference:
    """What a model gives its own outputs above what other judges give the same outputs (ruling J8)."""

    judge: str
    judging_condition: str
    gap: Estimate | None
    outputs: int


@dataclass(frozen=True)
class JudgingFigures:
    """All figures of a judging, primary ones first."""

    pooled: bool
    """Whether evaluations of others' outputs and of own ones are counted together."""
    judges: Sequence[JudgeFigures]
    self_preference: Sequence[SelfPreference]
    blind: bool = False
    """Whether judges were given aliases in place of the targets' names (ruling J16)."""


def judging_figures(  # noqa: PLR0913
    judgements: Judgements,
    rubric: Rubric,
    tallies: Mapping[JudgeCell, Tally],
    *,
    include_self: bool = False,
    seed: int,
    blind: bool = False,
) -> JudgingFigures:
    """The figures of all judgements by judge and condition, scores under the dimensions they are mapped to."""
    scored = [each._replace(scores=rubric.mapped(each.scores)) for each in judgements.scored]
    counted = _Counted(rubric, scored, tallies, seed)
    groups = _groups(tallies, include_self=include_self)
    judges = [_judge_figures(counted, cells, method) for method, cells in groups]
    return JudgingFigures(include_self, judges, list(_self_preference(scored, seed)), blind)


@dataclass(frozen=True)
class _Counted:
    """What figures are made of."""

    rubric: Rubric
    scored: Sequence[Scored]
    tallies: Mapping[JudgeCell, Tally]
    seed: int


def _groups(tallies: Mapping[JudgeCell, Tally], *, include_self: bool) -> list[tuple[str, list[JudgeCell]]]:
    """The cells that are counted together, and what they are called."""
    if include_self:
        together: dict[tuple[str, str], list[JudgeCell]] = defaultdict(list)
        for cell in sorted(tallies):
            together[cell.judge, cell.judging_condition].append(cell)
        return [(POOLED, cells) for cells in together.values()]
    order = {JudgingMethod.CROSS: 0, JudgingMethod.SELF: 1}
    return [(cell.method, [cell]) for cell in sorted(tallies, key=lambda c: (order[JudgingMethod(c.method)], c))]


def _judge_figures(counted: _Counted, cells: Sequence[JudgeCell], method: str) -> JudgeFigures:
    tally, seed = Tally.total(counted.tallies[cell] for cell in cells), counted.seed
    wanted = set(cells)
    scored = [each for each in counted.scored if JudgeCell(each.judge, each.condition, each.method) in wanted]
    valid = [each for each in scored if each.valid]
    kinds = _block(tally, "evidence")
    looked_for = sum(kinds[kind] for kind in (*_FOUND, EvidenceKind.ABSENT))
    return JudgeFigures(
        judge=cells[0].judge,
        judging_condition=cells[0].judging_condition,
        method=method,
        coverage={
            "valid": tally.compliant,
            "invalid": tally.non_compliant,
            "failed": tally.failed,
            "pending": tally.pending,
        },
        valid=_share(tally.compliant, tally.arrived),
        valid_quotes_aside=_share(tally.compliant + tally.valid_but_for_evidence, tally.arrived),
        flags={flag: wilson(count, tally.arrived) for flag, count in sorted(_block(tally, "flags").items())},
        findings=dict(sorted(_block(tally, "findings").items())),
        quotes={kind.value: kinds[kind] for kind in EvidenceKind if kind is not EvidenceKind.UNCHECKED},
        fabricated=_share(kinds[EvidenceKind.ABSENT], looked_for),
        declared_by_judge=dict(sorted(_block(tally, "declared").items())),
        scores=list(_score_means(scored, seed)),
        overall_bounds=_bounds(valid, tally, counted.rubric),
        verdicts=_verdicts(valid),
        variant_differences=list(_variant_differences(valid, seed)),
    )


def _block(tally: Tally, name: str) -> Counter[str]:
    return tally.breakdowns.get(name, Counter())


def _share(successes: int, n: int) -> Estimate | None:
    return wilson(successes, n) if n else None


def _score_means(scored: Sequence[Scored], seed: int) -> Iterator[ScoreMean]:
    """Means by target, variant and dimension, over valid evaluations, and with the quotes set aside."""
    groups: dict[tuple[str, str], list[Scored]] = defaultdict(list)
    for each in scored:
        groups[each.target, each.variant].append(each)
    for (target, variant), evaluations in sorted(groups.items()):
        valid = [each for each in evaluations if each.valid]
        for name in (*evaluations[0].scores, TOTAL):
            yield ScoreMean(target, variant, name, _mean(valid, name, seed), _mean(evaluations, name, seed))


def _mean(evaluations: Sequence[Scored], name: str, seed: int) -> Estimate | None:
    if not evaluations:
        return None
    values = [(each.question, each.overall if name == TOTAL else each.scores[name]) for each in evaluations]
    return cluster_mean(values, seed=seed)


def _bounds(valid: Sequence[Scored], tally: Tally, rubric: Rubric) -> OverallBounds | None:
    if not tally.n:
        return None
    missing, total = tally.n - len(valid), sum(each.overall for each in valid)
    lowest = len(rubric.ids) * rubric.scores[0]
    return OverallBounds(
        lowest=(total + missing * lowest) / tally.n,
        highest=(total + missing * rubric.highest_total) / tally.n,
        missing=missing,
        n=tally.n,
    )


def _verdicts(valid: Sequence[Scored]) -> list[Verdicts]:
    groups: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for each in valid:
        groups[each.target, each.variant][each.verdict] += 1
    return [
        Verdicts(target, variant, {verdict: wilson(n, counts.total()) for verdict, n in sorted(counts.items())})
        for (target, variant), counts in sorted(groups.items())
    ]


def _variant_differences(valid: Sequence[Scored], seed: int) -> Iterator[VariantDifference]:
    means: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for (target, variant, question), overall in _means(valid).items():
        means[target][variant][question] = overall
    for target, variants in sorted(means.items()):
        for first, second in combinations(sorted(variants), 2):
            both = sorted(variants[first].keys() & variants[second].keys())
            if both:
                pairs = [(question, variants[second][question] - variants[first][question]) for question in both]
                yield VariantDifference(target, first, second, cluster_mean(pairs, seed=seed))


def _means(valid: Sequence[Scored]) -> dict[tuple[str, str, str], float]:
    sums: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for each in valid:
        sums[each.target, each.variant, each.question].append(each.overall)
    return {key: sum(overall) / len(overall) for key, overall in sums.items()}


def _self_preference(scored: Iterable[Scored], seed: int) -> Iterator[SelfPreference]:
    own: dict[tuple[str, str], dict[str, list[Scored]]] = defaultdict(lambda: defaultdict(list))
    others: dict[tuple[str, str], list[int]] = defaultdict(list)
    for each in scored:
        if each.valid and each.method == JudgingMethod.SELF:
            own[each.judge, each.condition][each.output].append(each)
        elif each.valid:
            others[each.condition, each.output].append(each.overall)
    for (judge, condition), outputs in sorted(own.items()):
        gaps = [
            (mine[0].question, sum(each.overall for each in mine) / len(mine) - sum(given) / len(given))
            for output, mine in sorted(outputs.items())
            if (given := others.get((condition, output)))
        ]
        gap = cluster_mean(gaps, seed=seed) if gaps else None
        yield SelfPreference(judge, condition, gap, len(gaps))
