"""The table that a reader looks at first: models side by side, condition by condition, in the study's own order.

Of most tasks it has compliance and both accuracies; of problems that are solved the solve rate; of a judging the
mean overall score and the verdicts. Each column has one axis for all of its rows, on which the page draws every
figure.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from affidavit.results.groups import identity_of_counts
from affidavit.results.page.headline import of_task
from affidavit.results.solving import ALL
from affidavit.results.study_order import StudyOrder
from affidavit.results.table import Table
from affidavit.results.values import Value, estimate_of
from affidavit.statistics.estimate import Estimate

Axis = tuple[float, float]
SHARES: Axis = (0.0, 1.0)
FORMAT = "format compliance"
_OUTCOMES = ("compliant", "non-compliant", "unread", "failed", "pending")
_GROUPS = ("condition", "variant")
"""By which rows are grouped, where there are several."""


@dataclass(frozen=True)
class SummaryTable:
    """A table with what is drawn in it."""

    table: Table
    names: Sequence[str]
    """The columns that name rows."""
    group: str = ""
    """The column by which rows are grouped; empty where there is one group."""
    axes: Mapping[str, Axis] = field(default_factory=dict)
    """By column, between which values its figures are drawn."""
    marks: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    """By column, the chance level of each row, where there is one."""


def task_summary(tables: Mapping[str, Table], task: str, by: Sequence[str], order: StudyOrder) -> SummaryTable:
    """The table of one task."""
    own = {name: of_task(table, task) for name, table in tables.items()}
    names = _naming(by)
    columns = _columns(own, by)
    rows = {row[: len(by)]: row for row in own["compliance"].rows}
    cells = {names_of_row: tuple(find(names_of_row) for find in columns.values()) for names_of_row in rows}
    places = [by.index(name) for name in names]
    listed = [(tuple(names_of_row[at] for at in places), names_of_row) for names_of_row in rows]
    listed.sort(key=lambda each: [order.key(name, str(value)) for name, value in zip(names, each[0], strict=True)])
    chance = _by_names(own.get("chance"), by, "chance level")
    found = tuple((*shown, *cells[key]) for shown, key in listed)
    counts = {name: sum(own["compliance"].counts(name)) for name in _OUTCOMES}
    table = Table(f"summary of {task}", "", (*names, *columns), found, identity_of_counts(counts))
    levels = [chance.get(key) for _, key in listed]
    marks = {name: [each if isinstance(each, float) else None for each in levels] for name in _ANSWERED}
    return SummaryTable(table, names, _group(table, names), dict.fromkeys(columns, SHARES), marks)


_ANSWERED = ("accuracy over compliant", "accuracy over answers")
_Find = Callable[[tuple[Value, ...]], Value]


def _columns(own: Mapping[str, Table], by: Sequence[str]) -> dict[str, _Find]:
    """The figures of a task by their columns, each found by the names of a row."""

    def of(table: str, column: str) -> _Find:
        return _by_names(_whole(own.get(table)), by, column).get

    source = {"right by the source": of("source scores", "right by the source")} if "source scores" in own else {}
    solved = own.get("solve rate")
    if solved is not None and solved.rows:
        return {
            **source,
            "solve rate": of("solve rate", "solve rate"),
            "accuracy over answers": of("solve rate", "accuracy over answers"),
            "with an answer": of("solve rate", "with an answer"),
        }
    followed = {FORMAT: of("compliance", "compliance")}
    accuracy = own.get("accuracy")
    if accuracy is None or not any(estimate_of(value) for value in accuracy.column("yield")):
        return {**source, **followed}
    answered = {"accuracy over compliant": of("accuracy", "accuracy over compliant")}
    over_all = {"yield": of("accuracy", "yield")}
    # Where a source scored too, its score stands beside what it is compared with.
    return {**source, **over_all, **followed, **answered} if source else {**followed, **answered, **over_all}


def _whole(table: Table | None) -> Table | None:
    """A table without the rows of single methods of extraction."""
    if table is None or "extraction_method" not in table.columns:
        return table
    at = table.columns.index("extraction_method")
    return replace(table, rows=tuple(row for row in table.rows if row[at] == ALL))


def _by_names(table: Table | None, by: Sequence[str], column: str) -> dict[tuple[Value, ...], Value]:
    if table is None:
        return {}
    return {row[: len(by)]: value for row, value in zip(table.rows, table.column(column), strict=True)}


def _naming(by: Sequence[str]) -> list[str]:
    """The columns that name rows within a task: the condition first, by which they are grouped."""
    names = [name for name in by if name != "task"] or list(by)
    return sorted(names, key=lambda name: name not in _GROUPS)


def _group(table: Table, names: Sequence[str]) -> str:
    first = names[0]
    several = len(names) > 1 and len(set(table.column(first))) > 1
    return first if first in _GROUPS and several else ""


def is_trivial(summary: SummaryTable) -> bool:
    """Whether every output of the task follows the format, and nothing else is measured: of open texts, all do."""
    if set(summary.axes) != {FORMAT}:
        return False
    return all(isinstance(value, Estimate) and value.value == 1.0 for value in summary.table.column(FORMAT))


# --- an audit ---


IN_SUMMARY = (
    "right by the source", "difference", "moved", "compliance", "accuracy over answers", "yield",
)  # fmt: skip
"""What the summary of an audit has of its table of scores, beside what the source printed."""
DIFFERENCE = "difference, at the level of its test"


def audit_summary(logs: Table) -> SummaryTable:
    """The table of logs: the source's score beside what the contract says of the same outputs, task by task."""
    names = ("task", "log", "model")
    printed = ("printed",) if any(logs.column("printed")) else ()
    shares = {"right by the source": "right by the source", "yield": "yield", FORMAT: "compliance"}
    shares["accuracy over answers"] = "accuracy over answers"
    columns = [logs.column(name) for name in (*names, *printed, *shares.values(), "difference", "moved")]
    rows = sorted(zip(*columns, strict=True), key=lambda row: str(row[0]))
    heads = (*names, *printed, *shares, DIFFERENCE, "moved")
    table = Table("summary of logs", "", heads, tuple(rows), logs.foot)
    several = len(set(logs.column("task"))) > 1
    return SummaryTable(table, names, "task" if several else "", dict.fromkeys(shares, SHARES))


