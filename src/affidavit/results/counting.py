"""The records of a study as columns → the groups of its tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import polars as pl

from affidavit.archive.record import RecordKind
from affidavit.archive.record_columns import column_of
from affidavit.contracts.count_table import CountTable
from affidavit.contracts.parts import Parts
from affidavit.results.coded_records import GROUP, UNIT, UNITS, CodedRecords, coded_records
from affidavit.results.collecting import all_collected, collected
from affidavit.results.groups import CELL, Group, ItemKind, Kinds, identity, identity_of_counts
from affidavit.results.item_shares import cluster_sums, sums_of
from affidavit.results.shown_options import ShownOptions
from affidavit.statistics.shares import ClusterSums

ITEM = "item_id"
OR_ITEM = " or the item"
"""How the column of clusters ends where another has the metadata as it is."""
_COUNTED = ("task", "correct", "keyed", "letter", "right_letter", "options", "failure")
"""Columns that tables count by, as they are."""
_ITEM_UNIT = "number of the item"
"""Of the item within its group, where units are clusters of items."""
_PENDING = "is pending"


@dataclass(frozen=True)
class RecordSet:
    """What tables are made of: the records as columns, what was planned, how to group, the tasks' contracts."""

    records: pl.LazyFrame
    """In one order, however often they are read."""
    planned: pl.DataFrame
    """Planned questions by task, model, condition and whatever else items are grouped by: `planned`."""
    seed: int
    """The study's: every interval that is drawn is drawn with it."""
    by: tuple[str, ...] = CELL
    parts: Mapping[str, Parts] = field(default_factory=dict)
    """Of the contract of each task."""
    cluster: str = ITEM
    """The column whose values vary independently within a task: items, or what stands above them (ruling S8)."""
    paradigms: Mapping[str, str] = field(default_factory=dict)
    """Of the conditions that have one."""
    pending: pl.LazyFrame | None = None
    """A row for each pending question: its cell, item, sample and cluster, what else groups are told apart by, and
    whether its right answer is known, `keyed`; None where nothing is pending."""

    shown_options: ShownOptions | None = None
    """The options' texts of each question, for readings that need them; None where nobody knows any."""

    def part(self, *named: pl.Expr) -> "RecordSet":
        """What was chosen of it by task, model or condition."""
        pending = None if self.pending is None else self.pending.filter(*named)
        return replace(
            self, records=self.records.filter(*named), planned=self.planned.filter(*named), pending=pending
        )

    @property
    def units(self) -> list[str]:
        """The columns of one thing that varies, within one group; no cluster holds items of two tasks."""
        return list(dict.fromkeys((*self.by, "task", self.cluster)))

    @property
    def cluster_name(self) -> str:
        """What clusters are called."""
        return self.cluster.removesuffix(OR_ITEM)

    @property
    def item_unit(self) -> str:
        """The column of `coded` that numbers items within groups."""
        return UNIT if self.cluster == ITEM else _ITEM_UNIT

    @cached_property
    def coded(self) -> CodedRecords:
        """What is counted of questions: answered or failed ones in their order, then pending ones.

        Made once, whichever tables are counted from it.
        """
        compliant = pl.col("protocol_compliant")
        read = {
            "arrived": compliant.is_not_null(),
            "compliant": compliant.fill_null(value=False),
            "holds_answer": holds_answer(self.tasks_by_validation),
            "unread": pl.col("unread").is_not_null(),
            "truncated": pl.col("truncated").fill_null(value=False),
        }
        within = {UNIT: ("task", self.cluster), self.item_unit: ("task", ITEM)}
        columns = {name: pl.col(name) for name in (*_COUNTED, *self._declared_columns)}
        questions = self.outputs()
        if self.pending is not None:
            told = (pl.lit(value).alias(_PENDING) for value in (False, True))
            both = zip((questions, self.pending), told, strict=True)
            questions = pl.concat([each.with_columns(whether) for each, whether in both], how="diagonal")
            read[_PENDING] = pl.col(_PENDING)
        return coded_records(questions, self.by, within, {**columns, **read})

    @property
    def _declared_columns(self) -> dict[str, None]:
        """The columns of the tables that contracts declare."""
        tables = dict.fromkeys(table for parts in self.parts.values() for table in parts.tables)
        return dict.fromkeys(
            column_of(name) for table in tables if isinstance(table, CountTable) for name in table.fields
        )

    def outputs(self) -> pl.LazyFrame:
        """Questions, answered or failed, in the order of the records; judgements have tables of their own."""
        return self.records.filter(pl.col("kind").ne(RecordKind.JUDGEMENT.value) & pl.col("judge").is_null())

    @property
    def within_cells(self) -> bool:
        """Whether every group is of one task, model and condition: then the outputs of an item are its samples."""
        pooled = [name for name in CELL if name not in self.by]
        if "sample" in self.by or not pooled:
            return "sample" not in self.by
        values = self.planned.group_by(list(self.by)).agg(pl.col(pooled).n_unique()).select(pooled)
        return all(count == 1 for row in values.iter_rows() for count in row)

    @property
    def tasks_by_validation(self) -> list[str]:
        """The tasks in which every answer counts, compliant or not, by the validator's word (ruling G12)."""
        return [task for task, parts in self.parts.items() if parts.every_answer_counts]

    def tasks_with(self, table: object) -> list[str]:
        """The tasks whose contract has this table in the report."""
        return [task for task, parts in self.parts.items() if table in parts.tables]


