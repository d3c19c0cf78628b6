"""Check a study directory: every byte against its checksum, then every derived field against the raw text."""

import re
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from affidavit.archive.corruption import ODD_VALUES, corrupt, in_words
from affidavit.archive.disk import storage_errors
from affidavit.archive.layout import (
    GROWING,
    INVALID,
    ITEMS,
    JUDGING,
    LOCK,
    MANIFEST,
    PAGE,
    RECORDS,
    SEAL,
    STUDY,
    VALID,
)
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
    encode,
    record_fields,
)
from affidavit.archive.regular_files import open_to_read
from affidavit.archive.seal import Root, Seal
from affidavit.archive.segments import Line
from affidavit.archive.study_directory import FrozenStudy, PlannedStudy, StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.contracts.text import text as text_contract
from affidavit.errors import StorageError, UsageError
from affidavit.items.item import Item
from affidavit.json_values import Fields, shown
from affidavit.judging.directory import read_judging
from affidavit.judging.outputs import imported_identity, imported_response, imported_task, output_of, transcript
from affidavit.judging.plan import Output
from affidavit.models.model import Completion, Reason
from affidavit.reading.rows import RowReader
from affidavit.running.evaluation_trees import ExpectedTrees
from affidavit.running.ledger import StudyLedger
from affidavit.study.answer_records import identity
from affidavit.study.freezing import plan_of
from affidavit.study.plan import Plan

MOST_DIFFERENCES = 20
_OTHER_ROOT = "its root digest is not that of the plan and the records"


@dataclass
class Verified:
    """What a check of a study came to; true if it is sealed and everything in it follows."""

    sealed: bool = False
    since_seal: list[str] = field(default_factory=list)
    """Why it is not sealed: what was written since, or that there is no seal."""
    records: int = 0
    responses: int = 0
    judgements: int = 0
    failures: int = 0
    torn: bool = False
    """Whether the open segment ends in a torn tail, which the next run will cut."""
    holder: Holder | None = None
    root_sha256: str = ""
    """Over what was asked and what came back."""
    seal_sha256: str = ""
    """Over seal.json, which lists every file: the one to publish; empty if there is no seal."""
    differing: int = 0
    differences: list[str] = field(default_factory=list)
    """The first places at which something says what does not follow from the raw texts and the plan."""
    fits: str = ""
    """Which of the two the expected digest is; empty if none was given."""
    not_read_again: str = ""
    """Why nothing was derived again: a contract is code, and nobody named it."""
    checked: list[str] = field(default_factory=list)
    """Every file that was checked, and how."""
    not_checked: list[str] = field(default_factory=list)
    """Every file that was not, and why."""

    def __bool__(self) -> bool:
        """Whether it is sealed and consistent; what was changed on the disk is raised before."""
        return self.sealed and not self.differing and not self.not_read_again

    @property
    def page_checked(self) -> bool:
        """Whether there is nothing on the page that was not checked."""
        return not any(line.startswith(f"{PAGE}: ") for line in self.not_checked)

    def as_json(self) -> Fields:
        """What was found, as JSON values."""
        return asdict(self)

    def count(self, line: Line) -> None:
        """One more record."""
        self.records += 1
        self.responses += isinstance(line.record, Response)
        self.judgements += isinstance(line.record, Judgement)
        self.failures += isinstance(line.record, Failed)

    def differ(self, where: str, said: str) -> None:
        """One more thing that does not follow."""
        self.differing += 1
        if len(self.differences) < MOST_DIFFERENCES:
            self.differences.append(f"{where}: {said}")


def expected_digest(text: str) -> str:
    """A digest that somebody has kept, as it was typed.

    >>> expected_digest("SHA256:" + "AB" * 32) == "ab" * 32
    True
    """
    digits = text.strip().lower().removeprefix("sha256:").strip()
    if not re.fullmatch("[0-9a-f]{64}", digits):
        hint = "All of it: of a digest that is cut short, somebody may find another study that fits."
        raise UsageError("--expect", expected="a digest of 64 hexadecimal digits", found=repr(text), hint=hint)
    return digits