# --- a judging ---


def judged_summary(targets: Table, overall: Axis, order: StudyOrder) -> SummaryTable:
    """The table of targets by variant: the mean overall score with the verdicts behind it."""
    names = [name for name in ("variant", "task", "target", "judging condition") if name in targets.columns]
    totals = [name for name in targets.columns if "overall" in name]
    shares = [name for name in targets.columns if name not in (*names, *totals, "valid evaluations")]
    chosen = (*names, *totals[-1:], *shares, "valid evaluations")
    places = [targets.columns.index(name) for name in chosen]
    scores = [f"mean {name.replace('_', ' ')} ({overall[0]:g} to {overall[1]:g})" for name in totals[-1:]]
    columns = (*names, *scores, *shares, "valid evaluations")
    rows = [tuple(row[at] for at in places) for row in targets.rows]
    rows.sort(key=lambda row: [order.key(name, str(value)) for name, value in zip(names, row, strict=False)])
    table = replace(targets, columns=columns, rows=tuple(rows))
    axes = {**dict.fromkeys(scores, overall), **dict.fromkeys(shares, SHARES)}
    return SummaryTable(table, names, _group(table, names), axes)


def judges_summary(reliability: Table) -> SummaryTable:
    """The table of judges: how many evaluations are valid, and how many quotes are made up."""
    names = reliability.columns[:3]
    return SummaryTable(reliability, names, "", dict.fromkeys(("share valid", "fabricated"), SHARES))
