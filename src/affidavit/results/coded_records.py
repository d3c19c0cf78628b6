"""Records with numbers in place of names: what tables are counted from, made in one reading of the file.

Tables group a million records by task, model, condition and item many times over. By four texts that takes ten
times as long as by one number, so every group, and every unit (an item, or a cluster, within a group), gets a
number. Numbers have no gaps: what is counted of units is added up in an array, a tenth of the time that a table
of hashes takes. Texts of outputs are not here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
import numpy.typing as npt
import polars as pl

from affidavit.results.collecting import collected

UNIT, GROUP, UNITS = "number of the unit", "number of the group", "units"
"""Names that no column of records has: those that users give have a dot, and ours have no blanks."""
_SIZE, _EXACT = "size of the unit", 53
"""The count of all chosen records; and the bits of the whole numbers that are exact as floats."""
_SPARSE = 4
"""So many times as many numbers as rows may be laid out in an array; above, they are sorted."""
_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class CodedRecords:
    """The records in their order, each with the numbers of its group and its units."""

    frame: pl.DataFrame
    names: Mapping[int, tuple[object, ...]]
    """Of each group, by its number: the values of its columns."""
    group_of: Mapping[str, _Numbers]
    """For each column with numbers of units: the groups of the units, by their numbers."""
    largest: Mapping[str, int]
    """For each of these columns: how many records the largest unit has, and at least one."""

    def where(self, chosen: pl.Expr) -> pl.LazyFrame:
        """The records for which this holds."""
        return self.frame.lazy().filter(chosen)

    def plus(self, column: pl.Series) -> "CodedRecords":
        """The same with one column more."""
        return replace(self, frame=self.frame.with_columns(column))

    def kinds(self, chosen: pl.Expr, counts: Mapping[str, pl.Expr], *, unit: str = UNIT) -> pl.DataFrame:
        """By group, how many `units` count alike: how many of their chosen records hold each of these.

        The counts of a unit are added up in one whole number, a few bits for each: as many as its largest unit
        needs. So they take little longer than one count does, and few kinds are left of many units. A unit
        without any chosen record is in none.

        >>> frame = pl.LazyFrame({"item": [1, 1, 2, 3], "model": ["a", "a", "a", "b"], "right": [True, None] * 2})
        >>> coded = coded_records(frame, ["model"], {UNIT: ["item"]}, {"right": pl.col("right")})
        >>> kinds = coded.kinds(pl.lit(True), {"n": pl.lit(True), "right": pl.col("right")}).sort(GROUP, "n")
        >>> [(coded.names[group], *counts) for group, *counts in kinds.iter_rows()]
        [(('a',), 1, 1, 1), (('a',), 2, 1, 1), (('b',), 1, 0, 1)]
        """
        groups, bits = self.group_of[unit], self.largest[unit].bit_length()
        every, together = {_SIZE: pl.lit(value=True), **counts}, _EXACT // bits
        packs = [list(every)[at : at + together] for at in range(0, len(every), together)]
        packed = {
            f"pack {number}": reduce(add, (_as_number(every[name], bits * at) for at, name in enumerate(pack)))
            for number, pack in enumerate(packs)
        }
        read = collected(self.where(chosen).select(unit, **packed), self.frame.height)
        at = read[unit].to_numpy()
        sums = {name: _sums(at, read[name].to_numpy(), len(groups)) for name in packed}
        alike = (
            pl.LazyFrame({GROUP: groups, **sums})
            .filter(pl.col("pack 0") > 0)
            .group_by(GROUP, *packed)
            .agg(pl.len().cast(pl.Int64).alias(UNITS))
        )
        unpacked = [
            (pl.col(f"pack {number}") // 2 ** (bits * at) % 2**bits).alias(name)
            for number, pack in enumerate(packs)
            for at, name in enumerate(pack)
            if name != _SIZE
        ]
        return collected(alike, len(groups)).select(GROUP, *unpacked, UNITS)


def _sums(at: _Numbers, numbers: _Numbers, units: int) -> _Numbers:
    """By unit, the sum of its numbers; all sums are below 2**53, so floats hold them to the last digit."""
    return np.bincount(at, weights=numbers, minlength=units).astype(np.int64)


def _as_number(holds: pl.Expr, bit: int) -> pl.Expr:
    """One, so many bits up, where it holds; a third of the time that a cast and a product take."""
    return pl.when(holds).then(pl.lit(2**bit, dtype=pl.Int64)).otherwise(pl.lit(0, dtype=pl.Int64))


def coded_records(
    records: pl.LazyFrame,
    by: Sequence[str],
    within: Mapping[str, Sequence[str]],
    columns: Mapping[str, pl.Expr],
) -> CodedRecords:
    """These columns of the records, texts as categories, and the numbers of their groups and units.

    A group is what has the same values in the columns of `by`; units, under each name in `within`, are what has
    the same values in its columns too. What is missing is a value of its own.

    >>> records = pl.LazyFrame({"model": ["b", "a", "b"], "item": ["x", "x", "x"], "right": [True, False, True]})
    >>> coded = coded_records(records, ["model"], {UNIT: ["item"]}, {"right": pl.col("right")})
    >>> coded.frame[UNIT].n_unique(), [coded.names[group] for group in coded.frame[GROUP]]
    (2, [('b',), ('a',), ('b',)])
    """
    named = dict.fromkeys((*by, *(name for unit in within.values() for name in unit)))
    others = {name: value for name, value in columns.items() if name not in named}
    read = (
        records.select(*named, **others)
        .with_columns(pl.col(pl.String).cast(pl.Categorical))
        .collect(engine="streaming")
        .rechunk()
    )
    group = numbers_of(read, by).alias(GROUP)
    units = {
        name: numbers_of(read, [each for each in own if each not in by], within=group)
        for name, own in within.items()
    }
    grouped = read.select(group, *by)[group.arg_unique()]
    return CodedRecords(
        read.select(*columns, group, **units),
        {number: tuple(values) for number, *values in grouped.iter_rows()},
        {name: _group_of(unit.to_numpy(), group.to_numpy()) for name, unit in units.items()},
        {name: int(np.bincount(unit.to_numpy()).max(initial=1)) for name, unit in units.items()},
    )


def _group_of(units: _Numbers, groups: _Numbers) -> _Numbers:
    """By the number of a unit, that of its group; all rows of a unit are of one group."""
    found = np.zeros(units.max(initial=-1) + 1, dtype=np.int64)
    found[units] = groups
    return found


def numbers_of(frame: pl.DataFrame, columns: Sequence[str], *, within: pl.Series | None = None) -> pl.Series:
    """A whole number for each row, from 0 on and without gaps: equal where the values of these columns are.

    Columns are of categories or whole numbers; what is missing is a value of its own. Rows that have different
    numbers already, `within`, get different ones.

    >>> numbers_of(pl.DataFrame({"a": [1, 1, None, 1], "b": [2, 3, 3, 2]}), ["a", "b"]).to_list()
    [1, 2, 0, 1]
    """
    values = [frame[name].to_physical() for name in columns]
    numbers, bound = np.zeros(frame.height, dtype=np.int64), 1
    for each in values if within is None else (within, *values):
        places, radix = _places(each)
        if radix > 1:
            # Neither is more than a few times the number of rows: 64 bits hold their product.
            together = places if bound == 1 else numbers * radix + places
            numbers, bound = _without_gaps(together, bound * radix)
    return pl.Series(numbers)


def _places(values: pl.Series) -> tuple[_Numbers, int]:
    """Whole numbers in the order of the values, what is missing before them; and their bound."""
    ends, missing = [int(str(end)) for end in (values.min(), values.max()) if end is not None], values.null_count()
    first, bound = min(missing, 1), ends[1] - ends[0] + 1 + min(missing, 1) if ends else 1
    if bound == 1:
        return np.zeros(len(values), dtype=np.int64), 1
    if bound > _SPARSE * len(values):
        return values.rank("dense").fill_null(0).cast(pl.Int64).to_numpy(), len(values) + 1
    if not missing:
        return np.subtract(values.to_numpy(), ends[0], dtype=np.int64), bound
    return (values.cast(pl.Int64) - ends[0] + first).fill_null(0).to_numpy(), bound


def _without_gaps(numbers: _Numbers, bound: int) -> tuple[_Numbers, int]:
    """The same numbers in the same order, each less by those below it that are not there; and their bound."""
    if bound > _SPARSE * len(numbers):
        distinct, found = np.unique(numbers, return_inverse=True)
        return found, len(distinct)
    there = np.zeros(bound, dtype=np.bool_)
    there[numbers] = True
    counted = int(there.sum())
    return (numbers, bound) if counted == bound else (np.take(np.cumsum(there) - 1, numbers), counted)
