"""What a judging came to: every evaluation in short, and coverage, flags and quotes by judge.

The primary figures are of evaluations of other models' outputs only (ruling J8); those of a judge's own outputs
are kept apart, unless both are pooled, which every table then says. Invalid evaluations are counted and never
averaged: *invalid* does not mean *low quality*.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from affidavit.archive.record import Failed, Judgement, JudgementIdentity, Record, Response
from affidavit.contracts.evaluation import EvidenceKind, JudgingMethod
from affidavit.contracts.finding import ADVISORY, Code
from affidavit.contracts.rubric import Rubric
from affidavit.judging.plan import JudgeCell
from affidavit.reading.accounting import identity
from affidavit.reading.tally import Tally
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.shares import ClusterSums, share

POOLED = "cross + self"
KINDS = tuple(kind for kind in EvidenceKind if kind is not EvidenceKind.UNCHECKED)
"""What became of quotes, where there was a text to look in."""
LOOKED_FOR = (EvidenceKind.EXACT, EvidenceKind.NORMALISED, EvidenceKind.ELIDED, EvidenceKind.ABSENT)


class Evaluation(NamedTuple):
    """One evaluation that arrived, as far as tables need it."""

    judge: str
    condition: str
    method: str
    target: str
    variant: str
    task: str
    question: str
    output: str
    repeat: int
    valid: bool
    scores: Mapping[str, int] | None
    """As the judge gave them, of an evaluation that is valid, or valid but for its quotes (ruling J6)."""
    verdict: str | None
    flags: tuple[str, ...]
    truncated: bool
    """Whether it was cut at the token limit (ruling C6)."""
    quotes: tuple[int, ...]
    """How many of each of `KINDS`."""

    @property
    def cell(self) -> JudgeCell:
        """What it is counted with."""
        return JudgeCell(self.judge, self.condition, self.method)

    @property
    def cluster(self) -> tuple[str, str]:
        """The question, which two tasks may have by one id (ruling S8)."""
        return self.task, self.question

    @property
    def overall(self) -> int:
        """The native total of its scores."""
        return sum(self.scores.values()) if self.scores is not None else 0


class FailedJudgement(NamedTuple):
    """One judgement that nobody gave."""

    judge: str
    condition: str
    method: str
    target: str
    variant: str
    task: str
    question: str
    output: str

    @property
    def cell(self) -> JudgeCell:
        """What it is counted with."""
        return JudgeCell(self.judge, self.condition, self.method)

    @property
    def cluster(self) -> tuple[str, str]:
        """The question, which two tasks may have by one id (ruling S8)."""
        return self.task, self.question


Given = Evaluation | FailedJudgement
"""What became of a judgement that was asked for."""


class JudgedPlace(NamedTuple):
    """A question that a target has answered under a variant, whether its output is judged yet or not."""

    task: str
    question: str
    variant: str
    target: str

    @property
    def cluster(self) -> tuple[str, str]:
        """The question, which two tasks may have by one id (ruling S8)."""
        return self.task, self.question


class _Answered(NamedTuple):
    """What is kept of a response."""

    task: str
    question: str
    variant: str
    model: str


@dataclass
class Judgements:
    """Everything that the tables are made of, gathered record by record."""

    evaluations: list[Evaluation] = field(default_factory=list)
    _failed: dict[bytes, FailedJudgement] = field(default_factory=dict)
    """By the key of the judgement: an evaluation that comes later takes its place."""
    _answered: dict[bytes, _Answered] = field(default_factory=dict)
    """What each output answers: judgements do not name its task, and stand behind what they are about."""
    _targets: dict[str, str] = field(default_factory=dict)
    """Who each judged model is (ruling J13), by its name in the study."""
    _names: dict[str, str] = field(default_factory=dict)
    """Names that many records hold, each kept once."""

    def add(self, record: Record) -> None:
        """One record; of responses only what they answer is kept."""
        if isinstance(record, Response):
            subject = record.subject
            names = (subject.task, subject.item_id, subject.condition, subject.model)
            self._answered[bytes.fromhex(record.key)] = _Answered(*map(self._one, names))
        elif isinstance(record, Judgement):
            self._failed.pop(bytes.fromhex(record.key), None)
            self._targets[record.subject.model] = record.subject.target_model
            self.evaluations.append(self._evaluation(record))
        elif isinstance(record, Failed) and isinstance(record.subject, JudgementIdentity):
            self._targets[record.subject.model] = record.subject.target_model
            self._failed[bytes.fromhex(record.key)] = self._failure(record.subject)

    @property
    def failures(self) -> list[FailedJudgement]:
        """The judgements that failed and were not given later."""
        return list(self._failed.values())

    @property
    def places(self) -> list[JudgedPlace]:
        """All questions of judged tasks, by variant and target: what there is to judge."""
        given: list[Given] = [*self.evaluations, *self._failed.values()]
        found = {JudgedPlace(each.task, each.question, each.variant, each.target) for each in given}
        tasks = {each.task for each in given}
        for task, question, variant, model in self._answered.values():
            if task in tasks and model in self._targets:
                found.add(JudgedPlace(task, question, variant, self._targets[model]))
        return sorted(found)

    def _one(self, name: str) -> str:
        return self._names.setdefault(name, name)

    def _task(self, subject: JudgementIdentity) -> str:
        answered = self._answered.get(bytes.fromhex(subject.judged_key))
        return "" if answered is None else answered.task

    def _failure(self, subject: JudgementIdentity) -> FailedJudgement:
        return FailedJudgement(
            self._one(subject.judge),
            self._one(subject.judging_condition),
            self._one(subject.method),
            self._one(subject.target_model),
            self._one(subject.asked["prompt_variant"]),
            self._task(subject),
            self._one(subject.asked["question_id"]),
            subject.judged_key,
        )

    def _evaluation(self, record: Judgement) -> Evaluation:
        subject, asked = record.subject, record.subject.asked
        codes = set(record.codes) - set(ADVISORY)
        nearly = record.verdict is not None and not codes - {Code.EVIDENCE_NOT_LOCATED}
        kinds = Counter(quote.kind for quote in record.evidence)
        return Evaluation(
            self._one(subject.judge),
            self._one(subject.judging_condition),
            self._one(subject.method),
            self._one(subject.target_model),
            self._one(asked["prompt_variant"]),
            self._task(subject),
            self._one(asked["question_id"]),
            subject.judged_key,
            subject.repeat,
            record.valid,
            record.scores if nearly else None,
            record.verdict if nearly else None,
            record.flags,
            record.finish_reason == "length",
            tuple(kinds[kind] for kind in KINDS),
        )


# --- the figures ---


@dataclass(frozen=True)
class JudgeFigures:
    """What came of one judge under one condition, on outputs of others or on its own."""

    judge: str
    judging_condition: str
    method: str
    coverage: Mapping[str, int]
    """Valid, invalid, failed and pending judgements; every planned one is there exactly once (rulings C5, J9)."""
    truncated: int
    """Evaluations cut at the token limit, valid or not (ruling C6)."""
    invalid_truncated: int
    valid: Estimate | None
    invalid: Estimate | None
    valid_quotes_aside: Estimate | None
    failed: Estimate | None
    """Judgements that nobody gave, of all planned ones."""
    flags: Mapping[str, Estimate]
    findings: Mapping[str, int]
    quotes: Mapping[str, int]
    quote_shares: Mapping[str, Estimate]
    fabricated: Estimate | None
    """Quotes that are nowhere in the judged text, of those that were looked for (ruling J6)."""
    declared_by_judge: Mapping[str, int]

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
class JudgedSide:
    """Judges on outputs of others, or on their own, or on both, and what became of their judgements."""

    judges: Sequence[JudgeFigures]
    evaluations: Sequence[Evaluation]
    failures: Sequence[FailedJudgement]

    @property
    def given(self) -> list[Given]:
        """Everything that was asked for and is not pending."""
        return [*self.evaluations, *self.failures]

    @property
    def identities(self) -> str:
        """The accounting identity of each judge."""
        return "; ".join(judge.identity for judge in self.judges)


@dataclass(frozen=True)
class JudgingFigures:
    """All figures of a judging."""

    rubric: Rubric
    seed: int
    primary: JudgedSide
    """Evaluations of others' outputs; with own ones, if they are pooled."""
    own: JudgedSide
    """Evaluations of a judge's own outputs, wherever they are not pooled (ruling J8)."""
    pooled: bool
    """Whether evaluations of others' outputs and of own ones are counted together."""
    blind: bool = False
    """Whether judges were given aliases in place of the targets' names (ruling J16)."""
    without_task: bool = False
    """Whether judges were told that the words of the task are not known."""
    places: Sequence[JudgedPlace] = ()
    """All that there is to judge, judged or not."""

    @cached_property
    def tasks(self) -> Mapping[str, int]:
        """The judged tasks, and how many questions each has."""
        return dict(sorted(Counter(task for task, _ in {place.cluster for place in self.places}).items()))

    @property
    def judges(self) -> Sequence[JudgeFigures]:
        """Those of the primary figures, which gates and headlines are about."""
        return self.primary.judges