def groups(records: RecordSet) -> list[Group]:
    """Every group that was planned, in the order of names."""
    by, own = list(records.by), _unit_kinds(records, UNIT)
    items, clusters = (own, None) if records.cluster == ITEM else (_unit_kinds(records, records.item_unit), own)
    planned = records.planned.group_by(by).agg(pl.col("planned").sum()).sort(by)
    return [
        Group(
            names,
            int(count),
            items.get(names, {}),
            records.seed,
            None if clusters is None else clusters.get(names, {}),
        )
        for *values, count in planned.iter_rows()
        for names in [tuple(map(name_of, values))]
    ]


def identity_of_tasks(records: RecordSet, groups: Sequence[Group], tasks: Sequence[str]) -> str:
    """The accounting identity of some tasks, whether or not groups are told apart by task (ruling C5)."""
    if "task" in records.by:
        at = records.by.index("task")
        return identity(group for group in groups if group.names[at] in tasks)
    among, compliant = pl.col("task").is_in(list(tasks)), pl.col("compliant")
    counts = {
        "compliant": compliant,
        "non-compliant": pl.col("arrived") & ~compliant,
        "unread": pl.col("unread"),
        "failed": pl.col("failure").is_not_null(),
    }
    frame = records.coded.frame.filter(among)
    found = {name: int(frame.select(holds.sum()).item()) for name, holds in counts.items()}
    planned = int(records.planned.filter(among)["planned"].sum())
    return identity_of_counts({**found, "pending": planned - sum(found.values())})


def holds_answer(by_validation: Sequence[str]) -> pl.Expr:
    """Whether an output holds an answer: a compliant one does, and any in tasks where all count (M6 and G12)."""
    compliant, tasks = pl.col("protocol_compliant").fill_null(value=False), list(by_validation)
    if not tasks:
        return compliant
    return pl.when(pl.col("task").is_in(tasks)).then(pl.col("answer").is_not_null()).otherwise(compliant)


def name_of(value: object) -> str:
    """The name of a group, for a value of a column; of none, empty."""
    return "" if value is None else str(value)


def names_of(values: Iterable[object]) -> tuple[str, ...]:
    """The names of a group, for the values of its columns."""
    return tuple(map(name_of, values))


def place_of(values: Iterable[object]) -> list[tuple[bool, object]]:
    """Where values stand among others of the same columns, as a key to sort by: what is missing comes first.

    >>> sorted([(2, "b"), (10, "a"), (2, None)], key=place_of)
    [(2, None), (2, 'b'), (10, 'a')]
    """
    return [(value is not None, value) for value in values]


