"""Groups → tables, one for each question that a reader has; every table adds up.

Answer-level figures are over compliant outputs only (ruling M6). Which tables there are beside those that every
study has is said by the contracts of its tasks: declared ones are built here from the declaration, and such as
cannot be declared have a builder of the same name in `BUILDERS`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import fsum
from typing import Any

import polars as pl

from affidavit.archive.record_columns import column_of
from affidavit.contracts.count_table import CountTable
from affidavit.results import choices
from affidavit.results.counting import RecordSet, name_of, of_tasks
from affidavit.results.groups import Group, ItemKind, identity, of_equal_items
from affidavit.results.table import Table
from affidavit.results.values import Value
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.repeated_samples import pass_at_k, yield_at_k
from affidavit.statistics.shares import bounds_of_share, wilson

Builder = Callable[[RecordSet, Sequence[Group], Sequence[str], Mapping[str, str]], Table | None]
"""A table from the records, their groups, the tasks that have it, and the controls; None: no rows."""
BUILDERS: dict[str, Builder] = {
    "letters": choices.letter_table,
    "other readings": choices.lenient_table,
    "flips": choices.changed_answers_table,
}

OUR_TABLES = (
    "compliance", "accuracy", "repeated samples", "majorities", "failures", *BUILDERS,
    "judges", "flags", "quotes", "scores", "score differences", "differences",
)  # fmt: skip
"""Names that no declared table takes: those of the tables that are counted here, and of a judging."""


def all_tables(
    records: RecordSet, groups: Sequence[Group], *, samples: int, controls: Mapping[str, str]
) -> Iterator[Table]:
    """Every table that has rows, and the compliance of everything."""
    yield compliance_table(records, groups)
    special = list(contract_tables(records, groups, controls))
    yield from (table for table in special if table.explains is None)
    if any(group.total("keyed") for group in groups):
        yield accuracy_table(records, groups)
        if samples > 1 and records.within_cells:
            yield repeated_table(records, groups, samples)
    # Of two samples none is in the majority.
    if samples > 2 and records.within_cells and (majorities := majority_table(records, groups)).rows:
        yield majorities
    yield from (table for table in special if table.explains is not None)
    if (failures := failure_table(records, groups)).rows:
        yield failures


def contract_tables(records: RecordSet, groups: Sequence[Group], controls: Mapping[str, str]) -> Iterator[Table]:
    """The tables that the contracts of the tasks add."""
    wanted = dict.fromkeys(table for parts in records.parts.values() for table in parts.tables)
    for name, build in BUILDERS.items():
        if name in wanted and (made := build(records, groups, records.tasks_with(name), controls)) is not None:
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
    """How many compliant outputs are right; accuracy over all outputs and the bounds beside it (ruling M6)."""
    rows = []
    for group in groups:
        right, compared, keyed = (group.total(name) for name in ("right", "compared", "keyed"))
        bounds = bounds_of_share(right, compared, keyed - compared) if keyed else None
        rows.append(
            (
                *group.names,
                right,
                compared,
                group.share("right", "compared"),
                group.share("right", "keyed"),
                *((None, None) if bounds is None else (bounds.if_wrong.value, bounds.if_right.value)),
            )
        )
    columns = ("right", "compared", "accuracy over compliant", "yield", "if missing wrong", "if missing right")
    question = "How many answers are right, over compliant outputs and over all?"
    return Table("accuracy", question, (*records.by, *columns), tuple(rows), identity(groups))


def repeated_table(records: RecordSet, groups: Sequence[Group], samples: int) -> Table:
    """What do k samples of an item give: one right among the compliant ones, and among all (ruling M7)?"""
    rows, sizes = [], sorted({k for k in (2, 5, 10, samples) if k <= samples})
    for group in groups:
        kinds = {kind: items for kind, items in group.kinds.items() if kind.keyed}
        rows += [(*group.names, k, *_at_k(kinds, k, group.seed)) for k in sizes]
    columns = ("k", "pass@k", "items", "left out", "yield@k", "items of yield")
    question = "How often is one of k samples right?"
    return Table("repeated samples", question, (*records.by, *columns), tuple(rows), identity(groups))


def _at_k(kinds: Mapping[ItemKind, int], k: int, seed: int) -> tuple[Value, ...]:
    right, compared, keyed = ([getattr(kind, name) for kind in kinds] for name in ("right", "compared", "keyed"))
    times = list(kinds.values())
    enough, all_of = (
        sum(items for count, items in zip(counts, times, strict=True) if count >= k)
        for counts in (compared, keyed)
    )
    passed = pass_at_k(right, compared, times, k=k, seed=seed).estimate if enough else None
    yielded = yield_at_k(right, keyed, times, k=k, seed=seed).estimate if all_of else None
    return _wide(passed), enough, sum(times) - enough, _wide(yielded), all_of


def _wide(found: Estimate | None) -> Estimate | None:
    """A figure over items that is not certain because they are all alike; of one item nothing can be said."""
    if found is None or found.value not in (0.0, 1.0) or found.n == 1:
        return found
    return of_equal_items(found.value, found.n, found.n)


def majority_table(records: RecordSet, groups: Sequence[Group]) -> Table:
    """What do the samples of an item say most often; ties are ties (ruling M7)."""
    items, by = list(dict.fromkeys((*records.by, "task", "item_id"))), list(records.by)
    # Where nobody knows what is right, an answer is not wrong either.
    known = pl.when(pl.col("correct").is_null()).then(1).when(pl.col("correct")).then(2).otherwise(0)
    kinds = (
        records.outputs()
        .filter(pl.col("answer").is_not_null() & pl.col("protocol_compliant"))
        .group_by([*items, "answer"])
        .agg(n=pl.len().cast(pl.Int64), known=known.max().cast(pl.Int64))
        # Answers that are equally frequent together: the largest of these numbers is then the leader, or the tie.
        .group_by([*items, "n"])
        .agg(answers=pl.len().cast(pl.Int64), known=pl.col("known").max())
        .group_by(items)
        .agg(
            leader=(pl.col("n") * 8 + (pl.col("answers") == 1).cast(pl.Int64) * 4 + pl.col("known")).max(),
            outputs=(pl.col("n") * pl.col("answers")).sum(),
        )
        .group_by([*by, "leader", "outputs"])
        .agg(items=pl.len().cast(pl.Int64))
        .sort([*by, "leader", "outputs"])
        .collect(engine="streaming")
    )
    rows = tuple((*map(name_of, names), *_majorities(part)) for names, part in _parts(kinds, by))
    columns = ("items with an answer", "with a majority", "tied", "mean share of the leader", "majority right")
    question = "What is the most frequent answer to an item, and is it right?"
    return Table("majorities", question, (*records.by, *columns), rows, identity(groups))


def _majorities(kinds: pl.DataFrame) -> tuple[Value, ...]:
    """Items with an answer, those with a majority, ties, the leader's mean share, and how often it is right."""
    counted = [(leader // 8, leader % 8 >= 4, leader % 4, *rest) for leader, *rest in kinds.iter_rows()]
    total = sum(items for *_, items in counted)
    alone = [(known, items) for _, leads, known, _, items in counted if leads]
    led, right = sum(items for _, items in alone), sum(items for known, items in alone if known == 2)
    keyed = sum(items for known, items in alone if known != 1)
    # The sum is exact: it is the same in whichever order the items come.
    share = fsum(n / outputs * items for n, _, _, outputs, items in counted) / total
    return total, led, total - led, share, wilson(right, keyed) if keyed else None


def _parts(frame: pl.DataFrame, by: Sequence[str]) -> Iterator[tuple[tuple[object, ...], pl.DataFrame]]:
    """The rows of each group, without its name."""
    for names, part in frame.partition_by(list(by), as_dict=True, maintain_order=True).items():
        yield names, part.drop(list(by))


def failure_table(records: RecordSet, groups: Sequence[Group]) -> Table:
    """Why did some questions get no output?"""
    counts = _counted(records.outputs().filter(pl.col("failure").is_not_null()), (*records.by, "failure"))
    planned = {group.names: group.planned for group in groups}
    rows = tuple((*row, wilson(row[-1], planned[row[:-2]])) for row in counts)
    columns = (*records.by, "failure", "count", "share of planned")
    return Table("failures", "Why did some questions get no output?", columns, rows, identity(groups))


# --- the tables that contracts declare ---


def declared_table(
    records: RecordSet, groups: Sequence[Group], declared: CountTable, tasks: Sequence[str], *, name: str
) -> Table:
    """How often outputs of these tasks have each value of the declared fields."""
    columns = [column_of(each) for each in declared.fields]
    read = records.outputs().filter(pl.col("task").is_in(list(tasks)) & pl.col("protocol_compliant").is_not_null())
    broken = read.filter(~pl.col("protocol_compliant"))
    outputs = (broken if declared.only_non_compliant else read).filter(pl.col(columns[0]).is_not_null())
    counts = _counted(outputs, (*records.by, *columns))
    shared = _SHARED.get(declared.share, ())
    named = [*records.by, "count", *shared]
    fields = [f"{field} (field)" if field in named else field for field in declared.fields]
    rows: tuple[tuple[Value, ...], ...] = tuple(counts)
    if shared:
        sizes = {
            row[:-1]: row[-1] for row in _counted(read if declared.share == "arrived" else broken, records.by)
        }
        at = len(records.by)
        rows = tuple((*row, wilson(row[-1], sizes[row[:at]])) for row in counts)
    heads = (*records.by, *fields, "count", *shared)
    labels = records.parts[tasks[0]].value_labels
    foot = identity(of_tasks(records, groups, tasks))
    return Table(name, declared.question, heads, rows, foot, explains=declared.explains, value_labels=labels)


_SHARED = {"arrived": ("share of outputs",), "non-compliant": ("share of non-compliant",)}
"""The column that a declared share stands in."""


def _counted(frame: pl.LazyFrame, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    found = frame.group_by(list(columns)).agg(n=pl.len()).sort(list(columns)).collect(engine="streaming")
    return [(*map(name_of, row[:-1]), int(row[-1])) for row in found.iter_rows()]
