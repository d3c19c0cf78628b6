"""CSV through a contract: the same rows and columns, and the contract's columns after them.

A cell is text and cannot be null: an empty cell in the text column is an empty output, an empty `answer` is an
unknown one. New cells hold `true` and `false`, nothing for null, and JSON where a value has parts. Cells come out
between the delimiters that they came between, and as they came: the same texts can be read again. What is new has
nothing unseen in it but line breaks.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import BinaryIO, ClassVar

import msgspec
import polars as pl

from affidavit.contracts.contract import RAW_OUTPUT
from affidavit.errors import InputError
from affidavit.json_values import Fields, shown
from affidavit.plain_text import plain_lines
from affidavit.reading.batches import ROWS_AT_ONCE, BatchResult, Result, RowReading, write_bytes
from affidavit.reading.cell_values import cell_value, unknown_if_empty
from affidavit.reading.choices import ChoiceColumns
from affidavit.reading.csv_files import DELIMITERS, CsvTable
from affidavit.reading.output_columns import text_hint
from affidavit.reading.row_cache import AddedFields, RowCache
from affidavit.reading.rows import RowReader, column_values, columns_added
from affidavit.reading.source import Source


@dataclass(frozen=True, slots=True)
class CellBatch:
    """Rows of cells that follow each other in a file."""

    name: str
    header: list[str]
    delimiter: str
    lines: list[int]
    """The line in which each row begins."""
    cells: list[list[str]]
    begins_output: bool
    """Whether the header of the output comes before these rows."""
    size: int

    def halves(self) -> "tuple[CellBatch, CellBatch] | None":
        """The rows in two."""
        middle = len(self.cells) // 2
        if not middle:
            return None
        first = replace(self, lines=self.lines[:middle], cells=self.cells[:middle])
        rest = replace(self, lines=self.lines[middle:], cells=self.cells[middle:], begins_output=False)
        return first, rest


class CellBatches:
    """CSV under one contract."""

    binary: ClassVar[bool] = False

    def __init__(self, reader: RowReader, *, keep_readings: bool = False) -> None:
        self._reader = reader
        self._row_cache = RowCache(reader)
        self._keep_readings = keep_readings
        self._choices = ChoiceColumns(reader) if reader.in_columns else None

    def batches(self, sources: Iterable[Source]) -> Iterator[CellBatch]:
        """Some thousands of rows at a time; the first one says what is between the cells of the output."""
        first: CsvTable | None = None
        for source in sources:
            with source.opened() as stream:
                table = CsvTable(source, stream, self._columns)
                self._check_header(table, first)
                begins, first = first is None, first or table
                rows = table.rows()
                while (batch := list(islice(rows, ROWS_AT_ONCE))) or begins:
                    lines, cells = [line for line, _ in batch], [row for _, row in batch]
                    size = stream.bytes_taken()
                    yield CellBatch(
                        source.name, table.columns, first.delimiter, lines, cells, begins_output=begins, size=size
                    )
                    begins = False

    def _columns(self, cells: list[str]) -> list[str] | None:
        return cells if self._reader.field in cells else None

    def _check_header(self, table: CsvTable, first: CsvTable | None) -> None:
        if self._reader.field not in table.columns:
            raise InputError(
                f"{table.name}:1",
                expected=f"a column {self._reader.field!r}",
                found=f"the columns {', '.join(table.columns)}",
                hint=text_hint(self._reader.field, table.columns, "column"),
            )
        if first is not None and table.columns != first.columns:
            expected = f"the columns {shown(first.columns)}, as in {first.name}"
            raise InputError(f"{table.name}:1", expected=expected, found=shown(table.columns))

    def read_batch(self, batch: CellBatch) -> BatchResult[Iterable[bytes]]:
        """The rows with their new cells."""
        added = columns_added(self._reader, batch.header)
        kept = [place for place, name in enumerate(batch.header) if name not in added]
        text = batch.header.index(self._reader.field)
        result = Result(
            replaced=frozenset(batch.header) & frozenset(added),
            empty_cells=sum(not cells[text] for cells in batch.cells),
        )
        quoted = _Quoted(batch.delimiter)
        written: list[str] = []
        if batch.begins_output:
            names = [*(batch.header[place] for place in kept), *added]
            written.append(batch.delimiter.join(map(_ANY_DELIMITER.cell, names)))
        counted: Counter[AddedFields] = Counter()
        ends: dict[AddedFields, list[str]] = {}
        readings: list[RowReading] = []
        for line, cells, known in zip(batch.lines, batch.cells, self._in_columns(batch), strict=True):
            new_fields = known or self._read_row(batch, line, cells, result, readings)
            if known is not None:
                counted[known] += 1
            end = ends.get(new_fields)
            if end is None:
                values = column_values(self._reader, new_fields.fields, added)
                end = ends[new_fields] = [quoted.cell(_cell(*each)) for each in zip(added, values, strict=True)]
            written.append(batch.delimiter.join([*(quoted.cell(cells[place]) for place in kept), *end]))
        for new_fields, times in counted.items():
            result.count(new_fields, self._reader, {}, times=times)
        content = "".join(f"{line}\n" for line in written).encode()
        return BatchResult([content], result, readings, batch.size)

    def _read_row(
        self, batch: CellBatch, line: int, cells: list[str], result: Result, readings: list[RowReading]
    ) -> AddedFields:
        where, text = f"{batch.name}:{line}", self._reader.field
        pairs = zip(batch.header, cells, strict=True)
        unknown = unknown_if_empty(self._reader.parts, self._reader.answer.text)
        row: Fields = {name: cell if name == text else cell_value(name, cell, unknown) for name, cell in pairs}
        row_result, new_fields = self._row_cache.read(row, where=where)
        result.count(new_fields, self._reader, row)
        if self._keep_readings:
            readings.append(RowReading(row[text], row_result, where))
        return new_fields

    def _in_columns(self, batch: CellBatch) -> Sequence[AddedFields | None]:
        """What each row gets as far as columns can tell."""
        if self._choices is None:
            return [None] * len(batch.cells)
        place = batch.header.index(self._reader.field)
        texts = pl.Series([cells[place] for cells in batch.cells], dtype=pl.String)
        if (answer := self._reader.answer.text) not in batch.header:
            return self._choices.of(texts, [msgspec.UNSET] * len(batch.cells))
        key = batch.header.index(answer)
        return self._choices.of(texts, [cells[key] or None for cells in batch.cells])

    def write(self, contents: Iterator[Iterable[bytes]], out: BinaryIO | None) -> None:
        """Row after row."""
        write_bytes(contents, out)


class _Quoted:
    """Cells as CSV. (Python's own writer leaves a lone carriage return unquoted, and then cannot read it.)"""

    def __init__(self, delimiters: str) -> None:
        self._special = re.compile(f'["\\r\\n{delimiters}]').search

    def cell(self, cell: str) -> str:
        """A cell, in quotes where it needs them."""
        return '"' + cell.replace('"', '""') + '"' if self._special(cell) else cell


_ANY_DELIMITER = _Quoted("".join(DELIMITERS))
"""Names of columns are quoted if any delimiter is in them, so that there is no doubt about the file's own."""


def _cell(name: str, value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return json.dumps(value)
    # The output itself stays as it arrived, also where it gets a column of this name.
    return value if name == RAW_OUTPUT else plain_lines(value)
