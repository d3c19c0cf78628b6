"""Outputs that exist already, taken into a directory of their own: a study like any other from there on.

They are kept in the same journal as a study's: verbatim, with checksums and a seal. They are there all at once:
what is wrong with a row is told before anything has its place. Taking the same outputs in again changes nothing;
others are refused.
"""

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from affidavit.archive.checked_lines import LONGEST_TEXT
from affidavit.archive.copy_parts import CopyPart
from affidavit.archive.copy_writer import CopyWriter
from affidavit.archive.corruption import corrupt
from affidavit.archive.disk import Disk, storage_errors
from affidavit.archive.drafted_journal import DraftedJournal
from affidavit.archive.layout import STUDY
from affidavit.archive.parquet_copy import keep_copy
from affidavit.archive.provenance import git_state, versions
from affidavit.archive.record import Failed, ImportIdentity, Response, content_digest
from affidavit.archive.regular_files import open_to_read, other_kind
from affidavit.archive.seal import Seal
from affidavit.archive.study_directory import ImportedStudy, SourceFile, StudyDirectory
from affidavit.contracts.contract import RAW_OUTPUT
from affidavit.contracts.frozen_contract import NamedContract, named_contract
from affidavit.contracts.read_by import ReadBy
from affidavit.contracts.registry import frozen_parts
from affidavit.errors import InputError, StorageError, UsageError
from affidavit.json_values import Fields, digest, shown
from affidavit.judging.outputs import folder_rows
from affidavit.judging.task_words import TaskWords, task_words
from affidavit.reading.imported_records import ImportFacts
from affidavit.reading.output_columns import OutputColumns
from affidavit.reading.source import Row, file_source
from affidavit.reading.sources import rows_of
from affidavit.reading.tally import Tally
from affidavit.running.ledger import ImportLedger
from affidavit.running.manifest import manifest_page, write_manifest
from affidavit.study.crossing import Cell

if TYPE_CHECKING:
    import polars as pl

    from affidavit.reading.record_batch import RecordBatch

_TEXTS = (".md", ".markdown", ".txt")
PartPath = Callable[[int], Path | None]
"""Where a part of the columnar copy may be written, by its number; None if there is no copy."""
_JUDGED = OutputColumns.of(OutputColumns.protocol)


@dataclass(frozen=True)
class ImportedOutputs:
    """Outputs from elsewhere, on their way into a directory."""

    name: str
    """Of the study that they become."""
    read_by: NamedContract
    columns: OutputColumns
    records: Callable[[], Iterable[Response | Failed]]
    """All of them, as often as it is asked."""
    files: Callable[[], Sequence[SourceFile]] = tuple
    """What they are from, with digests: asked for once all records were drafted."""
    batches: "Callable[[PartPath], Generator[RecordBatch | Sequence[Response | Failed]]] | None" = None
    """The same in batches, some of them as lines that are ready; None: there is no such way."""
    check_unchanged: Callable[[], None] = lambda: None
    """Refuses files that are not what they were when their digests were taken."""

    def config(self, facts: ImportFacts) -> Fields:
        """What is frozen of them."""
        tasks = sorted({task for task, _, _ in facts.cells})
        return {
            **facts.config(),
            "tasks": {task: self.read_by.table() for task in tasks},
            "contracts": {task: self.read_by.described() for task in tasks},
            "columns": self.columns.names(),
        }

    def facts(self) -> ImportFacts:
        """What follows from all of them."""
        facts = ImportFacts(self.name)
        for record in self.records():
            facts.add(record, content_digest(record))
        return facts

    def frame_of(self, records: "Sequence[Response | Failed]") -> "pl.DataFrame":
        """The columns of some of them, as far as outputs from elsewhere have any."""
        from affidavit.archive.record_columns import NEVER_IMPORTED, RecordColumns  # noqa: PLC0415 - Polars

        parts = frozen_parts(self.read_by.name, self.read_by.described())
        columns = RecordColumns({record.subject.cell[0]: parts for record in records})
        return columns.frame(map(columns.row, records)).drop(NEVER_IMPORTED)

    def ledger(self) -> ImportLedger:
        """Their counts, by cell; none was counted yet."""
        parts = frozen_parts(self.read_by.name, self.read_by.described())
        return ImportLedger({}, lambda _task: parts)


@dataclass(frozen=True)
class Kept:
    """Outputs from elsewhere that stand in their directory."""

    directory: StudyDirectory
    seal: Seal
    tallies: Mapping[Cell, Tally]
    samples: int
    one_output_each: bool = False
    """Whether it is known that no item has two outputs in one cell."""


