"""Answers that a batch service wrote, taken into the directory of the questions: a run that asks nobody.

Each answer becomes the record that a live run would have made of it, in the same journal and as safely: a kill
loses nothing that was finished, and the same command goes on. What failed is recorded as failed (ruling C1), and a
live run asks it again where that may help. An answer on the record is never replaced; of several answers to one
question the first counts, and an answer counts more than a failure.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from affidavit.archive.disk import Disk
from affidavit.archive.journal import Archive
from affidavit.archive.parquet_copy import keep_copy
from affidavit.archive.record import Failed, Judgement, Record, Response
from affidavit.archive.seal import Seal
from affidavit.archive.study_directory import PlannedStudy, StudyDirectory
from affidavit.contracts.contract import AnyContract, label
from affidavit.contracts.own_file import GivenContracts
from affidavit.errors import InputError, StorageError
from affidavit.exchange.batch_answer import answer_in
from affidavit.json_values import Fields, canonical
from affidavit.judging.directory import read_judging
from affidavit.judging.plan import JudgeCell
from affidavit.models.environment_values import values_set, variables_in
from affidavit.models.model import PERMANENT, Answer, Completion, Failure, Reason
from affidavit.models.redaction import Redaction, secret_note
from affidavit.models.response_ids import ResponseIds, request_name
from affidavit.models.settings import Limits
from affidavit.models.shown_names import shown_variable
from affidavit.reading.tally import Tally
from affidavit.running.answer_lines import AnswerLines, NamedFew
from affidavit.running.attempts import Attempts, ids_on_record
from affidavit.running.evaluation_trees import write_trees
from affidavit.running.judging_run import Judged, JudgeWork
from affidavit.running.ledger import Ledger, StudyLedger
from affidavit.running.manifest import write_manifest
from affidavit.running.run_log import RunLog
from affidavit.running.runner import Asking, Work, unexpected
from affidavit.running.study_outputs import StudyOutputs
from affidavit.running.study_run import Ended, counted
from affidavit.running.study_work import StudyWork
from affidavit.study.crossing import Cell
from affidavit.study.freezing import Draft, plan_of
from affidavit.study.plan import Plan
from affidavit.study.study_file import requests_of

GROUP = 1_000
"""Records that are synced together: nobody waits for one of them, and what a kill costs is read once more."""


@dataclass(frozen=True)
class ImportOptions:
    """What a person may choose about an import."""

    progress: Callable[[str, int], None] = lambda _of, _count: None
    """Is told how many lines were read, and then how many questions were looked up."""
    limits: Limits = field(default_factory=Limits)
    """Of a live run: a body that is too large for it is too large in a file."""
    watch: Callable[[Record], None] | None = None
    """Is shown every record of a study that is judged, once all are there."""
    disk: Disk = field(default_factory=Disk)
    group: int = GROUP


@dataclass
class Counts:
    """What became of the lines."""

    answers: int = 0
    """Records of answers that were added."""
    failures: Counter[str] = field(default_factory=Counter)
    """Records of failures that were added, by their reasons."""
    known: int = 0
    """Lines about questions that were answered already, or whose failure is on the record."""
    doubled: NamedFew = field(default_factory=NamedFew)
    """Questions with several lines."""
    differing: NamedFew = field(default_factory=NamedFew)
    """Those of them whose answers are not the same."""
    missing: NamedFew = field(default_factory=NamedFew)
    """Open questions to the models of these files about which no line says anything."""
    unknown: NamedFew = field(default_factory=NamedFew)
    """Ids that no question has."""
    unreadable: NamedFew = field(default_factory=NamedFew)
    details: Counter[str] = field(default_factory=Counter)
    """What was said of failures."""

    @property
    def added(self) -> int:
        """Records that were added."""
        return self.answers + self.failures.total()

    @property
    def asked_again(self) -> int:
        """Failures among them that a live run asks again by itself."""
        return sum(count for reason, count in self.failures.items() if reason not in PERMANENT)


@dataclass(frozen=True)
class Imported:
    """How an import ended."""

    directory: Path
    lines: int
    counts: Counts
    ended: Ended | None = None
    """How the study stands; None where its outputs came from elsewhere."""
    contracts: Mapping[str, AnyContract] = field(default_factory=dict)
    judged: Judged | None = None
    """How the judging stands; None where nobody has begun one."""
    root_sha256: str = ""
    seal_sha256: str = ""
    notes: Sequence[str] = ()

    @property
    def judgements(self) -> Mapping[JudgeCell, Tally]:
        """What became of the judgements."""
        return {} if self.judged is None else self.judged.tallies

    @property
    def open(self) -> int:
        """Failed or not answered yet, of questions and of judgements."""
        tallies = [*self.judgements.values(), *(() if self.ended is None else self.ended.tallies.values())]
        return sum(tally.failed + tally.pending for tally in tallies)


def import_answers(
    directory: StudyDirectory, paths: Sequence[Path], given: GivenContracts, options: ImportOptions
) -> Imported:
    """Take in the answers of these files; what they do not answer stays open."""
    plan = plan_of(directory.frozen(), given)
    with directory.locked(), closing(directory.archive(options.disk)) as archive:
        lines = AnswerLines(paths, partial(options.progress, "lines read"))
        if not len(lines) and not lines.foreign.count:
            found = f"none: {lines.unreadable}" if lines.unreadable.count else "none"
            raise InputError(str(paths[0]), expected="lines with a custom_id and a response", found=found)
        with lines:
            return _Import(directory, plan, lines, archive, options).done()


@dataclass(frozen=True)
class _Asked:
    """Everything that one model, or one judge, is asked, and the ledger of it."""

    name: str
    work: Work[Any]
    ledger: Ledger[Any]
    redaction: Redaction
    """Of the secrets that were sent with the requests."""

    def questions(self) -> Iterator[Asking]:
        """All of them."""
        return self.work.questions(self.name)


def _name_of(question: Asking) -> bytes:
    request = question.request
    return request_name(request.encoded or canonical(request.body))


def _place(order: Mapping[str, Sequence[str]], cell: Cell) -> list[tuple[int, str]]:
    """Where a cell stands in the order of the study's file, as far as that was kept."""
    names = zip(("tasks", "models", "conditions"), (cell.task, cell.model, cell.condition), strict=True)
    known = [(list(order.get(kind, ())), name) for kind, name in names]
    return [(names.index(name) if name in names else len(names), name) for names, name in known]


