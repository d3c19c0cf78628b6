"""CSV files of outputs through a contract: the same rows and columns, and the contract's columns after them.

A cell is text and cannot be null: an empty cell in the text column is an empty output, an empty `answer` is an
unknown one. New cells hold `true` and `false`, nothing for null, and JSON where a value has parts.
"""

import csv
import json
import re
import sys
from collections.abc import Iterator
from typing import BinaryIO

from affidavit.contract import Fields
from affidavit.engines.local import Progress, Result, Source, refuse_pointer
from affidavit.errors import InputError
from affidavit.once import OnceReader
from affidavit.rows import RowReader, column_names, column_values

_TELL_EVERY = 10_000
_EMPTY_IS_UNKNOWN = ("answer", "numbers", "target", "judged_output", "asked")


def read_csv(
    sources: list[Source], reader: RowReader, *, out: BinaryIO | None, progress: Progress | None = None
) -> Result:
    """Read every row of every file in order; write the rows with their new columns to `out`."""
    csv.field_size_limit(sys.maxsize)
    result, once = Result(), OnceReader(reader)
    first: list[str] = []
    for source in sources:
        with source.opened() as stream:
            rows = _Rows(source.name, stream, reader)
            if not rows.header:
                continue  # an empty file has no rows, and no columns to compare
            if first and rows.header != first:
                raise InputError(f"{source.name}:1", expected=f"the columns {first}", found=str(rows.header))
            if out is not None and not first:
                out.write(_line([*map(rows.header.__getitem__, rows.kept), *rows.added]))
            first = rows.header
            result.replaced.update(set(rows.header) & set(rows.added))
            for number, (where, cells) in enumerate(rows.cells(), 1):
                row = rows.row(cells, where)
                _, gained = once.read(row, where=where)
                result.count(gained, reader, row)
                if out is not None:
                    values = column_values(reader, gained.fields, rows.added)
                    out.write(_line([*map(cells.__getitem__, rows.kept), *map(_cell, values)]))
                if progress is not None and number % _TELL_EVERY == 0:
                    progress(result.tally, 0)
    return result


class _Rows:
    """One CSV file: its header, and its rows as the contract sees them."""

    def __init__(self, name: str, stream: BinaryIO, reader: RowReader) -> None:
        self._name = name
        self._field = reader.field
        self._reader = csv.reader(self._lines(stream), strict=True)
        where, self.header = next(self.cells(), (f"{name}:1", []))
        refuse_pointer(",".join(self.header).encode(), where=where)
        if len(set(self.header)) < len(self.header):
            raise InputError(where, expected="columns of different names", found=str(self.header))
        self.added = column_names(reader, dict.fromkeys(self.header))
        self.kept = [place for place, name in enumerate(self.header) if name not in self.added]

    def cells(self) -> Iterator[tuple[str, list[str]]]:
        """Place and cells of every row; blank lines are left out."""
        line = self._reader.line_num + 1
        try:
            for cells in self._reader:
                if cells:
                    yield f"{self._name}:{line}", cells
                line = self._reader.line_num + 1
        except csv.Error as error:
            raise InputError(f"{self._name}:{line}", expected="CSV", found=str(error)) from error

    def _lines(self, stream: BinaryIO) -> Iterator[str]:
        for number, line in enumerate(stream, 1):
            content = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            try:
                yield content.decode("utf-8")
            except UnicodeDecodeError as error:
                found = f"byte 0x{content[error.start]:02x} at byte {error.start + 1} of the line"
                hint = "Convert the file, for example with `iconv -f latin1 -t utf-8`."
                where = f"{self._name}:{number}"
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


def _line(cells: list[str]) -> bytes:
    """One row as CSV. (Python's own writer leaves a lone carriage return unquoted, and then cannot read it.)"""
    quoted = ('"' + cell.replace('"', '""') + '"' if _SPECIAL.search(cell) else cell for cell in cells)
    return (",".join(quoted) or '""').encode() + b"\n"


_SPECIAL = re.compile('[",\\r\\n]')


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
