"""A study's directory: the plan and the items as they were frozen before the first request.

    study.json     everything that decides the answers, with versions; written once
    items.jsonl    the items as used, one checked line each

A study that has changed since is refused, with a list of what changed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from affidavit.archive.disk import Disk, told
from affidavit.archive.journal import bad_line, corrupt, file_sha256, read_seal, segments
from affidavit.archive.provenance import git_state, versions
from affidavit.archive.record import checked_line, decode
from affidavit.contracts.contract import AnyContract, label
from affidavit.errors import InputError, UsageError
from affidavit.items.item import Item
from affidavit.json_values import Fields
from affidavit.models.weights import digest_of
from affidavit.study.files import FindContract, ItemSource, StudyFiles, items_for, task_contract
from affidavit.study.plan import Examples, Plan
from affidavit.study.prompt import Example
from affidavit.study.study_file import Generate, TaskTable, frozen, refuse_changes, thawed

STUDY, ITEMS = "study.json", "items.jsonl"


def opened(directory: Path, files: StudyFiles, disk: Disk) -> Plan:
    """The plan of a study: frozen into the directory if that is new, else compared with what was frozen there."""
    before = read_frozen(directory)
    if before is None and (segments(directory) or read_seal(directory) is not None):
        raise corrupt(str(directory / STUDY), "the study that the records belong to", "no such file")
    config = {
        **frozen(files.study),
        "contracts": _described(files.contracts),
        "items": {name: _origin(source) for name, source in files.items.items()},
        "examples": _frozen_examples(files.examples),
        "weights": {name: digest_of(path) for name, path in files.weights.items()},
    }
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
    hint = "Give a changed study a directory of its own with --out, or another name."
    refuse_changes(str(directory), before["config"], config, begun="study", hint=hint)  # type: ignore[arg-type]
    _check_items(directory, str(before["items_file_sha256"]))
    return files.plan(before["counts"])  # type: ignore[arg-type]


def _origin(source: ItemSource) -> object:
    """Where items come from, so that others are noticed; what is on the hub is frozen by its name and revision."""
    if isinstance(source, Path):
        return file_sha256(source)
    return source.generate if isinstance(source, Generate) else asdict(source)


def _frozen_examples(examples: Examples) -> Fields:
    found: dict[str, dict[str, list[Fields]]] = {}
    for (task, condition), many in examples.items():
        rows: list[Fields] = [{"id": e.item.id, "item": e.item.fields, "response": e.response} for e in many]
        found.setdefault(task, {})[condition] = rows
    return dict(found)


def thawed_examples(config: Mapping[str, Any]) -> Examples:
    """The worked examples of a frozen study."""
    return {
        (task, condition): tuple(Example(Item(row["id"], row["item"]), row["response"]) for row in rows)
        for task, conditions in config["examples"].items()
        for condition, rows in conditions.items()
    }


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


def frozen_plan(directory: Path, frozen_study: Fields, contract: FindContract, beside: Path | None) -> Plan:
    """The plan of a study as it was frozen.

    `beside` is where the study file is, for contracts of the user's own: they are code, and a study directory
    that somebody sent must not be able to name a file that is run.
    """
    config: Any = frozen_study["config"]
    counts: Any = frozen_study["counts"]
    study = thawed(config)
    contracts = {name: _trusted(task, contract, beside) for name, task in study.tasks.items()}
    return Plan(study, contracts, counts, thawed_examples(config))


def _trusted(task: TaskTable, contract: FindContract, beside: Path | None) -> AnyContract:
    if ":" in task.contract and beside is None:
        raise UsageError(
            task.contract,
            expected="to be told where this contract is: it is code of the study's author",
            found="nothing",
            hint="If you trust it, name the study file: affidavit verify DIR --study STUDY.toml",
        )
    return task_contract(task, beside or Path(), contract)


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
    tasks = files.plan(dict.fromkeys(files.contracts, 0)).tasks
    counts = dict.fromkeys(tasks, 0)
    with told(str(path)):
        disk.remove(partial)
        file = disk.create(partial)
        try:
            waiting: list[bytes] = []
            for name, task in tasks.items():
                for item in items_for(files, task):
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
