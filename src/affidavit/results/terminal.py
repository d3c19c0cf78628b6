"""A table as a terminal shows it: its question, its rows in columns, and the accounting identity below."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from affidavit.plain_text import plain
from affidavit.results.table import Table
from affidavit.results.words import label_of


def shown(table: Table, *, title: str = "", beside: str = "", lines: Sequence[str] = ()) -> RenderableType:
    """The table under its question, or another title; `beside` stands in the same line, `lines` below the rows."""
    head = Text.assemble((plain(title or table.question), "bold"), f"  {beside}" if beside else "")
    return Group(*_parts(table, head, lines))


def _parts(table: Table, head: Text, lines: Sequence[str]) -> Iterator[RenderableType]:
    yield head
    yield Text("")
    yield Padding.indent(rows(table), 2) if table.rows else Text("  no rows")
    yield Text("")
    if lines:
        yield from (Text(f"  {plain(line)}") for line in lines)
        yield Text("")
    yield from (Text(f"  {plain(line)}") for line in (table.foot, *table.notes) if line)
    if table.foot or table.notes:
        yield Text("")


def rows(table: Table) -> RichTable:
    """The rows of a table without lines."""
    made = RichTable(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    for at, name in enumerate(table.columns):
        counts = all(isinstance(row[at], int) for row in table.rows)
        made.add_column(plain(label_of(name)), justify="right" if counts else "left")
    for row in table.rows:
        made.add_row(*map(plain, table.in_cells(row)))
    return made