class _Import:
    """One import, from the recovered journal to its seal."""

    def __init__(
        self,
        directory: StudyDirectory,
        plan: Plan | None,
        lines: AnswerLines,
        archive: Archive,
        options: ImportOptions,
    ) -> None:
        self._directory, self._plan, self._lines = directory, plan, lines
        self._archive, self._options = archive, options
        self._counts = Counts(unreadable=lines.unreadable)
        self._most_megabytes = options.limits.body_megabytes
        self._unset: dict[str, None] = {}
        """Variables of the requests that are not set here: what repeats their values cannot be told."""
        self._with_secret: Counter[str] = Counter()
        self._on_record = ids_on_record(directory.path)
        self._ids: dict[str, ResponseIds] = {}
        self._looked_up = 0
        study, judging, seal = directory.frozen(), read_judging(directory), directory.seal()
        self._sealed = seal if seal is not None and not directory.check_seal(seal) else None
        # What failed permanently is settled for a run, and not for an answer that has come after all.
        self._ledger = StudyLedger.of(study, plan, judging, retry_failed=True)
        outputs = None if judging is None else StudyOutputs(directory, study, plan, judging.tasks)
        self._judging, self._outputs = judging, outputs
        for line in archive.recover():
            self._ledger.load(line.record)
            if outputs is not None:
                outputs.add(line)
        self._asked = [*self._models(), *self._judges(outputs)]

    def _models(self) -> Iterator[_Asked]:
        if self._plan is None:
            return
        frozen = self._directory.frozen_or_none()
        work = StudyWork(Draft(self._directory, self._plan, before=frozen))  # type: ignore[arg-type]
        for name in self._plan.study.models:
            yield _Asked(name, work, self._ledger.questions, self._redaction(name))

    def _judges(self, outputs: StudyOutputs | None) -> Iterator[_Asked]:
        plan, ledger = self._ledger.judging_plan, self._ledger.judging
        if plan is not None and ledger is not None and outputs is not None:
            for name in plan.judges:
                yield _Asked(name, JudgeWork(plan, outputs), ledger, self._redaction(name))

    def _redaction(self, name: str) -> Redaction:
        """The secrets of a model's requests: a service may repeat its key as well as a value of their bodies."""
        table, redaction = None if self._plan is None else self._plan.study.models.get(name), Redaction()
        if table is not None:
            named = (*variables_in(table.body), *(variable for _, variable in table.variables()))
            for variable, value in values_set(named).items():
                if value is None:
                    self._unset[variable] = None
                else:
                    redaction.add(value)
        return redaction

    # --- answers ---

    def done(self) -> Imported:
        """Take in whatever answers a question; sealed in the end, unless nothing was ever answered."""
        log, attempts = RunLog(self._directory.path, self._options.disk), Attempts()
        begun = False
        if self._answered or self._any_answer():
            for asked, key, came in self._found():
                if not begun:
                    log.began_import(self._facts(), self._requests())
                    attempts.open(self._directory.path, self._options.disk)
                    begun = True
                attempts.add_batched(key, asked.name, *came)
            self._archive.commit()
        attempts.close()
        self._counts.unknown = self._lines.unknown()
        if begun or (self._answered and self._sealed is None):
            self._sealed = self._seal(log)
        return self._ended()

    @property
    def _answered(self) -> bool:
        return any(
            tally.n > tally.failed + tally.pending
            for ledger in (self._ledger.outputs, self._ledger.judging)
            if ledger is not None
            for tally in ledger.tallies.values()
        )

    def _any_answer(self) -> bool:
        """Whether anything was answered at all: failures alone would be the mistake of a setup, on the record."""
        for asked in self._asked:
            for question in asked.questions():
                key = bytes.fromhex(question.key)
                came = [answer_in(line, most_megabytes=self._most_megabytes) for _, line in self._lines.of(key)]
                if any(isinstance(answer, Completion) for answer in came):
                    return True
                for answer in came:
                    assert isinstance(answer, Failure)  # noqa: S101 - what else
                    self._counts.details[f"{answer.reason}: {answer.detail}"] += 1
        return False

    def _found(self) -> Iterator[tuple[_Asked, str, tuple[str, Answer]]]:
        """Every record that is added, after it was written: who was asked, its key, its file and the answer."""
        self._counts.details.clear()
        for asked in self._asked:
            ids, missing, lines = self._ids_of(asked.name), NamedFew(), 0
            for question in asked.questions():
                self._looked_up += 1
                self._options.progress("questions looked up", self._looked_up)
                key = bytes.fromhex(question.key)
                if key in asked.ledger.settled:
                    about = self._lines.count(key)
                    self._counts.known += about
                elif (came := self._answer(asked, question, ids)) is None:
                    about = 0
                    missing.add(question.key)
                else:
                    about = 1
                    if self._keep(asked, question, came[1]):
                        yield asked, question.key, came
                lines += about
            if lines:
                self._counts.missing.extend(missing)

    def _ids_of(self, name: str) -> ResponseIds:
        """The ids of a server's responses, each with its request; what is on the record has keys of questions."""
        if name not in self._ids:
            ids = self._ids[name] = ResponseIds()
            on_record = self._on_record.get(name, [])
            wanted, requests = {key.hex() for _, key in on_record}, dict[str, bytes]()
            for each in self._asked if wanted else ():
                if each.name == name:
                    requests |= {one.key: _name_of(one) for one in each.questions() if one.key in wanted}
            for response_id, key in on_record:
                ids.is_stray(response_id, requests.get(key.hex(), key))
        return self._ids[name]

    def _answer(self, asked: _Asked, question: Asking, ids: ResponseIds) -> tuple[str, Answer] | None:
        """The answer to a question, with the name of its file; None where no line is about it."""
        key = bytes.fromhex(question.key)
        came = [
            (name, answer_in(line, asked.redaction.redacted, most_megabytes=self._most_megabytes))
            for name, line in self._lines.of(key)
        ]
        if not came:
            return None
        answers = [each for each in came if isinstance(each[1], Completion)]
        if len(came) > 1:
            self._counts.doubled.add(question.key)
            if len({(each.text, each.finish_reason) for _, each in answers}) > 1:  # type: ignore[union-attr]
                self._counts.differing.add(question.key)
        name, answer = answers[0] if answers else came[-1]
        if ids.is_stray(answer.response_id, _name_of(question)):
            detail = "the response has the id of a response to another request"
            return name, Failure(Reason.STRAY_RESPONSE, detail, response_id=answer.response_id)
        return name, answer

    def _keep(self, asked: _Asked, question: Asking, answer: Answer) -> bool:
        """Add the record of an answer; not that of a failure which is on the record as it is."""
        if isinstance(answer, Failure) and asked.ledger.failure_of(question.key) == answer.reason:
            self._counts.known += 1
            return False
        if isinstance(answer, Completion):
            said = answer.text if answer.reasoning is None else f"{answer.text}\n{answer.reasoning}"
            self._with_secret[asked.name] += asked.redaction.holds(said)
        record = self._record(asked, question, answer)
        self._archive.append(record)
        asked.ledger.add(record)
        if self._archive.group_size >= self._options.group:
            self._archive.commit()
        if isinstance(record, Failed):
            self._counts.failures[record.reason] += 1
        else:
            self._counts.answers += 1
        return True

    def _record(self, asked: _Asked, question: Asking, answer: Answer) -> Response | Judgement | Failed:
        if isinstance(answer, Completion):
            try:
                return asked.work.response(question, answer)
            except StorageError:
                raise
            except Exception as error:  # noqa: BLE001 - as in a live run: it is about this question alone
                answer = unexpected(error)
        self._counts.details[f"{answer.reason}: {answer.detail}"] += 1
        return asked.work.failure(question, answer)

    # --- the end ---

    def _facts(self) -> Fields:
        files = [each._asdict() for each in self._lines.files]
        return {"batch": files, "questions": self._ledger.outputs.open}

    def _requests(self) -> Mapping[str, Mapping[str, object]]:
        judges = {} if self._ledger.judging_plan is None else self._ledger.judging_plan.judges
        models = {} if self._plan is None else requests_of(self._plan.study)
        return {**models, **{name: judge.request for name, judge in judges.items()}}

    def _seal(self, log: RunLog) -> Seal:
        disk, path = self._options.disk, self._directory.path
        write_manifest(path, self._ledger.manifest(), disk)
        # Before the seal, which covers it.
        notes: Fields = {"open": self._ledger.outputs.open, "stopped": None, "notes": self._notes()}
        log.ended({**notes, "root_sha256": self._archive.root_sha256()})
        seal = self._archive.seal(self._ledger.counts())
        keep_copy(self._directory, seal)
        return seal

    def _judged(self, seal: Seal | None) -> Judged | None:
        """How the judging stands under a seal; the trees are written anew, and all records are shown."""
        plan, ledger = self._ledger.judging_plan, self._ledger.judging
        if plan is None or ledger is None or self._judging is None or self._outputs is None:
            return None
        late, seed = self._outputs.late(self._judging), self._ledger.seed
        judged = Judged(self._directory.path, self._judging, ledger.tallies, late, seed=seed)
        if seal is None:
            return judged
        write_trees(self._directory, plan, ledger.tallies.values(), self._options.watch)
        return replace(judged, root_sha256=seal.root_sha256, seal_sha256=seal.sha256)

    def _notes(self) -> list[str]:
        ledgers: Iterable[Ledger[Any] | None] = (self._ledger.outputs, self._ledger.judging)
        notes = [secret_note(count, name) for name, count in self._with_secret.items() if count]
        if self._unset:
            names = ", ".join(map(shown_variable, self._unset))
            notes.append(
                f"{names} not set here: if what came back repeats a value of theirs, nobody was told, and what a "
                "service says of its errors was kept as it is"
            )
        return notes + [note for each in ledgers if each is not None for note in each.server_words.changes()]

    def _ended(self) -> Imported:
        lines = sum(each.lines for each in self._lines.files)
        imported = Imported(self._directory.path, lines, self._counts, notes=self._notes())
        if (seal := self._sealed) is not None:
            imported = replace(imported, root_sha256=seal.root_sha256, seal_sha256=seal.sha256)
        imported = replace(imported, judged=self._judged(self._sealed))
        if (plan := self._plan) is None:
            return imported
        frozen = self._directory.frozen_or_none()
        if isinstance(frozen, PlannedStudy):
            plan.cells.sort(key=partial(_place, frozen.order))
        contracts = {name: task.contract for name, task in plan.tasks.items()}
        header, names = plan.study, {name: label(each) for name, each in contracts.items()}
        ended = Ended(self._directory.path, names, {}, samples=header.decoding.samples, seed=header.study.seed)
        ended = replace(counted(ended, self._ledger.questions, seal, plan), asked=self._counts.added)
        return replace(imported, ended=ended, contracts=contracts)