def verify(
    directory: StudyDirectory, given: GivenContracts, *, expect: str | None = None, without_code: bool = False
) -> Verified:
    """Check everything; corruption is raised, what does not follow from the raw texts and the plan is listed.

    Of contracts of an author's own only those that the user has named are run, and only once the expected digest
    fits. If one is not named, that is raised, or, `without_code`, told with all that can be checked without it.
    """
    study = directory.frozen()
    verified = Verified(holder=directory.holder())
    seal = directory.seal()
    if seal is None:
        verified.since_seal.append("there is no seal")
    else:
        verified.seal_sha256 = seal.sha256
        verified.since_seal += directory.check_seal(seal)
    if isinstance(study, PlannedStudy):
        directory.check_items(study.items_file_sha256)
    if expect is not None:
        verified.fits = _which_digest(directory, verified.seal_sha256, expect)
    try:
        again = _Again(directory, study, plan_of(study, given))
    except UsageError as error:
        if not without_code:
            raise
        verified.not_read_again = str(error)
        _count_again(directory, seal, verified)
        return verified
    walk = directory.walk()
    for line in walk:
        verified.count(line)
        if said := _other_form(line) or again.difference(line):
            verified.differ(line.where, said)
    verified.torn = walk.torn
    verified.root_sha256 = again.root.sha256(directory.path)
    verified.sealed = not verified.since_seal
    if verified.sealed and seal is not None:
        again.check_summaries(seal, verified)
    _list_files(directory, seal, verified, with_trees=again.has_trees)
    return verified


def _other_form(line: Line) -> str | None:
    """What is wrong with a line that says its record in another way than it is written."""
    placed = line.placed
    if encode(placed.record, seq=placed.seq, group=placed.group) == line.content:
        return None
    return "the line has a name twice, or says its record in another form than it is written"


def _which_digest(directory: StudyDirectory, seal_sha256: str, expected: str) -> str:
    """Which digest the expected one is; refused if it is none: before any code of an author is run."""
    if expected == seal_sha256:
        return "seal's digest"
    root = Root()
    for line in directory.walk():
        root.add_line(line.content, line.placed)
    if expected == (found := root.sha256(directory.path)):
        return "root digest"
    both = f"the root digest {found} and the seal's digest {seal_sha256 or 'of none'}"
    hint = "It is another study, or was changed since. Ask whoever keeps the digest; do not use these figures."
    raise StorageError(str(directory), expected=f"the digest {expected}", found=both, hint=hint)


def _count_again(directory: StudyDirectory, seal: Seal | None, verified: Verified) -> None:
    """What can be checked where nothing can be read again."""
    root, walk = Root(), directory.walk()
    for line in walk:
        verified.count(line)
        if said := _other_form(line):
            verified.differ(line.where, said)
        root.add_line(line.content, line.placed)
    verified.torn = walk.torn
    verified.root_sha256 = root.sha256(directory.path)
    verified.sealed = not verified.since_seal
    if verified.sealed and seal is not None and seal.root_sha256 != verified.root_sha256:
        verified.differ(str(directory.path / SEAL), _OTHER_ROOT)
    _list_files(directory, seal, verified, with_trees=False)


# --- which files were checked, and how ---

_TREES = (f"{VALID}/", f"{INVALID}/")


def _list_files(directory: StudyDirectory, seal: Seal | None, verified: Verified, *, with_trees: bool) -> None:
    """Say of every file in the directory whether it was checked, and how; the page is looked at elsewhere."""
    sealed = frozenset(() if seal is None else seal.files)
    for name in sorted(directory.names()):
        how = _how_derived(name, verified, with_trees=with_trees) or _how_sealed(name, sealed, verified)
        if how is not None:
            verified.checked.append(f"{name}: {how}")
        elif name != PAGE:
            verified.not_checked.append(f"{name}: {_why_not(name, verified)}")
    if verified.not_read_again:
        verified.not_checked.append(f"what was read from the raw texts: {_NOT_NAMED}")
    if not (directory.path / PAGE).exists():
        verified.not_checked.append(f"{PAGE}: there is none")


_NOT_NAMED = "a contract is code that nobody named"


