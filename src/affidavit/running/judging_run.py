"""One judging of a study's outputs, from its frozen terms to the two trees.

The same runner and the same journal as for the outputs themselves: a kill loses nothing, and going on asks only
what has no answer yet.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from affidavit.archive.disk import Disk
from affidavit.archive.journal import Archive
from affidavit.archive.parquet_copy import keep_copy
from affidavit.archive.record import Failed, Judgement, Record
from affidavit.archive.seal import Seal
from affidavit.archive.study_directory import IMPORTED, StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.contracts.rubric import DEFAULT
from affidavit.errors import UsageError
from affidavit.json_values import Fields
from affidavit.judging.directory import read_judging, write_judging
from affidavit.judging.label_columns import LabelColumns, RowLabels
from affidavit.judging.plan import JudgeCell, JudgingPlan, PlannedJudgement
from affidavit.judging.task_words import refuse_unknown_tasks
from affidavit.judging.terms import FrozenJudging, JudgeTerms, Terms, aliases_of
from affidavit.models.model import Completion, Failure
from affidavit.models.registry import check_environment
from affidavit.reading.tally import Tally
from affidavit.running.asked_now import AskedNow
from affidavit.running.evaluation_trees import write_trees
from affidavit.running.import_outputs import Intake
from affidavit.running.judge_panel import JudgePanel, WantedTerms, judge_panel
from affidavit.running.ledger import ImportLedger, JudgingLedger, StudyLedger, asks_again
from affidavit.running.manifest import write_manifest
from affidavit.running.row_labels import KeptLabels, check_recorded, check_rows, frozen_rubric, keep_row_labels
from affidavit.running.run_log import RunLog
from affidavit.running.runner import Runner
from affidavit.running.stopping import StopSwitch, stop_on_signals
from affidavit.running.study_outputs import StudyOutputs, TakenOutputs, open_tasks
from affidavit.study.freezing import plan_of
from affidavit.study.frozen_form import refuse_changes
from affidavit.study.models_file import ModelsFile

LARGE = 100_000
"""Characters of prompt and answer from which an evaluation is read in a thread: quotes are looked for in them."""


@dataclass(frozen=True)
class JudgeOptions:
    """What a person may choose about a judging beside its terms."""

    retry_failed: bool = False
    progress: Callable[[AskedNow[JudgeCell]], None] | None = None
    disk: Disk = field(default_factory=Disk)
    watch: Callable[[Record], None] | None = None
    """Sees all records when the judging has ended, on the walk that the trees are written by."""
    stop: StopSwitch = field(default_factory=StopSwitch)
    """Stops the judging from another thread."""
    labels: LabelColumns | None = None
    """Columns of the outputs' rows that hold labels by people; they are kept when judges have been asked."""


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
    setup_mistake: bool = False
    """Whether it was stopped because all first requests were refused alike."""
    signal: int | None = None
    root_sha256: str = ""
    seal_sha256: str = ""
    """The digest to publish (ruling C10); empty if it was stopped before anything of it was written."""
    seed: int = 0
    """The study's: intervals that are drawn are drawn with it."""
    details: Sequence[tuple[str, int]] = ()
    notes: Sequence[str] = ()
    """What else is to be said of the judges and their servers."""
    labels: KeptLabels | None = None
    """What came of labels in the rows of outputs, where columns of them were named."""

    @property
    def begun(self) -> bool:
        """Whether anything of it is on the record: its terms are frozen by the first judgement."""
        return bool(self.seal_sha256)

    @property
    def open(self) -> int:
        """Failed or not asked yet."""
        return sum(tally.failed + tally.pending for tally in self.tallies.values())


