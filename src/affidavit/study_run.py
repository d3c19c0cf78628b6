"""One run of a study, from its file to its seal."""

import asyncio
import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from affidavit.archive import Archive, Seal, check_seal, read_seal, segments
from affidavit.contract import Fields, label
from affidavit.errors import StorageError
from affidavit.lock import locked
from affidavit.model import PERMANENT, Model
from affidavit.models.embedded import Embedded
from affidavit.models.openai_compatible import OpenAICompatible
from affidavit.models.replay import Replay
from affidavit.plan import Plan
from affidavit.prompt_manifest import MANIFEST, manifest
from affidavit.provenance import git_state, machine, versions
from affidavit.record import canonical
from affidavit.run_report import Standings
from affidavit.runner import Runner, Standing, stop_on_signals
from affidavit.storage import Disk, told
from affidavit.study import Cell, Study
from affidavit.study_directory import opened
from affidavit.study_files import StudyFiles
from affidavit.tally import Tally

RUN_LOG = "run_log.jsonl"
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

    @property
    def standings(self) -> Standings:
        """What the tables are made of."""
        return Standings(contracts=self.contracts, tallies=self.tallies, flips=self.flips, samples=self.samples)


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
    disk: Disk = field(default_factory=Disk)


def run_study(files: StudyFiles, options: Options) -> Ended:
    """Run a study, or go on with it."""
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
            if not _asks_again(ended.tallies, options):
                return ended
        return asyncio.run(_go_on(ended, files, plan, options))


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
        tally.pending or any(options.retry_failed or reason not in PERMANENT for reason in +tally.failures)
        for cell, tally in tallies.items()
        if not options.models or cell.model in options.models
    )


async def _go_on(ended: Ended, files: StudyFiles, plan: Plan, options: Options) -> Ended:
    study = files.study
    archive = Archive(ended.directory, options.disk)
    standing = Standing(plan, options.retry_failed)
    for record in archive.recover():
        standing.load(record)
    chosen = [name for name in study.models if not options.models or name in options.models]
    models = [_model(name, files) for name in chosen]
    before = standing.open
    log = _RunLog(ended.directory, options.disk)
    progress = options.progress
    runner = Runner(
        plan,
        models,
        archive,
        standing,
        limits=study.limits,
        first_items=options.first_items,
        progress=None if progress is None else lambda now: progress(now.tallies),
    )
    came = stop_on_signals(runner)
    _check_room(ended.directory, before)
    log.add("began", {"questions": before, **_surroundings(study, models)})
    await runner.run()
    _write_manifest(ended.directory, plan, standing, options.disk)
    seal: Seal = archive.seal(standing.counts())
    log.add("ended", {"open": standing.open, "stopped": runner.stopped, "root_sha256": seal.root_sha256})
    return replace(
        _sealed(ended, seal, plan),
        asked=runner.asked,
        stopped=runner.stopped,
        signal=came(),
        details=runner.details.most_common(5),
    )


def _model(name: str, files: StudyFiles) -> Model:
    table, limits = files.study.models[name], files.study.limits
    if table.replay:
        return Replay(name, files.beside / table.replay, table.model or name)
    if name in files.weights:
        slots, context, threads = table.slots, table.context, table.threads
        return Embedded(name, files.weights[name], limits, slots=slots, context=context, threads=threads)
    return OpenAICompatible(name, table, limits)


def _write_manifest(directory: Path, plan: Plan, standing: Standing, disk: Disk) -> None:
    with told(str(directory / MANIFEST)):
        disk.place(directory / MANIFEST, manifest(plan, standing.tallies, standing.rendered).encode())


def _check_room(directory: Path, questions: int) -> None:
    free, needed = shutil.disk_usage(directory).free, _BYTES_AT_LEAST + questions * _BYTES_PER_QUESTION
    if free < needed:
        raise StorageError(
            str(directory),
            expected=f"at least {needed / 1e6:.1f} MB of free disk for {questions:,} answers",
            found=f"{free / 1e6:.1f} MB",
            hint="Nothing was asked. Make room, or choose another place with --out.",
        )


class _RunLog:
    """`run_log.jsonl`: for every run, what it used and when it was."""

    def __init__(self, directory: Path, disk: Disk) -> None:
        self._path = directory / RUN_LOG
        self._disk = disk
        self._run = uuid4().hex

    def add(self, event: str, facts: Fields) -> None:
        """One line."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        with told(str(self._path)):
            file = self._disk.reopen_lines(self._path)
            try:
                self._disk.write(file, canonical({"run": self._run, "event": event, "at": at, **facts}) + b"\n")
            finally:
                self._disk.close(file)


def _surroundings(study: Study, models: Collection[Model]) -> Fields:
    facts = {model.name: model.facts() for model in models if isinstance(model, Embedded)}
    return {
        "models": {
            model.name: {"model": table.model or model.name, "flavour": table.kind, **facts.get(model.name, {})}
            for model in models
            for table in [study.models[model.name]]
        },
        "decoding": {"samples": study.decoding.samples, "temperature": study.decoding.temperature}
        | {"max_tokens": study.decoding.max_tokens, "top_p": study.decoding.top_p},
        "tools": None,
        "versions": versions(),
        "git": git_state(Path.cwd()),
        "machine": machine(),
    }
