"""One object over a study's directory: what was frozen there, the items, the journal, the judging, seal and lock.

Whoever runs, judges, reports, compares, verifies or replays a study starts from here. Its files, which `layout`
names, are decoded here; what their parts mean is known to `study/` and `judging/`. The directory may come from
anybody: it is data, and nothing in it is run or followed elsewhere.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias

import msgspec

from affidavit.archive.checked_lines import (
    checked_fields,
    lines_of,
)
from affidavit.archive.corruption import as_written, contract_as_written, corrupt
from affidavit.archive.disk import Disk, storage_errors
from affidavit.archive.foreign_names import refuse_foreign_names
from affidavit.archive.frozen_files import freeze_fields, frozen_fields
from affidavit.archive.item_lines import item_line
from affidavit.archive.journal import Archive, Walk
from affidavit.archive.layout import (
    ATTEMPTS,
    ITEMS,
    JUDGING,
    LABELS,
    LOCK,
    MANIFEST,
    PAGE,
    RECORDS,
    REVISIONS,
    RUN_LOG,
    SEAL,
    STUDY,
)
from affidavit.archive.line_shapes import NotARecordError
from affidavit.archive.lock import Holder, holder, locked
from affidavit.archive.record import Failed, Record
from affidavit.archive.record_lines import decode
from affidavit.archive.regular_files import check_kinds, open_to_read
from affidavit.archive.revisions import last_revision, revision_file, revision_items, revision_names
from affidavit.archive.seal import Seal, SealedFile, bad_line, check_seal, is_sealed_by, read_seal, sealed_file
from affidavit.archive.segments import Place, segments
from affidavit.archive.versions import FORMAT, refuse_other_version
from affidavit.contracts.parts import Parts
from affidavit.contracts.registry import frozen_parts
from affidavit.errors import InputError
from affidavit.json_values import Fields

IMPORTED = "imported"
"""The task of outputs that came from elsewhere, unless their rows say another; also what the count of them in
`study.json` is called."""


# --- what was frozen ---


class NotArrived(msgspec.Struct, frozen=True):
    """An output that was planned and is not there: outside the identity of counts, listed beside it."""

    question_id: str
    prompt_variant: str
    target_model: str
    sample: int
    why: str


class PlannedStudy(msgspec.Struct, frozen=True):
    """A study whose questions were planned here: everything that decides the answers, as it was frozen."""

    where: str
    """The file and line that say so, for a message."""
    name: str
    seed: int
    identities: Mapping[str, str]
    """Who each model is (ruling J13), by its name in the study."""
    config: Mapping[str, Any]
    """All of it, as JSON values."""
    versions: Mapping[str, object]
    git: Mapping[str, object] | None
    counts: Mapping[str, int]
    """How many items each task has."""
    items_file_sha256: str
    revisions: tuple["Revision", ...] = ()
    """What the plan was at first, and after each growth; the last is what `config` and `counts` say."""
    trial: int | None = None
    """Of a trial: it is about the first so many items of each task, or of its sample."""
    order: Mapping[str, Sequence[str]] = {}
    """Names of models, tasks and conditions in the order of the study's file; empty where it was not kept."""


class BeforeGrowth(msgspec.Struct, frozen=True):
    """What there was when a plan was grown."""

    records: int
    root_sha256: str
    """Over these records, and the plan as it was."""


class Revision(msgspec.Struct, frozen=True):
    """The plan at first, or after one growth (ruling C11)."""

    number: int
    where: str
    """The file and line that say so, for a message."""
    config: Mapping[str, Any]
    counts: Mapping[str, int]
    items_file_sha256: str
    """Of the items that it added; empty if it added none."""
    date: str = ""
    """The day of the growth; the plan itself is not dated."""
    before: BeforeGrowth | None = None


class ImportedStudy(msgspec.Struct, frozen=True):
    """Outputs that came from elsewhere, as they were described when they were taken in."""

    where: str
    """The file and line that say so, for a message."""
    name: str
    seed: int
    identities: Mapping[str, str]
    config: Mapping[str, Any]
    versions: Mapping[str, object]
    git: Mapping[str, object] | None
    cells: Mapping[tuple[str, str, str], int]
    """How many rows there are, by task, model and condition: outputs, and such as came without a text."""
    samples: int
    """One more than the greatest number of a sample: as many outputs as a model may have given to an item."""
    files: Sequence["SourceFile"] = ()
    """What they were taken from."""


