"""One run of a study, from its file to its seal."""

import asyncio
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from affidavit.archive.disk import Disk
from affidavit.archive.journal import Archive
from affidavit.archive.parquet_copy import keep_copy
from affidavit.archive.record import Record
from affidavit.archive.regular_files import other_kind
from affidavit.archive.seal import Seal
from affidavit.archive.study_directory import BeforeGrowth, PlannedStudy, StudyDirectory
from affidavit.contracts.contract import label
from affidavit.errors import StorageError, UsageError
from affidavit.json_values import Fields
from affidavit.judging.directory import read_judging
from affidavit.judging.plan import JudgeCell
from affidavit.judging.terms import JudgeTerms
from affidavit.models.registry import check_environment
from affidavit.reading.tally import Tally
from affidavit.running.asked_now import AskedNow
from affidavit.running.judge_panel import JudgePanel
from affidavit.running.judging_run import Judged, JudgeOptions, judge_study
from affidavit.running.ledger import QuestionLedger, StudyLedger, asks_again
from affidavit.running.manifest import write_manifest
from affidavit.running.run_log import RunLog
from affidavit.running.runner import Runner
from affidavit.running.stopping import StopSwitch, stop_on_signals
from affidavit.running.study_outputs import open_tasks
from affidavit.running.study_work import StudyWork
from affidavit.running.taken_over import TakenOver, reused_directories, trial_directory
from affidavit.study.crossing import Cell
from affidavit.study.files import StudyFiles
from affidavit.study.freezing import Draft, draft, frozen_plan
from affidavit.study.plan import Plan
from affidavit.study.study_file import JudgingTable, decoding_of, requests_of

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
    taken_over: int = 0
    """Answers that were given to the same questions in other directories."""
    stopped: str | None = None
    """Why it ended before everything was asked."""
    setup_mistake: bool = False
    """Whether it was stopped because all first requests were refused alike."""
    signal: int | None = None
    root_sha256: str = ""
    seal_sha256: str = ""
    """The digest to publish (ruling C10); empty as long as nothing was answered."""
    begun: bool = True
    """Whether the plan is frozen: it is with its first record, and so is what is added to it (ruling C11)."""
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
    limit: int | None = None
    """A trial of the first so many items of each task, in a directory of its own; None: the whole study."""
    reuse: Sequence[Path] = ()
    """Directories of other studies, whose answers to the same questions are taken over."""
    models: Collection[str] = ()
    """Which models are asked in this run; all unless given."""
    note: Callable[[str], None] = lambda _note: None
    """Is told, before anything is asked, what a person should know of the items."""
    progress: Callable[[AskedNow[Cell]], None] | None = None
    judging_progress: Callable[[AskedNow[JudgeCell]], None] | None = None
    judging_watch: Callable[[Record], None] | None = None
    """Sees all records when a judging has ended."""
    disk: Disk = field(default_factory=Disk)
    stop: StopSwitch = field(default_factory=StopSwitch)
    """Stops the run, and the judging after it, from another thread."""


def run_study(files: StudyFiles, options: Options) -> Ended:
    """Run a study, or go on with it; its outputs are judged once all of them are there."""
    path = options.out or Path(files.study.study.name)
    if options.limit is not None:
        path, files = trial_directory(path), files.limited(options.limit)
        _refuse_link(path)
    directory = StudyDirectory(path)
    with directory.made(options.disk), without_draft(directory, options.disk):
        drafted = draft(directory, files, options.disk)
        names = {name: label(each) for name, each in files.contracts.items()}
        study = files.study
        ended = Ended(directory.path, names, {}, samples=study.decoding.samples, seed=study.study.seed)
        if not drafted.content:
            ended = _as_it_stands(ended, drafted)
        if not ended.tallies or _asks_again(ended.tallies, options):
            for note in drafted.notes:
                options.note(note)
            ended = asyncio.run(_go_on(ended, drafted, files, options))
        ended = replace(ended, notes=(*drafted.notes, *ended.notes))
        table = files.study.judging
        if table is None:
            return ended
        if not ended.begun:
            return ended
        waits = waits_for(ended.tallies, table.tasks or open_tasks(directory.frozen()))
        if ended.stopped is not None or waits or not ended.seal_sha256:
            return replace(ended, judging_waits_for=waits)
        return replace(ended, judged=_judge(directory, table, files, options))


def _refuse_link(trial: Path) -> None:
    """Refuse to write a trial through a link: nobody has named it."""
    if (found := other_kind(trial, folder=True)) is not None:
        hint = "Take it away, or choose another place with --out."
        raise UsageError(str(trial), expected="a directory of its own for the trial", found=found, hint=hint)


@contextmanager
def without_draft(directory: StudyDirectory, disk: Disk) -> Iterator[None]:
    """What was drafted and not frozen goes when a run ends."""
    try:
        yield
    finally:
        directory.drop_draft(disk)


