"""Records with numbers in place of names: what tables are counted from, made in one reading of the file.

Tables group a million records by task, model, condition and item many times over. By four texts that takes ten
times as long as by one number, so every unit (an item, or a cluster, within a group) gets a number, from which
that of its group follows. Texts of outputs are not here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import polars as pl

from affidavit.errors import UsageError

UNIT, GROUP, UNITS = "number of the unit", "number of the group", "units"
"""Names that no column of records has: those that users give have a dot, and ours have no blanks."""
_MOST = 2**62
_BITS, _TOGETHER = 15, 4


@dataclass(frozen=True)
class CodedRecords:
    """The records in their order, each with the numbers of its units."""

    frame: pl.DataFrame
    names: Mapping[int, tuple[object, ...]]
    """Of each group, by its number: the values of its columns."""
    spans: Mapping[str, int]
    """Of each column with numbers of units: how many numbers, one after the other, are those of one group."""

    def where(self, chosen: pl.Expr) -> pl.LazyFrame:
        """The records for which this holds, with the numbers of their groups."""
        return self.frame.lazy().filter(chosen).with_columns(self._group(UNIT))

    def plus(self, column: pl.Series) -> "CodedRecords":
        """The same with one column more."""
        return replace(self, frame=self.frame.with_columns(column))

    def kinds(self, chosen: pl.Expr, counts: Mapping[str, pl.Expr], *, unit: str = UNIT) -> pl.DataFrame:
        """By group, how many `units` count alike: how many of their chosen records hold each of these.

        Four counts of a unit are added up in one whole number, fifteen bits for each: a quarter of the time that
        four sums take, and a unit would need thirty thousand records to spill over. Few kinds are left of many
        units. A unit without any chosen record is in none.

        >>> frame = pl.LazyFrame({"item": [1, 1, 2, 3], "model": ["a", "a", "a", "b"], "right": [True, None] * 2})
        >>> coded = coded_records(frame, ["model"], {UNIT: ["item"]}, {"right": pl.col("right")})
        >>> kinds = coded.kinds(pl.lit(True), {"n": pl.lit(True), "right": pl.col("right")}).sort(GROUP, "n")
        >>> [(coded.names[group], *counts) for group, *counts in kinds.iter_rows()]
        [(('a',), 1, 1, 1), (('a',), 2, 1, 1), (('b',), 1, 0, 1)]
        """
        names = list(counts)
        packs = [names[at : at + _TOGETHER] for at in range(0, len(names), _TOGETHER)]
        packed = {
            f"pack {number}": reduce(add, (_as_number(counts[name], _BITS * at) for at, name in enumerate(pack)))
            for number, pack in enumerate(packs)
        }
        kinds = (
            self.frame.lazy()
            .filter(chosen)
            .select(unit, **packed)
            .group_by(unit)
            .agg(pl.col(list(packed)).sum(), size=pl.len())
            .group_by(self._group(unit), *packed)
            .agg(pl.len().cast(pl.Int64).alias(UNITS), most=pl.col("size").max())
            # In memory the same takes three times as long.
            .collect(engine="streaming")
        )
        if len(kinds) and int(str(kinds["most"].max())) >= 2**_BITS:
            expected = f"fewer than {2**_BITS:,} outputs of an item or a cluster in a group"
            raise UsageError("--by", expected=expected, found="more")
        unpacked = [
            (pl.col(f"pack {number}") // 2 ** (_BITS * at) % 2**_BITS).alias(name)
            for number, pack in enumerate(packs)
            for at, name in enumerate(pack)
        ]
        return kinds.select(GROUP, *unpacked, UNITS)

    def _group(self, unit: str) -> pl.Expr:
        return (pl.col(unit) // self.spans[unit]).alias(GROUP)


def _as_number(holds: pl.Expr, bit: int) -> pl.Expr:
    """One, so many bits up, where it holds; a third of the time that a cast and a product take."""
    return pl.when(holds).then(pl.lit(2**bit, dtype=pl.Int64)).otherwise(pl.lit(0, dtype=pl.Int64))


def coded_records(
    records: pl.LazyFrame,
    by: Sequence[str],
    within: Mapping[str, Sequence[str]],
    columns: Mapping[str, pl.Expr],
    *,
    most: int = _MOST,
) -> CodedRecords:
    """These columns of the records, texts as categories, and the numbers of their units.

    A group is what has the same values in the columns of `by`; units, under each name in `within`, are what has
    the same values in its columns too. What is missing is a value of its own. Numbers above `most` are avoided.

    >>> records = pl.LazyFrame({"model": ["b", "a", "b"], "item": ["x", "x", "x"], "right": [True, False, True]})
    >>> coded = coded_records(records, ["model"], {UNIT: ["item"]}, {"right": pl.col("right")})
    >>> list(coded.names.values()), coded.frame.group_by(UNIT, maintain_order=True).len()["len"].to_list()
    ([('b',), ('a',)], [2, 1])
    """
    named = dict.fromkeys((*by, *(name for unit in within.values() for name in unit)))
    others = {name: value for name, value in columns.items() if name not in named}
    found = (
        records.select(*named, **others)
        .with_columns(pl.col(pl.String).cast(pl.Categorical))
        .collect(engine="streaming")
    )
    group, groups = number_of(found, by, most=most)
    units = {
        name: number_of(found, [each for each in own if each not in by], most=most) for name, own in within.items()
    }
    if groups * max(span for _, span in units.values()) > most:
        group, _ = _ranks(found, group)
        units = {name: _ranks(found, unit) for name, (unit, _) in units.items()}
    numbers = {name: group * span + unit for name, (unit, span) in units.items()}
    grouped = found.select(group.alias(GROUP), *by)
    return CodedRecords(
        found.select(*columns, **numbers),
        {number: tuple(values) for number, *values in grouped[grouped[GROUP].arg_unique()].iter_rows()},
        {name: span for name, (_, span) in units.items()},
    )


def number_of(frame: pl.DataFrame, columns: Sequence[str], *, most: int = _MOST) -> tuple[pl.Expr, int]:
    """One whole number from 0 on for the values of several columns, which no other values have, and its bound.

    Columns are of categories or whole numbers; what is missing is a value of its own. A bound above `most` is
    avoided.

    >>> frame = pl.DataFrame({"a": [1, 1, None, 1], "b": [2, 3, 3, 2]})
    >>> number, bound = number_of(frame, ["a", "b"])
    >>> frame.select(number).to_series().to_list(), bound
    ([4, 5, 2, 4], 6)
    """
    ends = frame.select(
        *(pl.col(name).to_physical().min().alias(f"least {name}") for name in columns),
        *(pl.col(name).to_physical().max().alias(f"most {name}") for name in columns),
    )
    number, bound = pl.lit(0, dtype=pl.Int64), 1
    for name in columns:
        code = pl.col(name).to_physical().cast(pl.Int64)
        least, greatest = (ends[f"{end} {name}"].item() or 0 for end in ("least", "most"))
        place, radix = (code - (least - 1)).fill_null(0), greatest - least + 2
        if bound * radix > most:
            (number, bound), (place, radix) = _ranks(frame, number), _ranks(frame, code)
        number, bound = number * radix + place, bound * radix
    return number, bound


def _ranks(frame: pl.DataFrame, number: pl.Expr) -> tuple[pl.Expr, int]:
    """The same numbers without gaps, what is missing as 0; sorting for them takes its time."""
    return number.rank("dense").cast(pl.Int64).fill_null(0), frame.select(number.n_unique()).item() + 1
