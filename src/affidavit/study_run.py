"""One run of a study, from its file to its seal."""

import asyncio
import shutil
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from affidavit.archive import Archive, Seal, check_seal, read_seal, segments
from affidavit.contract import Fields, label
from affidavit.errors import InputError, StorageError
from affidavit.lock import locked
from affidavit.model import PERMANENT, Model
from affidavit.models.openai_compatible import OpenAICompatible
from affidavit.models.replay import Replay
from affidavit.plan import Plan
from affidavit.provenance import git_state, machine, versions
from affidavit.record import canonical
from affidavit.rows import AnyContract
from affidavit.runner import Runner, Standing, stop_on_signals
from affidavit.storage import Disk, told
from affidavit.study import Generate, ModelTable, Study, parse_study
from affidavit.study_directory import StudyFiles, opened
from affidavit.tally import Tally

RUN_LOG = "run_log.jsonl"
_BYTES_PER_QUESTION, _BYTES_AT_LEAST = 256, 65_536
"""Below this much room a run is hopeless; it may well need more."""


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    directory: Path
    contracts: dict[str, str]
    tallies: dict[str, Tally]
    asked: int = 0
    stopped: str | None = None
    """Why it ended before everything was asked."""
    signal: int | None = None
    root_sha256: str = ""
    details: list[tuple[str, int]] = field(default_factory=list)
    """What was said of the failures, the most frequent first."""


@dataclass(frozen=True)
class Options:
    """How to run."""

    out: Path | None = None
    beside: Path = Path()
    """The directory of the study file, from which its paths are meant."""
    retry_failed: bool = False
    progress: Callable[[Collection[Tally]], None] | None = None
    disk: Disk = field(default_factory=Disk)


def load(path: Path, contract: Callable[[str, str], AnyContract]) -> StudyFiles:
    """The study of a file, with its contracts; `contract` finds one by its name and option set."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), expected="a study file in UTF-8", found=str(error)) from error
    study = parse_study(text, where=str(path))
    contracts = {
        name: contract(str(path.parent / task.contract) if ":" in task.contract else task.contract, task.options)
        for name, task in study.tasks.items()
    }
    items: dict[str, Path | int] = {}
    for name, task in study.tasks.items():
        if isinstance(task.items, Generate):
            items[name] = task.items.generate
            continue
        items[name] = file = path.parent / task.items
        if not file.is_file():
            raise InputError(
                f"{path}: tasks.{name}.items", expected="a file of items", found=f"no file {str(file)!r}"
            )
    return StudyFiles(study, contracts, items)


def run_study(files: StudyFiles, options: Options) -> Ended:
    """Run a study, or go on with it."""
    directory = options.out or Path(files.study.study.name)
    with told(str(directory)):
        options.disk.make_directory(directory)
    with locked(directory):
        plan = opened(directory, files, options.disk)
        ended = Ended(directory, {name: label(each) for name, each in files.contracts.items()}, {})
        seal = read_seal(directory)
        if seal is not None and len(seal.segments) == len(segments(directory)):
            check_seal(directory, seal)
            tallies = {name: Tally.of(counts) for name, counts in seal.counts.items()}  # type: ignore[arg-type]
            if not _asks_again(tallies.values(), retry_failed=options.retry_failed):
                return Ended(directory, ended.contracts, tallies, root_sha256=seal.root_sha256)
        return asyncio.run(_go_on(ended, files.study, plan, options))


def _asks_again(tallies: Collection[Tally], *, retry_failed: bool) -> bool:
    """Whether anything is pending, or failed in a way that may pass."""
    return any(
        tally.pending or any(count and (retry_failed or reason not in PERMANENT) for reason, count in failures)
        for tally in tallies
        for failures in [list(tally.failures.items())]
    )


async def _go_on(ended: Ended, study: Study, plan: Plan, options: Options) -> Ended:
    archive = Archive(ended.directory, options.disk)
    standing = Standing(plan, options.retry_failed)
    for record in archive.recover():
        standing.load(record)
    models = [_model(name, table, study, options.beside) for name, table in study.models.items()]
    before = standing.open
    log = _RunLog(ended.directory, options.disk)
    progress = options.progress
    runner = Runner(
        plan,
        models,
        archive,
        standing,
        limits=study.limits,
        progress=None if progress is None else lambda now: progress(now.tallies.values()),
    )
    came = stop_on_signals(runner)
    _check_room(ended.directory, before)
    log.add("began", {"questions": before, **_surroundings(study)})
    await _preflight(models, runner)
    await runner.run()
    seal: Seal = archive.seal(standing.counts())
    log.add("ended", {"open": standing.open, "stopped": runner.stopped, "root_sha256": seal.root_sha256})
    return Ended(
        ended.directory,
        ended.contracts,
        standing.tallies,
        asked=runner.asked,
        stopped=runner.stopped,
        signal=came(),
        root_sha256=seal.root_sha256,
        details=runner.details.most_common(5),
    )


def _model(name: str, table: ModelTable, study: Study, beside: Path) -> Model:
    if table.replay:
        return Replay(name, beside / table.replay, table.model or name)
    return OpenAICompatible(name, table, study.limits)


def _check_room(directory: Path, questions: int) -> None:
    free, needed = shutil.disk_usage(directory).free, _BYTES_AT_LEAST + questions * _BYTES_PER_QUESTION
    if free < needed:
        raise StorageError(
            str(directory),
            expected=f"at least {needed / 1e6:.1f} MB of free disk for {questions:,} answers",
            found=f"{free / 1e6:.1f} MB",
            hint="Nothing was asked. Make room, or choose another place with --out.",
        )


async def _preflight(models: Collection[Model], runner: Runner) -> None:
    """Stop the runner before its first question if a model is not there; a signal ends the waiting."""
    looking = asyncio.create_task(_first_unreachable(models))
    while not looking.done() and runner.stopped is None:
        await asyncio.wait([looking], timeout=0.1)
    if not looking.done():
        looking.cancel()
        await asyncio.wait([looking])
    elif (unreachable := looking.result()) is not None:
        runner.stop(unreachable)


async def _first_unreachable(models: Collection[Model]) -> str | None:
    for model in models:
        async with model:
            failure = await model.reachable()
        if failure is not None:
            return f"{model.name} cannot be asked: {failure.reason}, {failure.detail}"
    return None


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


def _surroundings(study: Study) -> Fields:
    return {
        "models": {
            name: {"model": each.model or name, "flavour": each.flavour} for name, each in study.models.items()
        },
        "decoding": {"samples": study.decoding.samples, "temperature": study.decoding.temperature}
        | {"max_tokens": study.decoding.max_tokens, "top_p": study.decoding.top_p},
        "tools": None,
        "versions": versions(),
        "git": git_state(Path.cwd()),
        "machine": machine(),
    }