def waits_for(tallies: Mapping[Cell, Tally], tasks: Collection[str]) -> int:
    """How many outputs of the tasks that are judged may still come.

    What failed permanently is not waited for, also if it failed once more because it was asked for again.
    """
    judged = [tally for cell, tally in tallies.items() if cell.task in tasks]
    return sum(tally.failed + tally.pending for tally in judged if asks_again(tally, retry_failed=False))


def panel_of(table: JudgingTable, files: StudyFiles) -> JudgePanel:
    """Who judges a study by its own file."""
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
    return JudgePanel(judges, models, files.model, files.rubric, table.tasks, files.study.limits, table.blind)


def _judge(directory: StudyDirectory, table: JudgingTable, files: StudyFiles, options: Options) -> Judged:
    how = JudgeOptions(
        options.retry_failed,
        options.judging_progress,
        options.disk,
        options.judging_watch,
        options.stop,
    )
    return judge_study(directory, panel_of(table, files), files.given_contracts, how)


def _as_it_stands(ended: Ended, drafted: Draft) -> Ended:
    """How things stand in a sealed study, counted again from its records; nothing of one that is not sealed."""
    directory, plan = drafted.directory, drafted.plan
    seal = directory.seal()
    if seal is None or directory.check_seal(seal, hashed=drafted.hashed):
        return ended
    ledger = StudyLedger.planned(plan, read_judging(directory))
    ledger.count_all(directory.records())
    return counted(ended, ledger.questions, seal, plan)


def counted(ended: Ended, questions: QuestionLedger, seal: Seal | None, plan: Plan) -> Ended:
    """The counts of a ledger, in the order of the study's file."""
    counts: Mapping[str, Any] = questions.counts()
    flips: list[Mapping[str, Any]] = counts["flips"]
    place: dict[tuple[Any, ...], int] = {tuple(cell): number for number, cell in enumerate(plan.cells)}
    return replace(
        ended,
        tallies={cell: questions.tallies[cell] for cell in plan.cells},
        flips=sorted(flips, key=lambda each: place[tuple(each[name] for name in Cell._fields)]),
        root_sha256="" if seal is None else seal.root_sha256,
        seal_sha256="" if seal is None else seal.sha256,
    )


def _asks_again(tallies: Mapping[Cell, Tally], options: Options) -> bool:
    """Whether anything is pending, or failed in a way that may pass, for the models of this run."""
    return any(
        asks_again(tally, retry_failed=options.retry_failed)
        for cell, tally in tallies.items()
        if not options.models or cell.model in options.models
    )


async def _go_on(ended: Ended, drafted: Draft, files: StudyFiles, options: Options) -> Ended:
    """Try the models, freeze what is not frozen, ask, and seal if anything was ever answered."""
    directory, study, disk = drafted.directory, files.study, options.disk
    ledger = StudyLedger.planned(drafted.plan, read_judging(directory), retry_failed=options.retry_failed)
    questions = ledger.questions
    archive, grown_from, taken = directory.archive(disk), None, 0
    if drafted.before is not None:
        if drafted.content:
            grown_from = sealed_before(drafted.before, directory, files, disk)
        for line in archive.recover():
            ledger.load(line.record)
    reused = reused_directories(directory, study.study.name, options.reuse, trial=options.limit is None)
    work = StudyWork(drafted)
    taken_over = TakenOver(reused, questions.settled)
    taken_over.restrict(each for name in study.models for each in work.questions(name))
    questions.settled |= taken_over.keys
    asked = [name for name in _asked_models(questions, options) if _is_left(work, name, questions, taken_over)]
    check_environment({name: study.models[name] for name in (*asked, *_later_judges(directory, files, options))})
    if not (at_once := _begins_at_once(work, taken_over)):
        _refuse_the_rest_alone(work, asked)
    models = [files.model(name) for name in asked]
    added = work.added_questions if work.adds(study.models) else None
    async with Runner(
        work, models, questions, limits=study.limits, progress=options.progress, added=added
    ) as runner:
        came = stop_on_signals(runner)
        options.stop.connect(runner)
        _check_room(directory.path, questions.open)
        await runner.trial(with_questions=bool(drafted.content))
        for note in runner.left_out():
            options.note(note)
        log, requests = RunLog(directory.path, disk), requests_of(study)
        facts: Fields = {"questions": questions.open, "samples": study.decoding.samples}

        def begin() -> None:
            nonlocal taken
            work.frozen = drafted.freeze(disk, grown_from)
            log.began(facts, models, study.models, {model.name: requests[model.name] for model in models})
            planned = (each for name in study.models for each in work.questions(name))
            taken = taken_over.write(drafted.plan, planned, questions, archive) if taken_over.keys else 0

        if runner.stopped is None or not drafted.content:
            grows = bool(drafted.content) and drafted.before is not None
            await runner.run(archive, begin, at_once=at_once, by_an_answer=grows)
    ended = replace(
        ended,
        asked=runner.asked,
        taken_over=taken,
        stopped=runner.stopped,
        setup_mistake=runner.setup_mistake,
        signal=came(),
        details=runner.details.most_common(5),
        notes=runner.notes(),
        begun=runner.begun,
    )
    if not ended.begun:
        archive.close()
        stopped = _with_dropped(ended.stopped, runner.trial_answers)
        return replace(ended, tallies=questions.tallies, stopped=stopped)
    return counted(ended, questions, _sealed(ended, directory, ledger, archive, log, disk), drafted.plan)