def _unit_kinds(records: RecordSet, unit: str) -> dict[tuple[str, ...], Kinds]:
    """By group, the kinds of items, or clusters, and how many are of each."""
    coded = records.coded
    arrived, compliant, answered = pl.col("arrived"), pl.col("compliant"), pl.col("holds_answer")
    failed, keyed = pl.col("failure").is_not_null(), pl.col("keyed").fill_null(value=False)
    pending = pl.col(_PENDING)
    which = ItemKind(
        compliant=compliant,  # type: ignore[arg-type]  # expressions here, their sums in what comes back
        non_compliant=arrived & ~compliant,  # type: ignore[arg-type]
        unread=pl.col("unread"),  # type: ignore[arg-type]
        failed=failed,  # type: ignore[arg-type]
        truncated=pl.col("truncated"),  # type: ignore[arg-type]
        right=answered & pl.col("correct").fill_null(value=False),  # type: ignore[arg-type]
        compared=answered & pl.col("correct").is_not_null(),  # type: ignore[arg-type]
        keyed=~failed & ~pending & keyed,  # type: ignore[arg-type]
        failed_keyed=failed & keyed,  # type: ignore[arg-type]
        pending=pending,  # type: ignore[arg-type]
        pending_keyed=pending & keyed,  # type: ignore[arg-type]
    )._asdict()
    if records.pending is None:
        which.update(keyed=~failed & keyed)
        del which["pending"], which["pending_keyed"]
    found: dict[tuple[str, ...], dict[ItemKind, int]] = {}
    for group, *kind, items in coded.kinds(pl.lit(value=True), which, unit=unit).iter_rows():
        found.setdefault(names_of(coded.names[group]), {})[ItemKind(*kind)] = items
    return dict(found)


# --- shares of outputs by a label ---


class LabelCount(NamedTuple):
    """How many outputs of a group have a label, and what its share is made of."""

    names: tuple[str, ...]
    label: tuple[str, ...]
    sums: ClusterSums


def label_counts(
    records: RecordSet, outputs: pl.Expr, labelled: pl.Expr, labels: Sequence[str]
) -> list[LabelCount]:
    """How often each label is there, in each group, of what is among `outputs`; of these, `labelled` have one.

    Among all questions are pending ones too.

    Outputs of one item or cluster belong together, so they are added up before they are squared (ruling S1).
    """
    coded = records.coded
    values = collected(coded.where(labelled).select(labels).unique(), coded.frame.height).rows()
    if len(values) > _FEW:
        found = _many_labels(coded, outputs, labelled, labels)
    else:
        found = _few_labels(coded, outputs, {label: labelled & _has(labels, label) for label in values})
    found.sort(key=lambda each: place_of((*coded.names[each[0]], *each[1])))
    return [LabelCount(names_of(coded.names[group]), names_of(label), sums) for group, label, sums in found]


_FEW = 16
"""Labels that are counted at once, each as a count of its own."""
_Label = tuple[object, ...]
_Counted = tuple[int, _Label, ClusterSums]
"""The number of a group, a label, and what its share is made of."""


def _has(labels: Sequence[str], values: _Label) -> pl.Expr:
    return pl.all_horizontal(
        pl.col(name).eq_missing(pl.lit(value)) for name, value in zip(labels, values, strict=True)
    )


def _few_labels(coded: CodedRecords, outputs: pl.Expr, labels: Mapping[_Label, pl.Expr]) -> list[_Counted]:
    """Every label is a count of its own."""
    if not labels:
        return []
    held = {f"label {number}": holds for number, holds in enumerate(labels.values())}
    sums = [cluster_sums(name, name, "n", times=UNITS) for name in held]
    kinds = coded.kinds(outputs, {"n": pl.lit(value=True), **held}).group_by(GROUP)
    counted = kinds.agg(**{name: value for each in sums for name, value in each.items()})
    return [
        (row[GROUP], label, found)
        for row in counted.iter_rows(named=True)
        for name, label in zip(held, labels, strict=True)
        if (found := sums_of(row, name)).successes
    ]


def _many_labels(
    coded: CodedRecords, outputs: pl.Expr, labelled: pl.Expr, labels: Sequence[str]
) -> list[_Counted]:
    """Labels are counted where they are: there may be as many of them as there are outputs."""
    n, s, group = pl.col("n"), pl.col("s"), pl.col(GROUP).first()
    sizes = coded.where(outputs).group_by(UNIT).agg(group, n=pl.len().cast(pl.Int64))
    counted = (
        coded.where(labelled)
        .group_by([UNIT, *labels])
        .agg(group, s=pl.len().cast(pl.Int64))
        .join(sizes.select(UNIT, "n"), on=UNIT, how="left")
        .group_by([GROUP, *labels])
        .agg(successes=s.sum(), squared_successes=(s * s).sum(), products=(s * n).sum())
    )
    whole = sizes.group_by(GROUP).agg(clusters=pl.len().cast(pl.Int64), n=n.sum(), squares=(n * n).sum())
    found, groups = all_collected([counted, whole], coded.frame.height)
    known, end = {row[0]: row[1:] for row in groups.iter_rows()}, 1 + len(labels)
    return [(row[0], row[1:end], ClusterSums(*known[row[0]], *row[end:])) for row in found.iter_rows()]
