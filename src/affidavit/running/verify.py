"""Check a study directory: every byte against its checksum, then every derived field against the raw text."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from affidavit.archive.disk import storage_errors
from affidavit.archive.lock import Holder
from affidavit.archive.record import (
    Failed,
    ImportIdentity,
    Judgement,
    JudgementIdentity,
    Label,
    QuestionIdentity,
    Record,
    Response,
    record_fields,
)
from affidavit.archive.seal import SEAL, Root, Seal
from affidavit.archive.segments import Line
from affidavit.archive.study_directory import FrozenStudy, StudyDirectory
from affidavit.contracts.text import text as text_contract
from affidavit.items.item import Item
from affidavit.judging.directory import read_judging
from affidavit.judging.outputs import imported_identity, imported_response, imported_task, output_of, transcript
from affidavit.judging.plan import JudgeCell, Output
from affidavit.models.model import Completion, Reason
from affidavit.reading.rows import RowReader
from affidavit.running.evaluation_trees import ExpectedTrees
from affidavit.running.ledger import StudyLedger
from affidavit.running.manifest import MANIFEST
from affidavit.study.answer_records import identity
from affidavit.study.files import FindContract
from affidavit.study.freezing import frozen_items, plan_of
from affidavit.study.plan import Plan

MOST_DIFFERENCES = 20


@dataclass
class Verified:
    """What a check of a study came to; true if every record follows from its raw text."""

    sealed: bool = False
    records: int = 0
    responses: int = 0
    judgements: int = 0
    failures: int = 0
    torn: bool = False
    """Whether the open segment ends in a torn tail, which the next run will cut."""
    holder: Holder | None = None
    root_sha256: str = ""
    differing: int = 0
    differences: list[str] = field(default_factory=list)
    """The first places at which a record says something else than its raw text."""

    def __bool__(self) -> bool:
        """Whether every record follows from its raw text; what was changed on the disk is raised before."""
        return not self.differing

    def differ(self, where: str, said: str) -> None:
        """One more record that does not follow from its text."""
        self.differing += 1
        if len(self.differences) < MOST_DIFFERENCES:
            self.differences.append(f"{where}: {said}")


def verify(directory: StudyDirectory, contract: FindContract, *, beside: Path | None = None) -> Verified:
    """Check everything; corruption is raised, what does not follow from the raw text and the plan is listed.

    `beside` is where the study file is, for contracts of the user's own.
    """
    study = directory.frozen()
    verified = Verified(holder=directory.holder())
    seal = directory.seal()
    if seal is not None:
        directory.check_seal(seal)
    again = _Again(directory, study, plan_of(study, contract, beside))
    walk = directory.walk()
    for line in walk:
        verified.records += 1
        verified.responses += isinstance(line.record, Response)
        verified.judgements += isinstance(line.record, Judgement)
        verified.failures += isinstance(line.record, Failed)
        if said := again.difference(line):
            verified.differ(line.where, said)
    verified.torn = walk.torn
    verified.root_sha256 = again.root.sha256()
    verified.sealed = directory.is_sealed_by(seal) and not again.judging_began_after(seal)
    if verified.sealed and seal is not None:
        again.check_summaries(seal, verified)
    return verified


class _Again:
    """Plans and reads once more what the study planned and read."""

    def __init__(self, directory: StudyDirectory, study: FrozenStudy, plan: Plan | None) -> None:
        self._directory = directory
        self._study = study
        self._plan = plan
        judging = read_judging(directory)
        self._ledger = StudyLedger(study, plan, judging)
        judging_plan = self._ledger.judging_plan
        self._trees = None if judging_plan is None else ExpectedTrees(directory, judging_plan)
        self._items: dict[tuple[str, str], Item] = {}
        if plan is not None:
            self._items = {(task, item.id): item for task, item in frozen_items(directory)}
        self._judged = frozenset(() if judging is None else judging.terms.outputs)
        self._outputs: dict[str, Output] = {}
        self._text = RowReader(text_contract)
        self._answered: set[str] = set()
        self.root = Root()

    def check_summaries(self, seal: Seal, verified: Verified) -> None:
        """Whether seal, list of prompts and trees are what the records make them; tells the first that is not."""
        path = self._directory.path
        if seal.root_sha256 != verified.root_sha256:
            verified.differ(str(path / SEAL), "its root digest is not that of the records")
        elif verified.differing:
            return
        elif seal.counts != self._ledger.counts():
            verified.differ(str(path / SEAL), "its counts are not those of the records")
        elif not self._has_its_manifest(path / MANIFEST):
            verified.differ(str(path / MANIFEST), "it is not the list of the prompts in the records")
        elif (other := self._other_tree()) is not None:
            verified.differ(other, "it is not the projection of the records; `affidavit judge` makes it anew")

    def judging_began_after(self, seal: Seal | None) -> bool:
        """Whether judging.json plans judgements that the seal does not know of: a kill came before the first."""
        if seal is None or self._ledger.judging is None:
            return False
        known: Any = seal.counts.get("judging", ())
        cells = {tuple(cell[name] for name in JudgeCell._fields) for cell in known}
        new = [tally for cell, tally in self._ledger.judging.tallies.items() if cell not in cells]
        return bool(new) and all(tally.pending == tally.n for tally in new)

    def _has_its_manifest(self, path: Path) -> bool:
        with storage_errors(str(path)):
            return path.is_file() and path.read_bytes() == self._ledger.manifest().encode()

    def _other_tree(self) -> str | None:
        if self._trees is None or self._ledger.judging is None:
            return None
        return self._trees.first_difference(self._ledger.judging.tallies.values())

    def difference(self, line: Line) -> str | None:
        """What a record says that does not follow; None if all of it does."""
        self.root.add_line(line.content, line.placed)
        record = line.record
        if isinstance(record, Label):
            return None
        if record.key in self._answered:
            return "its question is answered already, by an earlier record"
        if not isinstance(record, Failed):
            self._answered.add(record.key)
        elif record.reason not in REASONS:
            return f"reason is {record.reason!r}, which is none of the reasons that there are"
        expected = self._expected(record)
        if isinstance(expected, str):
            return expected
        if (said := _first_difference(expected, record)) is not None:
            return said
        self._ledger.load(record)
        if isinstance(record, Judgement) and self._trees is not None:
            self._trees.add(record)
        return None

    def _expected(self, record: Response | Judgement | Failed) -> Record | str:
        """The record as it must be; in words why there can be none like it."""
        subject = record.subject
        match subject:
            case JudgementIdentity():
                return self._expected_judgement(record, subject)
            case ImportIdentity() if isinstance(record, Response):
                return self._expected_import(record, subject)
            case QuestionIdentity() if self._plan is not None:
                return self._expected_answer(self._plan, record, subject)
        return "it is no record of this study"

    def _expected_answer(
        self, plan: Plan, record: Response | Judgement | Failed, subject: QuestionIdentity
    ) -> Record | str:
        item = self._items.get((subject.task, subject.item_id))
        if item is None:
            return f"there is no item {subject.item_id!r} of the task {subject.task!r} in items.jsonl"
        task = plan.tasks[subject.task]
        question = plan.question(task, item, subject.model, subject.condition, subject.sample)
        if question is None:
            return "the plan has no such question"
        if not isinstance(record, Response):
            return Failed(identity(plan.study.study.name, question), _reason(record))
        self._keep(record, transcript(question.request.messages))
        return plan.response(question, _completion(record))

    def _expected_import(self, response: Response, subject: ImportIdentity) -> Response:
        self._keep(response, imported_task(subject))
        names = (subject.item_id, subject.condition, subject.model, subject.output_id)
        expected = imported_identity(self._study.name, *names, subject.prompt)
        return imported_response(expected, response.raw_output, self._text)

    def _keep(self, response: Response, words: str) -> None:
        """An output that may be judged by a later record."""
        who = self._study.identities.get(response.subject.model)
        if response.key in self._judged and who is not None:
            self._outputs[response.key] = output_of(response, identity=who, task=words)

    def _expected_judgement(
        self, record: Response | Judgement | Failed, subject: JudgementIdentity
    ) -> Record | str:
        plan, output = self._ledger.judging_plan, self._outputs.get(subject.judged_key)
        judge = None if plan is None else plan.judges.get(subject.judge)
        if plan is None or output is None or judge is None:
            return "judging.json knows no such judge or output"
        if subject.judging_condition not in judge.conditions or not 1 <= subject.repeat <= judge.repeats:
            return "judging.json plans no such judgement"
        judgement = plan.judgement(judge, output, subject.judging_condition, subject.repeat)
        if isinstance(record, Judgement):
            return plan.response(judgement, _completion(record))
        return Failed(plan.identity(judgement), _reason(record))


REASONS = frozenset(Reason)


def _reason(record: Record) -> str:
    return record.reason if isinstance(record, Failed) else ""


def _completion(record: Response | Judgement) -> Completion:
    """What arrived, as the record tells it."""
    return Completion(
        record.raw_output, record.finish_reason, record.reasoning, record.usage, record.rendered_prompt
    )


def _first_difference(expected: Record, record: Record) -> str | None:
    if expected == record:
        return None
    wanted, found = record_fields(expected), record_fields(record)
    for name in (*wanted, *found):
        if name not in wanted:
            return f"{name} is {found[name]!r}; the plan and the raw text give none"
        if found.get(name) != wanted[name]:
            return f"{name} is {found.get(name)!r}; the plan and the raw text give {wanted[name]!r}"
    return None