def judging_figures(  # noqa: PLR0913
    judgements: Judgements,
    rubric: Rubric,
    tallies: Mapping[JudgeCell, Tally],
    *,
    repeats: Mapping[str, int],
    include_self: bool = False,
    seed: int,
    blind: bool = False,
    without_task: bool = False,
) -> JudgingFigures:
    """The figures of all judgements, by judge and condition; `repeats`: how often each judges an output."""
    # The order of records must decide nothing.
    evaluations = sorted(judgements.evaluations, key=lambda e: (e.cell, e.output, e.repeat))
    by_cell: dict[JudgeCell, list[Evaluation]] = defaultdict(list)
    for each in evaluations:
        by_cell[each.cell].append(each)
    failed: dict[JudgeCell, list[FailedJudgement]] = defaultdict(list)
    for failure in sorted(judgements.failures):
        failed[failure.cell].append(failure)

    def side(cells: Sequence[JudgeCell]) -> JudgedSide:
        groups: dict[tuple[str, ...], list[JudgeCell]] = defaultdict(list)
        for cell in cells:
            groups[cell[:2]].append(cell)
        judges = []
        for together in groups.values():
            tally = Tally.total(tallies[cell] for cell in together)
            method = POOLED if include_self else together[0].method
            given = [each for cell in together for each in by_cell[cell]]
            lost = [each for cell in together for each in failed[cell]]
            failed_share = _failed_share(given, lost, tally.n, repeats[together[0].judge])
            judges.append(_judge_figures(together, method, tally, given, failed_share))
        return JudgedSide(
            judges,
            [each for cell in cells for each in by_cell[cell]],
            [each for cell in cells for each in failed[cell]],
        )

    ordered = sorted(tallies)
    own = [] if include_self else [cell for cell in ordered if cell.method == JudgingMethod.SELF]
    primary = side([cell for cell in ordered if cell not in own])
    places = judgements.places
    return JudgingFigures(rubric, seed, primary, side(own), include_self, blind, without_task, places)


