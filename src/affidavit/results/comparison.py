"""Two sides over the same items: what is different, how sure that is, and what could have been detected.

A side is a study, or a part of one: a task, a model, a condition. What both sides have in common is compared cell
by cell; where each side has only one model or condition, those are what is compared. Differences are the second
side's less the first's, paired by item.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import polars as pl

from affidavit.archive.record import RecordKind
from affidavit.errors import UsageError
from affidavit.results.groups import CELL
from affidavit.results.table import Table
from affidavit.results.values import Chance, Points, Value
from affidavit.statistics.differences import Significance, difference_of_clusters, mcnemar, sign_flip_test
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.means import clustered_standard_error
from affidavit.statistics.multiplicity import benjamini_hochberg, holm
from affidavit.statistics.power import LEVEL, detectable_mean

MEASURES = ("compliance", "accuracy over compliant", "yield")
MOST_MOVED = 50


@dataclass(frozen=True)
class Side:
    """One side of a comparison."""

    name: str
    records: pl.LazyFrame
    chosen: Mapping[str, str]
    """What was chosen of the study: values of task, model or condition."""
    seed: int
    """The study's."""
    study: str = ""
    """Where the study is that this is all or a part of."""

    def outputs(self) -> pl.LazyFrame:
        """The questions of this side."""
        frame = self.records.filter(pl.col("kind").ne(RecordKind.JUDGEMENT.value) & pl.col("judge").is_null())
        for column, value in self.chosen.items():
            frame = frame.filter(pl.col(column) == value)
        return frame


def parse_side(text: str) -> tuple[str, dict[str, str]]:
    """The directory and the choice of a side.

    >>> parse_side("my-study@model=small,condition=free")
    ('my-study', {'model': 'small', 'condition': 'free'})
    """
    directory, _, chosen = text.partition("@")
    found: dict[str, str] = {}
    for part in filter(None, chosen.split(",")):
        column, equals, value = part.partition("=")
        if column not in CELL or not equals:
            raise UsageError(text, expected="DIR@model=NAME,condition=NAME,task=NAME", found=repr(part))
        found[column] = value
    return directory, found


def comparison_tables(first: Side, second: Side) -> list[Table]:
    """The differences and, between two studies, the readings that moved.

    Intervals are drawn with the seed of the study that is compared against.
    """
    differences = compared(first, second, seed=first.seed)
    moved = None if first.study == second.study else moved_readings(first, second)
    return [differences] if moved is None else [differences, moved]


@dataclass(frozen=True)
class _Pairs:
    """The items of one cell, under both sides."""

    names: tuple[str, ...]
    frame: pl.DataFrame


def compared(first: Side, second: Side, *, seed: int, shared: Sequence[str] | None = None) -> Table:
    """The differences of every cell and measure, with intervals and adjusted p-values.

    Cells are matched by the columns in `shared`, which follow from the sides unless given.
    """
    rows: list[tuple[tuple[str, ...], str, Estimate, Significance, str]] = []
    shared = _shared(first, second) if shared is None else tuple(shared)
    for pairs in _paired(first, second, shared):
        for measure in MEASURES:
            found = _difference(pairs.frame, measure, seed)
            if found is not None:
                rows.append((pairs.names, measure, *found))
    if not rows:
        raise UsageError(
            f"{first.name} and {second.name}",
            expected="items that both sides have",
            found="none",
            hint="Items are paired by task and id; choose parts with DIR@model=NAME,condition=NAME.",
        )
    adjusted = [holm([row[3].p_value for row in rows]), benjamini_hochberg([row[3].p_value for row in rows])]
    rows_in_words = []
    for (names, measure, difference, test, least), by_holm, by_bh in zip(rows, *adjusted, strict=True):
        chances = (Chance(test.p_value), Chance(float(by_holm)), Chance(float(by_bh)))
        words = _verdict(difference, float(by_holm), least)
        rows_in_words.append((*names, measure, difference.n, Points(difference), *chances, words))
    columns = (*shared, "measure", "items", "difference", "p", "p, Holm", "p, Benjamini–Hochberg", "in words")
    question = f"What is different in {second.name}, against {first.name}?"
    tests = ", ".join(sorted({row[3].method.split(",")[0] for row in rows}))
    foot = f"{len(rows)} comparisons, paired by item; tests: {tests}; differences: paired cluster bootstrap 95%"
    return Table("comparison", question, columns, tuple(rows_in_words), foot)


def _shared(first: Side, second: Side) -> tuple[str, ...]:
    """The columns by which both sides are matched: task, and whatever has more than one value on a side."""
    found = ["task"]
    for column in ("model", "condition"):
        values = [
            set(side.outputs().select(pl.col(column).unique()).collect()[column]) for side in (first, second)
        ]
        if any(len(each) > 1 for each in values) or values[0] == values[1]:
            found.append(column)
    return tuple(found)


def _paired(first: Side, second: Side, shared: Sequence[str]) -> Iterator[_Pairs]:
    keys = [*shared, "item_id"]
    joined = _counts(first, keys).join(_counts(second, keys), on=keys, how="inner", suffix="_2").collect()
    for names, part in sorted(joined.partition_by(list(shared), as_dict=True).items()):
        yield _Pairs(tuple(map(str, names)), part)


