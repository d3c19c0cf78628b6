"""CSV files of outputs through a contract: the same rows and columns, and the contract's columns after them.

A cell is text and cannot be null: an empty cell in the text column is an empty output, an empty `answer` is an
unknown one. New cells hold `true` and `false`, nothing for null, and JSON where a value has parts.
"""

import csv
import io
import json
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
    text = None if out is None else io.TextIOWrapper(out, encoding="utf-8", newline="")
    first: list[str] = []
    for source in sources:
        with source.opened() as stream:
            rows = _Rows(source.name, stream, reader)
            if first and rows.header != first:
                raise InputError(f"{source.name}:1", expected=f"the columns {first}", found=str(rows.header))
            writer = None if text is None else csv.writer(text, lineterminator="\n")
            if writer is not None and not first:
                writer.writerow([*map(rows.header.__getitem__, rows.kept), *rows.added])
            first = rows.header
            result.replaced.update(set(rows.header) & set(rows.added))
            for number, (where, cells) in enumerate(rows.cells(), 1):
                row = rows.row(cells, where)
                _, gained = once.read(row, where=where)
                result.count(gained, reader, row)
                if writer is not None:
                    values = column_values(reader, gained.fields, rows.added)
                    writer.writerow([*map(cells.__getitem__, rows.kept), *map(_cell, values)])
                if progress is not None and number % _TELL_EVERY == 0:
                    progress(result.tally, 0)
    if text is not None:
        text.detach()  # flushes, and leaves the file to whoever opened it
    return result


class _Rows:
    """One CSV file: its header, and its rows as the contract sees them."""

    def __init__(self, name: str, stream: BinaryIO, reader: RowReader) -> None:
        self._name = name
        self._reader = csv.reader(io.TextIOWrapper(stream, encoding="utf-8-sig", newline=""), strict=True)
        where, self.header = next(self.cells(), (f"{name}:1", []))
        refuse_pointer(",".join(self.header).encode(), where=where)
        if len(set(self.header)) < len(self.header):
            raise InputError(where, expected="columns of different names", found=str(self.header))
        self.added = column_names(reader, dict.fromkeys(self.header))
        self.kept = [place for place, name in enumerate(self.header) if name not in self.added]

    def cells(self) -> Iterator[tuple[str, list[str]]]:
        """Place and cells of every row; blank lines are left out."""
        line = 1
        try:
            for cells in self._reader:
                if cells:
                    yield f"{self._name}:{line}", cells
                line = self._reader.line_num + 1
        except csv.Error as error:
            raise InputError(f"{self._name}:{line}", expected="CSV", found=str(error)) from error
        except UnicodeDecodeError as error:
            found = f"byte 0x{error.object[error.start]:02x}"
            hint = "Convert the file, for example with `iconv -f latin1 -t utf-8`."
            where = f"{self._name}:{line}"
            raise InputError(where, expected="text in UTF-8", found=found, hint=hint) from error

    def row(self, cells: list[str], where: str) -> Fields:
        """The row by its column names."""
        if len(cells) != len(self.header):
            found = f"{len(cells)} cells"
            raise InputError(where, expected=f"{len(self.header)} cells, as in the header", found=found)
        return {name: _value(name, cell) for name, cell in zip(self.header, cells, strict=True)}


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


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
