"""A judging in two tables: what each target gets under each variant, and how far each judge can be relied on."""

from collections.abc import Sequence

from affidavit.contracts.rubric import TOTAL, Verdict
from affidavit.results.judge_scores import score_columns
from affidavit.results.judging import JudgingFigures
from affidavit.results.judging_tables import (
    GROUPINGS,
    panel_notes,
    pooled_group,
    score_table,
    task_column,
    verdict_table,
)
from affidavit.results.table import Table
from affidavit.results.values import Value

TARGETS, RELIABILITY = "targets", "reliability"
"""The names of the two tables; that of a judge's own outputs ends as the others do."""


def target_summary(figures: JudgingFigures, by: Sequence[str] = ("model",)) -> Table:
    """A row for each target: the shares of its verdicts and its overall score, over judges; also by variant.

    These are the figures of *verdicts* and *scores by target* of `report --by model`, side by side; with
    `model` and `condition` those of *verdicts* and *pooled scores* of the report.
    """
    side, task = figures.primary, task_column(figures)
    grouped_by = [*task, *(name for name in by if name in ("model", "condition"))]
    named = tuple(GROUPINGS[name][0] for name in grouped_by)
    keyed, key = ("judging condition", *named), pooled_group(grouped_by)
    valid = [each for each in side.evaluations if each.valid]
    shares = verdict_table("verdicts", keyed, valid, key, "").rows
    scores = score_table(figures, side, ("scores by target", ""), keyed, key)
    totals = list(dict.fromkeys(str(row[len(keyed)]) for row in scores.rows if "overall" in str(row[len(keyed)])))
    mean = scores.columns.index("mean")
    means = {(row[: len(keyed)], str(row[len(keyed)])): row[mean] for row in scores.rows}
    rows = []
    for first in range(0, len(shares), len(Verdict)):
        verdicts = shares[first : first + len(Verdict)]
        names = verdicts[0][: len(keyed)]
        counts = [row[-2] for row in verdicts if isinstance(row[-2], int)]
        overall = (means.get((names, total)) for total in totals)
        rows.append((*names, sum(counts), *(row[-1] for row in verdicts), *overall))
    under = " under each variant" if "condition" in by else ""
    question = f"Which verdicts and overall scores does each target get{under}?"
    columns = (*keyed, "valid evaluations", *(verdict.value for verdict in Verdict), *totals)
    return Table(TARGETS, question, columns, tuple(rows), "", panel_notes(figures, side, ("target",)))


def reliability(tables: Sequence[Table], end: str = "") -> Table | None:
    """How many evaluations of each judge are valid, and how many of its quotes are fabricated; None of no judge.

    `tables` are those of the report; `end` is that of the names of the tables of judges' own outputs.
    """
    named = {table.name: table for table in tables}
    judges, quotes = named.get(f"judges{end}"), named.get(f"quotes{end}")
    if judges is None or not any(judges.counts("planned")):
        return None
    fabricated: dict[tuple[Value, ...], Value] = {}
    if quotes is not None:
        fabricated = {row[:3]: value for row, value in zip(quotes.rows, quotes.column("fabricated"), strict=True)}
    at = [judges.columns.index(name) for name in ("planned", "share valid")]
    rows = tuple((*row[:3], *(row[place] for place in at), fabricated.get(row[:3])) for row in judges.rows)
    question = "How many evaluations of each judge are valid, and how many of its quotes are fabricated?"
    if end:
        question = f"Of judges' own outputs: {question}"
    columns = (*judges.columns[:3], "planned", "share valid", "fabricated")
    return Table(f"{RELIABILITY}{end}", question, columns, rows, judges.foot)


def overall_range(figures: JudgingFigures) -> tuple[float, float]:
    """Between which totals the native overall score lies."""
    column = next(each for each in score_columns(figures.rubric) if each.name == TOTAL)
    return column.lowest, column.highest