def keep_outputs(directory: StudyDirectory, taken: ImportedOutputs, disk: Disk) -> Kept:
    """Have all outputs in a directory, sealed; the caller holds its lock.

    What was frozen and has no record yet is nobody's (ruling C11): it was killed in between, and begins anew.
    """
    if _is_without_records(directory):
        directory.take_back(disk)
    if directory.is_study:
        refuse_others(directory, taken)
        return _completed(directory, taken, disk)
    if directory.has_records:
        raise corrupt(str(directory.path / STUDY), "the study that the records belong to", "no such file")
    facts, ledger = ImportFacts(taken.name), taken.ledger()
    draft, copied = DraftedJournal(directory.path, facts.root, disk), None
    try:
        copied = _draft_all(taken, draft, facts, ledger)
        taken.check_unchanged()
        study = directory.freeze(_frozen(taken, facts), disk)
        write_manifest(directory.path, manifest_page(taken.name, [], asked_here=False), disk)
        seal = draft.keep(ledger.counts())
    except BaseException as error:
        draft.drop()
        if copied is not None:
            copied.drop()
        if not isinstance(error, StorageError) and _is_without_records(directory):
            directory.take_back(disk)
        raise
    if copied is None or not copied.keep(directory, seal):
        keep_copy(directory, seal)
    samples = study.samples if isinstance(study, ImportedStudy) else 1
    return Kept(directory, seal, ledger.tallies, samples, facts.one_output_each)


def _is_without_records(directory: StudyDirectory) -> bool:
    """Whether outputs from elsewhere were frozen there, and none of them has its place."""
    return isinstance(directory.frozen_or_none(), ImportedStudy) and not directory.has_records


def _draft_all(
    taken: ImportedOutputs, draft: DraftedJournal, facts: ImportFacts, ledger: ImportLedger
) -> CopyWriter | None:
    """Draft and count all records; gives their columns, as far as these were made on the way."""
    if taken.batches is None:
        for record in taken.records():
            _drafted(draft, record, facts, ledger)
        return None
    copied = CopyWriter()
    try:
        with closing(taken.batches(copied.part_path)) as batches:
            for batch in batches:
                if isinstance(batch, Sequence):
                    for record in batch:
                        _drafted(draft, record, facts, ledger)
                    copied.add(taken.frame_of(batch))
                    continue
                draft.append_lines(batch.lines, batch.size)
                draft.root.add_entries(batch.entries)
                for record, times in batch.counts:
                    facts.count_many(record, times, samples=batch.samples)
                    ledger.take_many(record, times)
                if batch.columns is None or isinstance(batch.columns, CopyPart):
                    copied.add_part(batch.columns)
                else:
                    copied.add(batch.columns)
    except BaseException:
        copied.drop()
        raise
    return copied


def _frozen(taken: ImportedOutputs, facts: ImportFacts) -> Fields:
    if not facts.cells:
        raise InputError("outputs", expected="at least one row", found="none")
    files = [asdict(file) for file in taken.files()]
    return {"config": taken.config(facts), "versions": versions(), "git": git_state(Path.cwd()), "files": files}


def _drafted(draft: DraftedJournal, record: Response | Failed, facts: ImportFacts, ledger: ImportLedger) -> None:
    facts.count(record)
    ledger.take(record)
    try:
        draft.append(record)
    except (RecursionError, ValueError) as error:
        raise InputError(
            f"record {record.key[:16]}…", expected="a row of JSON values", found=str(error)
        ) from error


def refuse_others(directory: StudyDirectory, taken: ImportedOutputs) -> None:
    """Refuse outputs that are not those that were taken into the directory, and name one of them."""
    before, columns = directory.frozen().config, taken.columns.names()
    if before.get("columns", columns) != columns:
        raise UsageError(
            str(directory),
            expected=f"outputs by the columns that they were taken in by: {_in_words(before['columns'])}",
            found=_in_words(columns),
            hint="Choose another --out; or, if the first reading was a mistake, delete the directory.",
        )
    if (others := _read_otherwise(before, taken.read_by)) is not None:
        expected, found = others
        hint = "The outputs may be the same. Choose another --out, or read them as before."
        raise UsageError(str(directory), expected=expected, found=found, hint=hint)
    if before != json.loads(json.dumps(taken.config(taken.facts()))):
        raise UsageError(
            str(directory),
            expected="the outputs that were taken in there",
            found=f"others{_first_other(directory, taken)}",
            hint="Give other outputs, or other words of their tasks, a directory of their own with --out.",
        )


def _read_otherwise(before: Mapping[str, Any], now: NamedContract) -> tuple[str, str] | None:
    """By what the outputs of a directory were read and by what they would be now; None if that is the same."""
    for described in before["contracts"].values():
        if described != json.loads(json.dumps(now.described())):
            first, second = ReadBy.frozen(described), ReadBy.frozen(now.described())
            found = "the same under another definition" if first == second else str(second)
            return f"outputs read as they were taken in there, by {first}", found
    return None


