"""Cells of tables as the page shows them: a figure, its interval, its n; and names that all rows share."""

from collections.abc import Sequence
from typing import NamedTuple

from affidavit.results.page.text import brief
from affidavit.results.table import Table
from affidavit.results.values import Value, estimate_of
from affidavit.results.words import form_of, in_cell
from affidavit.statistics.estimate import worded

LONGEST_CELL = 200


class Cell(NamedTuple):
    """A value of a table as it is shown."""

    main: str
    interval: str = ""
    size: str = ""
    numeric: bool = False
    name: bool = False
    """Whether it names its row."""

    @property
    def short(self) -> bool:
        """Whether it fits on a line."""
        return len(self.main) <= 28


def cell(value: Value, *, names_row: bool = False) -> Cell:
    """A value as it is shown: the figure, its interval, its n.

    >>> from affidavit.statistics.shares import wilson
    >>> cell(wilson(22, 30))
    Cell(main='73.3%', interval='[55.6, 85.8]', size='n=30', numeric=True, name=False)
    """
    if isinstance(value, str):
        return Cell(brief(value, LONGEST_CELL), name=names_row)
    estimate = estimate_of(value)
    if estimate is None:
        return Cell(in_cell(value), numeric=True)
    main, interval, size = worded(estimate, form_of(value))
    return Cell(main, interval, size if interval else f"{size}, no interval", numeric=True)


def same_names(table: Table, names: Sequence[str]) -> dict[str, str]:
    """Those of the names that have one value in all of several rows, with it."""
    if len(table.rows) < 2:
        return {}
    values = {name: {str(value) for value in table.column(name)} for name in names if name in table.columns}
    return {name: found.pop() for name, found in values.items() if len(found) == 1}
