"""Check a study directory: every byte against its checksum, then every derived field against the raw text."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from affidavit.archive import SEAL, Line, Root, check_seal, read_seal, scan, segments
from affidavit.contract import Fields
from affidavit.errors import InputError, UsageError
from affidavit.lock import Holder, holder
from affidavit.plan import Plan, Question, derived
from affidavit.prompt_manifest import MANIFEST, manifest
from affidavit.record import Kind, content_digest
from affidavit.rows import RAW_OUTPUT, AnyContract
from affidavit.runner import Standing
from affidavit.storage import told
from affidavit.study import TaskTable, thawed
from affidavit.study_directory import frozen_items, read_frozen, thawed_examples
from affidavit.study_files import FindContract, task_contract

MOST_DIFFERENCES = 20


@dataclass
class Verified:
    """What was found."""

    sealed: bool = False
    records: int = 0
    responses: int = 0
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

    `beside` is where the study file is, for contracts of the user's own: they are code, and a study directory
    that somebody sent must not be able to name a file that is run.
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
        said = again.difference(line.fields)
        if said:
            found.differ(where, said)
    found.failures = found.records - found.responses
    found.root_sha256 = again.root.sha256()
    found.sealed = seal is not None and len(segments(directory)) == sealed_count
    if found.sealed and seal is not None:
        if seal.root_sha256 != found.root_sha256:
            found.differ(str(directory / SEAL), "its root digest is not that of the records")
        elif not found.differing and seal.counts != again.standing.counts():
            found.differ(str(directory / SEAL), "its counts are not those of the records")
        elif not found.differing and not again.fits(directory / MANIFEST):
            found.differ(str(directory / MANIFEST), "it is not the list of the prompts in the records")
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
        config = cast("Mapping[str, object]", frozen["config"])
        study = thawed(config)
        contracts = {name: _contract(task, contract, beside) for name, task in study.tasks.items()}
        counts = cast("Mapping[str, int]", frozen["counts"])
        self._plan = Plan(study, contracts, counts, thawed_examples(config))
        self._items = {(task, item.id): item for task, item in frozen_items(directory)}
        self._answered: set[str] = set()
        self.standing = Standing(self._plan)
        self.root = Root()

    def fits(self, path: Path) -> bool:
        """Whether the manifest of prompts is what the records make it."""
        made = manifest(self._plan, self.standing.tallies, self.standing.rendered)
        with told(str(path)):
            return path.is_file() and path.read_bytes() == made.encode()

    def difference(self, fields: Fields) -> str | None:
        """What a record says that does not follow; None if all of it does."""
        key = str(fields["key"])
        self.root.add(key, content_digest(fields))
        if key in self._answered:
            return "its question is answered already, by an earlier record"
        if fields["kind"] == Kind.RESPONSE:
            self._answered.add(key)
        task, item = str(fields["task"]), self._items.get((str(fields["task"]), str(fields["item_id"])))
        if item is None:
            return f"there is no item {fields['item_id']!r} of the task {task!r} in items.jsonl"
        sample = fields["sample"]
        question = self._plan.question(
            self._plan.tasks[task],
            item,
            str(fields["model"]),
            str(fields["condition"]),
            sample if isinstance(sample, int) else -1,
        )
        if question is None:
            return "the plan has no such question"
        expected = {**self._plan.identity(question), **self._derived(question, fields)}
        if (said := _first_difference(expected, fields)) is None:
            self.standing.add(fields)
        return said

    def _derived(self, question: Question, fields: Fields) -> Fields:
        if fields["kind"] != Kind.RESPONSE:
            return {}
        raw = fields[RAW_OUTPUT]
        return derived(question, raw if isinstance(raw, str) else "")


def _contract(task: TaskTable, contract: FindContract, beside: Path | None) -> AnyContract:
    if ":" in task.contract and beside is None:
        raise UsageError(
            task.contract,
            expected="to be told where this contract is: it is code of the study's author",
            found="nothing",
            hint="If you trust it, name the study file: affidavit verify DIR --study STUDY.toml",
        )
    return task_contract(task, beside or Path(), contract)


def _first_difference(expected: Fields, fields: Fields) -> str | None:
    for name, value in expected.items():
        if fields.get(name) != value:
            return f"{name} is {fields.get(name)!r}; the plan and the raw text give {value!r}"
    return None