def _in_words(columns: Mapping[str, str]) -> str:
    return ", ".join(f"`{name}` as {role}" for role, name in sorted(columns.items()))


def _first_other(directory: StudyDirectory, taken: ImportedOutputs) -> str:
    """The first output that is not the same as in the directory, after a colon; empty if only settings differ."""
    records = (each for each in directory.records() if isinstance(each, Response | Failed))
    there = {each.key: each for each in records if isinstance(each.subject, ImportIdentity)}
    for record in taken.records():
        before = there.pop(record.key, None)
        if before is None:
            return f": {_output_in_words(record)} is new"
        if content_digest(before) != content_digest(record):
            same = (
                isinstance(before, Response)
                and isinstance(record, Response)
                and before.raw_output == record.raw_output
            )
            return f": {_output_in_words(record)} has {'another row around the same text' if same else 'changed'}"
    return next((f": {_output_in_words(record)} is not among them now" for record in there.values()), "")


def _output_in_words(record: Response | Failed) -> str:
    subject = record.subject
    name = subject.output_id if isinstance(subject, ImportIdentity) else None
    own = "the output" if name is None else f"the output {shown(name)}"
    return f"{own} of {shown(subject.model)} to {shown(subject.item_id)} under {shown(subject.condition)}"


def _completed(directory: StudyDirectory, taken: ImportedOutputs, disk: Disk) -> Kept:
    """Write whatever is not there yet of outputs that were taken in before."""
    study, archive, there = directory.frozen(), directory.archive(disk), set[str]()
    assert isinstance(study, ImportedStudy)  # noqa: S101 - what was frozen is the same
    ledger = taken.ledger()
    for line in archive.recover():
        record = line.record
        if isinstance(record, Response | Failed) and isinstance(record.subject, ImportIdentity):
            there.add(record.key)
            ledger.take(record)
    missing = [record for record in taken.records() if record.key not in there]
    for number, record in enumerate(missing, 1):
        archive.append(record)
        ledger.take(record)
        if number % 64 == 0:
            archive.commit()
    seal = directory.seal()
    if missing or seal is None:
        write_manifest(directory.path, manifest_page(taken.name, [], asked_here=False), disk)
        seal = archive.seal(ledger.counts())
        keep_copy(directory, seal)
    archive.close()
    return Kept(directory, seal, ledger.tallies, study.samples)


# --- for a judging ---


@dataclass(frozen=True)
class Intake:
    """What is to be judged: the outputs of a directory, or such as were read elsewhere and are kept in one."""

    directory: StudyDirectory
    taken: ImportedOutputs | None = None
    """Outputs from elsewhere, read and checked; None where the directory has all that there is."""
    records: Sequence[Response | Failed] = ()
    """Those outputs."""
    used: tuple[str, ...] = ()
    """The files that were read for it."""
    unused_words: tuple[str, ...] = ()
    """Rows of the file of tasks that are about no output."""
    rows: Callable[[], Iterable[Row]] | None = None
    """The rows of those outputs, as often as they are asked for."""

    @property
    def name(self) -> str:
        """Of the study that outputs from elsewhere become."""
        return "" if self.taken is None else self.taken.name

    @property
    def is_new(self) -> bool:
        """Whether there are outputs that stand nowhere in the directory yet."""
        return self.taken is not None and not self.directory.is_study

    def check(self) -> None:
        """Refuse outputs from elsewhere if the directory has others."""
        if self.taken is not None and self.directory.is_study:
            refuse_others(self.directory, self.taken)

    @contextmanager
    def kept(self, disk: Disk) -> Iterator[StudyDirectory]:
        """The directory with all outputs in it, locked; if the block refuses something, new ones do not stay.

        Outputs that were never judged are no study yet: whoever mends what was wrong begins anew. What a disk
        refuses is left as a kill would leave it, to be gone on with.
        """
        with self.directory.made(disk):
            new = self.is_new
            try:
                if self.taken is not None:
                    keep_outputs(self.directory, self.taken, disk)
                yield self.directory
            except (UsageError, InputError):
                if new and self.directory.judging_fields() is None:
                    self.directory.take_back(disk)
                raise


