"""CSV: a header and rows of cells, in UTF-8, between commas, semicolons or tabs.

The first row tells what is between the cells. A delimiter is possible if it cuts that row into several cells; of
several possible ones it is the one by which the reader finds the columns that it looks for; if that does not
decide either, the file is refused and both are named. Without any, there is one column.

A text that holds the delimiter, a quote or a line end stands in quotes, and quotes in it are doubled. Lines end
with a line feed, a carriage return before it allowed; other line ends, such as U+2028, are characters of a text.
Blank lines are skipped. A cell may have any size.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from affidavit.errors import InputError
from affidavit.json_values import shown
from affidavit.reading import source as limits
from affidavit.reading.source import Columns, Format, Row, Source, Stream, reading_on, too_long
from affidavit.reading.utf8 import BYTE_ORDER_MARK, decoded

# The limit is the library's, for the whole process, and belongs to no caller: it is lifted here and nowhere else.
csv.field_size_limit(2**31 - 1)

DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}
_SAVE_AS = "From a spreadsheet, save it as CSV UTF-8. Or convert it: `iconv -f latin1 -t utf-8`."
_HINT = "A text that holds the delimiter, a quote or a line end stands in quotes, and quotes in it are doubled."


def any_header(cells: list[str]) -> list[str] | None:
    """The columns of a table of which nothing is known beforehand: the first row names them."""
    return None


@dataclass(frozen=True, slots=True)
class _Layout:
    """What the first row tells of a file."""

    delimiter: str
    columns: list[str]
    has_header: bool


class CsvTable:
    """One CSV file, opened: its columns, and then its rows."""

    def __init__(self, source: Source, stream: Stream, columns: Columns) -> None:
        self.name = source.name
        self._lines = _Lines(source.name, stream)
        layout = self._layout(columns)
        self.delimiter, self.columns = layout.delimiter, layout.columns
        self._has_header = layout.has_header
        if len(set(self.columns)) < len(self.columns):
            expected = "columns of different names"
            raise InputError(f"{self.name}:{self._lines.first}", expected=expected, found=shown(self.columns))

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Line and cells of every row below the header."""
        records = self._records(self._lines.again(), self.delimiter)
        if self._has_header:
            next(records)
        width = len(self.columns)
        for line, cells in records:
            if len(cells) != width:
                expected = f"{width} cells, as in the header" if self._has_header else f"{width} cells"
                found = f"{len(cells)} cells, the first {shown(cells[0])}"
                raise InputError(f"{self.name}:{line}", expected=expected, found=found, hint=_HINT)
            yield line, cells

    def _layout(self, columns: Columns) -> _Layout:
        possible: list[_Layout] = []
        known: list[_Layout] = []
        refusals: list[InputError] = []
        first: list[str] = []
        for delimiter in DELIMITERS:
            try:
                line, cells = next(self._records(self._lines.kept(), delimiter), (1, []))
            except InputError as error:
                refusals.append(error)
                continue
            self._lines.first = line
            first = first or cells
            names = columns(cells)
            layout = _Layout(delimiter, names or cells, names is None or names == cells)
            if len(cells) > 1:
                (possible if names is None else known).append(layout)
        several = known or possible
        if len(several) > 1:
            raise self._ambiguous(several)
        if several:
            return several[0]
        if refusals and not first:
            raise refusals[0]
        return _Layout(",", first, has_header=True)

    def _ambiguous(self, layouts: list[_Layout]) -> InputError:
        cuts = (f"{DELIMITERS[layout.delimiter]} cuts into {len(layout.columns)} cells" for layout in layouts)
        return InputError(
            f"{self.name}:{self._lines.first}",
            expected="one delimiter: a comma, a semicolon or a tab",
            found=f"a first row that {' and '.join(cuts)}",
            hint="Put the names that hold one of them in quotes.",
        )

    def _records(self, lines: Iterator[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
        """First line and cells of every row that is not blank."""
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        line = 1
        try:
            for cells in reader:
                if cells:
                    yield line, cells
                line = reader.line_num + 1
                self._lines.row_bytes = 0
        except csv.Error as error:
            raise InputError(f"{self.name}:{line}", expected="CSV", found=str(error), hint=_HINT) from error


class _Lines:
    """The lines of a file; those of its first row can be had again."""

    def __init__(self, name: str, stream: Stream) -> None:
        self.first = 1
        """The line of the first row."""
        self.row_bytes = 0
        """How many bytes the row has so far."""
        self._kept: list[str] = []
        self._name = name
        self._rest = self._decoded(stream)

    def kept(self) -> Iterator[str]:
        """All lines from the first, which are kept."""
        at = 0
        while True:
            if at == len(self._kept):
                line = next(self._rest, None)
                if line is None:
                    return
                self._kept.append(line)
            yield self._kept[at]
            at += 1

    def again(self) -> Iterator[str]:
        """All lines from the first, for the last time."""
        kept, self._kept = self._kept, []
        return chain(kept, self._rest)

    def _decoded(self, stream: Stream) -> Iterator[str]:
        readline, longest, number = stream.readline, limits.LONGEST_ROW, 0
        with reading_on(self._name):
            while line := readline(longest):
                number += 1
                if number == 1:
                    line = line.removeprefix(BYTE_ORDER_MARK)
                self.row_bytes += len(line)
                if self.row_bytes >= longest:
                    raise too_long(f"{self._name}:{number}")
                try:
                    text = line.decode()
                except UnicodeDecodeError:
                    text = decoded(line, where=f"{self._name}:{number}", hint=_SAVE_AS)  # says what is wrong
                yield text


def _rows(source: Source, columns: Columns) -> Iterator[Row]:
    with source.opened() as stream:
        table = CsvTable(source, stream, columns)
        for number, (line, cells) in enumerate(table.rows(), 1):
            fields: dict[str, object] = dict(zip(table.columns, cells, strict=True))
            yield Row(f"{source.name}:{line}", number, fields)


def _never_certain(_head: bytes) -> bool:
    return False


CSV = Format("CSV", (".csv", ".tsv"), _never_certain, _rows, may_be_any_text=True)
