"""Tables, charts and samples → one HTML page that needs nothing else: no script, no remote asset, no request.

Everything that came from a study is text, and the templates escape it; the page's own policy allows no script and
no style but its own, should an escape ever be missing. What is limited is said where it is limited.
"""

import re
from base64 import b64encode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from markupsafe import Markup

from affidavit.results.comparison import MEASURES
from affidavit.results.judging_tables import JUDGING_TABLES
from affidavit.results.page import charts
from affidavit.results.page.cells import Cell, cell, same_names
from affidavit.results.page.charts import Chart
from affidavit.results.page.content import Content
from affidavit.results.page.headline import why_not_compliant
from affidavit.results.page.judge_samples import PER_FINDING, JudgeSample
from affidavit.results.page.row_names import naming
from affidavit.results.page.samples import Sample
from affidavit.results.page.shown_summary import legend, shown_sections
from affidavit.results.page.templates import TEMPLATES
from affidavit.results.page.text import HEAD, brief
from affidavit.results.table import Table
from affidavit.results.values import Chance, Value, estimate_of
from affidavit.results.words import label_of
from affidavit.statistics.estimate import Estimate

MOST_TABLE_ROWS = 300
LONGEST_UNFOLDED, FOLDED_FROM = 40, 4
"""Rows beyond which a table is folded up: any table; those of `FOLDED`."""
FOLDED = (
    "deviations", "repeated samples", "majorities", "letters", "chance", "format sensitivity", "other readings",
    "expressions", "findings by path",
    *(name for name in JUDGING_TABLES if name.partition(",")[0] not in ("judges", "flags", "quotes")),
    "differences", "models compared",
)  # fmt: skip
"""Tables that are folded up when they are long: a chart shows them, or they are for a second look."""
NAMES = ("control", "judge", "judging condition", "method")
"""Columns that name rows, beside those that records are grouped by."""


# --- what the templates are given ---


@dataclass(frozen=True)
class Shown:
    """A table with its charts."""

    anchor: str
    table: Table
    heads: Sequence[tuple[str, bool]]
    """Its columns, and whether they hold numbers."""
    rows: Sequence[Sequence[Cell]]
    left_out: int
    same: str = ""
    """What is said once, as it is the same in every row."""
    charts: Sequence[Chart] = ()

    @property
    def folded(self) -> bool:
        """Whether a reader in a hurry does without it."""
        return len(self.table.rows) > (FOLDED_FROM if self.table.name in FOLDED else LONGEST_UNFOLDED)

    @property
    def wraps(self) -> bool:
        """Whether its figures may stand on several lines, so that all columns are seen at once."""
        return bool({"corrected", "uncorrected difference"} & set(self.table.columns))


def page(content: Content) -> str:
    """The whole page as HTML, with everything that it needs inside."""
    style = TEMPLATES.get_template("page.css").render()
    tables = {table.name: table for table in content.tables}
    names = (*content.by, *NAMES)
    drawn = _charts(tables, content)
    shown = [shown_table(table, names, drawn.get(table.name, ())) for table in content.tables]
    differences = shown_table(_together(content.comparisons), names, drawn["differences"])
    models = [] if content.models is None else [shown_table(content.models, names)]
    sections = shown_sections(content.sections)
    return TEMPLATES.get_template("page.html").render(
        content=content,
        style=Markup(style),  # noqa: S704 - our own file
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
        sections=sections,
        legend=legend(sections),
        outputs=[*(table for table in shown if table.table.name not in JUDGING_TABLES), *models],
        judging=[table for table in shown if table.table.name in JUDGING_TABLES],
        differences=differences,
        asked=[shown_table(table, most_names=1) for table in content.asked.tables],
        anchors={
            **{table.table.name: table.anchor for table in (*shown, *models)},
            **({"differences": "differences"} if differences.rows else {}),
        },
        samples=_by_kind(content.samples),
        findings=_by_code(content.findings),
        methods=sorted(_methods([*content.tables, *content.comparisons.values()])),
        limits={"samples": content.per_kind, "findings": PER_FINDING, "characters": HEAD},
    )


def _charts(tables: Mapping[str, Table], content: Content) -> dict[str, list[Chart]]:
    """The charts by the table that they stand beside."""
    compliance, accuracy = tables["compliance"], tables.get("accuracy")
    found: dict[str, list[Chart]] = {}
    if accuracy is not None:
        found["accuracy"] = _scatter_plots(compliance, accuracy, content.by)
    if compliance.rows:
        found["compliance"] = [charts.outcomes(compliance, accuracy, content.by)]
    if why := why_not_compliant(tables, len(content.by)):
        breakdowns = [name for name, table in tables.items() if table.explains != () and table.rows]
        beside = breakdowns[0] if breakdowns else "compliance"
        found[beside] = [*found.get(beside, ()), charts.deviations(why)]
    if "letters" in tables and (drawn_letters := charts.letters(tables["letters"], content.by)) is not None:
        found["letters"] = [drawn_letters]
    if "quotes" in tables and charts.quoted(tables["quotes"]):
        found["quotes"] = [charts.quotes(tables["quotes"])]
    if "scores" in tables and tables["scores"].rows:
        found["scores"] = charts.scores(tables["scores"])
    drawn = charts.differences(content.comparisons, MEASURES) if content.comparisons else None
    found["differences"] = [] if drawn is None else [drawn]
    return found


