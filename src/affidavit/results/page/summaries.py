"""The summary of a study, section by section: a judging first, then each task in the study's order."""

from dataclasses import replace

from affidavit.results.judged_summary import TARGETS, overall_range, reliability, target_summary
from affidavit.results.judging_tables import OWN
from affidavit.results.page.content import Section
from affidavit.results.page.headline import Compared, headline
from affidavit.results.page.summary_table import (
    SummaryTable,
    is_trivial,
    judged_summary,
    judges_summary,
    task_summary,
)
from affidavit.results.study_order import StudyOrder, order_of
from affidavit.results.study_results import StudyResults
from affidavit.results.table import Table
from affidavit.results.text_forms import Report


def sections(
    results: StudyResults, report: Report, compared: Compared, *, include_self: bool = False
) -> list[Section]:
    """All sections of the summary; one without anything to say is left out."""
    order, tables = order_of(results), {table.name: table for table in report.tables}
    judged = _judged(results, report, order, include_self=include_self)
    if judged:
        tables[TARGETS] = judged[0].table
    by, found = results.records.by, []
    for summary in headline(tables, by, compared, order.tasks):
        if summary.title is None:
            found.append(Section(replace(summary, title="Judging"), judged))
            continue
        table = task_summary(tables, summary.title, by, order)
        lone = bool(judged) and is_trivial(table)
        found.append(Section(summary, () if lone else (table,)))
    return found


def _judged(results: StudyResults, report: Report, order: StudyOrder, *, include_self: bool) -> list[SummaryTable]:
    """The tables of a judging: what targets get, then the judges; what these say of their own outputs is apart."""
    figures = results.judging_figures(include_self=include_self)
    if figures is None:
        return []
    targets: Table = target_summary(figures, ("model", "condition"))
    targets = replace(targets, notes=(*targets.notes, *results.said_by_people(include_self=include_self)))
    judges = (reliability(report.tables, end) for end in ("", OWN))
    found = [judges_summary(each) for each in judges if each is not None]
    return [judged_summary(targets, overall_range(figures), order), *found] if targets.rows else found