def judge_outputs(
    intake: Intake, file: ModelsFile, wanted: WantedTerms, given: GivenContracts, options: JudgeOptions
) -> Judged:
    """Judge a study, or outputs from elsewhere, which are kept first; else go on with it.

    Whatever can be checked is checked before anything is written.
    """
    panel = judge_panel(intake.directory, file, wanted)
    if options.labels is not None:
        check_labels(intake, panel, options.labels)
    if intake.is_new and intake.taken is not None:
        check_first_terms(intake, panel)
        check_environment({judge.name: panel.tables[judge.name] for judge in panel.judges})
        for judge in panel.judges:
            panel.model(judge.name)
    with intake.kept(options.disk) as directory:
        # Once more, now that nobody else can freeze other terms.
        judged = judge_study(directory, judge_panel(directory, file, wanted), given, options)
        if options.labels is None or not judged.begun or judged.signal is not None:
            return judged
        labels = keep_row_labels(directory, options.labels, options.disk)
        return replace(judged, seal_sha256=labels.seal.sha256, labels=labels)


def check_labels(intake: Intake, panel: JudgePanel, columns: LabelColumns) -> None:
    """Refuse labels in the rows of outputs that cannot be, before a judge is asked or anything is written."""
    labels = RowLabels(columns, frozen_rubric(intake.directory) or panel.rubric or DEFAULT)
    if intake.rows is not None:
        check_rows(intake.rows(), labels)
    if intake.directory.is_study:
        check_recorded(intake.directory, labels)


def check_first_terms(intake: Intake, panel: JudgePanel) -> None:
    """Refuse terms under which new outputs could not be judged, before anything is written."""
    tasks = tuple(panel.tasks or (IMPORTED,))
    outputs = TakenOutputs(intake.records, tasks, where=intake.used[0], unused_words=intake.unused_words)
    first_terms(intake.directory, panel, outputs, tasks)


@dataclass(frozen=True)
class JudgeWork:
    """The judgements of a plan, about the outputs of a study."""

    plan: JudgingPlan
    outputs: StudyOutputs

    def questions(self, model: str) -> Iterator[PlannedJudgement]:
        """Output by output, from the journal."""
        return self.plan.judgements(model, self.outputs)

    def response(self, question: PlannedJudgement, completion: Completion, /) -> Judgement:
        """The record of an evaluation."""
        return self.plan.response(question, completion)

    def failure(self, question: PlannedJudgement, failure: Failure, /) -> Failed:
        """The record of a judgement that nobody gave."""
        return self.plan.failure(question, failure)

    def fits(self, question: PlannedJudgement, completion: Completion, /) -> bool:
        """Always: what is wrong with an evaluation is for its reader to say."""
        return True


def judge_study(
    directory: StudyDirectory, panel: JudgePanel, given: GivenContracts, options: JudgeOptions
) -> Judged:
    """Judge, or go on with it; the caller holds the directory's lock.

    The journal is walked twice: once to recover it, which tells what there is to judge, and once for the trees.
    """
    with closing(directory.archive(options.disk)) as archive:
        judging, sealed = open_judging(directory, panel, given, archive, retry_failed=options.retry_failed)
        if sealed is not None and not judging.is_new and not judging.asked:
            return judging.ended(sealed, options)  # nothing is left to ask: nothing is written
        return asyncio.run(_go_on(judging, options))


def open_judging(
    directory: StudyDirectory, panel: JudgePanel, given: GivenContracts, archive: Archive, *, retry_failed: bool
) -> "tuple[OpenJudging, Seal | None]":
    """The judging of a study as far as it is, its journal recovered; and the seal, if all is sealed so."""
    study = directory.frozen()
    plan = plan_of(study, given)
    before = read_judging(directory)
    tasks = tuple(panel.tasks or (before.tasks if before is not None else open_tasks(study)))
    frozen = None if before is None else same_terms(directory, panel, before, tasks)
    ledger = StudyLedger.of(study, plan, frozen, retry_failed=retry_failed)
    outputs = StudyOutputs(directory, study, plan, tasks)
    seal = directory.seal()
    sealed = seal if seal is not None and not directory.check_seal(seal) else None
    for line in archive.recover():
        ledger.load(line.record)
        outputs.add(line)
    if isinstance(ledger.outputs, ImportLedger) and ledger.outputs.pending:
        raise _not_all_there(directory, ledger.outputs.pending)
    if frozen is None:
        frozen = first_terms(directory, panel, outputs, tasks)
        ledger.open_judging(frozen, retry_failed=retry_failed)
    return OpenJudging(directory, panel, frozen, ledger, outputs, archive, is_new=frozen != before), sealed