def _how_derived(name: str, verified: Verified, *, with_trees: bool) -> str | None:
    """How a file was derived again; None if it was not."""
    if verified.not_read_again:
        return None
    if name == f"{RECORDS}/":
        by = "checksums and seal" if verified.seal_sha256 else "checksums"
        return f"{by}; every field derived again from its raw text"
    if name == MANIFEST and verified.sealed:
        return "written again from the records and compared"
    if name in _TREES and verified.sealed and with_trees:
        return "every file written again from the records and compared"
    return None


def _how_sealed(name: str, sealed: frozenset[str], verified: Verified) -> str | None:
    """How the bytes of a file were checked; None if they were not."""
    if name == SEAL:
        return "checksum and root digest" if verified.not_read_again else "checksum, counts and root digest"
    if name in (STUDY, ITEMS, JUDGING):
        return "checksum and seal" if name in sealed else "checksum"
    if name == f"{RECORDS}/":
        return "checksums and seal" if verified.seal_sha256 else "checksums"
    return "seal" if name in sealed and verified.sealed else None


def _why_not(name: str, verified: Verified) -> str:
    if name == LOCK:
        return "it says who writes now, and nothing of the study"
    if name in _TREES and verified.not_read_again:
        return _NOT_NAMED
    return "no seal is over it" if name in (*GROWING, MANIFEST, *_TREES) else "no file of a study"


# --- everything once more ---


def _items_of(directory: StudyDirectory, plan: Plan) -> dict[tuple[str, str], Item]:
    """The items, as many of each task as were planned; refused if one is there twice, or of no task."""
    listed = [(task, Item(name, fields)) for task, name, fields in directory.items(to_the_byte=True)]
    items = {(task, item.id): item for task, item in listed}
    found, expected = Counter(task for task, _ in items), {name: task.count for name, task in plan.tasks.items()}
    if found != Counter(expected) or len(items) < len(listed):
        counts = ", ".join(f"{count:,} of {task}" for task, count in sorted(expected.items()))
        said = ", ".join(f"{count:,} of {shown(task)}" for task, count in sorted(found.items()))
        where = str(directory.path / ITEMS)
        raise corrupt(where, f"items of different names, {counts}", f"{said}, on {len(listed):,} lines")
    return items


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
            self._items = _items_of(directory, plan)
        self._judged = frozenset(() if judging is None else judging.terms.outputs)
        self._outputs: dict[str, Output] = {}
        self._text = RowReader(text_contract)
        self._answered: set[str] = set()
        self.root = Root()

    def check_summaries(self, seal: Seal, verified: Verified) -> None:
        """Whether seal, list of prompts and trees are what the records make them; tells the first that is not."""
        path = self._directory.path
        if seal.root_sha256 != verified.root_sha256:
            verified.differ(str(path / SEAL), _OTHER_ROOT)
        elif verified.differing:
            return
        elif seal.counts != self._ledger.counts():
            verified.differ(str(path / SEAL), "its counts are not those of the records")
        elif not self._has_its_manifest(path / MANIFEST):
            verified.differ(str(path / MANIFEST), "it is not the list of the prompts in the records")
        elif (other := self._other_tree()) is not None:
            verified.differ(other, "it is not the file that the records make; `affidavit judge` makes it anew")

    @property
    def has_trees(self) -> bool:
        """Whether there are trees to compare."""
        return self._trees is not None

    def _has_its_manifest(self, path: Path) -> bool:
        with storage_errors(str(path)):
            if not path.exists():
                return False
            manifest = self._ledger.manifest().encode()
            with open_to_read(path) as stream:
                return stream.read(len(manifest) + 1) == manifest

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
        try:
            expected = self._expected(record)
        except ODD_VALUES as error:
            return f"the plan cannot ask for it: {in_words(error)}"
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
        task = plan.tasks.get(subject.task)
        if task is None:
            return f"there is no task {subject.task!r} in the plan"
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
        record.raw_output,
        record.finish_reason,
        record.reasoning,
        record.usage,
        record.rendered_prompt,
        record.server_model,
        record.system_fingerprint,
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
