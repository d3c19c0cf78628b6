"""Check a study directory: every byte against its checksum, then every derived field against the raw text."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from affidavit.archive import Line, Root, check_seal, read_seal, scan, segments
from affidavit.contract import Fields, label
from affidavit.dataset import Item
from affidavit.errors import InputError
from affidavit.lock import Holder, holder
from affidavit.plan import Task, derived
from affidavit.record import Kind, content_digest
from affidavit.rows import RAW_OUTPUT, AnyContract
from affidavit.study_directory import frozen_items, read_frozen

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


def verify(directory: Path, contract: Callable[[str, str], AnyContract]) -> Verified:
    """Check everything; corruption is raised, what does not follow from the raw text is listed."""
    frozen = read_frozen(directory)
    if frozen is None:
        raise InputError(str(directory), expected="a study directory", found="no study.json in it")
    found = Verified(holder=holder(directory))
    seal = read_seal(directory)
    if seal is not None:
        check_seal(directory, seal)
    readers = _Readers(directory, frozen, contract)
    root = Root()
    sealed_count = 0 if seal is None else len(seal.segments)
    for path, number, line in _lines(directory, sealed_count, found):
        found.records += 1
        root.add(str(line.fields["key"]), content_digest(line.fields))
        if line.fields["kind"] == Kind.RESPONSE:
            found.responses += 1
            readers.check(line.fields, f"{path}:{number}", found)
        else:
            found.failures += 1
    found.root_sha256 = root.sha256()
    present = segments(directory)
    found.sealed = seal is not None and len(present) == sealed_count
    if found.sealed and seal is not None and seal.root_sha256 != found.root_sha256:
        found.differ(str(directory / "seal.json"), "its root digest is not that of the records")
    return found


def _lines(directory: Path, sealed_count: int, found: Verified) -> Iterator[tuple[Path, int, Line]]:
    first = 1
    for segment in segments(directory):
        end = 0
        for line in scan(segment.path, first=first, sealed=segment.number <= sealed_count):
            first, end = first + 1, line.end
            yield segment.path, line.number, line
        found.torn = found.torn or segment.path.stat().st_size > end


class _Readers:
    """Reads raw texts again as the study read them."""

    def __init__(self, directory: Path, frozen: Fields, contract: Callable[[str, str], AnyContract]) -> None:
        config = cast("Mapping[str, Mapping[str, Mapping[str, str]]]", frozen["config"])
        self._tasks = {
            name: Task(name, contract(task["contract"], task["options"]), 0)
            for name, task in config["tasks"].items()
        }
        self._items: dict[tuple[str, str], Item] = {
            (task, item.id): item for task, item in frozen_items(directory)
        }

    def check(self, fields: Fields, where: str, found: Verified) -> None:
        """Derive every field of a response again."""
        task = self._tasks[str(fields["task"])]
        item = self._items.get((str(fields["task"]), str(fields["item_id"])))
        if item is None:
            found.differ(where, f"there is no item {fields['item_id']!r} in items.jsonl")
            return
        if fields["contract"] != label(task.contract):
            found.differ(where, f"it was read by {fields['contract']}, and there is only {label(task.contract)}")
            return
        raw = fields[RAW_OUTPUT]
        again = {**task.about, **derived(task, item, raw if isinstance(raw, str) else "")}
        for name, value in again.items():
            if fields.get(name) != value:
                found.differ(where, f"{name} is {fields.get(name)!r}; its raw text gives {value!r}")
                return