def _scatter_plots(compliance: Table, accuracy: Table, by: Sequence[str]) -> list[Chart]:
    """A scatter plot for each task with several points; for each condition of it, where those are too many."""
    rows = list(
        zip(
            [dict(zip(by, map(str, row), strict=False)) for row in compliance.rows],
            compliance.column("compliance"),
            accuracy.column("accuracy over compliant"),
            strict=True,
        )
    )
    plots = _grouped(rows, [name for name in ("task",) if name in by])
    if max(map(len, plots.values()), default=0) > charts.MOST_POINTS:
        plots = _grouped(rows, [name for name in ("task", "condition") if name in by])
    enough = {
        title: points
        for title, points in plots.items()
        if sum(isinstance(up, Estimate) for _, _, up in points) >= charts.FEWEST_POINTS
    }
    drawn = [
        charts.scatter(
            title if len(enough) > 1 else "",
            [tuple(names.values()) for names, _, _ in points],
            naming(by),
            [(across, up) for _, across, up in points],
            f"scatter-{number}",
        )
        for number, (title, points) in enumerate(list(enough.items())[: charts.MOST_PANELS], 1)
    ]
    return charts.with_rest(drawn, len(enough), "scatter plots")


_Point = tuple[Mapping[str, str], Value, Value]
"""The names of a row, its compliance, its accuracy."""


def _grouped(points: Sequence[_Point], names: Sequence[str]) -> dict[str, list[_Point]]:
    """The points by these of their names."""
    groups: dict[str, list[_Point]] = {}
    for point in points:
        groups.setdefault(", ".join(point[0][name] for name in names), []).append(point)
    return groups


def _together(comparisons: Mapping[str, Table]) -> Table:
    """All comparisons in one table, each row with what is compared."""
    tables = list(comparisons.values())
    columns = tables[0].columns if tables else ()
    rows = tuple((what, *row) for what, table in comparisons.items() for row in table.rows)
    foot = "; ".join(sorted({table.foot.partition("; ")[2] for table in tables}))
    notes = tuple(dict.fromkeys(note for table in tables for note in table.notes))
    return Table("differences", "Differences from the control", ("conditions", *columns), rows, foot, notes)


# --- tables ---


def shown_table(
    table: Table, names_of_rows: Sequence[str] = (), drawn: Sequence[Chart] = (), *, most_names: int = 8
) -> Shown:
    """A table for the templates, as many of its rows as a page can bear; a name of all rows is said once."""
    table = _without_zeros(table)
    same = same_names(table, names_of_rows)
    table = _without(table, same)
    numeric = [
        bool(table.rows) and all(not isinstance(row[place], str) for row in table.rows)
        for place in range(len(table.columns))
    ]
    names = 0
    while names < min(most_names, len(numeric) - 1) and not numeric[names] and table.columns[names] != "in words":
        names += 1
    rows = [
        [
            cell(table.labelled(table.columns[place], value), names_row=place < max(1, names))
            for place, value in enumerate(row)
        ]
        for row in table.rows[:MOST_TABLE_ROWS]
    ]
    anchor = "".join(each if each.isalnum() else "-" for each in table.name if each.isascii())
    heads = list(zip(map(label_of, table.columns), numeric, strict=True))
    return Shown(f"table-{anchor}", table, heads, rows, len(table.rows) - len(rows), _listed(same), drawn)


def _listed(same: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {brief(value, 60)}" for name, value in same.items())


def _without(table: Table, columns: Collection[str]) -> Table:
    kept = [place for place, name in enumerate(table.columns) if name not in columns]
    rows = tuple(tuple(row[place] for place in kept) for row in table.rows)
    return replace(table, columns=tuple(table.columns[place] for place in kept), rows=rows)


def _without_zeros(table: Table) -> Table:
    """The table without those rare counts that are zero in all of its rows."""
    rare = _RARE.get(_kind(table), ())
    gone = [name for name in rare if name in table.columns and not any(table.column(name))]
    if not gone or not table.rows:
        return table
    words = "Zero or empty" if _kind(table) == CORRECTED else "Zero"
    note = f"{words} in every row and not shown: {', '.join(map(label_of, gone))}."
    return _without(replace(table, notes=(*table.notes, note)), gone)


def _kind(table: Table) -> str:
    """The name of a table; all that people correct are of one kind."""
    return CORRECTED if {"uncorrected", "corrected"} <= set(table.columns) else table.name


CORRECTED = "corrected figures"
_RARE = {
    CORRECTED: ("not judged", "Rogan-Gladen", "no figure because"),
    "compliance": ("unread", "failed", "pending", "truncated"),
    "flips": ("control not arrived", "control not compliant", "control tied"),
}
"""Counts that are most often zero, by table."""


def _methods(tables: Sequence[Table]) -> set[str]:
    """The methods behind the figures, without the counts of each figure."""
    found = set()
    for table in tables:
        for row in table.rows:
            for value in row:
                if (estimate := estimate_of(value)) is not None:
                    found.add(_COUNTS.sub("", estimate.method).replace("yield@", "pass@"))
                elif isinstance(value, Chance):
                    found.add(table.foot.partition("tests: ")[2].partition(";")[0] or "p-values")
    return found


_COUNTS = re.compile(r"(?:,| over) [0-9][0-9,]* (?:clusters?|items?|discordant).*")


# --- samples ---


def _by_kind(samples: Sequence[Sample]) -> list[tuple[str, str, int | None, list[Sample]]]:
    """Kind, contract, how many there are in all, and those that are shown."""
    found: dict[tuple[str, str], list[Sample]] = {}
    for sample in samples:
        found.setdefault((sample.kind, sample.where.get("contract", "")), []).append(sample)
    return [(kind, contract, shown[0].of_kind, shown) for (kind, contract), shown in found.items()]


def _by_code(findings: Sequence[JudgeSample]) -> list[tuple[str, str, int, list[JudgeSample]]]:
    found: dict[str, list[JudgeSample]] = {}
    for sample in findings:
        found.setdefault(sample.code, []).append(sample)
    return [(code, shown[0].flag, shown[0].of_kind, shown) for code, shown in found.items()]
