"""One run of a study, from its file to its seal."""

import asyncio
import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from affidavit.archive.disk import Disk, told
from affidavit.archive.journal import Archive, Seal, check_seal, read_seal, segments
from affidavit.archive.lock import locked
from affidavit.archive.parquet_copy import keep_copy
from affidavit.contracts.contract import label
from affidavit.errors import StorageError
from affidavit.judging.directory import read_judging
from affidavit.judging.plan import JudgeCell, JudgeTerms
from affidavit.reading.tally import Tally
from affidavit.running.judging_run import Bench, Judged, JudgeOptions, judge_study
from affidavit.running.ledger import StudyBooks, asks_again
from affidavit.running.manifest import write_manifest
from affidavit.running.run_log import RunLog
from affidavit.running.runner import Runner, StudyWork, stop_on_signals
from affidavit.study.files import FindContract, StudyFiles
from affidavit.study.freezing import opened
from affidavit.study.plan import Plan
from affidavit.study.study_file import Cell, JudgingTable, decoding_of

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
    details: list[tuple[str, int]] = field(default_factory=list)
    """What was said of the failures, the most frequent first."""
    samples: int = 1
    judged: Judged | None = None

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
    """How to run."""

    out: Path | None = None
    retry_failed: bool = False
    first_items: int | None = None
    """How many items of each task are asked about in this run, at most."""
    models: Collection[str] = ()
    """Which models are asked in this run; all unless given."""
    progress: Callable[[Mapping[Cell, Tally]], None] | None = None
    judging_progress: Callable[[Mapping[JudgeCell, Tally]], None] | None = None
    disk: Disk = field(default_factory=Disk)


def run_study(files: StudyFiles, contract: FindContract, options: Options) -> Ended:
    """Run a study, or go on with it; its outputs are judged once all of them are there."""
    directory = options.out or Path(files.study.study.name)
    with told(str(directory)):
        options.disk.make_directory(directory)
    with locked(directory):
        plan = opened(directory, files, options.disk)
        names = {name: label(each) for name, each in files.contracts.items()}
        ended = Ended(directory, names, {}, samples=files.study.decoding.samples)
        seal = read_seal(directory)
        if seal is not None and len(seal.segments) == len(segments(directory)):
            check_seal(directory, seal)
            ended = _sealed(ended, seal, plan)
        if not ended.tallies or _asks_again(ended.tallies, options):
            ended = asyncio.run(_go_on(ended, files, plan, options))
        table = files.study.judging
        # What failed for good once more, because it was asked for, is not waited for either.
        whole = replace(options, models=(), retry_failed=False)
        if table is None or ended.stopped is not None or _asks_again(ended.tallies, whole):
            return ended
        return replace(ended, judged=_judge(directory, table, files, contract, options))


def _judge(
    directory: Path, table: JudgingTable, files: StudyFiles, contract: FindContract, options: Options
) -> Judged:
    models = files.study.models
    judges = [
        JudgeTerms(
            name,
            models[name].identity or name,
            {**decoding_of(table), **models[name].body},
            tuple(table.conditions),
            table.repeats,
        )
        for name in table.judges
    ]
    bench = Bench(judges, models, files.model, files.rubric, table.tasks, files.study.limits)
    how = JudgeOptions(options.retry_failed, options.judging_progress, options.disk, files.beside)
    return judge_study(directory, bench, contract, how)


def _sealed(ended: Ended, seal: Seal, plan: Plan) -> Ended:
    """How things stand in a sealed study, by its own counts, in the order of the study's file."""
    counts: Mapping[str, Any] = seal.counts
    tallies = {
        _cell(each): Tally.of({k: v for k, v in each.items() if k not in Cell._fields}) for each in counts["cells"]
    }
    flips = sorted(counts["flips"], key=lambda each: plan.cells.index(_cell(each)))
    ordered = {cell: tallies[cell] for cell in plan.cells}
    return replace(ended, tallies=ordered, flips=flips, root_sha256=seal.root_sha256)


def _cell(counted: Mapping[str, Any]) -> Cell:
    return Cell(*(counted[name] for name in Cell._fields))


def _asks_again(tallies: Mapping[Cell, Tally], options: Options) -> bool:
    """Whether anything is pending, or failed in a way that may pass, for the models of this run."""
    return any(
        asks_again(tally, retry_failed=options.retry_failed)
        for cell, tally in tallies.items()
        if not options.models or cell.model in options.models
    )


async def _go_on(ended: Ended, files: StudyFiles, plan: Plan, options: Options) -> Ended:
    study = files.study
    archive = Archive(ended.directory, options.disk)
    config = {"name": study.study.name, "seed": study.study.seed}
    books = StudyBooks(config, plan, read_judging(ended.directory), retry_failed=options.retry_failed)
    for record in archive.recover():
        books.load(record)
    standing = books.outputs
    asked = [name for name in study.models if not options.models or name in options.models]
    models = [files.model(name) for name in asked]
    before = standing.open
    log = RunLog(ended.directory, options.disk)
    progress = options.progress
    runner = Runner(
        StudyWork(plan, ended.directory, options.first_items),
        models,
        archive,
        standing,
        limits=study.limits,
        progress=None if progress is None else lambda: progress(standing.tallies),
    )
    came = stop_on_signals(runner)
    _check_room(ended.directory, before)
    decoding = {**decoding_of(study.decoding), "samples": study.decoding.samples}
    log.began({"questions": before, "decoding": decoding}, models, study.models)
    await runner.run()
    write_manifest(ended.directory, books.manifest(), options.disk)
    seal: Seal = archive.seal(books.counts())
    keep_copy(ended.directory, seal)
    log.ended({"open": standing.open, "stopped": runner.stopped, "root_sha256": seal.root_sha256})
    return replace(
        _sealed(ended, seal, plan),
        asked=runner.asked,
        stopped=runner.stopped,
        signal=came(),
        details=runner.details.most_common(5),
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
