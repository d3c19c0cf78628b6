"""What other readings of multiple choice would make of a score: how far it depends on who reads (ruling M30).

They are not the protocol (ruling M5). Of every reading stands how many answers it finds, its accuracy over all
outputs, and by how much that differs from the contract's own, paired over the same outputs.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
import polars as pl

from affidavit.contracts.contract import AnyContract, label
from affidavit.contracts.harness_readings import KeyAndOptions
from affidavit.contracts.mcqa import MultipleChoice
from affidavit.contracts.parts import parts_of
from affidavit.errors import AffidavitError
from affidavit.results.coded_records import GROUP, UNIT, UNITS, CodedRecords
from affidavit.results.collecting import collected
from affidavit.results.counting import ITEM, RecordSet, identity_of_tasks, names_of
from affidavit.results.groups import Group
from affidavit.results.item_shares import cluster_sums, share_of, sums_of
from affidavit.results.table import Table
from affidavit.results.values import Chance, Points, Value
from affidavit.statistics.differences import PairedDifference, Unit
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.multiplicity import holm_steps

LENSES = tuple(label(lens) for lens in MultipleChoice().lenient_readings())
"""Those of mcqa/1; other contracts of multiple choice have some of them."""
_NEED_OPTIONS = {
    label(lens) for lens in MultipleChoice().lenient_readings() if not parts_of(lens).knows_enough(None)
}
_READ, _ANSWERED, _RIGHT = range(3)
"""What a bit says: that the reading could read, that it found an answer, that this is right."""
_BITS, _ROW = "by other readings", "number of the record"


def lenient_table(
    records: RecordSet, groups: Sequence[Group], tasks: Sequence[str], controls: Mapping[str, str]
) -> Table | None:
    """What would other readings give, and how far would they move the score? They are not the protocol."""
    coded = records.coded.plus(_through_lenses(records, tasks))
    found = dict(zip(LENSES, _all_figures(records, coded), strict=True))
    rows = [(group.names, lens, found[lens].get(group.names)) for group in groups for lens in LENSES]
    read = {names for names, _, figures in rows if figures is not None}
    # A dash is for what could be read if more were known: no other reading that a contract has lacks figures.
    rows = [row for row in rows if row[0] in read and (row[2] is not None or row[1] in _NEED_OPTIONS)]
    differences = [figures.difference for _, _, figures in rows if figures is not None]
    compared = iter(_tested([each for each in differences if each is not None], records.seed))
    cells = tuple((*names, lens, *_cells(figures, compared)) for names, lens, figures in rows)
    columns = (*records.by, "reading", *_COLUMNS)
    title = "Other readings, not the protocol: what would lenient readings and other harnesses give?"
    foot, unread = identity_of_tasks(records, groups, tasks), any(figures is None for _, _, figures in rows)
    notes = (_NOTE, *_same_notes(rows), *((_NOT_READ,) if unread else ()))
    return Table("other readings", title, columns, cells, foot, notes) if cells else None


_COLUMNS = ("answers", "share of outputs", "right, of answers", "right, of outputs", "difference", "p", "p (Holm)")
_NOTE = (
    "Difference: accuracy over all outputs by this reading less that by the contract, over the same outputs, the "
    "mean over items; p by McNemar's exact test, of several samples by sign flips over items, adjusted by Holm "
    "over the table, and the interval at the level of that test. Outputs were not asked for in the formats of "
    "other harnesses."
)
_NOT_READ = "A dash: the reading needs the options' texts, which are not known of these outputs."


def _same_notes(rows: Iterable[tuple[tuple[str, ...], str, "_Figures | None"]]) -> Iterator[str]:
    """Which readings count every output as the contract does: their 0.0 has an interval too (ruling S2)."""
    outputs: dict[str, int] = {}
    others: set[str] = set()
    for _, lens, figures in rows:
        if figures is not None and (difference := figures.difference) is not None:
            higher, lower, equal = difference.signs
            outputs[lens] = outputs.get(lens, 0) + equal
            # Samples of one item could make up for each other.
            if higher or lower or not difference.single:
                others.add(lens)
    for count in sorted({outputs[lens] for lens in outputs.keys() - others}):
        readings = ", ".join(lens for lens in outputs if lens not in others and outputs[lens] == count)
        yield f"The same as by the contract on all {count:,} outputs: {readings}. Intervals are about other items."


@dataclass(frozen=True)
class _Figures:
    """What one reading gives in one group."""

    answers: int
    share: Estimate | None
    of_answers: Estimate | None
    of_all: Estimate | None
    difference: PairedDifference | None
    """None: no right answer is known."""


_Tested = tuple[Points, Chance, Chance]


def _cells(figures: _Figures | None, compared: Iterator[_Tested]) -> tuple[Value, ...]:
    if figures is None:
        return (None,) * len(_COLUMNS)
    tested: tuple[Value, ...] = (None, None, None) if figures.difference is None else next(compared)
    return (figures.answers, figures.share, figures.of_answers, figures.of_all, *tested)


def _tested(differences: Sequence[PairedDifference], seed: int) -> list[_Tested]:
    """Each difference with its interval at the level of its test, all of them one family (rulings S2 and S3)."""
    if not differences:
        return []
    # Many readings find the same: what is equal is tested once.
    tests = {each: each.test(seed).p_value for each in dict.fromkeys(differences)}
    p_values = [tests[each] for each in differences]
    steps = holm_steps(p_values)
    levels = steps.levels.tolist()
    at_levels = dict.fromkeys(zip(differences, levels, strict=True))
    points = {(each, level): Points(each.estimate(level)) for each, level in at_levels}
    columns = zip(differences, p_values, steps.adjusted.tolist(), levels, strict=True)
    return [(points[each, level], Chance(p_value), Chance(adjusted)) for each, p_value, adjusted, level in columns]


_ByGroup = dict[tuple[str, ...], _Figures]


def _all_figures(records: RecordSet, coded: CodedRecords) -> list[_ByGroup]:
    """By group, what each reading gives; groups in which it could read nothing are left out."""
    said = coded.frame[_BITS].unique()
    codes = [tuple((said // 2 ** (3 * place) % 8).to_list()) for place in range(len(LENSES))]
    # Readings that say the same of every output are counted once, and those that could read the same in one walk.
    walks: dict[tuple[bool, ...], dict[tuple[int, ...], int]] = {}
    for place, code in enumerate(codes):
        walks.setdefault(tuple(each & 1 << _READ != 0 for each in code), {}).setdefault(code, place)
    found: dict[tuple[int, ...], _ByGroup] = {}
    for could, places in walks.items():
        figures = _figures(records, coded, list(places.values())) if any(could) else [{}]
        found |= dict(zip(places, figures, strict=True))
    return [found[code] for code in codes]


def _figures(records: RecordSet, coded: CodedRecords, places: Sequence[int]) -> list[_ByGroup]:
    """What readings give that could read the same outputs."""
    keyed = pl.col("right_letter").is_not_null()
    counts = {
        "size": pl.lit(value=True),
        "keyed": keyed,
        "strict": pl.col("compliant") & pl.col("correct").fill_null(value=False),
    }
    for place in places:
        answered, right = (_bit(place, what) for what in (_ANSWERED, _RIGHT))
        counts |= {f"n {place}": answered, f"known {place}": answered & keyed, f"right {place}": right}
    read = _bit(places[0], _READ)
    kinds = coded.kinds(read, counts)
    sums: dict[str, pl.Expr] = {}
    for place in places:
        sums |= cluster_sums(f"share {place}", f"n {place}", "size", times=UNITS)
        sums |= cluster_sums(f"answers {place}", f"right {place}", f"known {place}", times=UNITS)
        sums |= cluster_sums(f"all {place}", f"right {place}", "keyed", times=UNITS)
    groups = kinds.group_by(GROUP).agg(**sums)
    return [_of_place(records, coded, kinds, groups, place) for place in places]


def _of_place(
    records: RecordSet, coded: CodedRecords, kinds: pl.DataFrame, groups: pl.DataFrame, place: int
) -> _ByGroup:
    if records.cluster == ITEM:
        items = kinds.select(GROUP, "keyed", "strict", pl.col(f"right {place}").alias("right"), UNITS)
    else:
        read, right = _bit(place, _READ), _bit(place, _RIGHT)
        sides = {
            "keyed": pl.col("right_letter").is_not_null(),
            "strict": pl.col("compliant") & pl.col("correct").fill_null(value=False),
            "right": right,
        }
        summed = [side.sum().cast(pl.Int64).alias(name) for name, side in sides.items()]
        each = coded.where(read).group_by(GROUP, UNIT, records.item_unit).agg(summed)
        items = collected(each, coded.frame.height)
    differences = _differences(items.filter(pl.col("keyed") > 0))
    return {
        names_of(coded.names[row[GROUP]]): _Figures(
            sums_of(row, f"share {place}").successes,
            share_of(row, f"share {place}"),
            share_of(row, f"answers {place}"),
            share_of(row, f"all {place}"),
            differences.get(row[GROUP]),
        )
        for row in groups.iter_rows(named=True)
    }


_PAIRED = ("keyed", "strict", "right")


def _differences(items: pl.DataFrame) -> dict[int, PairedDifference]:
    """By group, the differences of items: a row for as many as count alike, or for each with its cluster."""
    if UNITS not in items.columns:
        parts = items.partition_by(GROUP, as_dict=True)
        return {int(str(group)): _clustered(rows) for (group,), rows in parts.items()}
    # One division of whole numbers: equal differences are equal to the last bit.
    by = (pl.col("right") - pl.col("strict")) / pl.col("keyed") + 0.0
    counted = items.group_by(GROUP, difference=by).agg(pl.col(UNITS).sum(), most=pl.col("keyed").max())
    units: dict[int, list[tuple[Unit, int]]] = {}
    several = set()
    for group, each, times, most in counted.sort(GROUP, "difference").iter_rows():
        units.setdefault(group, []).append((Unit(each, 1), times))
        if most > 1:
            several.add(group)
    return {group: PairedDifference(tuple(own), group not in several, 1.0) for group, own in units.items()}


def _clustered(rows: pl.DataFrame) -> PairedDifference:
    keyed, strict, right = (rows[name].to_numpy() for name in _PAIRED)
    return PairedDifference.of_counts(strict, keyed, right, keyed, clusters=rows[UNIT].to_list())


def _bit(place: int, what: int) -> pl.Expr:
    return (pl.col(_BITS) & pl.lit(1 << (3 * place + what), dtype=pl.UInt64)) != 0


def right_by_readings(records: RecordSet) -> dict[str, list[bool | None]]:
    """By lenient reading, whether each output is right, in the order of the records; None where it cannot read."""
    tasks = records.tasks_with("other readings")
    if not tasks:
        return {}
    bits = records.coded.plus(_through_lenses(records, tasks)).frame
    found = {}
    for place, lens in enumerate(LENSES):
        read, right = _bit(place, _READ), _bit(place, _RIGHT)
        said = bits.select(pl.when(read).then(right).alias(lens))[lens]
        if said.is_not_null().any():
            found[lens] = said.to_list()
    return found


# --- reading ---


def _through_lenses(records: RecordSet, tasks: Sequence[str]) -> pl.Series:
    """For each record, as bits, what each reading of its contract says of it; nothing of what did not arrive."""
    more = ("task", ITEM, "sample", "row") if records.shown_options is not None else ()
    reader = _BatchReader(records)
    bits = pl.struct(*_READ_FROM, *more).map_batches(reader.bits, return_dtype=pl.UInt64, is_elementwise=True)
    reading = (
        records.outputs()
        .with_row_index(_ROW)
        .filter(pl.col("protocol_compliant").is_not_null() & pl.col("options").is_not_null())
        .select(_ROW, bits.alias(_BITS))
    )
    frame = records.coded.frame
    read = collected(reading, frame.height)
    if reader.refused is not None:
        raise reader.refused
    every = pl.zeros(len(frame), pl.UInt64, eager=True).scatter(read[_ROW], read[_BITS])
    return frame.select((every & _of_contract(records, tasks)).alias(_BITS)).to_series()


def _of_contract(records: RecordSet, tasks: Sequence[str]) -> pl.Expr:
    """The bits of the readings that the contract of a record's task has."""
    masks: dict[int, list[str]] = {}
    for task in tasks:
        own = {label(lens) for lens in records.parts[task].lenient_readings()}
        masks.setdefault(sum(7 << 3 * place for place, lens in enumerate(LENSES) if lens in own), []).append(task)
    found = pl.lit(0, dtype=pl.UInt64)
    for mask, having in masks.items():
        found = pl.when(pl.col("task").is_in(having)).then(pl.lit(mask, dtype=pl.UInt64)).otherwise(found)
    return found