class SourceFile(msgspec.Struct, frozen=True):
    """A file that outputs were taken from, as it was then."""

    name: str
    sha256: str


FrozenStudy: TypeAlias = PlannedStudy | ImportedStudy


class _Model(msgspec.Struct, frozen=True):
    identity: str


_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class _Outputs(msgspec.Struct, frozen=True):
    cells: list[tuple[str, str, str, _Count]]
    samples: Annotated[int, msgspec.Meta(ge=1, le=2**53)]


class _Task(msgspec.Struct, frozen=True):
    contract: str


class _Contract(msgspec.Struct, frozen=True):
    contract: str
    params: dict[str, Any]


class _OfImport(msgspec.Struct, frozen=True):
    """The parts of a config that outputs from elsewhere have."""

    tasks: dict[str, _Task]
    contracts: dict[str, _Contract]
    columns: dict[str, str]


class _Config(msgspec.Struct, frozen=True):
    """The parts of a config that are known here."""

    name: str
    seed: int
    models: dict[str, _Model]
    imported: _Outputs | None = None


class _StudyFile(msgspec.Struct, frozen=True):
    config: dict[str, Any]
    versions: dict[str, Any]
    git: dict[str, Any] | None
    counts: dict[str, _Count] = {}
    items_file_sha256: str = ""
    trial: _Count | None = None
    files: list[SourceFile] = []
    order: dict[str, list[str]] = {}