def _begins_at_once(work: StudyWork, taken_over: TakenOver) -> bool:
    """Whether nothing is to be frozen, or answers are taken over that freeze it: of a growth, to what it adds."""
    models, keys = work.plan.study.models, taken_over.keys
    if not work.draft.content or not keys or not work.adds(models):
        return not work.draft.content or bool(keys)
    return any(bytes.fromhex(each.key) in keys for name in models for each in work.added_questions(name))


def _refuse_the_rest_alone(work: StudyWork, asked: Sequence[str]) -> None:
    """Refuse a run that asks nothing of what was added: that is frozen by its own first answer alone."""
    added = [name for name in work.plan.study.models if work.adds([name])]
    if not added or not asked or not set(asked).isdisjoint(added):
        return
    raise UsageError(
        "--model",
        expected=f"a model that is asked what was added to the study: {', '.join(added)}",
        found=", ".join(asked),
        hint="The rest is asked once one of these has answered. Leave --model out, or take out of the study file "
        "what was added.",
    )


def _with_dropped(stopped: str | None, answers: int) -> str | None:
    """Why nothing was written, and how many answers of a trial that cost."""
    return f"{stopped}; {answers:,} answers of the trial were dropped" if stopped and answers else stopped


def _asked_models(questions: QuestionLedger, options: Options) -> list[str]:
    """The models that are asked in this run and have anything left to answer, in the order of the study."""
    left = {
        cell.model
        for cell, tally in questions.tallies.items()
        if asks_again(tally, retry_failed=options.retry_failed)
    }
    named = dict.fromkeys(cell.model for cell in questions.tallies)
    return [name for name in named if name in left and (not options.models or name in options.models)]


def _is_left(work: StudyWork, model: str, questions: QuestionLedger, taken_over: TakenOver) -> bool:
    """Whether a model has to be asked: not if all that it is asked was answered elsewhere, or is settled here."""
    if not taken_over.keys:
        return True
    return any(bytes.fromhex(question.key) not in questions.settled for question in work.questions(model))


def _later_judges(directory: StudyDirectory, files: StudyFiles, options: Options) -> Sequence[str]:
    """The judges that will be asked at the end of this run: what they lack is told before the first question."""
    table = files.study.judging
    if table is None or options.models or read_judging(directory) is not None:
        return ()
    return table.judges


def sealed_before(before: PlannedStudy, directory: StudyDirectory, files: StudyFiles, disk: Disk) -> BeforeGrowth:
    """What there is of a study that is about to grow; it is sealed first, if a kill has left it open."""
    archive, records = directory.archive(disk), 0
    ledger = StudyLedger.planned(frozen_plan(before, files.given_contracts), None)
    for line in archive.recover():
        ledger.load(line.record)
        records += 1
    root_sha256 = archive.root_sha256()
    if directory.is_sealed_by(directory.seal()):
        archive.close()
    else:
        write_manifest(directory.path, ledger.manifest(), disk)
        archive.seal(ledger.counts())
    return BeforeGrowth(records, root_sha256)


def _sealed(  # noqa: PLR0913, PLR0917 - all that a run holds at its end
    ended: Ended, directory: StudyDirectory, ledger: StudyLedger, archive: Archive, log: RunLog, disk: Disk
) -> Seal | None:
    """The seal over what there is; none where nothing was ever answered: that would be a digest of nothing."""
    facts: Fields = {"open": ledger.questions.open, "stopped": ended.stopped, "notes": list(ended.notes)}
    if not any(tally.n > tally.failed + tally.pending for tally in ledger.questions.tallies.values()):
        log.ended(facts)
        archive.close()
        return None
    write_manifest(directory.path, ledger.manifest(), disk)
    # Before the seal, which covers it.
    log.ended({**facts, "root_sha256": archive.root_sha256()})
    seal = archive.seal(ledger.counts())
    keep_copy(directory, seal)
    return seal


def _check_room(directory: Path, questions: int) -> None:
    free, needed = shutil.disk_usage(directory).free, _BYTES_AT_LEAST + questions * _BYTES_PER_QUESTION
    if free < needed:
        raise StorageError(
            str(directory),
            expected=f"at least {needed / 1e6:.1f} MB of free disk for {questions:,} answers",
            found=f"{free / 1e6:.1f} MB",
            hint="Nothing was asked. Make room, or choose another place with --out.",
        )