def _not_all_there(directory: StudyDirectory, missing: int) -> UsageError:
    """Outputs from elsewhere are judged once all of them are in the journal."""
    hint = "They were not all taken in. Give the command the file or folder of outputs again, with the same --out."
    return UsageError(
        str(directory), expected="all outputs that were to be taken in", found=f"{missing:,} fewer", hint=hint
    )


def first_terms(
    directory: StudyDirectory, panel: JudgePanel, outputs: StudyOutputs | TakenOutputs, tasks: tuple[str, ...]
) -> FrozenJudging:
    """The terms of a first judging: all outputs that are there are judged (ruling J7)."""
    if not outputs.keys:
        there = list(directory.frozen().config["contracts"]) if directory.is_study else []
        hint = (
            'Only tasks with contract = "text" are judged, unless tasks in [judging] or `affidavit judge --task` '
            f"names others{''.join(f': {names}' for names in [', '.join(there)] if names)}."
        )
        raise UsageError(str(directory), expected="outputs to judge", found="none", hint=hint)
    without_task = panel.without_task is True
    if not without_task:
        refuse_unknown_tasks(outputs.where, outputs.unasked, len(outputs.keys), hint=outputs.how_to_tell)
    elif not outputs.unasked:
        expected, found = "outputs whose task is not known", f"the words of the task of all {len(outputs.keys):,}"
        raise UsageError("--without-task", expected=expected, found=found, hint="Leave it out.")
    today = datetime.now(UTC).date().isoformat()
    keys, targets = tuple(sorted(outputs.keys)), dict(sorted(outputs.targets.items()))
    aliases = aliases_of(targets, keys) if panel.blind else None
    terms = Terms(panel.rubric or DEFAULT, today, keys, aliases, without_task)
    judges = tuple(sorted(panel.judges, key=lambda judge: judge.name))
    return FrozenJudging(terms, judges, tuple(outputs.not_arrived()), tasks, targets)


def same_terms(
    directory: StudyDirectory, panel: JudgePanel, before: FrozenJudging, tasks: tuple[str, ...]
) -> FrozenJudging:
    """The terms that were frozen, with judges who are new; anything else that is new is refused (ruling J7)."""
    wanted = before.terms if panel.rubric is None else replace(before.terms, rubric=panel.rubric)
    _refuse_changes(directory, before.terms.facts(), wanted.facts())
    if panel.blind is not None and panel.blind != before.terms.blind:  # ruling J16
        _refuse_changes(directory, {"blind": before.terms.blind}, {"blind": panel.blind})
    if panel.without_task is not None and panel.without_task != before.terms.without_task:
        frozen, given = {"without_task": before.terms.without_task}, {"without_task": panel.without_task}
        _refuse_changes(directory, dict(frozen), dict(given))
    if tasks != before.tasks:
        _refuse_changes(directory, {"tasks": list(before.tasks)}, {"tasks": list(tasks)})
    known = {judge.name: judge for judge in before.judges}
    for judge in panel.judges:
        if judge.name in known:
            was, is_now = {judge.name: known[judge.name].facts()}, {judge.name: judge.facts()}
            _refuse_changes(directory, {"judges": was}, {"judges": is_now})
        known[judge.name] = judge
    return replace(before, judges=tuple(known[name] for name in sorted(known)))


def _refuse_changes(directory: StudyDirectory, before: Fields, after: Fields) -> None:
    hint = "Two ways of judging are never pooled: judge a copy of the study, or name the judge otherwise."
    refuse_changes(str(directory), before, after, begun="judging", hint=hint)