_READ_FROM = ("raw_output", "raw_output_escaped", "options", "right_letter")
"""The columns that all readings go by."""


class _BatchReader:
    """Other readings over batches of records; equal texts of a batch are read once."""

    def __init__(self, records: RecordSet) -> None:
        self._shown = records.shown_options
        self.refused: AffidavitError | None = None
        """What was wrong with the directory: Polars would make another error of it on the way out."""

    def bits(self, batch: pl.Series) -> pl.Series:
        """What each reading says of each output; nothing once something is wrong with the directory."""
        try:
            return self._bits(batch.struct.unnest())
        except AffidavitError as error:
            self.refused = self.refused or error
            return pl.zeros(len(batch), pl.UInt64, eager=True)

    def _bits(self, frame: pl.DataFrame) -> pl.Series:
        # The rows of each kind at once: looking every row up among the kinds would take twice as long.
        kinds = frame.with_row_index(_ROW).group_by(_READ_FROM).agg(_ROW, rows=pl.len())
        read = np.array([_bits_of(*row) for row in kinds.select(_READ_FROM).iter_rows()], dtype=np.uint64)
        bits = np.zeros(len(frame), dtype=np.uint64)
        bits[kinds[_ROW].explode().to_numpy()] = np.repeat(read, kinds["rows"].to_numpy())
        found = pl.Series(bits)
        return found if self._shown is None else found | self._by_options(frame)

    def _by_options(self, frame: pl.DataFrame) -> pl.Series:
        """The same of readings that need the options' texts, each question by itself."""
        known: dict[tuple[object, ...], int] = {}
        found = []
        for raw, escaped, options, right, *question in frame.iter_rows():
            shown = None if self._shown is None else self._shown(*question)
            key = (raw, escaped, options, right, shown)
            if key not in known:
                known[key] = _read_knowing(_text(raw, escaped), options, right, shown)
            found.append(known[key])
        return pl.Series(found, dtype=pl.UInt64)