class _RevisionFile(msgspec.Struct, frozen=True):
    config: dict[str, Any]
    counts: dict[str, _Count]
    items_file_sha256: str
    date: Annotated[str, msgspec.Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    before: BeforeGrowth
    trial: _Count | None = None
    order: dict[str, list[str]] = {}


def _frozen_study(fields: Fields, where: str) -> FrozenStudy:
    file = msgspec.convert(fields, _StudyFile)
    config = msgspec.convert(file.config, _Config)
    identities = {name: model.identity for name, model in config.models.items()}
    shared = (where, config.name, config.seed, identities, file.config, file.versions, file.git)
    if config.imported is None:
        first = Revision(1, where, file.config, file.counts, file.items_file_sha256)
        return PlannedStudy(*shared, file.counts, file.items_file_sha256, (first,), file.trial, file.order)
    cells = {(task, model, condition): count for task, model, condition, count in config.imported.cells}
    if len(cells) < len(config.imported.cells):
        raise ValueError("a cell is there twice")
    own, tasks = msgspec.convert(file.config, _OfImport), {task for task, _, _ in cells}
    if own.tasks.keys() != tasks or own.contracts.keys() != tasks:
        raise ValueError("contracts are those of other tasks")
    return ImportedStudy(*shared, cells, config.imported.samples, file.files)


def _grown(study: FrozenStudy, fields: Fields, number: int, where: str) -> PlannedStudy:
    """A study after one more growth."""
    if isinstance(study, ImportedStudy):
        raise ValueError("outputs from elsewhere do not grow")  # noqa: TRY004 - it is told as corruption
    file = msgspec.convert(fields, _RevisionFile)
    date.fromisoformat(file.date)
    config = msgspec.convert(file.config, _Config)
    if (config.name, config.seed) != (study.name, study.seed) or config.imported is not None:
        raise ValueError("it is of another study")
    revision = Revision(number, where, file.config, file.counts, file.items_file_sha256, file.date, file.before)
    return msgspec.structs.replace(
        study,
        where=where,
        identities={name: model.identity for name, model in config.models.items()},
        config=file.config,
        counts=file.counts,
        revisions=(*study.revisions, revision),
        trial=file.trial,
        order=file.order,
    )


def parts_of_study(study: FrozenStudy) -> dict[str, Parts]:
    """The parts of the contract of each task; of a user's own, as far as they were frozen: no code is run."""
    with as_written(study.where, "the contracts of a study"):
        described, parts = study.config["contracts"], {}
        for task, table in study.config["tasks"].items():
            with contract_as_written(study.where, task):
                parts[task] = frozen_parts(str(table["contract"]), described[task])
        return parts


class FrozenItem(NamedTuple):
    """One item, as it was frozen."""

    task: str
    id: str
    fields: Mapping[str, object]


# --- the directory ---


class StudyDirectory:
    """A directory in which a study is kept, or will be."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    # --- study.json ---

    @property
    def is_study(self) -> bool:
        """Whether anything was frozen here."""
        return (self.path / STUDY).is_file()

    def frozen_or_none(self) -> FrozenStudy | None:
        """What was frozen; None if nothing was. A directory in which anything leads elsewhere is refused."""
        check_kinds(self.path, writing=False)
        fields = self._file(STUDY, "the study as it was frozen")
        if fields is None:
            return None
        where = f"{self.path / STUDY}:1"
        with as_written(where, "the fields of a study"):
            study = _frozen_study(fields, where)
        for number in range(2, last_revision(self.path) + 1):
            where = f"{self.path / revision_file(number)}:1"
            grown = self._file(revision_file(number), "a revision as it was frozen") or {}
            with as_written(where, "the fields of a revision"):
                study = _grown(study, grown, number, where)
        return study

    def frozen(self) -> FrozenStudy:
        """What was frozen; a directory without it is refused."""
        found = self.frozen_or_none()
        if found is None:
            raise InputError(str(self.path), expected="a study directory", found=self._without_study())
        return found

    def _without_study(self) -> str:
        if self.path.is_dir():
            return "no study.json in it"
        return "a file" if self.path.exists() else "nothing at this place"

    def parts(self) -> dict[str, Parts]:
        """The parts of the contract of each task; of a user's own, as far as they were frozen: no code is run."""
        return parts_of_study(self.frozen())

    def freeze(self, fields: Fields, disk: Disk) -> FrozenStudy:
        """Write down what decides the answers, once; the file is there whole, or not at all."""
        self._place(STUDY, {"kind": "study", "v": FORMAT, **fields}, disk)
        return self.frozen()

    def grow(self, fields: Fields, disk: Disk, *, with_items: bool) -> FrozenStudy:
        """Write down what a plan became; `with_items`: those that were drafted are its own (ruling C11)."""
        number = last_revision(self.path) + 1
        with storage_errors(str(self.path / REVISIONS)):
            disk.make_directory(self.path / REVISIONS)
            disk.sync_directory(self.path)
        if with_items:
            self._keep_draft(self.path / revision_items(number), disk)
        else:
            self._drop_items_of(number, disk)
        self._place(revision_file(number), {"kind": "revision", "v": FORMAT, **fields}, disk)
        return self.frozen()

    def take_back_growth(self, number: int, disk: Disk) -> None:
        """Take away the last revision, after which nothing was recorded."""
        with storage_errors(str(self.path / REVISIONS)):
            disk.remove(self.path / revision_file(number))
            disk.sync_directory(self.path / REVISIONS)
        self._drop_items_of(number, disk)

    def _drop_items_of(self, number: int, disk: Disk) -> None:
        """Take away items of a growth that was killed before its revision was written: the next adds none."""
        left = self.path / revision_items(number)
        if left.exists():
            with storage_errors(str(left)):
                disk.remove(left)
                disk.sync_directory(left.parent)  # or a loss of power gives them to the revision that comes now

    def start_over(self, disk: Disk) -> None:
        """Take away a study that nobody has answered yet; the plan goes last, so that a kill leaves no riddle."""
        if any(not isinstance(record, Failed) for record in self.records()):
            raise ValueError("a study that was answered is never taken away")
        names = [SEAL, *(f"{RECORDS}/{each.path.name}" for each in segments(self.path)), ATTEMPTS, RUN_LOG]
        names += [MANIFEST, LABELS, PAGE, *reversed(revision_names(self.path))]
        with storage_errors(str(self.path)):
            for name in names:
                disk.remove(self.path / name)
            # After a loss of power, records without their plan would be a riddle.
            for folder in (self.path / RECORDS, self.path):
                if folder.is_dir():
                    disk.sync_directory(folder)
            for name in (STUDY, ITEMS):
                disk.remove(self.path / name)

    def take_back(self, disk: Disk) -> None:
        """Take away outputs from elsewhere that nobody has judged."""
        if not isinstance(self.frozen_or_none(), ImportedStudy | None) or self.judging_fields() is not None:
            raise ValueError("what was asked or judged here is never taken away")
        names = [SEAL, *(f"{RECORDS}/{each.path.name}" for each in segments(self.path)), MANIFEST, LABELS, STUDY]
        with storage_errors(str(self.path)):
            for name in names:
                disk.remove(self.path / name)
            with suppress(OSError):  # something else is in it, or it is not there
                (self.path / RECORDS).rmdir()

    @contextmanager
    def made(self, disk: Disk) -> Iterator[None]:
        """The directory, locked; if nothing comes to be in it, it is in the end what it was: not there, or empty.

        Files of somebody else under our names are refused before anything is written.
        """
        there = self.path.exists()
        refuse_foreign_names(self.path)
        with storage_errors(str(self.path)):
            disk.make_directory(self.path)
        with self.locked():
            try:
                yield
            finally:
                if list(self.names()) == [LOCK]:
                    with suppress(OSError):  # somebody has put something there
                        (self.path / LOCK).unlink()
                        if not there:
                            self.path.rmdir()

    # --- items.jsonl ---

    @property
    def item_files(self) -> list[Path]:
        """The files of the items, in the order in which they were added."""
        added = [name for name in revision_names(self.path) if name.endswith(".items.jsonl")]
        return [self.path / ITEMS, *(self.path / name for name in added)]

    def items(self, *, to_the_byte: bool = False) -> Iterator[FrozenItem]:
        """The items, one after the other, from the disk: a large study stays small in memory.

        `to_the_byte`: each must stand there in the one form in which it is written.
        """
        for path in self.item_files:
            yield from self._items_in(path, to_the_byte=to_the_byte)

    def added_items(self, revision: Revision) -> Iterator[FrozenItem]:
        """The items that a growth added; none for the plan itself."""
        if revision.number > 1 and revision.items_file_sha256:
            yield from self._items_in(self.path / revision_items(revision.number), to_the_byte=False)

    def drafted_items(self) -> Iterator[FrozenItem]:
        """The items that were drafted and not frozen yet."""
        return self._items_in(self._draft, to_the_byte=False)

    def _items_in(self, path: Path, *, to_the_byte: bool) -> Iterator[FrozenItem]:
        with storage_errors(str(path)), open_to_read(path) as stream:
            for number, line in enumerate(lines_of(stream), 1):
                fields = checked_fields(line)
                if fields is None:
                    found = "a line that does not fit its checksum"
                    raise corrupt(f"{path}:{number}", "the item as it was frozen", found)
                refuse_other_version(fields, f"{path}:{number}")
                task, name, item = fields.get("task"), fields.get("id"), fields.get("item")
                if not isinstance(task, str) or not isinstance(name, str) or not isinstance(item, dict):
                    raise corrupt(f"{path}:{number}", "the fields of an item", "others")
                found_item = FrozenItem(task, name, item)
                if to_the_byte and line != item_line(*found_item):
                    raise corrupt(f"{path}:{number}", "the item as it was frozen", "the same in another form")
                yield found_item

    @property
    def _draft(self) -> Path:
        return self.path / f".{ITEMS}.partial"

    def draft_items(self, items: Iterable[FrozenItem], disk: Disk) -> str:
        """Write items down without freezing them, and give the digest of their file."""
        with storage_errors(str(self.path / ITEMS)):
            disk.remove(self._draft)
            file = disk.create(self._draft)
            try:
                waiting: list[bytes] = []
                for item in items:
                    waiting.append(item_line(*item))
                    if len(waiting) == 500:
                        disk.write(file, b"".join(waiting))
                        waiting.clear()
                disk.write(file, b"".join(waiting))
                disk.sync(file)
            finally:
                disk.close(file)
        return sealed_file(self._draft).sha256

    def drop_draft(self, disk: Disk) -> None:
        """Take away what was drafted."""
        with storage_errors(str(self.path / ITEMS)):
            disk.remove(self._draft)

    def keep_items(self, disk: Disk) -> None:
        """Freeze the items that were drafted; they are there whole, or not at all."""
        self._keep_draft(self.path / ITEMS, disk)

    def _keep_draft(self, path: Path, disk: Disk) -> None:
        with storage_errors(str(path)):
            disk.replace(self._draft, path)
            disk.sync_directory(path.parent)

    def check_items(self, study: PlannedStudy) -> dict[str, SealedFile]:
        """The files of the items as they are, by name; refused, with the line, unless they are as frozen."""
        found: dict[str, SealedFile] = {}
        for revision in study.revisions:
            path = self.path / (name := ITEMS if revision.number == 1 else revision_items(revision.number))
            if revision.number > 1 and not revision.items_file_sha256:
                if path.exists():
                    raise corrupt(str(path), "no items: this revision added none", "a file of them")
                continue
            if not path.exists():
                raise corrupt(str(path), "the items as they were frozen", "no such file")
            found[name] = sealed_file(path)
            if found[name].sha256 != revision.items_file_sha256:
                raise corrupt(f"{path}:{bad_line(path)}", "the item as it was frozen", "another line, or none")
        return found

    # --- judging.json ---

    def judging_fields(self) -> Fields | None:
        """The terms of the judging, as they were frozen; None if nothing was judged yet."""
        return self._file(JUDGING, "the judging as it was frozen")

    def freeze_judging(self, fields: Fields, disk: Disk) -> None:
        """Write down the terms of a judging; the file is there whole, or not at all."""
        self._place(JUDGING, {"kind": "judging", "v": FORMAT, **fields}, disk)

    # --- labels.json ---

    def labels_fields(self) -> Fields | None:
        """What was drawn for people to label, as it was frozen; None if nothing was."""
        return self._file(LABELS, "the draws of outputs as they were frozen")

    def freeze_labels(self, fields: Fields, disk: Disk) -> None:
        """Write down what was drawn; the file is there whole, or not at all."""
        self._place(LABELS, {"kind": "labels", "v": FORMAT, **fields}, disk)

    # --- the journal and its seal ---

    def walk(self) -> Walk:
        """The one way to read the journal: all lines in order. Whoever needs several things takes them at once."""
        return Walk(self.path)

    def records(self) -> Iterator[Record]:
        """All records in order, by a walk over the journal."""
        return (line.placed.record for line in self.walk())

    def records_at(self, places: Iterable[Place]) -> Iterator[Record]:
        """The records at places that an earlier walk has passed."""
        paths = [segment.path for segment in segments(self.path)]
        for number, within in groupby(places, key=lambda place: place.segment):
            path = paths[number - 1]
            with storage_errors(str(path)), open_to_read(path) as stream:
                for place in within:
                    stream.seek(place.start)
                    try:
                        placed = decode(stream.read(place.end - place.start))
                    except NotARecordError as error:
                        raise corrupt(str(path), error.expected, error.found) from error
                    if placed is None:
                        raise corrupt(str(path), "the records that were there before", "others")
                    yield placed.record

    def names(self) -> Iterator[str]:
        """Everything that lies in the directory, folders with a stroke behind their names."""
        with storage_errors(str(self.path)), os.scandir(self.path) as entries:
            for entry in entries:
                yield f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name

    @property
    def has_records(self) -> bool:
        """Whether anything was ever written to the journal, or sealed."""
        return bool(segments(self.path)) or (self.path / SEAL).exists()

    def seal(self) -> Seal | None:
        """The last seal; None if there is none."""
        return read_seal(self.path)

    def check_seal(self, seal: Seal, *, hashed: Mapping[str, SealedFile] | None = None) -> tuple[str, ...]:
        """Refuse the directory unless every sealed file is what was sealed, to the last bit; names the line.

        Gives back what was written since and is not sealed yet. `hashed` is what was found of files a moment ago.
        """
        return check_seal(self.path, seal, hashed=hashed)

    def is_sealed_by(self, seal: Seal | None) -> bool:
        """Whether a seal is over everything that was written."""
        return is_sealed_by(self.path, seal)

    def archive(self, disk: Disk) -> Archive:
        """The journal, to be written to by whoever holds the lock."""
        return Archive(self.path, disk)

    # --- the lock ---

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the directory's lock while the block runs; refused at once if another process does.

        Whoever holds it writes: a directory in which anything leads elsewhere is refused before the first byte.
        """
        with locked(self.path):
            check_kinds(self.path, writing=True)
            yield

    def holder(self) -> Holder | None:
        """Who holds the lock now; None if nobody does."""
        return holder(self.path)

    # --- files of one checked line ---

    def _file(self, name: str, expected: str) -> Fields | None:
        return frozen_fields(self.path / name, expected)

    def _place(self, name: str, fields: Fields, disk: Disk) -> None:
        freeze_fields(self.path / name, fields, disk)
