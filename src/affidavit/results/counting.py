"""The records of a study as columns → the groups of its tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from affidavit.archive.record import RecordKind
from affidavit.contracts.parts import Parts
from affidavit.errors import UsageError
from affidavit.results.groups import CELL, Group, ItemKind


@dataclass(frozen=True)
class RecordSet:
    """What tables are made of: the records as columns, what was planned, how to group, the tasks' contracts."""

    records: pl.LazyFrame
    planned: pl.DataFrame
    """Planned questions by task, model, condition and whatever else items are grouped by: `planned`."""
    seed: int
    """The study's: every interval that is drawn is drawn with it."""
    by: tuple[str, ...] = CELL
    parts: Mapping[str, Parts] = field(default_factory=dict)
    """Of the contract of each task."""

    def outputs(self) -> pl.LazyFrame:
        """Questions, answered or failed; judgements have tables of their own."""
        return self.records.filter(pl.col("kind").ne(RecordKind.JUDGEMENT.value) & pl.col("judge").is_null())

    @property
    def within_cells(self) -> bool:
        """Whether every group is of one task, model and condition: then the outputs of an item are its samples."""
        pooled = [name for name in CELL if name not in self.by]
        if "sample" in self.by or not pooled:
            return "sample" not in self.by
        values = self.planned.group_by(list(self.by)).agg(pl.col(pooled).n_unique()).select(pooled)
        return all(count == 1 for row in values.iter_rows() for count in row)

    def tasks_with(self, table: object) -> list[str]:
        """The tasks whose contract has this table in the report."""
        return [task for task, parts in self.parts.items() if table in parts.tables]


def groups(records: RecordSet) -> list[Group]:
    """Every group that was planned, in the order of names."""
    found: dict[tuple[str, ...], dict[ItemKind, int]] = {}
    at = len(records.by)
    for row in _item_kinds(records).iter_rows():
        found.setdefault(tuple(map(name_of, row[:at])), {})[ItemKind(*row[at:-1])] = row[-1]
    by = list(records.by)
    planned = records.planned.group_by(by).agg(pl.col("planned").sum()).sort(by)
    return [
        Group(names, int(count), found.get(names, {}), records.seed)
        for *values, count in planned.iter_rows()
        for names in [tuple(map(name_of, values))]
    ]


def of_tasks(records: RecordSet, groups: Sequence[Group], tasks: Sequence[str]) -> list[Group]:
    """The groups of some tasks; all of them where groups are not told apart by task."""
    if "task" not in records.by:
        return list(groups)
    at = records.by.index("task")
    return [group for group in groups if group.names[at] in tasks]


def name_of(value: object) -> str:
    """The name of a group, for a value of a column; of none, empty."""
    return "" if value is None else str(value)


def _item_kinds(records: RecordSet) -> pl.DataFrame:
    """Groups, kinds and how many items of the group are of that kind.

    Eight counts of an item are added up in two whole numbers, fifteen bits for each: a quarter of the time that
    eight sums take, and an item would need thirty thousand outputs in a group to spill over.
    """
    arrived = pl.col("protocol_compliant").is_not_null()
    compliant = pl.col("protocol_compliant").fill_null(value=False)
    which = ItemKind(
        compliant=compliant,  # type: ignore[arg-type]  # expressions here, their sums in what comes back
        non_compliant=arrived & ~compliant,  # type: ignore[arg-type]
        unread=pl.col("unread").is_not_null(),  # type: ignore[arg-type]
        failed=pl.col("failure").is_not_null(),  # type: ignore[arg-type]
        truncated=pl.col("truncated").fill_null(value=False),  # type: ignore[arg-type]
        right=compliant & pl.col("correct").fill_null(value=False),  # type: ignore[arg-type]
        compared=compliant & pl.col("correct").is_not_null(),  # type: ignore[arg-type]
        keyed=arrived & pl.col("keyed").fill_null(value=False),  # type: ignore[arg-type]
    )._asdict()
    halves = (ItemKind._fields[:4], ItemKind._fields[4:])
    packed = {
        f"half_{number}": pl.sum_horizontal(
            which[name].cast(pl.Int64) * 2 ** (_BITS * at) for at, name in enumerate(half)
        )
        for number, half in enumerate(halves)
    }
    items = list(dict.fromkeys((*records.by, "task", "item_id")))
    kinds = (
        records.outputs()
        .with_columns(**packed)
        .group_by(items)
        .agg(pl.col(*packed).sum(), outputs=pl.len())
        .group_by([*records.by, *packed])
        .agg(items=pl.len().cast(pl.Int64), most=pl.col("outputs").max())
        .collect(engine="streaming")
    )
    if len(kinds) and int(str(kinds["most"].max())) >= 2**_BITS:
        raise UsageError("--by", expected=f"fewer than {2**_BITS:,} outputs of an item in a group", found="more")
    unpacked = [
        (pl.col(f"half_{number}") // 2 ** (_BITS * at) % 2**_BITS).alias(name)
        for number, half in enumerate(halves)
        for at, name in enumerate(half)
    ]
    return kinds.select(*records.by, *unpacked, "items")


_BITS = 15
