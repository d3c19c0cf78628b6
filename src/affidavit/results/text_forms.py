"""Tables as Markdown, JSON, CSV and LaTeX."""

import csv
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from affidavit.json_values import Fields
from affidavit.plain_text import is_formula, plain, plain_lines
from affidavit.results.latex import NEEDS, label_name
from affidavit.results.table import Table
from affidavit.results.values import Chance, Value, estimate_of
from affidavit.results.words import label_of

NOT_SEALED, TRIAL = "not sealed", "a trial"
READ_BY = "read_by"
"""The fact of a report that says by which contracts outputs were read."""


@dataclass(frozen=True)
class Report:
    """A study's results: what it is of, and its tables."""

    title: str
    facts: Fields
    tables: list[Table]
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """What must be known before any figure; it stands before the tables."""


def as_json(report: Report) -> Fields:
    """Everything as JSON values; an estimate is an object with its interval, n and method."""
    return {
        "title": report.title,
        **report.facts,
        "tables": {
            table.name: {
                "question": table.question,
                "rows": [dict(zip(table.columns, map(json_value, row), strict=True)) for row in table.rows],
                "identity": table.foot,
                "notes": list(table.notes),
            }
            for table in report.tables
        },
        "notes": [*report.warnings, *report.notes],
    }


def json_value(value: Value) -> object:
    """A value of a table as JSON; the ends of an interval that has none are null."""
    if (estimate := estimate_of(value)) is not None:
        return estimate.fields()
    return value.value if isinstance(value, Chance) else value


# --- Markdown ---


def as_markdown(report: Report) -> str:
    """The results analysis, for people."""
    lines = [f"# {escaped(report.title)}", ""]
    lines += [f"**{escaped(warning)}**\n" for warning in report.warnings]
    lines += [f"- {name.replace('_', ' ')}: {escaped(str(value))}" for name, value in report.facts.items()]
    for table in report.tables:
        lines += ["", f"## {escaped(table.question)}", "", *_markdown_rows(table), "", escaped(table.foot)]
        lines += [f"\n{escaped(note)}" for note in table.notes]
    if report.notes:
        lines += ["", *(f"- {escaped(note)}" for note in report.notes)]
    return "\n".join(lines) + "\n"


def _markdown_rows(table: Table) -> list[str]:
    if not table.rows:
        return ["No rows."]
    numeric = [all(not isinstance(row[place], str) for row in table.rows) for place in range(len(table.columns))]
    rule = "|".join("--:" if each else "---" for each in numeric)
    rows = ["| " + " | ".join(escaped(label_of(name)) for name in table.columns) + " |", f"|{rule}|"]
    rows += ["| " + " | ".join(map(escaped, cells)) + " |" for cells in map(table.in_cells, table.rows)]
    return rows


def escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]<>|#~$&])", r"\\\1", plain(text))


# --- LaTeX ---


def as_latex(report: Report) -> str:
    r"""A fragment for `\\input`: a table for each question, and what is said of all as comments."""
    notes = "".join(f"% {plain(line)}\n" for line in (report.title, *report.warnings, *report.notes))
    return "\n".join([f"{notes}{NEEDS}", *(table.to_latex() for table in report.tables)])


# --- CSV ---


def as_csv_files(report: Report) -> dict[str, str]:
    """A file for each table, one row for each row, by its name; and `tables.csv`, which says what each is.

    An estimate in the column NAME has five columns: NAME, NAME_low, NAME_high, NAME_n and NAME_clusters, also
    where no row has one: a table has the same columns whatever was found.
    """
    files: dict[str, str] = {}
    listed: list[tuple[object, ...]] = []
    for table in report.tables:
        name = _free_name(label_name(table.name), {*files, INDEX})
        columns, notes = table.flat_columns(), " ".join((*report.warnings, *table.notes))
        files[name] = csv_text([list(columns), *zip(*columns.values(), strict=True)])
        listed.append((table.name, name, table.question, len(table.rows), table.foot, notes))
    head = ("table", "file", "question", "rows", "identity", "notes")
    return {**files, INDEX: csv_text([head, *listed])}


INDEX = "tables.csv"
"""The file that lists the others."""


def _free_name(name: str, taken: Collection[str]) -> str:
    names = (f"{name}{ending}.csv" for ending in ("", *(f"-{number}" for number in range(2, len(taken) + 3))))
    return next(each for each in names if each not in taken)


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows as CSV; a text that a spreadsheet would take for a formula has an apostrophe before it."""
    lines = _Lines()
    # By this line end, carriage returns within a text are quoted too, in every version of Python.
    writer = csv.writer(lines, lineterminator="\r\n")
    writer.writerows([safe(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return "".join(lines.written)


def as_csv(report: Report) -> str:
    """All tables in one file: table, row, column, value, low, high, n, clusters, method.

    A text that a spreadsheet would take for a formula has an apostrophe before it; numbers are as they are.
    """
    head = ("table", "row", "column", "value", "low", "high", "n", "clusters", "method")
    cells = (
        _cells(table.name, number, column, value)
        for table in report.tables
        for number, row in enumerate(table.rows, 1)
        for column, value in zip(table.columns, row, strict=True)
    )
    return csv_text([head, *cells])


class _Lines:
    """What a writer wrote."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, text: str) -> None:
        """One more line."""
        self.written.append(text.removesuffix("\r\n") + "\n")


def _cells(table: str, number: int, column: str, value: Value) -> Iterable[object]:
    if (estimate := estimate_of(value)) is not None:
        fields = estimate.fields()
        rest: tuple[object, ...] = tuple(
            fields[name] for name in ("value", "low", "high", "n", "clusters", "method")
        )
    else:
        number_or_text = value.value if isinstance(value, Chance) else value
        rest = (number_or_text, *[None] * 5)
    return (table, number, column, *rest)


def safe(text: str) -> str:
    """A text for a cell of CSV: no formula to any spreadsheet, and nothing in it is unseen but line breaks.

    Whatever else cannot be printed is spelt out as in a terminal: escapes, NUL, marks that turn the direction of
    the text around. Programs that need the text itself find it in JSON.

    >>> safe("=1+1"), safe(" -2"), safe("plain"), safe("two\\nlines"), safe("\\tx\\x1b")
    ("'=1+1", "' -2", 'plain', 'two\\nlines', "'\\\\u0009x\\\\u001b")
    """
    spelt = plain_lines(text)
    return f"'{spelt}" if is_formula(text) else spelt