def _counts(side: Side, keys: Sequence[str]) -> pl.LazyFrame:
    arrived = pl.col("protocol_compliant").is_not_null()
    compliant = pl.col("protocol_compliant").fill_null(value=False)
    right = compliant & pl.col("correct").fill_null(value=False)
    return (
        side.outputs()
        .group_by(list(keys))
        .agg(
            arrived=arrived.sum().cast(pl.Int64),
            compliant=compliant.sum().cast(pl.Int64),
            compared=(compliant & pl.col("correct").is_not_null()).sum().cast(pl.Int64),
            right=right.sum().cast(pl.Int64),
            keyed=(arrived & pl.col("keyed").fill_null(value=False)).sum().cast(pl.Int64),
        )
    )


_SHARES = {
    "compliance": ("compliant", "arrived"),
    "accuracy over compliant": ("right", "compared"),
    "yield": ("right", "keyed"),
}


def _difference(pairs: pl.DataFrame, measure: str, seed: int) -> tuple[Estimate, Significance, str] | None:
    """Difference, test and the smallest detectable one in words; None where no item has both."""
    part, whole = _SHARES[measure]
    # Only where both are there: an answer that one side did not give says nothing about the other's.
    both = pairs.filter((pl.col(whole) > 0) & (pl.col(f"{whole}_2") > 0))
    if both.is_empty():
        return None
    counts = [both[name].to_numpy() for name in (part, whole, f"{part}_2", f"{whole}_2")]
    difference = difference_of_clusters(*counts, seed=seed)
    each = counts[2] / counts[3] - counts[0] / counts[1]
    if counts[1].max() == 1 and counts[3].max() == 1:
        test = mcnemar(int((each < 0).sum()), int((each > 0).sum()), pairs=len(both))
    else:
        test = sign_flip_test(each, seed=seed)
    return difference, test, _detectable(each)


def _detectable(each: "pl.Series | object") -> str:
    import numpy as np  # noqa: PLC0415

    differences = np.asarray(each, dtype=float)
    if len(differences) < 2:
        return ""
    error = clustered_standard_error(differences, np.ones(len(differences)))
    if error <= 0:
        return ""
    least = detectable_mean(error, len(differences))
    return "" if least > 1 else f" (smallest detectable difference: {least * 100:.1f} points)"


def is_distinguishable(difference: Estimate, adjusted: float) -> bool:
    """Whether a difference is distinguishable from zero, by its adjusted p-value."""
    return adjusted <= LEVEL and isfinite(difference.low)


def _verdict(difference: Estimate, p_value: float, detectable: str) -> str:
    """The finding in words, without more certainty than there is."""
    if is_distinguishable(difference, p_value):
        return "higher" if difference.value > 0 else "lower"
    return f"not distinguishable at this n{detectable}"


def moved_readings(first: Side, second: Side) -> Table | None:
    """Outputs that both sides hold word for word and read differently; None if there is no such output at all."""
    columns = [
        "key",
        "task",
        "item_id",
        "model",
        "condition",
        "sample",
        "contract",
        "raw_output",
        "raw_output_escaped",
        "protocol_compliant",
    ]
    columns += ["letter", "answer", "correct", "reason", "unread"]
    frames = [side.outputs().filter(pl.col("failure").is_null()).select(columns) for side in (first, second)]
    texts = ["key", "raw_output", "raw_output_escaped"]
    same = frames[0].join(frames[1], on=texts, how="inner", suffix="_2", nulls_equal=True).collect()
    if same.is_empty():
        return None
    readings = ("protocol_compliant", "answer", "correct", "reason")
    changed = pl.any_horizontal(pl.col(name).ne_missing(pl.col(f"{name}_2")) for name in readings)
    moved = same.filter(changed).sort("key")
    rows: list[tuple[Value, ...]] = [
        (
            row["key"][:16],
            row["task"],
            row["item_id"],
            row["model"],
            row["condition"],
            _reading(row, ""),
            _reading(row, "_2"),
        )
        for row in moved.head(MOST_MOVED).iter_rows(named=True)
    ]
    foot = f"{len(moved):,} of {len(same):,} outputs that both hold are read differently"
    if len(moved) > MOST_MOVED:
        foot += f"; the first {MOST_MOVED} are listed"
    names = ("key", "task", "item", "model", "condition", f"in {first.name}", f"in {second.name}")
    return Table("moved readings", "Which readings moved?", names, tuple(rows), foot)


def _reading(row: Mapping[str, object], side: str) -> str:
    if row[f"unread{side}"] is not None:
        kept = "unread"
    else:
        kept = "compliant" if row[f"protocol_compliant{side}"] else "not compliant"
    letter, answer, reason = (row[f"{name}{side}"] for name in ("letter", "answer", "reason"))
    given = answer if letter is None else letter
    parts = (row[f"contract{side}"], kept, given, None if reason is None else f"({reason})")
    return " ".join(str(each) for each in parts if each is not None)