def _judge_figures(
    cells: Sequence[JudgeCell],
    method: str,
    tally: Tally,
    evaluations: Sequence[Evaluation],
    failed: Estimate | None,
) -> JudgeFigures:
    flags = sorted({flag for each in evaluations for flag in each.flags})
    kinds = {kind.value: sum(each.quotes[at] for each in evaluations) for at, kind in enumerate(KINDS)}
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
        truncated=sum(each.truncated for each in evaluations),
        invalid_truncated=sum(each.truncated and not each.valid for each in evaluations),
        valid=output_share(evaluations, lambda each: each.valid),
        invalid=output_share(evaluations, lambda each: not each.valid),
        valid_quotes_aside=output_share(evaluations, lambda each: each.scores is not None),
        failed=failed,
        flags={flag: found for flag in flags if (found := output_share(evaluations, _carries(flag))) is not None},
        findings=dict(sorted(tally.breakdowns.get("findings", Counter()).items())),
        quotes=kinds,
        quote_shares={
            kind.value: found for kind in KINDS if (found := _quote_share(evaluations, kind, KINDS)) is not None
        },
        fabricated=_quote_share(evaluations, EvidenceKind.ABSENT, LOOKED_FOR),
        declared_by_judge=dict(sorted(tally.breakdowns.get("declared", Counter()).items())),
    )


def _carries(flag: str) -> Callable[[Evaluation], bool]:
    return lambda each: flag in each.flags


def output_share(evaluations: Iterable[Evaluation], success: Callable[[Evaluation], bool]) -> Estimate | None:
    """A share of evaluations; those of one output are a cluster (ruling S1). None of no evaluations."""
    clusters: dict[Hashable, list[int]] = defaultdict(lambda: [0, 0])
    for each in evaluations:
        counts = clusters[each.output]
        counts[0] += success(each)
        counts[1] += 1
    sums = ClusterSums.of((right, n) for right, n in clusters.values())
    return share(sums) if sums.n else None


def _failed_share(
    evaluations: Sequence[Evaluation], failures: Sequence[FailedJudgement], planned: int, repeats: int
) -> Estimate | None:
    """The share of planned judgements that failed; those of one output are a cluster, asked or not (ruling S1).

    Every output has as many as there are repeats: what is missing there is pending, and so is the whole of outputs
    of which there is nothing yet. None if nothing is planned.
    """
    clusters: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for failure in failures:
        clusters[failure.output][0] += 1
        clusters[failure.output][1] += 1
    for each in evaluations:
        clusters[each.output][1] += 1
    begun = [(failed, max(n, repeats), 1) for failed, n in clusters.values()]
    sums = ClusterSums.counted([*begun, (0, repeats, max(0, planned // repeats - len(begun)))])
    return share(sums) if sums.n else None


def _quote_share(
    evaluations: Iterable[Evaluation], kind: EvidenceKind, among: Sequence[EvidenceKind]
) -> Estimate | None:
    """The share of a kind of quotes among others; the quotes of one evaluation are a cluster (ruling S1)."""
    places, at = [KINDS.index(each) for each in among], KINDS.index(kind)
    sums = ClusterSums.of((each.quotes[at], sum(each.quotes[place] for place in places)) for each in evaluations)
    return share(sums) if sums.n else None