def outputs_in(
    source: Path,
    *,
    out: Path | None = None,
    pattern: str | None = None,
    tasks: Path | None = None,
    without_task: bool | None = None,
) -> Intake:
    """The outputs of a study's directory, or of a file or folder from elsewhere; nothing is written for it.

    `tasks` is a file with the words of the tasks that outputs from elsewhere answer.
    """
    if tasks is not None and without_task:
        hint = "Leave out one of the two."
        raise UsageError("--without-task", expected="no --tasks FILE beside it", found=str(tasks), hint=hint)
    if StudyDirectory(source).is_study:
        if out is not None:
            raise UsageError("--out", expected="no other directory for a study", found=str(out))
        if tasks is not None:
            hint = "Outputs get their tasks when they are taken in: name their file or folder, and another --out."
            expected = "no file of tasks for a study's directory, which holds the words as far as they are known"
            raise UsageError("--tasks", expected=expected, found=str(tasks), hint=hint)
        return Intake(StudyDirectory(source))
    if out is None:
        hint = "Or did you mean a study's directory?" if source.is_dir() else ""
        raise UsageError(str(source), expected="--out DIR, where the outputs are kept", found="none", hint=hint)
    words = None if tasks is None else task_words((row.where, row.fields) for row in rows_of(file_source(tasks)))
    rows = partial(rows_in, source, pattern)
    taken, records = judged_outputs(name_in(StudyDirectory(out)), rows, words)
    files = tuple(file for file in (source, tasks) if file is not None)
    digests = tuple(map(digest_of, files))
    taken = replace(taken, files=lambda: digests)
    unused = () if words is None else tuple(words.unused())
    intake = Intake(StudyDirectory(out), taken, records, tuple(map(str, files)), unused, rows)
    intake.check()
    return intake


def name_in(directory: StudyDirectory) -> str:
    """The name of the study that outputs become there.

    It is the directory's name when outputs were first taken in, wherever it has gone since.
    """
    before = directory.frozen_or_none() if directory.is_study else None
    return directory.path.resolve().name if before is None else before.name


def judged_outputs(
    study: str, rows: Callable[[], Iterable[Row]], tasks: TaskWords | None = None
) -> tuple[ImportedOutputs, list[Response | Failed]]:
    """Outputs that are to be judged, by the names of its protocol; a row that says twice the same is refused.

    `tasks` has the words that were answered, where the rows do not hold them themselves.
    """
    from affidavit.reading.output_rows import OutputRows  # noqa: PLC0415 - it brings Polars

    outputs = OutputRows(rows, _JUDGED, None if tasks is None else tasks.of, told_by_first=False)
    read_by = named_contract("text")
    records = list(outputs.records(study, read_by.contract))
    if not any(isinstance(record, Response) for record in records):
        raise InputError("outputs", expected="at least one output", found="none")
    return ImportedOutputs(study, read_by, _JUDGED, lambda: records), records


def digest_of(source: Path) -> SourceFile:
    """What outputs were taken from, with its digest: of a folder, over the digests of the texts below it."""
    with storage_errors(str(source)):
        if source.is_dir():
            texts = [[path.relative_to(source).as_posix(), _file_sha256(path)] for path in _text_files(source)]
            return SourceFile(source.resolve().name, digest(texts))
        return SourceFile(source.name, _file_sha256(source))


def _file_sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def rows_in(source: Path, pattern: str | None) -> Iterator[Row]:
    """Every output of a file of rows, or of a folder of texts."""
    if source.is_dir():
        if pattern is None:
            hint = "For example --pattern '{question_id}/{prompt_variant}_{target_model}.md'."
            raise UsageError(str(source), expected="--pattern for a folder of texts", found="none", hint=hint)
        texts = folder_rows(_texts(source), pattern)
        return (Row(where, number, fields) for number, (where, fields) in enumerate(texts, 1))
    return rows_of(file_source(source), _columns)


def _columns(cells: list[str]) -> list[str] | None:
    return cells if RAW_OUTPUT in cells else None


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    for path in _text_files(folder):
        yield path.relative_to(folder).as_posix(), _read(path)


def _text_files(folder: Path) -> Iterator[Path]:
    return (path for path in _below(folder) if path.suffix.lower() in _TEXTS)


def _below(folder: Path) -> Iterator[Path]:
    """Everything below a folder that is no folder, in order; a link to a folder is not gone into."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            yield from _below(entry)
        else:
            yield entry


def _read(path: Path) -> str:
    if (found := other_kind(path)) is not None:
        hint = "A folder of texts is data, and nothing in it may lead elsewhere. Put a plain copy in its place."
        raise InputError(str(path), expected="a regular file", found=found, hint=hint)
    try:
        with storage_errors(str(path)), open_to_read(path) as stream:
            content = stream.read(LONGEST_TEXT + 1)
        if len(content) > LONGEST_TEXT:
            raise InputError(str(path), expected=f"at most {LONGEST_TEXT:,} bytes", found="more")
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(str(path), expected="text in UTF-8", found=str(error)) from error
