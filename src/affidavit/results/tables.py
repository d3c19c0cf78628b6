"""Groups → tables, one for each question that a reader has; every table adds up.

Answer-level figures are over outputs that hold an answer (rulings M6 and G12). Which tables there are beside those
that every study has is said by the contracts of its tasks: declared ones are built here from the declaration, and
such as cannot be declared have a builder of the same name in `BUILDERS`.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import polars as pl

from affidavit.archive.record_columns import column_of
from affidavit.contracts.count_table import CountTable
from affidavit.contracts.parts import Parts
from affidavit.results import (
    changes,
    choices,
    fields,
    findings,
    label_scores,
    other_readings,
    sensitivity,
    solving,
)
from affidavit.results.counting import ITEM, RecordSet, identity_of_tasks, label_counts
from affidavit.results.groups import Group, identity
from affidavit.results.judging_tables import JUDGING_TABLES
from affidavit.results.majorities import majority_table, repeated_table
from affidavit.results.table import Table
from affidavit.results.values import Value
from affidavit.statistics.shares import share

Builder = Callable[[RecordSet, Sequence[Group], Sequence[str], Mapping[str, str]], Table | None]
"""A table from the records, their groups, the tasks that have it, and the controls; None: no rows."""
BUILDERS: dict[str, Builder] = {
    "solve rate": solving.solve_table,
    "label scores": label_scores.label_score_table,
    "field accuracy": fields.field_table,
    "findings by path": findings.findings_table,
    "chance": choices.chance_table,
    "letters": choices.letter_table,
    "other readings": other_readings.lenient_table,
    "flips": changes.changed_answers_table,
    "flips by paradigm": changes.changes_by_paradigm,
}

OUR_TABLES = (
    "compliance", "accuracy", "macro averages", "repeated samples", "majorities", "format sensitivity", "failures",
    *BUILDERS, *JUDGING_TABLES, "differences", "models compared", "source scores", "targets", "reliability",
)  # fmt: skip
"""Names that no declared table takes: those of the tables that are counted here, and of a judging."""


def all_tables(
    records: RecordSet, groups: Sequence[Group], *, samples: int, controls: Mapping[str, str]
) -> Iterator[Table]:
    """Every table that has rows, and the compliance of everything."""
    yield compliance_table(records, groups)
    special = list(contract_tables(records, groups, controls))
    yield from (table for table in special if table.explains is None)
    if any(group.planned_keyed for group in groups):
        yield accuracy_table(records, groups)
        if samples > 1 and records.within_cells:
            yield repeated_table(records, groups, samples)
    if records.cluster != ITEM:
        yield macro_table(records, groups)
    # Of two samples none is in the majority.
    if samples > 2 and records.within_cells and (majorities := majority_table(records, groups)).rows:
        yield majorities
    if (ranges := sensitivity.range_table(records, groups)) is not None:
        yield ranges
    yield from (table for table in special if table.explains is not None)
    if (failures := failure_table(records, groups)).rows:
        yield failures


def contract_tables(
    records: RecordSet,
    groups: Sequence[Group],
    controls: Mapping[str, str],
    *,
    built: Collection[str] = tuple(BUILDERS),
) -> Iterator[Table]:
    """The tables that the contracts of the tasks add: all declared ones, and those of `built` that they name."""
    wanted = dict.fromkeys(table for parts in records.parts.values() for table in parts.tables)
    for name in (name for name in BUILDERS if name in wanted and name in built):
        if (made := BUILDERS[name](records, groups, records.tasks_with(name), controls)) is not None:
            yield made
    named = set(OUR_TABLES)
    for declared in (table for table in wanted if isinstance(table, CountTable)):
        tasks, name = records.tasks_with(declared), declared.name
        # Two contracts may give one name to different tables, or a name of ours: then the tasks tell them apart.
        while name in named:
            name = f"{name} of {', '.join(tasks)}"
        named.add(name)
        table = declared_table(records, groups, declared, tasks, name=name)
        if table.rows or declared.explains is None:
            yield table


def changed_answers_of(records: RecordSet, controls: Mapping[str, str]) -> Table | None:
    """How many answers changed against their control, of the tasks that tell; None if none does."""
    tasks = records.tasks_with("flips")
    return changes.changed_answers_table(records, (), tasks, controls) if tasks else None


def lowest_f1_of(records: RecordSet, groups: Sequence[Group]) -> dict[tuple[Value, ...], str]:
    """The label of the lowest F1 of each group, in words, in tasks whose answers are labels."""
    tasks = records.tasks_with("label scores")
    table = BUILDERS["label scores"](records, groups, tasks, {}) if tasks else None
    return {} if table is None else label_scores.lowest_f1(table, len(records.by))


# --- the tables that every study has ---


def compliance_table(records: RecordSet, groups: Sequence[Group]) -> Table:
    """How many outputs follow the format? Truncated ones are counted apart, as they read (ruling C6)."""
    rows = tuple(
        (
            *group.names,
            group.planned,
            *(group.total(name) for name in ("compliant", "non_compliant", "unread", "failed")),
            group.pending,
            group.total("truncated"),
            group.share("compliant", "compliant", "non_compliant"),
        )
        for group in groups
    )
    columns = ("planned", "compliant", "non-compliant", "unread", "failed", "pending", "truncated", "compliance")
    return Table(
        "compliance", "How many outputs follow the format?", (*records.by, *columns), rows, identity(groups)
    )


def accuracy_table(records: RecordSet, groups: Sequence[Group]) -> Table:
    """How many answers are right; accuracy over all outputs and the bounds beside it (ruling M6)."""
    rows = []
    for group in groups:
        bounds = group.bounds()
        rows.append(
            (
                *group.names,
                group.total("right"),
                group.total("compared"),
                group.share("right", "compared"),
                group.share("right", "keyed"),
                *((None, None) if bounds is None else bounds),
            )
        )
    columns = ("right", "compared", "accuracy over compliant", "yield", "if missing wrong", "if missing right")
    question = "How many answers are right, over outputs with an answer and over all?"
    notes = (what_is_an_answer(records.parts, records.tasks_by_validation), *what_is_right(records.parts))
    return Table("accuracy", question, (*records.by, *columns), tuple(rows), identity(groups), notes)


def what_is_an_answer(tasks: Collection[str], by_validation: Collection[str]) -> str:
    """What accuracy over answers is over, by the contract of each task (rulings M6 and G12).

    >>> what_is_an_answer(["quiz"], []), what_is_an_answer(["quiz", "hands"], ["hands"])[-51:]
    ('An answer is what a compliant output holds.', 'in hands, whatever was extracted, compliant or not.')
    """
    if by_validation and len(by_validation) == len(tasks):
        return "An answer is whatever was extracted from an output, compliant or not."
    others = f"; in {', '.join(by_validation)}, whatever was extracted, compliant or not" if by_validation else ""
    return f"An answer is what a compliant output holds{others}."


def what_is_right(parts: Mapping[str, Parts]) -> Iterator[str]:
    """What a right answer is, by the contract of each task, where it does not go without saying.

    >>> from affidavit.contracts.labels import labels
    >>> list(what_is_right({"topics": labels})), list(what_is_right({"topics": labels, "quiz": Parts()}))
    (['Right: the whole set.'], ['Right in topics: the whole set.'])
    """
    meant = {task: words for task, each in parts.items() if (words := each.right_means())}
    for words in dict.fromkeys(meant.values()):
        tasks = [task for task in meant if meant[task] == words]
        yield f"Right: {words}." if len(tasks) == len(parts) else f"Right in {', '.join(tasks)}: {words}."


MACRO = {
    "compliance": ("compliant", "compliant", "non_compliant"),
    "accuracy over compliant": ("right", "compared"),
    "yield": ("right", "keyed"),
}
"""Shares, by what they are of what."""


def macro_table(records: RecordSet, groups: Sequence[Group]) -> Table:
    """What are the shares if every cluster counts alike (ruling S8)?"""
    rows = tuple(
        (*group.names, measure, group.share(*of), group.macro(*of))
        for group in groups
        for measure, of in MACRO.items()
        if group.sums(*of).n
    )
    columns = (*records.by, "measure", "over outputs", "over clusters")
    question = f"What are the shares if every {records.cluster_name} counts alike?"
    return Table("macro averages", question, columns, rows, identity(groups))


def failure_table(records: RecordSet, groups: Sequence[Group]) -> Table:
    """Why did some questions get no output?"""
    failed = label_counts(records, pl.lit(value=True), pl.col("failure").is_not_null(), ["failure"])
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (*names, *label, sums.successes, share(sums)) for names, label, sums in failed
    )
    columns = (*records.by, "failure", "count", "share of planned")
    return Table("failures", "Why did some questions get no output?", columns, rows, identity(groups))


# --- the tables that contracts declare ---


def declared_table(
    records: RecordSet, groups: Sequence[Group], declared: CountTable, tasks: Sequence[str], *, name: str
) -> Table:
    """How often outputs of these tasks have each value of the declared fields."""
    columns = [column_of(each) for each in declared.fields]
    read = pl.col("task").is_in(list(tasks)) & pl.col("arrived")
    kept, broken = read & pl.col("compliant"), read & ~pl.col("compliant")
    over = {"compliant": kept, "non-compliant": broken}.get(declared.share, read)
    labelled = (broken if declared.only_non_compliant else over) & pl.col(columns[0]).is_not_null()
    counts = label_counts(records, over, labelled, columns)
    shared = _SHARED.get(declared.share, ())
    named = [*records.by, "count", *shared]
    fields = [f"{field} (field)" if field in named else field for field in declared.fields]
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (*names, *label, sums.successes, *([share(sums)] if shared else [])) for names, label, sums in counts
    )
    heads = (*records.by, *fields, "count", *shared)
    labels = records.parts[tasks[0]].value_labels
    foot = identity_of_tasks(records, groups, tasks)
    return Table(name, declared.question, heads, rows, foot, explains=declared.explains, value_labels=labels)


_SHARED = {
    "arrived": ("share of outputs",),
    "compliant": ("share of compliant",),
    "non-compliant": ("share of non-compliant",),
}
"""The column that a declared share stands in."""
