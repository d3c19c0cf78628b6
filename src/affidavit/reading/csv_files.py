"""CSV files of outputs through a contract: the same rows and columns, and the contract's columns after them.

A cell is text and cannot be null: an empty cell in the text column is an empty output, an empty `answer` is an
unknown one. New cells hold `true` and `false`, nothing for null, and JSON where a value has parts.
"""

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import BinaryIO

import msgspec
import polars as pl

from affidavit.errors import InputError
from affidavit.json_values import Fields
from affidavit.reading.choices import ChoiceGains
from affidavit.reading.json_lines import Progress, Result, Source, refuse_pointer
from affidavit.reading.row_cache import Gained, OnceReader
from affidavit.reading.rows import RowReader, column_names, column_values

_ROWS_AT_ONCE = 8 * 1024
"""Rows that are read and written together."""
_EMPTY_IS_UNKNOWN = ("answer", "numbers", "target", "judged_output", "asked")


def read_csv(
    sources: list[Source], reader: RowReader, *, out: BinaryIO | None, progress: Progress | None = None
) -> Result:
    """Read every row of every file in order; write the rows with their new columns to `out`."""
    csv.field_size_limit(sys.maxsize)
    engine = _CellEngine(reader, out)
    for source in sources:
        with source.opened() as stream:
            rows = _Rows(source.name, stream, reader)
            if rows.header:  # an empty file has no rows, and no columns to compare
                engine.begin(rows)
                cells = rows.cells()
                while some := list(islice(cells, _ROWS_AT_ONCE)):
                    engine.read(rows, some)
                    if progress is not None:
                        progress(engine.result.tally, rows.bytes_since_last())
    return engine.result


_Placed = tuple[str, list[str]]
"""Place and cells of a row."""


class _CellEngine:
    """Rows of cells on their way through a contract."""

    def __init__(self, reader: RowReader, out: BinaryIO | None) -> None:
        self.result = Result()
        self._reader = reader
        self._out = out
        self._once = OnceReader(reader)
        self._first: list[str] = []
        self._choices = ChoiceGains(reader) if reader.in_columns else None

    def begin(self, rows: "_Rows") -> None:
        """A new file: the same columns as the first, which names those of the output."""
        if self._first and rows.header != self._first:
            raise InputError(f"{rows.name}:1", expected=f"the columns {self._first}", found=str(rows.header))
        if self._out is not None and not self._first:
            names = [*(rows.header[place] for place in rows.kept), *rows.added]
            self._out.write((",".join(map(_quoted, names)) + "\n").encode())
        self._first = rows.header
        self.result.replaced.update(set(rows.header) & set(rows.added))

    def read(self, rows: "_Rows", some: Sequence[_Placed]) -> None:
        """Some rows of a file."""
        written: list[str] = []
        counted: Counter[Gained] = Counter()
        ends: dict[Gained, list[str]] = {}
        for (where, cells), known in zip(some, self._in_columns(rows, some), strict=True):
            gained = known or self._read_row(rows.row(cells, where), where)
            if known is not None:
                counted[known] += 1
            end = ends.get(gained)
            if end is None:
                values = column_values(self._reader, gained.fields, rows.added)
                end = ends[gained] = [_quoted(_cell(value)) for value in values]
            kept = [_quoted(cells[place]) for place in rows.kept]
            written.append(",".join(kept + end))
        for gained, times in counted.items():
            self.result.count(gained, self._reader, {}, times=times)
        if self._out is not None:
            self._out.write("".join(f"{line}\n" for line in written).encode())

    def _read_row(self, row: Fields, where: str) -> Gained:
        gained = self._once.read(row, where=where)[1]
        self.result.count(gained, self._reader, row)
        return gained

    def _in_columns(self, rows: "_Rows", some: Sequence[_Placed]) -> Sequence[Gained | None]:
        """What each row gains as far as columns can tell."""
        width = len(rows.header)
        if self._choices is None or self._reader.field not in rows.header:
            return [None] * len(some)
        if any(len(cells) != width for _, cells in some):
            return [None] * len(some)
        place = rows.header.index(self._reader.field)
        texts = pl.Series([cells[place] for _, cells in some], dtype=pl.String)
        if "answer" not in rows.header:
            return self._choices.of(texts, [msgspec.UNSET] * len(some))
        key = rows.header.index("answer")
        return self._choices.of(texts, [cells[key] or None for _, cells in some])


class _Rows:
    """One CSV file: its header, and its rows as the contract sees them."""

    def __init__(self, name: str, stream: BinaryIO, reader: RowReader) -> None:
        self.name = name
        self._field = reader.field
        self._bytes = 0
        self._reader = csv.reader(self._lines(stream), strict=True)
        where, self.header = next(self.cells(), (f"{name}:1", []))
        refuse_pointer(",".join(self.header).encode(), where=where)
        if len(set(self.header)) < len(self.header):
            raise InputError(where, expected="columns of different names", found=str(self.header))
        self.added = column_names(reader, dict.fromkeys(self.header))
        self.kept = [place for place, name in enumerate(self.header) if name not in self.added]

    def bytes_since_last(self) -> int:
        """The bytes read since this was asked the last time."""
        count, self._bytes = self._bytes, 0
        return count

    def cells(self) -> Iterator[_Placed]:
        """Place and cells of every row; blank lines are left out."""
        line = self._reader.line_num + 1
        try:
            for cells in self._reader:
                if cells:
                    yield f"{self.name}:{line}", cells
                line = self._reader.line_num + 1
        except csv.Error as error:
            raise InputError(f"{self.name}:{line}", expected="CSV", found=str(error)) from error

    def _lines(self, stream: BinaryIO) -> Iterator[str]:
        for number, line in enumerate(stream, 1):
            self._bytes += len(line)
            content = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            try:
                yield content.decode("utf-8")
            except UnicodeDecodeError as error:
                found = f"byte 0x{content[error.start]:02x} at byte {error.start + 1} of the line"
                hint = "Convert the file, for example with `iconv -f latin1 -t utf-8`."
                where = f"{self.name}:{number}"
                raise InputError(where, expected="text in UTF-8", found=found, hint=hint) from error

    def row(self, cells: list[str], where: str) -> Fields:
        """The row by its column names."""
        if len(cells) != len(self.header):
            found = f"{len(cells)} cells"
            raise InputError(where, expected=f"{len(self.header)} cells, as in the header", found=found)
        pairs = zip(self.header, cells, strict=True)
        return {name: cell if name == self._field else _value(name, cell) for name, cell in pairs}


def _value(name: str, cell: str) -> object:
    """The cell as the contract takes it."""
    if name in _EMPTY_IS_UNKNOWN and not cell:
        return None
    if name == "target" and cell.removeprefix("-").isdecimal() and cell.isascii() and len(cell) <= 500:
        return int(cell)
    if name in ("numbers", "asked") and cell[:1] in ("[", "{"):
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            return cell
    return cell


def _quoted(cell: str) -> str:
    """One cell as CSV. (Python's own writer leaves a lone carriage return unquoted, and then cannot read it.)"""
    return '"' + cell.replace('"', '""') + '"' if _SPECIAL.search(cell) else cell


_SPECIAL = re.compile('[",\\r\\n]')


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
