"""The open requests of a study, or of a judging, as files for a batch service.

What is exported is what a live run would ask now: the same keys, the same bytes. The plan is frozen with it, as it
is with a run's first record, so that answers of tomorrow meet the questions of today; as long as nothing was
answered, a study file that is changed begins anew, and the files are of no more use (ruling C11).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from affidavit.archive.disk import Disk
from affidavit.archive.study_directory import BeforeGrowth, ImportedStudy, StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.errors import UsageError
from affidavit.judging.directory import read_judging, write_judging
from affidavit.models.batch_files import (
    BatchFile,
    BatchRequest,
    BatchShape,
    free_folder,
    refuse_taken,
    write_batch_files,
)
from affidavit.models.model import Model
from affidavit.models.redaction import Redaction
from affidavit.models.sent_body import SentBody
from affidavit.models.settings import ModelTable
from affidavit.running.asked_now import left_to_ask
from affidavit.running.import_outputs import Intake
from affidavit.running.judge_panel import JudgePanel, WantedTerms, judge_panel
from affidavit.running.judging_run import JudgeWork, check_first_terms, open_judging
from affidavit.running.ledger import Ledger, StudyLedger
from affidavit.running.runner import Asking
from affidavit.running.study_outputs import open_tasks
from affidavit.running.study_run import panel_of, sealed_before, waits_for, without_draft
from affidavit.running.study_work import StudyWork
from affidavit.running.taken_over import TakenOver, reused_directories
from affidavit.study.files import StudyFiles
from affidavit.study.freezing import Draft, draft, frozen_plan
from affidavit.study.models_file import ModelsFile


@dataclass(frozen=True)
class ExportOptions:
    """What a person may choose about an export."""

    folder: Path | None = None
    """Where the files are written; None: beside the directory."""
    models: Collection[str] = ()
    """Whose requests are exported, by their names in the study; all unless given."""
    retry_failed: bool = False
    shape: BatchShape = field(default_factory=BatchShape)
    note: Callable[[str], None] = lambda _note: None
    disk: Disk = field(default_factory=Disk)


@dataclass(frozen=True)
class Exported:
    """What was exported."""

    directory: Path
    files: Sequence[BatchFile] = ()
    judging: bool = False
    """Whether these are judgements."""
    live: Mapping[str, int] = field(default_factory=dict)
    """Open questions that were not exported, by who is asked: they are left to a live run."""
    judging_waits_for: int = 0
    """Outputs that are to be judged and have not arrived."""

    @property
    def requests(self) -> int:
        """How many, in all files."""
        return sum(each.requests for each in self.files)


# --- questions ---


def export_study(files: StudyFiles, out: Path | None, options: ExportOptions) -> Exported:
    """The open questions of a study; once all of its outputs are there, what its own judges are to be asked."""
    directory = StudyDirectory(out or Path(files.study.study.name))
    files.check_models(options.models)
    with directory.made(options.disk), without_draft(directory, options.disk):
        drafted = draft(directory, files, options.disk)
        for note in drafted.notes:
            options.note(note)
        ledger = _ledger_of(drafted, options)
        exported = _export_questions(drafted, ledger, files, options)
        table = files.study.judging
        if table is None or not directory.is_study:
            return exported
        waits = waits_for(ledger.questions.tallies, table.tasks or open_tasks(directory.frozen()))
        if exported.files or exported.live or waits:
            return replace(exported, judging_waits_for=waits)
        return export_judgements(directory, panel_of(table, files), files.given_contracts, options)


def export_directory(directory: StudyDirectory, given: GivenContracts, options: ExportOptions) -> Exported:
    """The same of a directory without its file: questions as they were frozen, or judgements on frozen terms."""
    study, tables = directory.frozen(), dict[str, ModelTable]()
    with directory.locked():
        if not isinstance(study, ImportedStudy):
            drafted = Draft(directory, frozen_plan(study, given), before=study)
            tables = drafted.plan.study.models
            exported = _export_questions(drafted, _ledger_of(drafted, options), None, options)
            if exported.files or exported.live:
                return exported
        frozen = read_judging(directory)
        if frozen is None:
            return Exported(directory.path)
        for judge in frozen.judges:
            if judge.name not in tables:
                expected = (
                    "judges that are models of the study: of others it does not know whether they take batches"
                )
                hint = f"affidavit judge {directory} --judge {judge.name} --models FILE --batch FOLDER"
                raise UsageError(str(directory), expected=expected, found=judge.name, hint=hint)
        return export_judgements(directory, JudgePanel(frozen.judges, tables, _not_asked), given, options)


def _not_asked(name: str) -> Model:
    raise ValueError(f"{name} is not asked live")


def _ledger_of(drafted: Draft, options: ExportOptions) -> StudyLedger:
    directory = drafted.directory
    ledger = StudyLedger.planned(drafted.plan, read_judging(directory), retry_failed=options.retry_failed)
    for record in directory.records() if directory.is_study else ():
        ledger.load(record)
    return ledger


def _export_questions(
    drafted: Draft, ledger: StudyLedger, files: StudyFiles | None, options: ExportOptions
) -> Exported:
    """Files of what is open; the plan is frozen before they are there. `files`: the study's own, if given."""
    directory, tables, questions = drafted.directory, drafted.plan.study.models, ledger.questions
    left = _left(questions, tables)
    chosen = _batched(left, tables, options.models, where=str(directory))
    work, settled = StudyWork(drafted), questions.settled
    if files is not None and files.trial is None:
        settled |= _answered_in_trial(directory, work, settled)
    requests = _requests(work.questions, chosen, settled, tables, options)
    live = {name: count for name, count in left.items() if count and name not in chosen}
    if (first := next(requests, None)) is None:
        return Exported(directory.path, live=live)
    folder = _folder(directory, options)
    grown_from: BeforeGrowth | None = None
    if drafted.content and drafted.before is not None and files is not None:
        grown_from = sealed_before(drafted.before, directory, files, options.disk)
    if drafted.content:
        work.frozen = drafted.freeze(options.disk, grown_from)
    written = write_batch_files(chain([first], requests), folder, options.shape)
    return Exported(directory.path, written, live=live)


