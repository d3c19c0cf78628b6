"""Two sides over the same items: what is different, how sure that is, and what could have been detected.

A side is a study, or a part of one: a task, a model, a condition. What both sides have in common is compared cell
by cell; where each side has only one model or condition, those are what is compared. Differences are the second
side's less the first's, paired by item. Value, interval and test are about one quantity (ruling S2), and all rows
of a table are one family (ruling S3).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from affidavit.archive.record import RecordKind
from affidavit.contracts.read_by import OtherParameter, ReadBy
from affidavit.errors import UsageError
from affidavit.plain_text import counted_noun, plain
from affidavit.results.caveats import AskedCell, pending_note, trial_note
from affidavit.results.counting import holds_answer
from affidavit.results.groups import CELL
from affidavit.results.item_content import RIGHT, ItemContents, differing
from affidavit.results.table import Table
from affidavit.results.values import Chance, Points, Value
from affidavit.statistics.differences import PairedDifference
from affidavit.statistics.multiplicity import Verdict, family

MEASURES = ("compliance", "accuracy over answers", "yield")
ITEM = "item_id"
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
    by_validation: Sequence[str] = ()
    """Its tasks in which every answer counts, compliant or not (ruling G12)."""
    items: Callable[[], ItemContents] = dict
    """By task and id, what was asked and what is right; nothing where that is not known."""
    sealed: bool = True
    asked: Sequence[AskedCell] = ()
    """How far the questions of this side were asked, cell by cell."""
    cluster_notes: tuple[str, ...] = ()
    """What is to be said where items of this side are clustered: which have no cluster."""
    trial: int | None = None
    """Of a trial: it is about the first so many items of each task."""
    read_by: Mapping[str, ReadBy] = field(default_factory=dict)
    """By what the outputs of each task are read."""

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
    directory, _, chosen = text.rpartition("@") if "@" in text else (text, "", "")
    found: dict[str, str] = {}
    for part in filter(None, chosen.split(",")):
        column, equals, value = part.partition("=")
        if column not in CELL or not equals or column in found:
            expected = "DIR@model=NAME,condition=NAME,task=NAME, each at most once"
            raise UsageError(text, expected=expected, found=repr(part))
        found[column] = value
    return directory, found


def comparison_tables(first: Side, second: Side, *, mid_p: bool = False, cluster: str = ITEM) -> list[Table]:
    """The differences and, between two studies, the readings that moved.

    Signs are drawn with the seed of the study that is compared against.
    """
    differences = compared(first, second, seed=first.seed, mid_p=mid_p, cluster=cluster)
    moved = None if first.study == second.study else moved_readings(first, second)
    return [differences] if moved is None else [differences, moved]


@dataclass(frozen=True)
class MeasuredDifference:
    """One row of a comparison to be: a measure of a cell, over the items in which both sides have it."""

    names: tuple[str, ...]
    measure: str
    difference: PairedDifference | None
    """None: no item has it on both sides."""
    left_out: int
    """Items that both sides have, without an output to measure on one of them."""


@dataclass(frozen=True)
class Comparison:
    """Two sides, paired and not tested yet."""

    first: str
    second: str
    shared: tuple[str, ...]
    rows: tuple[MeasuredDifference, ...]
    only: tuple[int, int]
    """Items that have outputs on the first side only, in cells that both have; and on the second only."""
    cells_only: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """Cells that only the first side has, in words, and only the second."""
    notes: tuple[str, ...] = ()

    @property
    def without_partner(self) -> str:
        """What only one side has, in words; empty if there is nothing."""
        parts = []
        for items, cells, name in zip(self.only, self.cells_only, (self.first, self.second), strict=True):
            parts += [f"{cell} only in {name}" for cell in cells]
            if items:
                parts.append(f"{items:,} item{'s' * (items != 1)} with outputs only in {name}")
        return f"{', '.join(parts)}: not compared" if parts else ""


def compared(  # noqa: PLR0913 - two sides, and how they are compared
    first: Side,
    second: Side,
    *,
    seed: int,
    shared: Sequence[str] | None = None,
    mid_p: bool = False,
    cluster: str = ITEM,
) -> Table:
    """The differences of every cell and measure, each with its interval at the level that its verdict used."""
    paired = pair_sides(first, second, shared=shared, cluster=cluster)
    if not paired.rows:
        raise UsageError(
            f"{first.name} and {second.name}",
            expected="items that both sides have",
            found="none",
            hint="Items are paired by task and id; choose parts with DIR@model=NAME,condition=NAME.",
        )
    return as_one_family([paired], seed=seed, mid_p=mid_p)[0]


def pair_sides(
    first: Side, second: Side, *, shared: Sequence[str] | None = None, cluster: str = ITEM
) -> Comparison:
    """The differences of every cell and measure that both sides have.

    Cells are matched by the columns in `shared`, which follow from the sides unless given. `cluster` is a column
    of the first side's records: items of one value and task are one unit (ruling S8).
    """
    shared = _shared(first, second) if shared is None else tuple(shared)
    both, only, cells_only = _paired(first, second, shared, cluster)
    cells = sorted(both.partition_by(list(shared), as_dict=True).items())
    rows = (_differences(tuple(map(str, names)), part, clustered=cluster != ITEM) for names, part in cells)
    found = tuple(row for cell in rows for row in cell)
    return Comparison(first.name, second.name, shared, found, only, cells_only, tuple(_notes(first, second, both)))


def _notes(first: Side, second: Side, both: pl.DataFrame) -> Iterator[str]:
    """What a reader should know of two sides before any difference of them."""
    for side in (first, second):
        yield from (*trial_note(side.trial, of=side.name), *pending_note(side.asked, of=side.name))
    yield from first.cluster_notes
    if first.study and (first.study, first.chosen) == (second.study, second.chosen):
        yield "Both sides are the same outputs."
    yield from (f"{side.name} is not sealed." for side in (first, second) if not side.sealed)
    pairs = {(str(task), str(item)) for task, item in both.select("task", ITEM).iter_rows()}
    if other := len(pairs & differing(first.items(), second.items())):
        yield f"{other:,} of {len(pairs):,} items have one id on both sides, and another text or right answer."


def read_otherwise(first: Side, second: Side) -> list[str]:
    """That a task is read by another contract on the other side, or by the same with other parameters.

    It stands before all figures: what differs may be the reading alone.
    """
    return [
        f"{plain(task)} is read {words} ({plain(first.name)} / {plain(second.name)})."
        for task in first.read_by
        if task in second.read_by and (words := _otherwise(first.read_by[task], second.read_by[task]))
    ]


def _otherwise(first: ReadBy, second: ReadBy) -> str:
    """How a second contract reads otherwise than the first; empty if it does not.

    >>> _otherwise(ReadBy("number/1", {"marker": ""}), ReadBy("number/1", {"marker": "####"}))
    'with other parameters: marker none / ####'
    """
    if first.label != second.label:
        return plain(f"by other contracts: {first} / {second}")
    return plain(f"with other parameters: {others}") if (others := _joined(first.differing(second))) else ""


def _joined(others: Sequence[OtherParameter]) -> str:
    return ", ".join(map(str, others))


def as_one_family(comparisons: Sequence[Comparison], *, seed: int, mid_p: bool = False) -> list[Table]:
    """A table for each comparison, with verdicts that are adjusted for all rows of all of them."""
    every = [row.difference for comparison in comparisons for row in comparison.rows]
    rows = [difference for difference in every if difference is not None]
    verdicts = iter(family(rows, seed=seed, mid_p=mid_p)) if rows else iter(())
    return [
        _table(comparison, [next(verdicts) if row.difference else None for row in comparison.rows], len(rows))
        for comparison in comparisons
    ]


def _cells(row: MeasuredDifference, verdict: Verdict | None) -> tuple[Value, ...]:
    named = (*row.names, row.measure)
    if row.difference is None or verdict is None:
        what = "an answer" if row.measure == "accuracy over answers" else "such an output"
        return (*named, 0, row.left_out, None, None, None, None, f"no item has {what} on both sides")
    return (
        *named,
        row.difference.items,
        row.left_out,
        Points(verdict.estimate),
        Chance(verdict.level),
        Chance(verdict.significance.p_value),
        Chance(verdict.adjusted),
        verdict.in_words(),
    )


def _table(comparison: Comparison, verdicts: Sequence[Verdict | None], size: int) -> Table:
    rows = tuple(_cells(row, verdict) for row, verdict in zip(comparison.rows, verdicts, strict=True))
    columns = (
        *comparison.shared,
        "measure",
        "items",
        "left out",
        "difference",
        "level",
        "p",
        "p, Holm",
        "in words",
    )
    alone = f" ({comparison.without_partner})" if comparison.without_partner else ""
    question = f"What is different in {comparison.second}, against {comparison.first}?{alone}"
    tested = [verdict.significance.method for verdict in verdicts if verdict is not None]
    tests = ", ".join(sorted({", ".join(method.split(", ")[:2]) for method in tested})) or "none"
    foot = (
        f"{counted_noun(len(rows), 'comparison')}, paired by item; tests: {tests}; Holm over {size:,} "
        f"comparison{'s' * (size != 1)}, each interval at the level of its verdict"
    )
    left_out = (LEFT_OUT,) if any(row.left_out for row in comparison.rows) else ()
    return Table("comparison", question, columns, rows, foot, (*comparison.notes, *left_out))


LEFT_OUT = (
    "Items left out are those of which one side has no answer (accuracy over answers), no output that was read "
    "(compliance) or no output at all (accuracy over all outputs), and, for either accuracy, those whose right "
    "answer is not known."
)


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


def _paired(
    first: Side, second: Side, shared: Sequence[str], cluster: str
) -> tuple[pl.DataFrame, tuple[int, int], tuple[tuple[str, ...], tuple[str, ...]]]:
    """The counts of items that both sides have in a cell, how many have no partner, and which cells have none."""
    keys, cells = list(dict.fromkeys((*shared, "task", ITEM))), list(shared)
    counts = item_counts(first, keys, cluster).collect(), item_counts(second, keys, ITEM).collect()
    both = counts[0].join(counts[1], on=keys, how="inner", suffix="_2")
    alone, cells_alone = [], []
    for one, other in (counts, counts[::-1]):
        there = one.join(other, on=cells, how="semi")
        alone.append(there.join(other, on=keys, how="anti").select("task", ITEM).n_unique())
        lacking = one.join(other, on=cells, how="anti").select(cells).unique().sort(cells)
        cells_alone.append(tuple(", ".join(map(str, names)) for names in lacking.iter_rows()))
    return both, (alone[0], alone[1]), (cells_alone[0], cells_alone[1])


def item_counts(side: Side, keys: Sequence[str], cluster: str) -> pl.LazyFrame:
    """What the outputs of each item counted, by these columns: what every measure is a part and a whole of."""
    arrived = pl.col("protocol_compliant").is_not_null()
    came = pl.col("kind") == RecordKind.RESPONSE.value
    compliant = pl.col("protocol_compliant").fill_null(value=False)
    holds = holds_answer(side.by_validation)
    right = holds & pl.col("correct").fill_null(value=False)
    above = {} if cluster == ITEM else {"cluster": pl.col(cluster).first()}
    return (
        side.outputs()
        .group_by(list(keys))
        .agg(
            arrived=arrived.sum().cast(pl.Int64),
            compliant=compliant.sum().cast(pl.Int64),
            answered=(holds & pl.col("correct").is_not_null()).sum().cast(pl.Int64),
            right=right.sum().cast(pl.Int64),
            keyed=(came & pl.col("keyed").fill_null(value=False)).sum().cast(pl.Int64),
            **above,
        )
    )


_SHARES = {
    "compliance": ("compliant", "arrived"),
    "accuracy over answers": ("right", "answered"),
    "yield": ("right", "keyed"),
}
"""Each measure: what is counted, and of what."""


def _differences(names: tuple[str, ...], pairs: pl.DataFrame, *, clustered: bool) -> Iterator[MeasuredDifference]:
    """The differences of all measures of a cell; none of a measure that neither side has."""
    for measure, (part, whole) in _SHARES.items():
        # Only where both are there: an answer that one side did not give says nothing about the other's.
        both = pairs.filter((pl.col(whole) > 0) & (pl.col(f"{whole}_2") > 0))
        if both.is_empty():
            if (
                pairs[whole].sum()
                or pairs[f"{whole}_2"].sum()
                or (measure != "compliance" and pairs["keyed"].sum())
            ):
                yield MeasuredDifference(names, measure, None, len(pairs))
            continue
        counts = [both[name].to_numpy() for name in (part, whole, f"{part}_2", f"{whole}_2")]
        clusters = both.select("task", "cluster").rows() if clustered else None
        yield MeasuredDifference(
            names, measure, PairedDifference.of_counts(*counts, clusters=clusters), len(pairs) - len(both)
        )


def moved_readings(first: Side, second: Side) -> Table | None:
    """Outputs that both sides hold word for word and read differently; None if no question is answered by both.

    The foot also says how many of them are read alike and compared with another right answer, and how many of the
    questions that both answer have another text, as draws of one seed may.
    """
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
    both = frames[0].join(frames[1], on="key", how="inner", suffix="_2").collect()
    if both.is_empty():
        return None
    another_text, another_reading, another_verdict = (
        pl.any_horizontal(pl.col(name).ne_missing(pl.col(f"{name}_2")) for name in names) for names in _TOLD_APART
    )
    # What is compared with another right answer may be called right by one side and wrong by the other.
    other_keys = differing(first.items(), second.items(), RIGHT)
    places = both.select("task", ITEM).iter_rows()
    both = both.with_columns(pl.Series(_OTHER_KEY, [place in other_keys for place in places], pl.Boolean))
    read_differently = another_reading | (another_verdict & ~pl.col(_OTHER_KEY))
    same, other = both.filter(~another_text), both.filter(another_text)
    moved = same.filter(read_differently).sort("key")
    parameters = _other_parameters(first, second)
    compared_otherwise = len(same.filter(another_verdict & ~read_differently))
    rows: list[tuple[Value, ...]] = [
        (
            *(row["key"][:16], row["task"], row["item_id"], row["model"], row["condition"]),
            *_readings(row, parameters.get(row["task"], ("", ""))),
        )
        for row in moved.head(MOST_MOVED).iter_rows(named=True)
    ]
    parts = [f"{len(moved):,} of {len(same):,} outputs that both hold are read differently"] if len(same) else []
    if len(moved) > MOST_MOVED:
        parts.append(f"the first {MOST_MOVED} are listed")
    if compared_otherwise:
        are = "is" if compared_otherwise == 1 else "are"
        parts.append(f"{compared_otherwise:,} {are} read alike and compared with another right answer")
    if len(other):
        differently = len(other.filter(read_differently))
        parts.append(
            f"{len(other):,} of {len(both):,} questions that both answer {'has' if len(other) == 1 else 'have'} "
            f"another text, of which {differently:,} {'is' if differently == 1 else 'are'} read differently"
        )
    names = ("key", "task", "item", "model", "condition", f"in {first.name}", f"in {second.name}")
    return Table("moved readings", "Which readings moved?", names, tuple(rows), "; ".join(parts))


_TOLD_APART = ("raw_output", "raw_output_escaped"), ("protocol_compliant", "answer"), ("correct", "reason")
"""The columns of a text, of what is read in it, and of what is said of that."""
_OTHER_KEY = "has another right answer"


def _other_parameters(first: Side, second: Side) -> dict[str, tuple[str, str]]:
    """By task, the parameters that differ, as they are on either side."""
    found: dict[str, tuple[str, str]] = {}
    for task in first.read_by.keys() & second.read_by.keys():
        others = first.read_by[task].differing(second.read_by[task])
        one, another = (", ".join(f"{each.name} {each[at]}" for each in others) for at in (1, 2))
        found[task] = one, another
    return found


def _readings(row: Mapping[str, object], parameters: tuple[str, str] = ("", "")) -> tuple[str, str]:
    """What either side reads, with the parameters that differ; where that is the same, what it says of it."""
    one, another = _reading(row, "", parameters[0]), _reading(row, "_2", parameters[1])
    if one != another:
        return one, another
    words = {True: "right", False: "wrong", None: "not compared"}
    return f"{one}, {words[row['correct']]}", f"{another}, {words[row['correct_2']]}"  # type: ignore[index]


def _reading(row: Mapping[str, object], side: str, parameters: str) -> str:
    if row[f"unread{side}"] is not None:
        kept = "unread"
    else:
        kept = "compliant" if row[f"protocol_compliant{side}"] else "not compliant"
    letter, answer, reason = (row[f"{name}{side}"] for name in ("letter", "answer", "reason"))
    given = answer if letter is None else letter
    contract = f"{row[f'contract{side}']} ({parameters})" if parameters else row[f"contract{side}"]
    parts = (contract, kept, given, None if reason is None else f"({reason})")
    return " ".join(str(each) for each in parts if each is not None)