def _bits_of(raw: str | None, escaped: str | None, options: str, right: str | None) -> int:
    """What the readings say that need not know the options' texts."""
    text = _text(raw, escaped)
    answers = _known_answers(text, options) if len(text) <= _SHORT else _answers(text, options)
    return sum(_said(answer, right) << place for place, answer in answers)


def _answers(text: str, options: str) -> tuple[tuple[int, str | None], ...]:
    """The place of each reading's bits, and its answer."""
    return tuple((place, lens.read(text).extracted_answer) for place, lens in _lenses(options).of_texts)


_SHORT = 200
_known_answers = lru_cache(maxsize=4096)(_answers)
"""Of short texts, which many outputs have in common, beyond the batch."""


def _read_knowing(text: str, options: str, right: str | None, shown: tuple[str, ...] | None) -> int:
    """What the readings say that need to know them, if they fit the option set."""
    item, fits = KeyAndOptions(right, shown), shown is not None and len(shown) == ord(options[-1]) - ord("A") + 1
    return sum(
        _said(lens.read(text, item).extracted_answer, right) << place
        for place, lens in (_lenses(options).of_options if fits else ())
        if parts_of(lens).knows_enough(item)
    )


class _Lenses(NamedTuple):
    """The readings of an option set, each with the place of its bits."""

    of_texts: tuple[tuple[int, AnyContract], ...]
    of_options: tuple[tuple[int, AnyContract], ...]
    """Those that need to know the options' texts."""


@cache
def _lenses(options: str) -> _Lenses:
    every = [(3 * place, lens) for place, lens in enumerate(MultipleChoice(options).lenient_readings())]
    needy = [parts_of(lens).knows_enough(None) is False for _, lens in every]
    return _Lenses(
        tuple(each for each, needs in zip(every, needy, strict=True) if not needs),
        tuple(each for each, needs in zip(every, needy, strict=True) if needs),
    )


def _said(answer: str | None, right: str | None) -> int:
    """The bits of a reading that could read."""
    return 1 << _READ | (answer is not None) << _ANSWERED | (answer is not None and answer == right) << _RIGHT


def _text(raw: str | None, escaped: str | None) -> str:
    """The text; of one that no column can hold, from its escapes."""
    return str(json.loads(escaped)) if raw is None and escaped is not None else raw or ""
