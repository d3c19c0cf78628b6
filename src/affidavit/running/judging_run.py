"""One judging of a study's outputs, from its frozen terms to the two trees.

The same runner and the same journal as for the outputs themselves: a kill loses nothing, and going on asks only
what has no answer yet.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from affidavit.archive.disk import Disk
from affidavit.archive.journal import Archive, journal
from affidavit.archive.parquet_copy import keep_copy
from affidavit.archive.record import Kind
from affidavit.contracts.rubric import DEFAULT, Rubric
from affidavit.errors import InputError, UsageError
from affidavit.json_values import Fields
from affidavit.judging.directory import read_judging, write_judging
from affidavit.judging.outputs import IMPORTED
from affidavit.judging.plan import FrozenJudging, JudgeCell, Judgement, JudgeTerms, JudgingPlan, Terms
from affidavit.models.model import Completion, Failure, Model
from affidavit.models.settings import Limits, ModelTable
from affidavit.reading.tally import Tally
from affidavit.running.evaluation_trees import write_trees
from affidavit.running.ledger import JudgeStanding, StudyBooks, asks_again, is_judgement, judging_is_gone
from affidavit.running.manifest import write_manifest
from affidavit.running.run_log import RunLog
from affidavit.running.runner import Runner, stop_on_signals
from affidavit.running.study_outputs import StudyOutputs, open_tasks
from affidavit.study.files import FindContract
from affidavit.study.freezing import frozen_plan, read_frozen
from affidavit.study.study_file import refuse_changes


@dataclass(frozen=True)
class Bench:
    """Who judges, by which rubric, and how patiently they are asked."""

    judges: Sequence[JudgeTerms]
    tables: Mapping[str, ModelTable]
    model: Callable[[str], Model]
    """How each judge is reached."""
    rubric: Rubric | None = None
    """None: whatever the study was judged by before, else the default."""
    tasks: Sequence[str] = ()
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class JudgeOptions:
    """How to judge."""

    retry_failed: bool = False
    progress: Callable[[Mapping[JudgeCell, Tally]], None] | None = None
    disk: Disk = field(default_factory=Disk)
    beside: Path | None = None
    """Where the study file is, for contracts of the user's own."""


@dataclass(frozen=True)
class Judged:
    """How a judging ended."""

    directory: Path
    frozen: FrozenJudging
    tallies: Mapping[JudgeCell, Tally]
    late: int = 0
    """Outputs that arrived after the set was frozen: they are not judged."""
    asked: int = 0
    stopped: str | None = None
    signal: int | None = None
    root_sha256: str = ""
    details: Sequence[tuple[str, int]] = ()

    @property
    def open(self) -> int:
        """Failed or not asked yet."""
        return sum(tally.failed + tally.pending for tally in self.tallies.values())


@dataclass(frozen=True)
class _JudgeWork:
    """The judgements of a plan, about the outputs of a study."""

    plan: JudgingPlan
    outputs: StudyOutputs

    def questions(self, model: str) -> Iterator[Judgement]:
        """Output by output, from the journal."""
        return self.plan.judgements(model, self.outputs)

    def response(self, question: Judgement, completion: Completion, /) -> Fields:
        """The record of an evaluation."""
        return self.plan.response(question, completion)

    def failure(self, question: Judgement, failure: Failure, /) -> Fields:
        """The record of a judgement that nobody gave."""
        return self.plan.failure(question, failure)


def judge_study(directory: Path, bench: Bench, contract: FindContract, options: JudgeOptions) -> Judged:
    """Judge, or go on with it; the caller holds the directory's lock."""
    frozen_study = read_frozen(directory)
    if frozen_study is None:
        raise InputError(str(directory), expected="a study directory", found="no study.json in it")
    config: Any = frozen_study["config"]
    plan = None if IMPORTED in config else frozen_plan(directory, frozen_study, contract, options.beside)
    before = read_judging(directory)
    if before is None and any(is_judgement(record) for record in journal(directory)):
        raise judging_is_gone()
    tasks = bench.tasks or (before.tasks if before is not None else open_tasks(config))
    outputs = StudyOutputs(directory, config, plan, tasks)
    frozen = _frozen(directory, bench, before, outputs, tasks)
    if frozen != before:
        write_judging(directory, frozen, options.disk)
    books = StudyBooks(config, plan, frozen, retry_failed=options.retry_failed)
    return asyncio.run(_go_on(directory, bench, frozen, books, outputs, options))


