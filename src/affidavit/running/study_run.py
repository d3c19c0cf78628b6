"""One run of a study, from its file to its seal."""

import asyncio
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from affidavit.archive.disk import Disk, storage_errors
from affidavit.archive.parquet_copy import keep_copy
from affidavit.archive.record import Failed, Record, Response
from affidavit.archive.seal import Seal
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.contract import label
from affidavit.errors import StorageError
from affidavit.json_values import Fields
from affidavit.judging.directory import read_judging
from affidavit.judging.plan import JudgeCell
from affidavit.judging.terms import JudgeTerms
from affidavit.models.model import Completion, Failure
from affidavit.reading.tally import Tally
from affidavit.running.judge_panel import JudgePanel
from affidavit.running.judging_run import Judged, JudgeOptions, judge_study
from affidavit.running.ledger import StudyLedger, asks_again
from affidavit.running.manifest import write_manifest
from affidavit.running.run_log import RunLog
from affidavit.running.runner import Runner
from affidavit.running.stopping import StopSwitch, stop_on_signals
from affidavit.running.study_outputs import open_tasks
from affidavit.study.crossing import Cell
from affidavit.study.files import StudyFiles
from affidavit.study.freezing import freeze_or_check, frozen_items
from affidavit.study.plan import Plan
from affidavit.study.study_file import JudgingTable, decoding_of, requests_of
from affidavit.study.task import Question

_BYTES_PER_QUESTION, _BYTES_AT_LEAST = 256, 65_536
"""Below this much room a run is hopeless; it may well need more."""


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    directory: Path
    contracts: dict[str, str]
    tallies: dict[Cell, Tally]
    flips: list[Mapping[str, object]] = field(default_factory=list)
    """What became of answers against their control condition, where there is one."""
    asked: int = 0
    stopped: str | None = None
    """Why it ended before everything was asked."""
    signal: int | None = None
    root_sha256: str = ""
    seal_sha256: str = ""
    """The digest to publish (ruling C10)."""
    details: list[tuple[str, int]] = field(default_factory=list)
    """What was said of the failures, the most frequent first."""
    notes: Sequence[str] = ()
    """What else is to be said of the models and their servers."""
    samples: int = 1
    seed: int = 0
    """The study's: intervals that are drawn are drawn with it."""
    judged: Judged | None = None
    judging_waits_for: int = 0
    """Outputs that are to be judged and have not arrived; the judging begins when all have that can."""

    @property
    def open(self) -> int:
        """Failed or not asked yet, of questions and of judgements."""
        own = sum(tally.failed + tally.pending for tally in self.tallies.values())
        return own + (0 if self.judged is None else self.judged.open)

    @property
    def unread(self) -> int:
        """Outputs on which a contract of the user's own raised."""
        return sum(tally.unread for tally in self.tallies.values())


@dataclass(frozen=True)
class Options:
    """What a person may choose about a run beside the study itself."""

    out: Path | None = None
    retry_failed: bool = False
    first_items: int | None = None
    """How many items of each task are asked about in this run, at most."""
    models: Collection[str] = ()
    """Which models are asked in this run; all unless given."""
    progress: Callable[[Mapping[Cell, Tally]], None] | None = None
    judging_progress: Callable[[Mapping[JudgeCell, Tally]], None] | None = None
    judging_watch: Callable[[Record], None] | None = None
    """Sees all records when a judging has ended."""
    disk: Disk = field(default_factory=Disk)
    stop: StopSwitch = field(default_factory=StopSwitch)
    """Stops the run, and the judging after it, from another thread."""


@dataclass(frozen=True)
class StudyWork:
    """The questions of a study's plan, about its frozen items or the first of each task."""

    plan: Plan
    directory: StudyDirectory
    first_items: int | None = None

    def questions(self, model: str) -> Iterator[Question]:
        """Item by item, from the disk."""
        seen = Counter[str]()
        for name, item in frozen_items(self.directory):
            seen[name] += 1
            if self.first_items is None or seen[name] <= self.first_items:
                yield from self.plan.questions(self.plan.tasks[name], item, model)

    def response(self, question: Question, completion: Completion, /) -> Response:
        """The record of an answer."""
        return self.plan.response(question, completion)

    def failure(self, question: Question, failure: Failure, /) -> Failed:
        """The record of a question that nobody answered."""
        return self.plan.failure(question, failure)


def run_study(files: StudyFiles, options: Options) -> Ended:
    """Run a study, or go on with it; its outputs are judged once all of them are there."""
    directory = StudyDirectory(options.out or Path(files.study.study.name))
    with storage_errors(str(directory)):
        options.disk.make_directory(directory.path)
    with directory.locked():
        plan = freeze_or_check(directory, files, options.disk)
        names = {name: label(each) for name, each in files.contracts.items()}
        study = files.study
        ended = Ended(directory.path, names, {}, samples=study.decoding.samples, seed=study.study.seed)
        ended = _as_it_stands(ended, directory, plan)
        if not ended.tallies or _asks_again(ended.tallies, options):
            ended = asyncio.run(_go_on(ended, directory, files, plan, options))
        table = files.study.judging
        if table is None:
            return ended
        waits = _waits_for(ended, table.tasks or open_tasks(directory.frozen()))
        if ended.stopped is not None or waits:
            return replace(ended, judging_waits_for=waits)
        return replace(ended, judged=_judge(directory, table, files, options))


