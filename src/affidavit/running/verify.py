"""Check a study directory: every byte against its checksum, then every derived field against the raw text."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from affidavit.archive.disk import told
from affidavit.archive.journal import SEAL, Line, Root, check_seal, read_seal, scan, segments
from affidavit.archive.lock import Holder, holder
from affidavit.archive.record import Kind, content_digest
from affidavit.contracts.contract import RAW_OUTPUT
from affidavit.contracts.text import text as text_contract
from affidavit.errors import InputError
from affidavit.items.item import Item
from affidavit.json_values import Fields
from affidavit.judging.directory import read_judging
from affidavit.judging.outputs import IMPORTED, imported_key, imported_reading, imported_task, output_of, spoken
from affidavit.judging.plan import Output
from affidavit.reading.rows import RowReader
from affidavit.running.evaluation_trees import other_trees
from affidavit.running.ledger import StudyBooks, is_judgement
from affidavit.running.manifest import MANIFEST
from affidavit.study.answer_records import derived, identity
from affidavit.study.files import FindContract
from affidavit.study.freezing import frozen_items, frozen_plan, read_frozen
from affidavit.study.plan import Plan
from affidavit.study.task import Question

MOST_DIFFERENCES = 20


@dataclass
class Verified:
    """What was found."""

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

    def differ(self, where: str, said: str) -> None:
        """One more record that does not follow from its text."""
        self.differing += 1
        if len(self.differences) < MOST_DIFFERENCES:
            self.differences.append(f"{where}: {said}")


def verify(directory: Path, contract: FindContract, *, beside: Path | None = None) -> Verified:
    """Check everything; corruption is raised, what does not follow from the raw text and the plan is listed.

    `beside` is where the study file is, for contracts of the user's own.
    """
    frozen = read_frozen(directory)
    if frozen is None:
        raise InputError(str(directory), expected="a study directory", found="no study.json in it")
    found = Verified(holder=holder(directory))
    seal = read_seal(directory)
    if seal is not None:
        check_seal(directory, seal)
    again = _Again(directory, frozen, contract, beside)
    sealed_count = 0 if seal is None else len(seal.segments)
    for where, line in _lines(directory, sealed_count, found):
        found.records += 1
        found.responses += line.fields["kind"] == Kind.RESPONSE
        found.judgements += line.fields["kind"] == Kind.JUDGEMENT
        said = again.difference(line.fields)
        if said:
            found.differ(where, said)
    found.failures = found.records - found.responses - found.judgements
    found.root_sha256 = again.root.sha256()
    found.sealed = seal is not None and len(segments(directory)) == sealed_count
    if found.sealed and seal is not None:
        if seal.root_sha256 != found.root_sha256:
            found.differ(str(directory / SEAL), "its root digest is not that of the records")
        elif not found.differing and seal.counts != again.books.counts():
            found.differ(str(directory / SEAL), "its counts are not those of the records")
        elif not found.differing and not again.fits(directory / MANIFEST):
            found.differ(str(directory / MANIFEST), "it is not the list of the prompts in the records")
        elif not found.differing and (other := other_trees(directory, again.books)) is not None:
            found.differ(other, "it is not the projection of the records; `affidavit judge` makes it anew")
    return found


def _lines(directory: Path, sealed_count: int, found: Verified) -> Iterator[tuple[str, Line]]:
    first = 1
    for segment in segments(directory):
        end = 0
        for line in scan(segment.path, first=first, sealed=segment.number <= sealed_count):
            first, end = first + 1, line.end
            yield f"{segment.path}:{line.number}", line
        found.torn = found.torn or segment.path.stat().st_size > end


class _Again:
    """Plans and reads once more what the study planned and read."""

    def __init__(self, directory: Path, frozen: Fields, contract: FindContract, beside: Path | None) -> None:
        config: Any = frozen["config"]
        self._plan = None if IMPORTED in config else frozen_plan(directory, frozen, contract, beside)
        judging = read_judging(directory)
        self.books = StudyBooks(config, self._plan, judging)
        self._identities = {name: str(each["identity"]) for name, each in config["models"].items()}
        self._items: dict[tuple[str, str], Item] = {}
        if self._plan is not None:
            self._items = {(task, item.id): item for task, item in frozen_items(directory)}
        self._judged = frozenset(() if judging is None else judging.terms.outputs)
        self._outputs: dict[str, Output] = {}
        self._text = RowReader(text_contract)
        self._answered: set[str] = set()
        self.root = Root()

    def fits(self, path: Path) -> bool:
        """Whether the manifest of prompts is what the records make it."""
        with told(str(path)):
            return path.is_file() and path.read_bytes() == self.books.manifest().encode()

    def difference(self, fields: Fields) -> str | None:
        """What a record says that does not follow; None if all of it does."""
        key = str(fields["key"])
        self.root.add(key, content_digest(fields))
        if key in self._answered:
            return "its question is answered already, by an earlier record"
        if fields["kind"] != Kind.FAILURE:
            self._answered.add(key)
        expected = self._expected(fields)
        if isinstance(expected, str):
            return expected
        if (said := _first_difference(expected, fields)) is None:
            self.books.load(fields)
        return said

    def _expected(self, fields: Fields) -> Fields | str:
        """What a record must say; in words why there can be none like it."""
        if is_judgement(fields):
            return self._expected_judgement(fields)
        if self._plan is None:
            return self._expected_import(fields)
        question = self._question(self._plan, fields)
        if isinstance(question, str):
            return question
        expected = identity(self._plan.study.study.name, question)
        if fields["kind"] == Kind.RESPONSE:
            raw = fields[RAW_OUTPUT]
            expected |= derived(question, raw if isinstance(raw, str) else "")
            self._keep(fields, spoken(question.request.messages))
        return expected

    def _question(self, plan: Plan, fields: Fields) -> Question | str:
        task, item = str(fields["task"]), self._items.get((str(fields["task"]), str(fields["item_id"])))
        if item is None:
            return f"there is no item {fields['item_id']!r} of the task {task!r} in items.jsonl"
        sample = fields["sample"]
        number = sample if isinstance(sample, int) else -1
        model, condition = str(fields["model"]), str(fields["condition"])
        question = plan.question(plan.tasks[task], item, model, condition, number)
        return "the plan has no such question" if question is None else question

    def _expected_import(self, fields: Fields) -> Fields:
        names = tuple(str(fields[name]) for name in ("item_id", "condition", "model", "output_id"))
        self._keep(fields, imported_task(fields))
        return {"key": imported_key(names), **imported_reading(str(fields[RAW_OUTPUT]), self._text)}

    def _keep(self, fields: Fields, words: str) -> None:
        """An output that may be judged by a later record."""
        if fields["key"] in self._judged:
            identity = self._identities[str(fields["model"])]
            self._outputs[str(fields["key"])] = output_of(fields, identity=identity, task=words)

    def _expected_judgement(self, fields: Fields) -> Fields | str:
        plan, output = self.books.judging_plan, self._outputs.get(str(fields["judged_key"]))
        judge = None if plan is None else plan.judges.get(str(fields["judge"]))
        if plan is None or output is None or judge is None:
            return "judging.json knows no such judge or output"
        repeat = fields["repeat"]
        if not isinstance(repeat, int) or fields["judging_condition"] not in judge.conditions:
            return "judging.json plans no such judgement"
        judgement = plan.judgement(judge, output, str(fields["judging_condition"]), repeat)
        expected = plan.identity(judgement)
        if fields["kind"] == Kind.JUDGEMENT:
            raw = fields[RAW_OUTPUT]
            expected |= plan.derived(judgement, raw if isinstance(raw, str) else "")
        return expected


def _first_difference(expected: Fields, fields: Fields) -> str | None:
    for name, value in expected.items():
        if fields.get(name) != value:
            return f"{name} is {fields.get(name)!r}; the plan and the raw text give {value!r}"
    return None