def _answered_in_trial(directory: StudyDirectory, work: StudyWork, settled: Set[bytes]) -> set[bytes]:
    """What the study's own trial has answered: a run takes that over."""
    study = work.plan.study
    found = TakenOver(reused_directories(directory, study.study.name, (), trial=True), settled)
    found.restrict(each for name in study.models for each in work.questions(name))
    return found.keys


# --- judgements ---


def export_judgements(
    directory: StudyDirectory, panel: JudgePanel, given: GivenContracts, options: ExportOptions
) -> Exported:
    """What judges are to be asked about the outputs of a study; the caller holds the directory's lock.

    The terms are frozen with it: the date, the set of outputs and the prompts are part of every request.
    """
    with closing(directory.archive(options.disk)) as archive:
        judging, _ = open_judging(directory, panel, given, archive, retry_failed=options.retry_failed)
        left = _left(judging.judgements, [judge.name for judge in panel.judges])
        chosen = _batched(left, panel.tables, options.models, where=str(directory))
        work, live = (
            JudgeWork(judging.plan, judging.outputs),
            {n: c for n, c in left.items() if c and n not in chosen},
        )
        requests = _requests(work.questions, chosen, judging.judgements.settled, panel.tables, options)
        if (first := next(requests, None)) is None:
            return Exported(directory.path, judging=True, live=live)
        folder = _folder(directory, options)
        if judging.is_new:
            write_judging(directory, judging.frozen, options.disk)
            judging.seal(options.disk)
        written = write_batch_files(chain([first], requests), folder, options.shape)
        return Exported(directory.path, written, judging=True, live=live)


def export_judging(
    intake: Intake, models: ModelsFile, wanted: WantedTerms, given: GivenContracts, options: ExportOptions
) -> Exported:
    """What judges are to be asked about outputs that exist already; such as come from elsewhere are kept first."""
    panel = judge_panel(intake.directory, models, wanted)
    if intake.is_new and intake.taken is not None:
        check_first_terms(intake, panel)
    with intake.kept(options.disk) as directory:
        return export_judgements(directory, judge_panel(directory, models, wanted), given, options)


# --- requests ---


def _left(ledger: Ledger[Any], names: Iterable[str]) -> dict[str, int]:
    """How many questions are open, by who is asked."""
    counts = Counter[str]()
    for cell, tally in ledger.tallies.items():
        counts[ledger.asks(cell)] += left_to_ask(tally, retry_failed=ledger.retry_failed)
    return {name: counts[name] for name in names}


def _batched(
    left: Mapping[str, int], tables: Mapping[str, ModelTable], wanted: Collection[str], *, where: str
) -> list[str]:
    """Who is asked by batch: servers, of those wanted; refused where only others are left."""
    asked = [name for name in left if not wanted or name in wanted]
    servers = [name for name in asked if tables[name].provider.takes_batches]
    others = [name for name in asked if name not in servers and (wanted or left[name])]
    if others and (wanted or not any(left[name] for name in servers)):
        raise UsageError(
            where if not wanted else "--model",
            expected="models behind a base_url: only a server's requests can wait in a file",
            found=", ".join(f"{name} ({tables[name].provider.flavour})" for name in others),
            hint="Models that run here, or answer from another study, are asked by `affidavit run`.",
        )
    return [name for name in servers if left[name]]


def _requests(
    questions: Callable[[str], Iterator[Asking]],
    names: Iterable[str],
    settled: Set[bytes],
    tables: Mapping[str, ModelTable],
    options: ExportOptions,
) -> Iterator[BatchRequest]:
    for name in names:
        sent = SentBody(name, tables[name].body, Redaction())
        if sent.variables:
            options.note(
                f"the files of {name} hold the value of {', '.join(sent.variables)} from the environment: "
                "keep them to yourself"
            )
        for question in questions(name):
            if bytes.fromhex(question.key) not in settled:
                yield BatchRequest(question.key, name, sent.encoded(question.request))


def _folder(directory: StudyDirectory, options: ExportOptions) -> Path:
    """Where the files will be; refused before anything is frozen for them."""
    folder = free_folder(directory.path) if options.folder is None else options.folder
    if folder.resolve().is_relative_to(directory.path.resolve()):
        hint = "It is evidence: write elsewhere, with -o."
        raise UsageError(
            str(folder), expected="a folder outside the study's directory", found="one in it", hint=hint
        )
    refuse_taken(folder)
    return folder