@dataclass(frozen=True)
class OpenJudging:
    """Everything that a judging goes on with."""

    directory: StudyDirectory
    panel: JudgePanel
    frozen: FrozenJudging
    ledger: StudyLedger
    outputs: StudyOutputs
    archive: Archive
    is_new: bool
    """Whether its terms, or those of a judge, are not frozen yet."""

    @property
    def plan(self) -> JudgingPlan:
        """What is judged by whom."""
        assert self.ledger.judging_plan is not None  # noqa: S101 - there are terms
        return self.ledger.judging_plan

    @property
    def judgements(self) -> JudgingLedger:
        """What became of it."""
        assert self.ledger.judging is not None  # noqa: S101 - there are terms
        return self.ledger.judging

    @property
    def asked(self) -> list[str]:
        """The judges that have anything left to judge."""
        return [judge.name for judge in self.panel.judges if _is_asked(judge, self.judgements)]

    def not_begun(self) -> Judged:
        """How it ended if no new judge has said a word: nothing is frozen or written."""
        return Judged(self.directory.path, self.frozen, self.judgements.tallies)

    def sealed(self, log: RunLog, facts: Fields, options: JudgeOptions) -> Judged:
        """How it ended, sealed as it stands now."""
        # Before the seal, which covers it.
        log.ended({**facts, "root_sha256": self.archive.root_sha256()})
        return self.ended(self.seal(options.disk), options)

    def seal(self, disk: Disk) -> Seal:
        """Put a seal over everything as it stands now."""
        write_manifest(self.directory.path, self.ledger.manifest(), disk)
        seal = self.archive.seal(self.ledger.counts())
        keep_copy(self.directory, seal)
        return seal

    def ended(self, seal: Seal, options: JudgeOptions) -> Judged:
        """How it stands under a seal; the trees are written anew."""
        tallies = self.judgements.tallies
        write_trees(self.directory, self.plan, tallies.values(), options.watch)
        return Judged(
            self.directory.path,
            self.frozen,
            tallies,
            self.outputs.late(self.frozen),
            root_sha256=seal.root_sha256,
            seal_sha256=seal.sha256,
            seed=self.ledger.seed,
        )


async def _go_on(judging: OpenJudging, options: JudgeOptions) -> Judged:
    directory, panel, ledger = judging.directory, judging.panel, judging.judgements
    check_environment({name: panel.tables[name] for name in judging.asked})
    models = [panel.model(name) for name in judging.asked]
    async with Runner(
        JudgeWork(judging.plan, judging.outputs),
        models,
        ledger,
        limits=panel.limits,
        progress=options.progress,
        thread_from=LARGE,
    ) as runner:
        came = stop_on_signals(runner)
        options.stop.connect(runner)
        await runner.trial(with_questions=judging.is_new)
        log = RunLog(directory.path, options.disk)
        requests = {judge.name: judge.request for judge in panel.judges}
        facts: Fields = {"judgements": ledger.open, "judging": _facts(judging.frozen, panel)}

        def begin() -> None:
            if judging.is_new:
                write_judging(directory, judging.frozen, options.disk)
            log.began(facts, models, panel.tables, requests)

        if runner.stopped is None or not judging.is_new:
            await runner.run(judging.archive, begin, at_once=not judging.is_new, by_an_answer=judging.is_new)
    notes = runner.notes()
    ended: Fields = {"open": ledger.open, "stopped": runner.stopped, "notes": notes}
    return replace(
        judging.sealed(log, ended, options) if runner.begun else judging.not_begun(),
        asked=runner.asked,
        stopped=runner.stopped,
        setup_mistake=runner.setup_mistake,
        signal=came(),
        details=runner.details.most_common(5),
        notes=notes,
    )


def _is_asked(judge: JudgeTerms, ledger: JudgingLedger) -> bool:
    """Whether a judge has anything left to judge; else it need not be there."""
    return any(
        asks_again(tally, retry_failed=ledger.retry_failed)
        for cell, tally in ledger.tallies.items()
        if cell.judge == judge.name
    )


def _facts(frozen: FrozenJudging, panel: JudgePanel) -> Fields:
    return {
        "sha256_of_terms": frozen.terms.digest,
        "judges": {judge.name: judge.facts() for judge in panel.judges},
        "blind": frozen.terms.blind,
        "without_task": frozen.terms.without_task,
        "outputs": len(frozen.terms.outputs),
    }
