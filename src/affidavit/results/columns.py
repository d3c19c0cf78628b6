"""How the columns of a table share the width of a page or a terminal, so that no name is ever cut."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from rich.cells import cell_len

GAP = 2
"""Blanks between two columns."""


@dataclass(frozen=True)
class ColumnWidth:
    """What a column needs, in characters."""

    full: int
    """In one line."""
    least: int
    """With its heading and its texts wrapped."""
    names: bool
    """Whether it holds texts only: the first of these say what a row is about."""
    constant: bool = False
    """Whether several rows all have the same."""

    @classmethod
    def of(cls, head: str, cells: Sequence[tuple[str, int]], *, names: bool) -> "ColumnWidth":
        """The widths of a column with this heading; beside each cell stands the least that it needs."""
        full = max([cell_len(head), *(cell_len(text) for text, _ in cells)])
        least = max([longest_word(head), *(least for _, least in cells), 1])
        return cls(full, min(least, full), names, constant=len(cells) > 1 and len(set(cells)) == 1)


def longest_word(text: str) -> int:
    """The characters of the longest word.

    >>> longest_word("p, Benjamini-Hochberg")
    18
    """
    return max(map(cell_len, text.split()), default=0)


def fitted(columns: Sequence[ColumnWidth], width: int) -> list[int] | None:
    """How wide each column is within so many characters; None where even wrapped ones need more.

    Columns that lack least are the first to get what they lack.

    >>> fitted([ColumnWidth(10, 4, names=True), ColumnWidth(8, 8, names=False)], 16)
    [6, 8]
    """
    spare = width - sum(column.least for column in columns) - GAP * (len(columns) - 1)
    if spare < 0:
        return None
    found = [column.least for column in columns]
    for at in sorted(range(len(columns)), key=lambda at: columns[at].full - columns[at].least):
        more = min(spare, columns[at].full - columns[at].least)
        found[at] += more
        spare -= more
    return found


def said_once(columns: Sequence[ColumnWidth], width: int) -> tuple[int, ...]:
    """Of a table that does not fit, the naming columns that are the same in all rows: a line above can say them.

    >>> task = ColumnWidth(8, 8, names=True, constant=True)
    >>> said_once([task, ColumnWidth(9, 9, names=True)], 12), said_once([task, ColumnWidth(9, 9, names=True)], 40)
    ((0,), ())
    """
    if fitted(columns, width) is not None:
        return ()
    return tuple(at for at in _naming(columns) if columns[at].constant)


def column_parts(columns: Sequence[ColumnWidth], width: int) -> list[tuple[int, ...]] | None:
    """The columns of each part of a table: one part if it fits; None where some column does not fit beside names.

    Every part begins with the columns that say what a row is about.

    >>> wide = ColumnWidth(9, 9, names=False)
    >>> column_parts([ColumnWidth(5, 5, names=True), wide, wide], 20)
    [(0, 1), (0, 2)]
    """
    if fitted(columns, width) is not None:
        return [tuple(range(len(columns)))]
    naming = _naming(columns)
    if sum(columns[at].least + GAP for at in naming) > width * _NAMES_SHARE:
        return None
    parts, current = [], naming
    for at in range(len(naming), len(columns)):
        if fitted([columns[each] for each in (*current, at)], width) is None:
            if current == naming:
                return None
            parts.append(current)
            current = naming
        current = (*current, at)
    parts.append(current)
    too_wide = any(fitted([columns[at] for at in part], width) is None for part in parts)
    return None if too_wide else parts


_NAMES_SHARE = 3 / 4
"""How much of the width the columns that name a row may take."""


def _naming(columns: Sequence[ColumnWidth]) -> tuple[int, ...]:
    """The texts at the left; at least one column is none of these."""
    return tuple(at for at, _ in takewhile(lambda each: each[1].names, enumerate(columns[:-1])))