def _waits_for(ended: Ended, tasks: Collection[str]) -> int:
    """How many outputs of the tasks that are judged may still come.

    What failed permanently is not waited for, also if it failed once more because it was asked for again.
    """
    judged = [tally for cell, tally in ended.tallies.items() if cell.task in tasks]
    return sum(tally.failed + tally.pending for tally in judged if asks_again(tally, retry_failed=False))


def _judge(directory: StudyDirectory, table: JudgingTable, files: StudyFiles, options: Options) -> Judged:
    models = files.study.models
    judges = [
        JudgeTerms(
            name,
            models[name].identity or name,
            models[name].request(decoding_of(table)),
            tuple(table.conditions),
            table.repeats,
        )
        for name in table.judges
    ]
    panel = JudgePanel(judges, models, files.model, files.rubric, table.tasks, files.study.limits, table.blind)
    how = JudgeOptions(
        options.retry_failed,
        options.judging_progress,
        options.disk,
        options.judging_watch,
        options.stop,
    )
    return judge_study(directory, panel, files.given_contracts, how)


def _as_it_stands(ended: Ended, directory: StudyDirectory, plan: Plan) -> Ended:
    """How things stand in a sealed study, counted again from its records; nothing of one that is not sealed."""
    seal = directory.seal()
    if seal is None or directory.check_seal(seal):
        return ended
    ledger = StudyLedger(directory.frozen(), plan, read_judging(directory))
    for record in directory.records():
        ledger.load(record)
    return _counted(ended, ledger, seal, plan)


def _counted(ended: Ended, ledger: StudyLedger, seal: Seal, plan: Plan) -> Ended:
    """The counts of a ledger, in the order of the study's file."""
    counts: Mapping[str, Any] = ledger.outputs.counts()
    flips: list[Mapping[str, Any]] = counts["flips"]
    place: dict[tuple[Any, ...], int] = {tuple(cell): number for number, cell in enumerate(plan.cells)}
    return replace(
        ended,
        tallies={cell: ledger.outputs.tallies[cell] for cell in plan.cells},
        flips=sorted(flips, key=lambda each: place[tuple(each[name] for name in Cell._fields)]),
        root_sha256=seal.root_sha256,
        seal_sha256=seal.sha256,
    )


def _asks_again(tallies: Mapping[Cell, Tally], options: Options) -> bool:
    """Whether anything is pending, or failed in a way that may pass, for the models of this run."""
    return any(
        asks_again(tally, retry_failed=options.retry_failed)
        for cell, tally in tallies.items()
        if not options.models or cell.model in options.models
    )


async def _go_on(
    ended: Ended, directory: StudyDirectory, files: StudyFiles, plan: Plan, options: Options
) -> Ended:
    study = files.study
    archive = directory.archive(options.disk)
    retry_failed = options.retry_failed
    ledger = StudyLedger(directory.frozen(), plan, read_judging(directory), retry_failed=retry_failed)
    for line in archive.recover():
        ledger.load(line.record)
    questions = ledger.outputs
    asked = [name for name in study.models if not options.models or name in options.models]
    models = [files.model(name) for name in asked]
    before = questions.open
    log = RunLog(directory.path, options.disk)
    progress = options.progress
    runner = Runner(
        StudyWork(plan, directory, options.first_items),
        models,
        archive,
        questions,
        limits=study.limits,
        progress=None if progress is None else lambda: progress(questions.tallies),
    )
    came = stop_on_signals(runner)
    options.stop.connect(runner)
    _check_room(directory.path, before)
    requests = requests_of(study)
    facts: Fields = {"questions": before, "samples": study.decoding.samples}
    log.began(facts, models, study.models, {name: requests[name] for name in asked})
    await runner.run()
    write_manifest(directory.path, ledger.manifest(), options.disk)
    # Before the seal, which covers it.
    notes = runner.notes()
    facts = {"open": questions.open, "stopped": runner.stopped, "notes": notes}
    log.ended({**facts, "root_sha256": archive.root_sha256()})
    seal = archive.seal(ledger.counts())
    keep_copy(directory, seal)
    return replace(
        _counted(ended, ledger, seal, plan),
        asked=runner.asked,
        stopped=runner.stopped,
        signal=came(),
        details=runner.details.most_common(5),
        notes=notes,
    )


def _check_room(directory: Path, questions: int) -> None:
    free, needed = shutil.disk_usage(directory).free, _BYTES_AT_LEAST + questions * _BYTES_PER_QUESTION
    if free < needed:
        raise StorageError(
            str(directory),
            expected=f"at least {needed / 1e6:.1f} MB of free disk for {questions:,} answers",
            found=f"{free / 1e6:.1f} MB",
            hint="Nothing was asked. Make room, or choose another place with --out.",
        )
