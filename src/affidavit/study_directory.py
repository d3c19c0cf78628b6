"""A study's directory: the plan and the items as they were frozen before the first request.

    study.json     everything that decides the answers, with versions; written once
    items.jsonl    the items as used, one checked line each

A study that has changed since is refused, with a list of what changed.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from affidavit.archive import bad_line, corrupt, file_sha256, read_seal, segments
from affidavit.contract import Fields, label
from affidavit.dataset import Item, is_own, items_of, read_items
from affidavit.engines.local import Source, open_source
from affidavit.errors import InputError, UsageError
from affidavit.item_formats import generated_hands, rows_of
from affidavit.plan import Plan, Task
from affidavit.provenance import git_state, versions
from affidavit.record import canonical, checked_line, decode
from affidavit.rows import AnyContract
from affidavit.storage import Disk, told
from affidavit.study import Study, changes, frozen

STUDY, ITEMS = "study.json", "items.jsonl"


@dataclass(frozen=True)
class StudyFiles:
    """Where a study comes from: its file, and the contracts and item files that it names."""

    study: Study
    contracts: Mapping[str, AnyContract]
    items: Mapping[str, Path | int]
    """The file of each task's items, or how many hands are generated."""


def opened(directory: Path, files: StudyFiles, disk: Disk) -> Plan:
    """The plan of a study: frozen into the directory if that is new, else compared with what was frozen there."""
    before = read_frozen(directory)
    if before is None and (segments(directory) or read_seal(directory) is not None):
        raise corrupt(str(directory / STUDY), "the study that the records belong to", "no such file")
    sources = {
        name: source if isinstance(source, int) else file_sha256(source) for name, source in files.items.items()
    }
    config = {**frozen(files.study), "contracts": _described(files.contracts), "items": sources}
    if before is None:
        counts = _freeze_items(directory, files, disk)
        content: Fields = {
            "kind": "study",
            "v": 1,
            "config": config,
            "counts": counts,
            "items_file_sha256": file_sha256(directory / ITEMS),
            "versions": versions(),
            "git": git_state(Path.cwd()),
        }
        with told(str(directory / STUDY)):
            disk.place(directory / STUDY, checked_line(content))
        before = content
    # Through JSON once, as what was frozen has gone: tuples are lists there.
    changed = changes(before["config"], json.loads(canonical(config)))  # type: ignore[arg-type]
    if changed:
        raise UsageError(
            str(directory),
            expected="the study that was begun there",
            found="another one:\n  " + "\n  ".join(changed),
            hint="Give a changed study a directory of its own with --out, or another name.",
        )
    _check_items(directory, str(before["items_file_sha256"]))
    counts = before["counts"]  # type: ignore[assignment]
    return Plan(files.study, [Task(name, files.contracts[name], int(counts[name])) for name in files.contracts])


def read_frozen(directory: Path) -> Fields | None:
    """What was frozen; None if nothing was."""
    path = directory / STUDY
    if not path.exists():
        return None
    with told(str(path)):
        fields = decode(path.read_bytes())
    if fields is None:
        raise corrupt(f"{path}:1", "the study as it was frozen", "a line that does not fit its checksum")
    return fields


def _check_items(directory: Path, expected: str) -> None:
    path = directory / ITEMS
    if not path.is_file():
        raise corrupt(str(path), "the items as they were frozen", "no such file")
    if file_sha256(path) != expected:
        raise corrupt(f"{path}:{bad_line(path)}", "the item as it was frozen", "another line, or none")


def _described(contracts: Mapping[str, AnyContract]) -> Fields:
    return {name: {"contract": label(each), "params": dict(each.params)} for name, each in contracts.items()}


def _freeze_items(directory: Path, files: StudyFiles, disk: Disk) -> dict[str, int]:
    """Write all items of all tasks; they are there whole, or not at all."""
    path = directory / ITEMS
    partial = path.with_name(f".{ITEMS}.partial")
    counts = dict.fromkeys(files.contracts, 0)
    with told(str(path)):
        disk.remove(partial)
        file = disk.create(partial)
        try:
            waiting: list[bytes] = []
            for name, contract in files.contracts.items():
                for item in _items(files.items[name], contract, files.study.study.seed):
                    counts[name] += 1
                    line = {"kind": "item", "v": 1, "task": name, "id": item.id, "item": item.fields}
                    waiting.append(checked_line(line))
                    if len(waiting) == 500:
                        disk.write(file, b"".join(waiting))
                        waiting.clear()
                if not counts[name]:
                    raise InputError(str(files.items[name]), expected="at least one item", found="none")
            disk.write(file, b"".join(waiting))
            disk.sync(file)
        finally:
            disk.close(file)
        disk.replace(partial, path)
        disk.sync_directory(directory)
    return counts


def _items(source: Path | int, contract: AnyContract, seed: int) -> Iterator[Item]:
    """The items of a file of any known format, or generated ones. Our own format is read line by line."""
    if isinstance(source, int):
        return items_of(generated_hands(source, seed), contract)
    first = next(_lines(source), None) if _may_be_lines(source) else None
    if first is not None and is_own(first[1]):
        return read_items(_lines(source), contract)
    with told(str(source)):
        content = source.read_bytes()
    return items_of(rows_of(str(source), content), contract)


def _may_be_lines(path: Path) -> bool:
    with open_source(path) as stream:
        return stream.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    source = Source(str(path), lambda: open_source(path))
    return (line for batch in source.batches() for line in batch.lines())


def frozen_items(directory: Path) -> Iterator[tuple[str, Item]]:
    """Task and item, one after the other, from the disk: a large study stays small in memory."""
    path = directory / ITEMS
    with told(str(path)), path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            fields = decode(line)
            if fields is None:
                raise corrupt(
                    f"{path}:{number}", "the item as it was frozen", "a line that does not fit its checksum"
                )
            yield str(fields["task"]), Item(str(fields["id"]), fields["item"])  # type: ignore[arg-type]
