"""The plan and the items of a study, frozen into its directory before the first request, and read from there.

A study that has changed since is refused, with a list of what changed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from hashlib import file_digest
from pathlib import Path
from typing import Any

import msgspec

from affidavit.archive.corruption import as_written, corrupt
from affidavit.archive.disk import Disk
from affidavit.archive.layout import STUDY
from affidavit.archive.provenance import git_state, versions
from affidavit.archive.study_directory import (
    FrozenItem,
    FrozenStudy,
    ImportedStudy,
    PlannedStudy,
    StudyDirectory,
)
from affidavit.contracts.contract import AnyContract, label
from affidavit.contracts.declaration import declaration_of
from affidavit.contracts.own_file import GivenContracts, is_in_file
from affidavit.contracts.parts import is_ours
from affidavit.contracts.registry import BUILT_IN, task_contract_named
from affidavit.errors import InputError, UsageError
from affidavit.items.item import Item
from affidavit.json_values import Fields
from affidavit.models.weights import digest_of
from affidavit.study.crossing import cells
from affidavit.study.files import ItemSource, StudyFiles, items_for
from affidavit.study.frozen_form import from_frozen, frozen, refuse_changes
from affidavit.study.plan import Examples, Plan
from affidavit.study.prompt import Example
from affidavit.study.study_file import Generate, Study, TaskTable


def freeze_or_check(directory: StudyDirectory, files: StudyFiles, disk: Disk) -> Plan:
    """The plan of a study: frozen into the directory if that is new, else compared with what was frozen there."""
    before = directory.frozen_or_none()
    if before is None and directory.has_records:
        raise corrupt(str(directory.path / STUDY), "the study that the records belong to", "no such file")
    config = {
        **frozen(files.study),
        "contracts": _described(files),
        "items": {name: _origin(source) for name, source in files.items.items()},
        "examples": _frozen_examples(files.examples),
        "weights": {name: digest_of(path) for name, path in files.weights.items()},
    }
    if before is None:
        before = _freeze(directory, config, files, disk)
    hint = "Give a changed study a directory of its own with --out, or another name."
    refuse_changes(str(directory), before.config, config, begun="study", hint=hint)
    if isinstance(before, ImportedStudy):
        raise UsageError(str(directory), expected="a study", found="outputs from elsewhere", hint=hint)
    directory.check_items(before.items_file_sha256)
    return files.plan(before.counts)


def _freeze(directory: StudyDirectory, config: Fields, files: StudyFiles, disk: Disk) -> FrozenStudy:
    tasks = files.plan(dict.fromkeys(files.contracts, 0)).tasks
    counts = dict.fromkeys(tasks, 0)

    def items() -> Iterator[FrozenItem]:
        # By name: the order of the study's tables changes nothing.
        for name, task in sorted(tasks.items()):
            for item in items_for(files, task):
                counts[name] += 1
                yield FrozenItem(name, item.id, item.fields)
            if not counts[name]:
                raise InputError(str(files.items[name]), expected="at least one item", found="none")

    items_file_sha256 = directory.write_items(items(), disk)
    content: Fields = {
        "config": config,
        "counts": counts,
        "items_file_sha256": items_file_sha256,
        "versions": versions(),
        "git": git_state(Path.cwd()),
    }
    return directory.freeze(content, disk)


def _origin(source: ItemSource) -> object:
    """Where items come from, so that others are noticed; what is on the hub is frozen by its name and revision."""
    if isinstance(source, Path):
        with source.open("rb") as stream:
            return file_digest(stream, "sha256").hexdigest()
    return source.generate if isinstance(source, Generate) else asdict(source)


def _frozen_examples(examples: Examples) -> Fields:
    found: dict[str, dict[str, list[Fields]]] = {}
    for (task, condition), many in examples.items():
        rows: list[Fields] = [{"id": e.item.id, "item": e.item.fields, "response": e.response} for e in many]
        found.setdefault(task, {})[condition] = rows
    return dict(found)


def examples_from_frozen(config: Mapping[str, Any]) -> Examples:
    """The worked examples of a frozen study."""
    return {
        (task, condition): tuple(Example(Item(row["id"], row["item"]), row["response"]) for row in rows)
        for task, conditions in config["examples"].items()
        for condition, rows in conditions.items()
    }


def plan_of(study: FrozenStudy, given: GivenContracts) -> Plan | None:
    """The plan of a study as it was frozen; None for outputs from elsewhere, which were planned by others."""
    return None if isinstance(study, ImportedStudy) else frozen_plan(study, given)


def frozen_plan(study: PlannedStudy, given: GivenContracts) -> Plan:
    """The plan of a study as it was frozen; of its author's own contracts only those that the user has named."""
    tables = frozen_tables(study)
    with as_written(study.where, "a study as it is frozen"):
        described = study.config["contracts"]
        contracts = {name: _contract(task, described[name], given) for name, task in tables.tasks.items()}
        return Plan(tables, contracts, study.counts, examples_from_frozen(study.config))


class _Described(msgspec.Struct, frozen=True):
    contract: str
    params: dict[str, Any]


class _ExampleRow(msgspec.Struct, frozen=True):
    id: str
    item: dict[str, Any]
    response: str


class _FrozenParts(msgspec.Struct, frozen=True):
    """What is frozen beside the tables."""

    contracts: dict[str, _Described]
    examples: dict[str, dict[str, list[_ExampleRow]]]


def frozen_tables(study: PlannedStudy) -> Study:
    """The tables of a study as it was frozen; whatever stands beside them is of its type too."""
    with as_written(study.where, "a study as it is frozen"):
        tables = from_frozen(study.config)
        if msgspec.convert(study.config, _FrozenParts).contracts.keys() != tables.tasks.keys():
            raise ValueError("contracts are those of other tasks")
        for name in (*tables.models, *tables.tasks, *tables.conditions):
            name.encode()  # half of a surrogate pair is no name that a study file could give
        if study.counts.keys() != tables.tasks.keys():
            raise ValueError("counts are those of other tasks")
        cells(tables)
        return tables


def _contract(task: TaskTable, described: Mapping[str, Any], given: GivenContracts) -> AnyContract:
    if is_in_file(task.contract):
        return given.contract(task.contract, str(described["file_sha256"]))
    try:
        return task_contract_named(task.contract, task.options)
    except UsageError as error:  # it is the directory that names it, not the user
        raise InputError(error.where, expected=error.expected, found=error.found) from error


def _described(files: StudyFiles) -> Fields:
    described: Fields = {}
    for name, contract in files.contracts.items():
        own = files.own_files.get(name)
        described[name] = {
            **_described_contract(contract),
            **({} if own is None else {"file_sha256": own.sha256}),
        }
    return described


def _described_contract(contract: AnyContract) -> Fields:
    """A contract by name, version and parameters (ruling C3); of a user's own also what results need of it."""
    described: Fields = {"contract": label(contract), "params": dict(contract.params)}
    if is_ours(contract):
        return described
    declared = declaration_of(contract)
    # A user's contract of the name of one of ours is never taken for it: it says what it declares, if nothing.
    return {**described, "declared": declared} if declared or contract.name in BUILT_IN else described


def frozen_items(directory: StudyDirectory) -> Iterator[tuple[str, Item]]:
    """Task and item, one after the other, from the disk: a large study stays small in memory."""
    return ((task, Item(name, fields)) for task, name, fields in directory.items())
