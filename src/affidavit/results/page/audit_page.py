"""The page of an audit: what must be known first, the tables, and the rows that moved with their texts."""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from markupsafe import Markup

from affidavit.results.page.html import shown_table
from affidavit.results.page.shown_summary import legend_of, shown_summary
from affidavit.results.page.summary_table import audit_summary
from affidavit.results.page.templates import TEMPLATES
from affidavit.results.page.text import Piece, pieces
from affidavit.results.second_readings import MOVED, SCORES, moved_rows, read_in_words
from affidavit.results.text_forms import READ_BY, Report
from affidavit.running.second_reading import MovedRow, SecondReading

MOST_ROWS = 60
"""Rows that moved whose texts are shown."""


@dataclass(frozen=True)
class _Shown:
    """A row that moved, as it is shown."""

    move: str
    text: Sequence[Piece]
    where: Mapping[str, str]


def audit_page(report: Report, readings: Sequence[SecondReading]) -> str:
    """The page as HTML, with everything that it needs inside."""
    style = TEMPLATES.get_template("page.css").render()
    moved = [_shown(reading, row) for reading, row in moved_rows(readings)[:MOST_ROWS]]
    summaries = [shown_summary(audit_summary(table)) for table in report.tables if table.name == SCORES]
    return TEMPLATES.get_template("audit.html").render(
        style=Markup(style),  # noqa: S704 - our own file
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
        read_by=str(report.facts.get(READ_BY, "")),
        warnings=report.warnings,
        summaries=summaries,
        legend=legend_of(summaries),
        tables=[shown_table(table, ("task",)) for table in report.tables if table.name != MOVED],
        moved=moved,
        all_moved=sum(each.moves.total() for each in readings),
        notes=report.notes,
    )


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
