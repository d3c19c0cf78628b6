"""The page of an audit: what must be known first, the tables, and the rows that moved with their texts."""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256

from markupsafe import Markup

from affidavit.plain_text import counted_noun
from affidavit.results.moved_rows import moved_rows
from affidavit.results.page.html import shown_table
from affidavit.results.page.overview import Fact, listed, moment
from affidavit.results.page.shown_summary import legend_of, shown_summary
from affidavit.results.page.summary_table import IN_SUMMARY, audit_summary
from affidavit.results.page.templates import TEMPLATES
from affidavit.results.page.text import Piece, pieces
from affidavit.results.second_readings import MOVED, SCORES, read_in_words
from affidavit.results.table import Table
from affidavit.results.text_forms import READ_BY, Report
from affidavit.running.second_reading import MovedRow, SecondReading

MOST_ROWS = 60
"""Rows that moved whose texts are shown, where no more are asked for."""


@dataclass(frozen=True)
class MadeOf:
    """What a page was made of, and when."""

    logs: Sequence[str]
    """As they were given."""
    at: datetime
    """In UTC."""


@dataclass(frozen=True)
class _Shown:
    """A row that moved, as it is shown."""

    move: str
    text: Sequence[Piece]
    where: Mapping[str, str]


def audit_page(report: Report, readings: Sequence[SecondReading], made_of: MadeOf, *, most: int = 0) -> str:
    """The page as HTML, with all that it needs inside; of rows that moved `most`, if that is more than usual."""
    style = TEMPLATES.get_template("page.css").render()
    found = moved_rows(readings, max(most, MOST_ROWS))
    summaries = [shown_summary(audit_summary(table)) for table in report.tables if table.name == SCORES]
    return TEMPLATES.get_template("audit.html").render(
        style=Markup(style),  # noqa: S704 - our own file
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
        read_by=str(report.facts.get(READ_BY, "")),
        warnings=report.warnings,
        overview=_overview(report, readings, made_of),
        summaries=summaries,
        legend=legend_of(summaries),
        tables=[shown_table(_beside(table), ("task",)) for table in report.tables if table.name != MOVED],
        moved=[_shown(reading, row) for reading, row in found.rows],
        how_many=found,
        notes=report.notes,
    )


def _overview(report: Report, readings: Sequence[SecondReading], made_of: MadeOf) -> list[Fact]:
    """What was read, and when."""
    outputs = counted_noun(sum(each.outputs for each in readings), "output")
    facts = [
        Fact("logs", listed(made_of.logs)),
        Fact("outputs", [f"{outputs} in {counted_noun(len(readings), 'row')}, one for each log and model"]),
        Fact("made", [moment(made_of.at)]),
    ]
    return [fact for fact in facts if any(fact.lines)]


def _beside(table: Table) -> Table:
    """The table of scores without what the summary has; every other as it is."""
    if table.name != SCORES:
        return table
    kept = [place for place, name in enumerate(table.columns) if name not in IN_SUMMARY]
    rows = tuple(tuple(row[place] for place in kept) for row in table.rows)
    return replace(table, columns=tuple(table.columns[place] for place in kept), rows=rows)


def _shown(reading: SecondReading, row: MovedRow) -> _Shown:
    text = [Piece("(no output)", "gap")] if row.raw_output is None else pieces(row.raw_output)
    return _Shown(row.move.value, text, dict(_where(reading, row)))


def _where(reading: SecondReading, row: MovedRow) -> Iterator[tuple[str, str]]:
    yield "log", f"{reading.log}: {row.place}"
    yield "model", reading.model
    yield "item", row.item_id
    if row.answer is not None:
        yield "right answer", row.answer
    if row.source is not None:
        read = "nothing" if row.source.answer is None else row.source.answer
        yield f"{row.source.scorer} read", read
    yield "the contract read", read_in_words(row.own)
