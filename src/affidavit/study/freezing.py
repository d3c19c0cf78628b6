"""The plan and the items of a study, frozen into its directory with its first answer, and read from there.

Until something was answered, anything may be mended. Afterwards a study may grow (ruling C11); one that has
changed is refused, with a list of what changed.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path
from shlex import quote
from typing import Any

import msgspec

from affidavit.archive.corruption import as_written, contract_as_written, corrupt
from affidavit.archive.disk import Disk
from affidavit.archive.layout import STUDY
from affidavit.archive.provenance import git_state, versions
from affidavit.archive.record import Response
from affidavit.archive.revisions import revision_file
from affidavit.archive.seal import SealedFile
from affidavit.archive.study_directory import (
    BeforeGrowth,
    FrozenItem,
    FrozenStudy,
    ImportedStudy,
    PlannedStudy,
    StudyDirectory,
)
from affidavit.contracts.contract import AnyContract
from affidavit.contracts.frozen_contract import described, frozen_contract
from affidavit.contracts.own_file import GivenContracts
from affidavit.errors import InputError, Mistakes, UsageError
from affidavit.items.item import Item
from affidavit.json_values import Fields, digest, shown
from affidavit.models.weights import digest_of
from affidavit.study.contract_notes import contract_notes
from affidavit.study.crossing import LeftOut, cells
from affidavit.study.files import ItemSource, StudyFiles, items_for
from affidavit.study.frozen_form import changes, from_frozen, frozen, not_the_same
from affidavit.study.growth import additions, refused
from affidavit.study.missing_answers import MissingAnswers
from affidavit.study.plan import Examples, Plan
from affidavit.study.prompt import Example
from affidavit.study.study_file import Generate, Study
from affidavit.study.task import Task


@dataclass(frozen=True)
class Draft:
    """The plan that a run sets out with, not frozen before something was answered."""

    directory: StudyDirectory
    plan: Plan
    content: Fields = field(default_factory=dict)
    """What is to be frozen; nothing if all of it is."""
    added_items: int = 0
    """How many items were drafted with it."""
    before: PlannedStudy | None = None
    """What was frozen already."""
    hashed: Mapping[str, SealedFile] = field(default_factory=dict)
    """What was found of the files of frozen items, where they were looked at: they need not be read again."""
    notes: tuple[str, ...] = ()
    """What is to be said of the items before anything is asked; told while they are drafted."""

    def added(self) -> Iterator[tuple[str, Item]]:
        """Task and item, one after the other: those that were drafted and are not frozen yet."""
        if self.added_items:
            yield from _as_items(self.directory.drafted_items())

    def freeze(self, disk: Disk, grown_from: BeforeGrowth | None = None) -> PlannedStudy:
        """Freeze what is not; of a growth it is said what there was before."""
        if self.content and self.before is None:
            self.directory.keep_items(disk)
            study = self.directory.freeze(self.content, disk)
        elif self.content and grown_from is not None:
            dated = {"date": datetime.now(UTC).date().isoformat(), "before": msgspec.structs.asdict(grown_from)}
            study = self.directory.grow({**self.content, **dated}, disk, with_items=self.added_items > 0)
        else:
            study = self.directory.frozen()
        assert isinstance(study, PlannedStudy)  # noqa: S101 - what else would be frozen of a plan
        return study


def draft(directory: StudyDirectory, files: StudyFiles, disk: Disk) -> Draft:
    """The plan of a study, compared with what was frozen in its directory; what may not change is refused."""
    before, config = _frozen_before(directory), _config(files)
    if before is None:
        return _first_draft(directory, config, files, disk)
    if not changes(before.config, config):
        hashed = directory.check_items(before)
        return Draft(directory, files.plan(before.counts), before=before, hashed=hashed)
    if _is_unanswered(directory, before):
        directory.take_back_growth(before.revisions[-1].number, disk)
        return draft(directory, files, disk)
    if not _is_answered(directory):
        directory.start_over(disk)
        return _first_draft(directory, config, files, disk)
    _refuse_changes(directory, before, config, files)
    return _grown_draft(directory, config, files, before, disk)


def planned_growth(directory: StudyDirectory, files: StudyFiles) -> list[str]:
    """What a run would add to the study in a directory, in words; what `draft` refuses is refused here too.

    Nothing is written. Weights that were not read are taken to be those that were frozen.
    """
    before, config = _frozen_before(directory), _config(files)
    if before is None:
        return []
    weights = before.config.get("weights", {})
    config["weights"] = {name: weights[name] for name in files.study.models if name in weights} | config["weights"]
    if not changes(before.config, config):
        directory.check_items(before)
        return []
    if not _is_answered(directory):
        return []
    _refuse_changes(directory, before, config, files)
    grown = _GrownItems(directory, files)
    for _ in grown.added():
        pass
    grown.refuse_lost()
    return _additions(directory, before, config, grown.counts)


def _frozen_before(directory: StudyDirectory) -> PlannedStudy | None:
    before = directory.frozen_or_none()
    if before is None and directory.has_records:
        raise corrupt(str(directory.path / STUDY), "the study that the records belong to", "no such file")
    if isinstance(before, ImportedStudy):
        found = "outputs from elsewhere"
        raise UsageError(str(directory), expected="a study", found=found, hint=_ELSEWHERE)
    return before


def _config(files: StudyFiles) -> dict[str, Any]:
    """Everything that decides the answers, as it is frozen."""
    return {
        **frozen(files.study),
        "contracts": _described(files),
        "items": {name: _origin(source) for name, source in files.items.items()},
        "examples": _frozen_examples(files.examples),
        "weights": {name: digest_of(path) for name, path in files.weights.items()},
    }


def _is_answered(directory: StudyDirectory) -> bool:
    return any(isinstance(record, Response) for record in directory.records())


def _refuse_changes(directory: StudyDirectory, before: PlannedStudy, config: Fields, files: StudyFiles) -> None:
    directory.check_items(before)
    if wrong := refused(before.config, config):
        raise not_the_same(str(directory), wrong, begun="study", hint=_elsewhere(directory, files))


def _is_unanswered(directory: StudyDirectory, study: PlannedStudy) -> bool:
    """Whether nothing was recorded after the last growth: a kill has left it, and it may change (ruling C11)."""
    last, seal = study.revisions[-1], directory.seal()
    if last.before is None or (seal is not None and revision_file(last.number) in seal.files):
        return False
    return sum(1 for _ in directory.records()) == last.before.records


_ELSEWHERE = (
    "Models, conditions, tasks, items and samples may be added; nothing that was asked may change. Give a changed "
    "study a directory of its own with --out, or another name."
)


def _elsewhere(directory: StudyDirectory, files: StudyFiles) -> str:
    """What to do with a study that has changed; a trial is of no more use then."""
    if files.trial is None:
        return _ELSEWHERE
    return (
        "It is the trial of a study that has changed since. Delete it for another trial: "
        f"`rm -r {quote(str(directory))}`. The whole run, without --limit, works without it."
    )


def _first_draft(directory: StudyDirectory, config: Fields, files: StudyFiles, disk: Disk) -> Draft:
    tasks, counts = _tasks_of(files), dict.fromkeys(files.contracts, 0)
    missing = MissingAnswers(tasks)

    def items() -> Iterator[FrozenItem]:
        # By name: the order of the study's tables changes nothing.
        mistakes = Mistakes()
        for name, task in sorted(tasks.items()):
            with mistakes.gathered():
                for item in items_for(files, task):
                    counts[name] += 1
                    missing.add(name, item)
                    yield FrozenItem(name, item.id, item.fields)
                if not counts[name]:
                    raise InputError(str(files.items[name]), expected="at least one item", found="none")
        mistakes.refuse()

    with ThreadPoolExecutor(1) as beside:
        git = beside.submit(git_state, Path.cwd())  # other processes, which look while items are drafted
        sha256 = directory.draft_items(items(), disk)
        content = _content(files, config, counts, sha256, git.result())
    notes = (*contract_notes(tasks), *missing.notes())
    return Draft(directory, files.plan(counts), content, sum(counts.values()), notes=notes)


def _grown_draft(
    directory: StudyDirectory, config: Fields, files: StudyFiles, before: PlannedStudy, disk: Disk
) -> Draft:
    """The plan after a growth: all items that were there are there, as they were.

    Where nothing is added, because a file was only written otherwise, the plan is the one before.
    """
    grown = _GrownItems(directory, files)
    sha256 = directory.draft_items(grown.added(), disk)
    grown.refuse_lost()
    if not _additions(directory, before, config, grown.counts):
        return Draft(directory, files.plan(before.counts), before=before)
    git = git_state(Path.cwd())
    content = _content(files, config, grown.counts, sha256 if grown.new else "", git)
    notes = (*contract_notes(_tasks_of(files)), *grown.missing.notes())
    return Draft(directory, files.plan(grown.counts), content, grown.new, before, notes=notes)


class _GrownItems:
    """The items of a study that may have grown, beside those that were frozen; one that changed is refused."""

    def __init__(self, directory: StudyDirectory, files: StudyFiles) -> None:
        self._directory = directory
        self._files = files
        self._known = {(task, name): digest(fields) for task, name, fields in directory.items()}
        self._seen: set[tuple[str, str]] = set()
        self.counts: dict[str, int] = dict.fromkeys(files.contracts, 0)
        self.missing = MissingAnswers(_tasks_of(files))
        """Counts the items without a right answer."""

    @property
    def new(self) -> int:
        """How many were not frozen yet."""
        return sum(self.counts.values()) - len(self._known)

    def added(self) -> Iterator[FrozenItem]:
        """Those that were not frozen yet; all of them are counted on the way."""
        for name, task in sorted(_tasks_of(self._files).items()):
            for item in items_for(self._files, task):
                self.counts[name] += 1
                self.missing.add(name, item)
                was = self._known.get((name, item.id))
                if was is None:
                    yield FrozenItem(name, item.id, item.fields)
                elif was != digest(item.fields):
                    raise self._other(f"the item {shown(item.id)} of {name} has changed")
                self._seen.add((name, item.id))

    def refuse_lost(self) -> None:
        """Refuse, after all were counted, that one is gone which was asked about."""
        if lost := next((each for each in self._known if each not in self._seen), None):
            raise self._other(f"the item {shown(lost[1])} of {lost[0]} is not there now")

    def _other(self, found: str) -> UsageError:
        expected, hint = "the items that were asked about", _elsewhere(self._directory, self._files)
        return UsageError(str(self._directory), expected=expected, found=found, hint=hint)


def _additions(
    directory: StudyDirectory, before: PlannedStudy, config: Fields, counts: Mapping[str, int]
) -> list[str]:
    """What a growth adds, in words; a study that was judged does not grow."""
    added = additions(before.config, config, (before.counts, counts))
    if added and directory.judging_fields() is not None:
        found = "a study that grows after it was judged"
        hint = (
            f"Run the grown study into a directory of its own, with --out NEW --reuse {quote(str(directory))}, "
            "and judge it there: what was answered is taken over."
        )
        raise UsageError(str(directory), expected="the outputs that were judged", found=found, hint=hint)
    return added


def _tasks_of(files: StudyFiles) -> Mapping[str, Task]:
    return files.plan(dict.fromkeys(files.contracts, 0)).tasks


def _content(
    files: StudyFiles, config: Fields, counts: Mapping[str, int], items_file_sha256: str, git: Fields | None
) -> Fields:
    return {
        **({} if files.trial is None else {"trial": files.trial}),
        "config": config,
        "order": _order(files.study),
        "counts": dict(counts),
        "items_file_sha256": items_file_sha256,
        "versions": versions(),
        "git": git,
    }


def _order(study: Study) -> Fields:
    """The names in the order of the study's tables, which JSON with sorted names does not keep.

    It decides nothing but the order of rows that people see: it is beside what may not change.
    """
    asked = [cell for cell in cells(study) if not isinstance(cell, LeftOut)]
    variants = [name for task in study.tasks.values() for name in task.variants]
    conditions = dict.fromkeys((*study.conditions, *variants, *(cell.condition for cell in asked)))
    return {"models": list(study.models), "tasks": list(study.tasks), "conditions": list(conditions)}


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
        said, contracts = study.config["contracts"], dict[str, AnyContract]()
        for name, task in tables.tasks.items():
            with contract_as_written(study.where, name):
                contracts[name] = frozen_contract(task.contract, task.options, said[name], given)
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


def _described(files: StudyFiles) -> Fields:
    owns = {name: files.own_files.get(name) for name in files.contracts}
    return {
        name: described(contract, None if (own := owns[name]) is None else own.sha256)
        for name, contract in files.contracts.items()
    }


def frozen_items(directory: StudyDirectory) -> Iterator[tuple[str, Item]]:
    """Task and item, one after the other, from the disk: a large study stays small in memory."""
    return _as_items(directory.items())


def added_items(directory: StudyDirectory, study: PlannedStudy) -> Iterator[tuple[str, Item]]:
    """Task and item, one after the other, of those that the last growth added; all of a study that never grew."""
    last = study.revisions[-1]
    return frozen_items(directory) if last.number == 1 else _as_items(directory.added_items(last))


def _as_items(items: Iterable[FrozenItem]) -> Iterator[tuple[str, Item]]:
    return ((task, Item(name, fields)) for task, name, fields in items)
