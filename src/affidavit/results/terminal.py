"""A table as a terminal shows it: its question, its rows in columns, and the accounting identity below.

Nothing is cut. A table that is wider than the terminal gets wrapped headings, then several parts with the naming
columns repeated, and if even that is too wide, a block of lines for each row.
"""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from affidavit.plain_text import plain
from affidavit.results.columns import GAP, ColumnWidth, column_parts, fitted, longest_word, said_once
from affidavit.results.table import Table
from affidavit.results.text_forms import READ_BY, Report
from affidavit.results.values import Value, estimate_of
from affidavit.results.words import form_of, label_of
from affidavit.statistics.estimate import worded

MOST_PARTS = 4
"""A table in more parts is read less easily than its rows one by one."""
_TEXT = 18
"""Characters up to which a text stands in one line, if it is no longer."""
_INDENT = 2


def shown_report(report: Report) -> RenderableType:
    """By what outputs were read, what must be known first, every table, then what is said of all of them."""
    title = Text(plain(report.title), "bold")
    by = [Text(f"read by {plain(str(report.facts[READ_BY]))}")] if report.facts.get(READ_BY) else []
    notes = [Text(plain(note)) for note in report.notes]
    first = [line for warning in report.warnings for line in (Text(plain(warning), "bold"), Text(""))]
    return Group(title, *by, Text(""), *first, *(shown(table) for table in report.tables), *notes)


def shown(table: Table, *, title: str = "", beside: str = "", lines: Sequence[str] = ()) -> RenderableType:
    """The table under its question, or another title; `beside` stands in the same line, `lines` below the rows."""
    head = Text.assemble((plain(title or table.question), "bold"), f"  {beside}" if beside else "")
    return Group(*_parts(table, head, lines))


def _parts(table: Table, head: Text, lines: Sequence[str]) -> Iterator[RenderableType]:
    yield head
    yield Text("")
    yield Padding.indent(Rows(table) if table.rows else Text("no rows"), _INDENT)
    yield Text("")
    if lines:
        yield from map(_line, lines)
        yield Text("")
    yield from (_line(line) for line in (table.foot, *table.notes) if line)
    if table.foot or table.notes:
        yield Text("")


def _line(text: str) -> RenderableType:
    return Padding.indent(Text(plain(text)), _INDENT)


class Rows:
    """The rows of a table without lines, laid out for whatever width there is."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._heads = [plain(label_of(name)) for name in table.columns]
        self._cells = [list(map(plain, table.in_cells(row))) for row in table.rows]
        self._columns = [self._width(at) for at in range(len(table.columns))]

    def _width(self, at: int) -> ColumnWidth:
        values = [row[at] for row in self._table.rows]
        cells = [(row[at], _least(value, row[at])) for value, row in zip(values, self._cells, strict=True)]
        names = bool(values) and all(isinstance(value, str) for value in values)
        return ColumnWidth.of(self._heads[at], cells, names=names)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """The layout for the width at hand."""
        width = options.max_width
        once = said_once(self._columns, width)
        kept = [at for at in range(len(self._columns)) if at not in once]
        for at in once:
            yield Text(f"{self._heads[at]}: {self._cells[0][at]}")
        parts = column_parts([self._columns[at] for at in kept], width)
        if parts is None or len(parts) > MOST_PARTS:
            yield from self._stacked(kept, width, apart=bool(once))
            return
        for number, part in enumerate(parts):
            if number or once:
                yield Text("")
            yield self._part([kept[at] for at in part], width)

    def _part(self, part: Sequence[int], width: int) -> RichTable:
        """Some of the columns; what is longer than its column goes on in the next line."""
        made = RichTable(box=None, padding=(0, GAP, 0, 0), pad_edge=False, show_edge=False, header_style="dim")
        for at, wide in zip(part, fitted([self._columns[at] for at in part], width) or (), strict=True):
            counts = all(isinstance(row[at], int) for row in self._table.rows)
            made.add_column(self._heads[at], justify="right" if counts else "left", overflow="fold", width=wide)
        for cells in self._cells:
            made.add_row(*(Text(cells[at]) for at in part))
        return made

    def _stacked(self, columns: Sequence[int], width: int, *, apart: bool) -> Iterator[RenderableType]:
        """A block of lines for each row: the heading of a column, and the value."""
        heads = [f"{self._heads[at]}:" for at in columns]
        label = min(max(map(cell_len, heads)), max(*map(longest_word, heads), width // 3), width // 2)
        for number, cells in enumerate(self._cells):
            if number or apart:
                yield Text("")
            made = RichTable.grid(padding=(0, 1, 0, 0))
            made.add_column(width=label, overflow="fold", style="dim")
            made.add_column(width=max(1, width - label - 1), overflow="fold")
            for head, at in zip(heads, columns, strict=True):
                made.add_row(Text(head), Text(cells[at]))
            yield made


def _least(value: Value, cell: str) -> int:
    """The characters that a cell needs if it may be wrapped: a figure with its interval stays in one line."""
    if (estimate := estimate_of(value)) is not None:
        figure, interval, size = worded(estimate, form_of(value))
        return max(cell_len(f"{figure} {interval}"), longest_word(cell), min(cell_len(size), _TEXT))
    if isinstance(value, str):
        return max(longest_word(cell), min(cell_len(cell), _TEXT))
    return cell_len(cell)
