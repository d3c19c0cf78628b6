"""Files of outputs that exist already → what is taken into a directory: columns by name, contract, and rows."""

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import file_digest
from itertools import islice
from pathlib import Path, PurePath

from affidavit.archive.disk import storage_errors
from affidavit.archive.record import Failed, Response
from affidavit.archive.study_directory import IMPORTED, SourceFile
from affidavit.archive.work_behind import begun, done_behind
from affidavit.contracts.frozen_contract import NamedContract
from affidavit.contracts.parts import Advice, is_ours, parts_of, readings_that_need_more
from affidavit.errors import InputError, UsageError
from affidavit.json_values import Fields, digest
from affidavit.reading.advice_notes import advice_notes
from affidavit.reading.bulk_records import BulkRecords
from affidavit.reading.cell_values import cell_value, unknown_if_empty
from affidavit.reading.csv_files import CSV
from affidavit.reading.engines import common_format
from affidavit.reading.import_messages import ImportSetup
from affidavit.reading.imported_records import RecordMaker, RowNames
from affidavit.reading.json_lines import JSON_LINES, pieces
from affidavit.reading.output_columns import (
    ONE_CONDITION,
    OUR_NAMES,
    UNNAMED,
    OutputColumns,
    Role,
    columns_of,
    options_proposals,
    proposals,
)
from affidavit.reading.output_rows import OutputRows, SampleNumbers
from affidavit.reading.row_lines import Batch, decode_row
from affidavit.reading.source import Format, Row, Source
from affidavit.reading.sources import EMPTY, empty, format_of
from affidavit.running.import_outputs import ImportedOutputs, PartPath
from affidavit.running.import_workers import ImportRun, ImportWorkers, Records

_PIECES = 4
"""Pieces of a file that are read together: enough to forget what each step over columns costs by itself."""


@dataclass(frozen=True)
class OutputFiles:
    """Files of outputs of one kind, and which of their columns is what."""

    sources: Sequence[Source]
    columns: OutputColumns
    rows: Callable[[], Iterator[Row]]
    first: Fields
    """The first row."""
    counted: Counter[str] = field(default_factory=Counter)
    """What was seen of rows: `empty_cells`."""
    advised: Counter[Advice] = field(default_factory=Counter)
    """Parameters that outputs call for, by how many do, as far as records were made one by one."""
    need_options: Sequence[str] = ()
    """The lenient readings of the report that need the options' texts."""

    def imported(self, name: str, read_by: NamedContract, workers: ImportWorkers | None = None) -> ImportedOutputs:
        """What is taken into a directory of this name; workers have their part in it where they can."""
        states = [_state_of(source) for source in self.sources]
        for source in self.sources:
            if source.path is None:
                raise UsageError(source.name, expected="a file that can be read again", found="none")
        files = begun(partial(_digests_of, self.sources))  # while their rows are read
        bulk = BulkRecords(name, self.first, self.columns, read_by.contract)
        batches, is_shared = None, False
        if bulk.possible and format_of(self.sources[0]) is JSON_LINES:
            maker = RecordMaker(name, self.columns, read_by.contract)
            batches = partial(self._batches, bulk, maker)
            if workers is not None and self._can_be_shared(read_by):
                setup = ImportSetup(
                    name,
                    self.first,
                    self.columns.names(),
                    read_by.name,
                    read_by.options,
                    read_by.described(),
                )
                batches, is_shared = partial(self._shared_batches, workers, setup, maker), True
        if workers is not None and not is_shared:
            workers.end()
        records = partial(self.records, name, read_by)
        unchanged = partial(_check_unchanged, self.sources, states)
        return ImportedOutputs(name, read_by, self.columns, records, files, batches, unchanged)

    def _can_be_shared(self, read_by: NamedContract) -> bool:
        """Whether workers can read the rows: in plain files, each with an id, by a contract of ours."""
        plain = all(source.path is not None and _is_plain(source) for source in self.sources)
        return plain and Role.ID in self.columns.paths and is_ours(read_by.contract)

    def _shared_batches(
        self, workers: ImportWorkers, setup: ImportSetup, maker: RecordMaker, part_path: PartPath
    ) -> Generator[Records]:
        """JSON Lines, many at a time, made records of by workers."""
        numbers, names = SampleNumbers(OutputRows(self.rows, self.columns)), RowNames(self.columns)

        def one_by_one(source: Source, line: int, count: int, content: bytes) -> Sequence[Response | Failed]:
            found = _lines(source.name, line, content)
            named = [names.of(row, number) for number, row in enumerate(found, count + 1)]
            return [maker.record(*each) for each in numbers.of(named)]

        return ImportRun(workers, self.sources, numbers.repeats, one_by_one, part_path).batches(setup)

    def _batches(self, bulk: BulkRecords, maker: RecordMaker, _part_path: PartPath) -> Generator[Records]:
        """JSON Lines, many at a time; some are decoded while those before them become records."""
        return done_behind(self._begun(bulk, maker))

    def _begun(self, bulk: BulkRecords, maker: RecordMaker) -> Iterator[Callable[[], Records]]:
        """JSON Lines, many at a time, as what is still to do for them; lines that are not usual row by row."""
        numbers, names = SampleNumbers(OutputRows(self.rows, self.columns)), RowNames(self.columns)
        count = 0
        for source in self.sources:
            line = 1
            with source.opened() as stream:
                all_pieces = pieces(stream, source.name)
                while content := b"".join(islice(all_pieces, _PIECES)):
                    coded = bulk.coded(content, count, numbers.repeats)
                    if coded is None:
                        found = list(_lines(source.name, line, content))
                        named = [names.of(row, number) for number, row in enumerate(found, count + 1)]
                        records = [maker.record(*each) for each in numbers.of(named)]
                        yield partial(_as_they_are, records)
                        count += len(records)
                        line += content.count(b"\n")
                    else:
                        yield partial(bulk.made, coded)
                        count += coded.height
                        line += coded.height

    def advice(self) -> list[str]:
        """What a person should be told of parameters, once the records were made."""
        return advice_notes(self.advised)

    def notes(self) -> list[str]:
        """What a person should be told of the columns: what was taken as what, and what was not."""
        named = [(role, path.text) for role, path in self.columns.paths.items() if path.text != OUR_NAMES[role]]
        notes = [f"columns: {', '.join(f'`{name}` as {role}' for role, name in named)}"] if named else []
        paths = self.columns.paths
        if Role.ID not in paths:
            notes.append(
                "rows have no id: each counts as an item of its own, by its number; nothing can be paired"
            )
        if Role.MODEL not in paths:
            notes.append(f"no column names the model: all outputs are of one, `{UNNAMED}`")
        if Role.CONDITION not in paths:
            notes.append(f"no column names the condition: all outputs are of one, `{ONE_CONDITION}`")
        options = [each for lens in self.need_options for each in options_proposals(self.first, lens)]
        return [*notes, *proposals(self.first, self.columns), *options]

    def records(self, study: str, read_by: NamedContract) -> Iterator[Response | Failed]:
        """The records that the rows become."""
        parts = parts_of(read_by.contract)
        self.advised.clear()
        for record in OutputRows(self.rows, self.columns).records(study, read_by.contract):
            if isinstance(record, Response) and (advice := parts.advice(record.raw_output, record.reading)):
                self.advised[advice] += 1
            yield record

    def tasks(self) -> list[str]:
        """The tasks that the rows name."""
        if Role.TASK not in self.columns.paths:
            return [IMPORTED]
        return sorted({row.task for row in OutputRows(self.rows, self.columns).named()})


