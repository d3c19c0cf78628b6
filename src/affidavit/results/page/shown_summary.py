"""The tables of the summary for the templates: every figure in words, and drawn on the axis of its column."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from math import isfinite
from typing import NamedTuple

from affidavit.results.page.cells import Cell, cell, same_names
from affidavit.results.page.content import Section
from affidavit.results.page.headline import Answer
from affidavit.results.page.row_names import naming
from affidavit.results.page.summary_table import DIFFERENCE, FORMAT, SHARES, Axis, SummaryTable
from affidavit.results.page.text import brief
from affidavit.results.values import Value, estimate_of
from affidavit.results.words import label_of

MOST_ROWS, LONGEST_UNFOLDED, FIRST_ROWS, MOST_SECTIONS = 300, 40, 12, 40
"""Rows that all tables of the summary have together; rows beyond which one is folded up, and how many of it are
seen then; sections."""
_LEFT, _WIDTH = 4, 192
"""Of a strip of 200 pixels: where its axis begins, and how long it is."""
_COLOURS = 3


class Strip(NamedTuple):
    """A figure on the axis of its column, in whole pixels; `low` and `high` are its interval."""

    at: int
    low: int
    high: int
    mark: int | None
    """Where the chance level is."""
    colour: int


class Figure(NamedTuple):
    """A cell of the table, with what it is called where its column has no head."""

    cell: Cell
    label: str
    strip: Strip | None


class Row(NamedTuple):
    """A row: its names, each with what it is called, and its figures."""

    names: Sequence[tuple[str, Cell]]
    figures: Sequence[Figure]


class Head(NamedTuple):
    """The head of a column of figures, with the ends and the middle of its axis in words."""

    label: str
    ticks: Sequence[str]


class Part(NamedTuple):
    """Rows of one condition; the name is empty where there is one group."""

    name: str
    rows: Sequence[Row]


@dataclass(frozen=True)
class ShownTable:
    """A table of the summary: what is seen at once, and what is folded up."""

    question: str
    names: Sequence[str]
    heads: Sequence[Head]
    parts: Sequence[Part]
    folded: Sequence[Part]
    all_rows: int
    left_out: int
    same: str
    notes: Sequence[str]
    has_marks: bool

    @property
    def columns(self) -> int:
        """How many there are."""
        return len(self.names) + len(self.heads)


class ShownSection(NamedTuple):
    """A section of the summary."""

    title: str
    answers: Sequence[Answer]
    tables: Sequence[ShownTable]


def shown_sections(sections: Sequence[Section]) -> list[ShownSection]:
    """The sections as far as a page can bear them: beyond its rows, sentences alone."""
    left, found = MOST_ROWS, []
    for section in sections[:MOST_SECTIONS]:
        tables = []
        for table in section.tables:
            if left > 0 and table.table.rows:
                tables.append(shown_summary(table, left))
                left -= len(table.table.rows)
        found.append(ShownSection(section.summary.title or "", section.summary.answers, tables))
    return found


def shown_summary(summary: SummaryTable, most: int = MOST_ROWS) -> ShownTable:
    """A table of the summary, as many of its rows as there is room for."""
    table = summary.table
    same = {name: value for name, value in same_names(table, summary.names).items() if name != summary.group}
    if len(table.rows) == 1 and len(summary.names) > 1:  # a lone row goes by its model or judge
        lone = naming(summary.names)
        same = {name: str(table.rows[0][at]) for at, name in enumerate(summary.names) if at != lone}
    kept = [name for name in summary.names if name not in same and name != summary.group]
    if not kept:  # rows that only the group tells apart go by it, and one that nothing does by all of its names
        kept, same = ([summary.group], same) if summary.group else (list(summary.names), {})
        summary = replace(summary, group="")
    figures = [name for name in table.columns if name not in summary.names]
    rows = list(_rows(summary, kept, figures))[:most]
    seen = len(rows) if len(rows) <= LONGEST_UNFOLDED else FIRST_ROWS
    drawn = summary.axes
    return ShownTable(
        table.question,
        kept,
        [Head(label_of(name), _ticks(drawn[name]) if name in drawn else ()) for name in figures],
        _parts(rows[:seen]),
        _parts(rows[seen:]),
        len(table.rows),
        len(table.rows) - len(rows),
        ", ".join(f"{name} {brief(value, 60)}" for name, value in same.items()),
        table.notes,
        any(
            figure.strip is not None and figure.strip.mark is not None for _, row in rows for figure in row.figures
        ),
    )


def _rows(summary: SummaryTable, kept: Sequence[str], figures: Sequence[str]) -> Iterator[tuple[str, Row]]:
    table = summary.table
    at = {name: place for place, name in enumerate(table.columns)}
    colours = {name: 1 + place % _COLOURS for place, name in enumerate(figures)}
    for number, row in enumerate(table.rows):
        names = [(label_of(name), cell(str(row[at[name]]), names_row=True)) for name in kept]
        shown = [
            Figure(
                cell(row[at[name]]),
                label_of(name),
                _strip(row[at[name]], summary.axes.get(name), _mark(summary.marks, name, number), colours[name]),
            )
            for name in figures
        ]
        yield str(row[at[summary.group]]) if summary.group else "", Row(names, shown)


def _parts(rows: Sequence[tuple[str, Row]]) -> list[Part]:
    return [Part(name, [row for _, row in of]) for name, of in groupby(rows, key=lambda each: each[0])]


def _mark(marks: Mapping[str, Sequence[float | None]], name: str, number: int) -> float | None:
    return next(islice(marks.get(name, ()), number, None), None)


def _strip(value: Value, axis: Axis | None, mark: float | None, colour: int) -> Strip | None:
    """A figure on its axis; one without an interval has no line.

    >>> from affidavit.statistics.shares import wilson
    >>> _strip(wilson(22, 30), SHARES, 0.25, 1)
    Strip(at=145, low=111, high=169, mark=52, colour=1)
    """
    estimate = estimate_of(value)
    if estimate is None or axis is None:
        return None
    low, high = axis

    def place(number: float) -> int:
        share = (number - low) / (high - low) if high > low else 0.5
        return _LEFT + round(_WIDTH * min(1.0, max(0.0, share)))

    at = place(estimate.value)
    known = isfinite(estimate.low) and isfinite(estimate.high)
    ends = (place(estimate.low), place(estimate.high)) if known else (at, at)
    return Strip(at, *ends, None if mark is None else place(mark), colour)


def _ticks(axis: Axis) -> tuple[str, str, str]:
    """The ends and the middle of an axis in words.

    >>> _ticks(SHARES), _ticks((0, 8))
    (('0%', '50%', '100%'), ('0', '4', '8'))
    """
    low, high = axis
    if axis == SHARES:
        return "0%", "50%", "100%"
    return f"{low:g}", f"{(low + high) / 2:g}", f"{high:g}"


_MEANT = {
    FORMAT: "outputs that follow the format, of all that were read",
    "accuracy over compliant": "right ones of the outputs with an answer",
    "accuracy over answers": "right ones of the outputs with an answer",
    "yield": "right ones of all outputs, one without an answer as not right",
    "solve rate": "solved ones of all outputs",
    "with an answer": "outputs in which an answer was found",
    "right by the source": "right ones by the source, of the outputs that it judged",
    "printed": "the figure that the source printed, and what it calls it",
    DIFFERENCE: "by the contract less by the source, paired by item; its interval changes with the logs beside it",
    "moved": "outputs whose verdict is another by the contract",
}
"""What the columns of the summary are, where a judging does not say it."""


def legend(sections: Sequence[ShownSection]) -> list[tuple[str, str]]:
    """What the columns of the summary's tables mean, each once."""
    return legend_of([table for section in sections for table in section.tables])


def legend_of(tables: Sequence[ShownTable]) -> list[tuple[str, str]]:
    """What the columns of tables mean, each once."""
    heads = {head.label for table in tables for head in table.heads}
    meant = {label_of(name): words for name, words in _MEANT.items()}
    return [(label, words) for label, words in meant.items() if label in heads]