def _frozen(
    directory: Path,
    bench: Bench,
    before: FrozenJudging | None,
    outputs: StudyOutputs,
    tasks: Sequence[str],
) -> FrozenJudging:
    """The terms: those that were frozen, compared with what is asked for now, or new ones (ruling J7)."""
    if before is None:
        found = {output.key: output.target_model for output in outputs}
        if not found:
            hint = 'Only tasks with contract = "text" are judged unless --task names others.'
            raise UsageError(str(directory), expected="outputs to judge", found="none", hint=hint)
        today = datetime.now(UTC).date().isoformat()
        terms = Terms(bench.rubric or DEFAULT, today, tuple(sorted(found)))
        targets = dict(sorted(Counter(found.values()).items()))
        judges = tuple(sorted(bench.judges, key=lambda judge: judge.name))
        return FrozenJudging(terms, judges, tuple(outputs.not_arrived()), tuple(tasks), targets)
    wanted = before.terms if bench.rubric is None else replace(before.terms, rubric=bench.rubric)
    _refuse_changes(directory, before.terms.facts(), wanted.facts())
    if tuple(tasks) != before.tasks:
        _refuse_changes(directory, {"tasks": list(before.tasks)}, {"tasks": list(tasks)})
    known = {judge.name: judge for judge in before.judges}
    for judge in bench.judges:
        if judge.name in known:
            was, is_now = {judge.name: known[judge.name].facts()}, {judge.name: judge.facts()}
            _refuse_changes(directory, {"judges": was}, {"judges": is_now})
        known[judge.name] = judge
    return replace(before, judges=tuple(known[name] for name in sorted(known)))


def _refuse_changes(directory: Path, before: Fields, after: Fields) -> None:
    hint = "Two ways of judging are never pooled: judge a copy of the study, or name the judge otherwise."
    refuse_changes(str(directory), before, after, begun="judging", hint=hint)


async def _go_on(  # noqa: PLR0913, PLR0917
    directory: Path,
    bench: Bench,
    frozen: FrozenJudging,
    books: StudyBooks,
    outputs: StudyOutputs,
    options: JudgeOptions,
) -> Judged:
    plan, standing = books.judging_plan, books.judging
    assert plan is not None and standing is not None  # noqa: S101, PT018 - there are terms
    archive, keys, late = Archive(directory, options.disk), frozenset(frozen.terms.outputs), 0
    for record in archive.recover():
        books.load(record)
        late += _is_late(record, keys, frozen.tasks)
    models = [bench.model(judge.name) for judge in bench.judges if _is_asked(judge, standing)]
    progress = options.progress
    runner = Runner(
        _JudgeWork(plan, outputs),
        models,
        archive,
        standing,
        limits=bench.limits,
        progress=None if progress is None else lambda: progress(standing.tallies),
    )
    came = stop_on_signals(runner)
    log = RunLog(directory, options.disk)
    log.began({"judgements": standing.open, "judging": _facts(frozen, bench)}, models, bench.tables)
    await runner.run()
    write_manifest(directory, books.manifest(), options.disk)
    seal = archive.seal(books.counts())
    keep_copy(directory, seal)
    write_trees(directory, plan, standing.tallies.values())
    log.ended({"open": standing.open, "stopped": runner.stopped, "root_sha256": seal.root_sha256})
    return Judged(
        directory,
        frozen,
        standing.tallies,
        late,
        runner.asked,
        runner.stopped,
        came(),
        seal.root_sha256,
        runner.details.most_common(5),
    )


def _is_asked(judge: JudgeTerms, standing: JudgeStanding) -> bool:
    """Whether a judge has anything left to judge; else it need not be there."""
    return any(
        asks_again(tally, retry_failed=standing.retry_failed)
        for cell, tally in standing.tallies.items()
        if cell.judge == judge.name
    )


def _is_late(record: Fields, keys: Collection[str], tasks: Collection[str]) -> bool:
    return record["kind"] == Kind.RESPONSE and record["task"] in tasks and record["key"] not in keys


def _facts(frozen: FrozenJudging, bench: Bench) -> Fields:
    return {
        "sha256_of_terms": frozen.terms.digest,
        "judges": {judge.name: judge.facts() for judge in bench.judges},
        "outputs": len(frozen.terms.outputs),
    }