def output_files(sources: Sequence[Source], given: Mapping[Role, str], read_by: NamedContract) -> OutputFiles:
    """The files, all of one kind and none empty, and their columns: told by the first row."""
    for source in sources:
        if format_of(source) is EMPTY:
            raise empty(source)
    row_format, counted = common_format(sources, None), Counter[str]()
    text = given.get(Role.TEXT, "raw_output")
    if row_format is CSV:
        unknown = unknown_if_empty(parts_of(read_by.contract), given.get(Role.ANSWER, "answer"))
        rows = partial(_cells, sources, text, frozenset(unknown), counted)
    else:
        rows = partial(_rows, sources, row_format)
    first = next(iter(rows()), None)
    if first is None:
        raise InputError(sources[0].name, expected="at least one row", found="columns and no rows")
    columns = columns_of(first.fields, given, where=first.where)
    counted.clear()
    needs = readings_that_need_more(parts_of(read_by.contract).lenient_readings())
    return OutputFiles(sources, columns, rows, first.fields, counted, need_options=needs)


def _is_plain(source: Source) -> bool:
    with source.opened() as stream:
        return stream.compression is None


def _as_they_are(records: Sequence[Response | Failed]) -> Records:
    return records


def _lines(name: str, first: int, content: bytes) -> Iterator[Row]:
    for number, text in Batch(name, first, content).lines():
        where = f"{name}:{number}"
        yield Row(where, number, decode_row(text, where=where))


def _rows(sources: Sequence[Source], row_format: Format) -> Iterator[Row]:
    for source in sources:
        yield from row_format.rows(source, lambda _cells: None)


def _cells(sources: Sequence[Source], text: str, unknown: frozenset[str], counted: Counter[str]) -> Iterator[Row]:
    """Rows of CSV, their cells as a contract takes them."""
    counted.clear()
    for source in sources:
        for row in CSV.rows(source, lambda cells: cells if text in cells else None):
            fields = {
                name: cell if name == text else cell_value(name, str(cell), unknown)
                for name, cell in row.fields.items()
            }
            counted["empty_cells"] += fields.get(text) == ""
            yield Row(row.where, row.number, fields)


def _digests_of(sources: Sequence[Source]) -> list[SourceFile]:
    return [_digest_of(source.name, source.path) for source in sources if source.path is not None]


def _digest_of(name: str, path: Path) -> SourceFile:
    if path.is_dir():  # a log that is a folder
        below = sorted(each for each in path.rglob("*") if each.is_file())
        digests = [[each.relative_to(path).as_posix(), _file_sha256(each, name)] for each in below]
        return SourceFile(PurePath(name).name, digest(digests))
    return SourceFile(PurePath(name).name, _file_sha256(path, name))


def _file_sha256(path: Path, name: str) -> str:
    with storage_errors(name), path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


State = tuple[int, int, int]
"""Which file it is, its size, and when it was last written."""


def _state_of(source: Source) -> State | None:
    if source.path is None:
        return None
    with storage_errors(source.name):
        found = source.path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _check_unchanged(sources: Sequence[Source], states: Sequence[State | None]) -> None:
    """Refuse files that somebody wrote to meanwhile: what was read is not what their digests are of."""
    for source, state in zip(sources, states, strict=True):
        if _state_of(source) != state:
            hint = "Nothing was kept. Read it again when nobody writes to it."
            raise InputError(
                source.name, expected="the same file to its end", found="one that was changed", hint=hint
            )
