"""The tables of multiple choice that cannot be declared: letters, lenient readings, chance."""

import json
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple

import polars as pl

from affidavit.contracts.contract import label
from affidavit.contracts.deviation import CLOSING, OPENING, THINK_END
from affidavit.contracts.mcqa import MultipleChoice
from affidavit.contracts.whitespace import WHITESPACE
from affidavit.results.coded_records import GROUP, UNITS, CodedRecords
from affidavit.results.counting import ITEM, RecordSet, identity_of_tasks, names_of, place_of
from affidavit.results.groups import Group
from affidavit.results.item_shares import cluster_sums, share_of, sums_of
from affidavit.results.table import Table
from affidavit.results.values import Chance, Points, Value
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.item_means import mean_difference, t_test
from affidavit.statistics.multiplicity import holm_steps
from affidavit.statistics.power import LEVEL
from affidavit.statistics.shares import ClusterSums, share

LENSES = tuple(label(lens) for lens in MultipleChoice().lenient_readings())
"""Those of mcqa/1; other contracts of multiple choice have some of them."""


def chance_table(
    records: RecordSet, groups: Sequence[Group], tasks: Sequence[str], controls: Mapping[str, str]
) -> Table | None:
    """What would blind guessing give: one over the number of options, averaged over the outputs of the accuracy?

    A level over other items would be that of another guesser: whoever answers only where there are two options
    guesses right half of the time. Where no output holds an answer, the level is over all outputs.
    """
    by, keyed = (
        list(records.by),
        pl.col("task").is_in(list(tasks)) & pl.col("options").is_not_null() & pl.col("keyed"),
    )
    compared = pl.col("holds_answer") & pl.col("correct").is_not_null()
    of_all, of_compared = _sizes(records, keyed, (pl.lit(value=True), compared))
    rows, accuracies = [], _accuracies(records, groups, tasks)
    for group in groups:
        if of_group := of_compared.get(group.names) or of_all.get(group.names):
            items, outputs = map(sum, zip(*of_group.values(), strict=True))
            level = fsum(many / number for number, (_, many) in of_group.items()) / outputs
            numbers = ", ".join(map(str, of_group))
            found = accuracies.get(group.names)
            rows.append((*group.names, items, numbers, level, found, _against(level, found)))
    columns = (*by, "items", "options", "chance level", "accuracy over compliant", "against chance")
    foot = identity_of_tasks(records, groups, tasks)
    question = "What would blind guessing give?"
    return Table("chance", question, columns, tuple(rows), foot, (_LEVEL,)) if rows else None


_LEVEL = (
    "Chance level: one over the number of options, over the outputs that the accuracy beside it is over; items "
    "are those of these outputs. Against chance: each row by itself, not adjusted for how many there are."
)


_Sizes = dict[tuple[str, ...], dict[int, tuple[int, int]]]
"""By group and number of options, in the order of numbers: how many items, and how many outputs."""


def _sizes(records: RecordSet, chosen: pl.Expr, among: Sequence[pl.Expr]) -> list[_Sizes]:
    """How large the option sets of what is chosen are, of those among each of these."""
    coded = records.coded
    sets = coded.where(chosen).select(pl.col("options").unique()).collect().to_series().cast(pl.String).sort()
    asked = [(at, options) for at in range(len(among)) for options in sets]
    counts = {f"{options} {at}": (pl.col("options") == options) & among[at] for at, options in asked}
    found: list[_Sizes] = [{} for _ in among]
    for group, *counted, units in coded.kinds(chosen, counts, unit=records.item_unit).iter_rows():
        for (at, options), outputs in zip(asked, counted, strict=True):
            if outputs:
                sizes, size = found[at].setdefault(names_of(coded.names[group]), {}), int(options[-1], base=36) - 9
                items_before, outputs_before = sizes.get(size, (0, 0))
                sizes[size] = (items_before + units, outputs_before + units * outputs)
    return [{names: dict(sorted(sizes.items())) for names, sizes in each.items()} for each in found]


def _accuracies(
    records: RecordSet, groups: Sequence[Group], tasks: Sequence[str]
) -> dict[tuple[str, ...], Estimate | None]:
    """By group, the accuracy of these tasks alone: what guesses are compared with, however records are grouped."""
    if "task" in records.by:  # then a group is of one task, and knows its own
        return {group.names: group.share("right", "compared") for group in groups}
    coded = records.coded
    compared = pl.col("task").is_in(list(tasks)) & pl.col("holds_answer") & pl.col("correct").is_not_null()
    kinds = coded.kinds(compared, {"n": pl.lit(value=True), "right": pl.col("correct")})
    counted = kinds.group_by(GROUP).agg(**cluster_sums("accuracy", "right", "n", times=UNITS))
    return {names_of(coded.names[row[GROUP]]): share_of(row, "accuracy") for row in counted.iter_rows(named=True)}


def _against(level: float, accuracy: Estimate | None) -> str | None:
    """Where the interval of accuracy lies, in words.

    >>> from affidavit.statistics.shares import wilson
    >>> _against(0.25, wilson(80, 100)), _against(0.25, wilson(5, 100)), _against(0.25, wilson(25, 100))
    ('interval above chance', 'interval below chance', 'interval includes chance')
    """
    if accuracy is None:
        return None
    if accuracy.low > level:
        return "interval above chance"
    return "interval below chance" if accuracy.high < level else "interval includes chance"


def letter_table(
    records: RecordSet, groups: Sequence[Group], tasks: Sequence[str], controls: Mapping[str, str]
) -> Table | None:
    """Which letters are chosen, how often where they are right, and more often than the key stands there?"""
    by, coded = list(records.by), records.coded
    chosen = pl.col("task").is_in(list(tasks)) & pl.col("letter").is_not_null()
    counts = _letter_counts(coded, chosen)
    rows = _letter_rows(counts, "items" if records.cluster == ITEM else "clusters")
    question = (
        "Which letters are chosen, how often where they are right, and more often than the key stands there?"
    )
    foot, notes = identity_of_tasks(records, groups, tasks), (_preference(records.cluster_name),)
    return Table("letters", question, (*by, *_LETTER_COLUMNS), tuple(rows), foot, notes=notes) if rows else None


_LETTER_COLUMNS = ("letter", "chosen", "share", "right there", "recall", "against the key", "p", "p (Holm)")


def _preference(cluster: str) -> str:
    units = "items" if cluster == ITEM else f"clusters of {cluster}"
    return (
        "Against the key: how much more often a letter is chosen than the right answer stands there, the mean "
        f"over {units}, each alike; p by Student's t over {units}, adjusted by Holm over the table, and the "
        "interval at the level of that test."
    )


class _LetterCounts(NamedTuple):
    """What is counted of one letter in one group."""

    names: tuple[object, ...]
    """Of the group, and the letter."""
    chosen: ClusterSums
    """Outputs that chose it, of all that chose any."""
    recall: ClusterSums
    """Outputs that chose it, of those whose key stands there."""
    ahead: tuple[list[float], list[int]]
    """How much more often an item chose it than its key stands there, and how many items with a key did."""


def _letter_counts(coded: CodedRecords, chosen: pl.Expr) -> list[_LetterCounts]:
    """The counts of every letter that a group chose, or should have chosen, in the order of names."""
    columns = ("letter", "right_letter")
    seen = coded.frame.lazy().filter(chosen).select(columns).unique().collect(engine="streaming")
    letters = sorted({letter for name in columns for letter in seen[name].drop_nulls()})
    found = []
    for at in range(0, len(letters), _LETTERS_AT_ONCE):
        some = letters[at : at + _LETTERS_AT_ONCE]
        kinds = _letter_kinds(coded, chosen, some)
        sums: dict[str, pl.Expr] = {}
        for each in some:
            sums |= cluster_sums(f"{each} share", f"chosen {each}", "size", times=UNITS)
            sums |= cluster_sums(f"{each} recall", f"found {each}", f"there {each}", times=UNITS)
        counted = kinds.group_by(GROUP).agg(**sums).rows(named=True)
        for each in some:
            ahead = _ahead(kinds.filter(pl.col("keyed") > 0), each)
            for row in counted:
                chose, recall = sums_of(row, f"{each} share"), sums_of(row, f"{each} recall")
                if chose.successes or recall.n:
                    names = (*coded.names[row[GROUP]], each)
                    found.append(_LetterCounts(names, chose, recall, ahead.get(row[GROUP], ([], []))))
    return sorted(found, key=lambda counts: place_of(counts.names))


_LETTERS_AT_ONCE = 4
"""With more of them, hardly two units would count alike."""


def _letter_kinds(coded: CodedRecords, chosen: pl.Expr, letters: Sequence[str]) -> pl.DataFrame:
    """What units count of some letters, beside the `size` of a unit and how much of it has a key."""
    keyed = pl.col("right_letter").is_not_null()
    counts = {"size": pl.lit(value=True), "keyed": keyed}
    for each in letters:
        own, there = pl.col("letter") == each, (pl.col("right_letter") == each).fill_null(value=False)
        counts |= {f"chosen {each}": own, f"there {each}": there}
        counts |= {f"found {each}": own & there, f"known {each}": own & keyed}
    return coded.kinds(chosen, counts)


def _ahead(kinds: pl.DataFrame, letter: str) -> dict[int, tuple[list[float], list[int]]]:
    """By group, how much more often items chose a letter than their key stands there, and how many of them."""
    ahead = (pl.col(f"known {letter}") - pl.col(f"there {letter}")).alias("ahead")
    rows = kinds.group_by(GROUP, ahead, "keyed").agg(pl.col(UNITS).sum()).sort(GROUP, "ahead", "keyed")
    found: dict[int, tuple[list[float], list[int]]] = {}
    for group, more, size, items in rows.iter_rows():
        values, times = found.setdefault(group, ([], []))
        values.append(more / size)
        times.append(items)
    return found


def _letter_rows(letters: Sequence[_LetterCounts], units: str) -> list[tuple[Value, ...]]:
    """A row for each letter of a group; `units` are what varies, in a word."""
    tested = {each.names: p for each in letters if each.ahead[0] and (p := t_test(*each.ahead)) is not None}
    # A table is one family, and beside a p-value stands the interval at the level of its test (ruling S3).
    steps = holm_steps(list(tested.values())) if tested else None
    adjusted = {} if steps is None else dict(zip(tested, steps.adjusted.tolist(), strict=True))
    levels = {} if steps is None else dict(zip(tested, steps.levels.tolist(), strict=True))
    rows: list[tuple[Value, ...]] = []
    for each in letters:
        recall = share(each.recall) if each.recall.n else None
        figures = (each.chosen.successes, share(each.chosen), each.recall.n, recall)
        level = levels.get(each.names, LEVEL)
        differ = Points(mean_difference(*each.ahead, units=units, level=level)) if each.ahead[0] else None
        chances = (Chance(p[each.names]) if each.names in p else None for p in (tested, adjusted))
        rows.append((*names_of(each.names), *figures, differ, *chances))
    return rows


def lenient_table(
    records: RecordSet, groups: Sequence[Group], tasks: Sequence[str], controls: Mapping[str, str]
) -> Table | None:
    """What would lenient readings give? They are not the protocol (ruling M5)."""
    coded, compliant, correct = records.coded, pl.col("compliant"), pl.col("correct")
    gained = pl.col(_BITS)
    counts = {
        "size": pl.lit(value=True),
        "n": compliant,
        "right": compliant & correct.fill_null(value=False),
        "keyed": compliant & correct.is_not_null(),
        **{name: (gained & 2**bit) != 0 for bit, name in enumerate(_GAINED)},
    }
    through_lenses = coded.plus(_through_lenses(records))
    found: dict[tuple[tuple[str, ...], str], dict[str, Any]] = {}
    for having, lenses in _tasks_by_lenses(records, tasks):
        read = pl.col("task").is_in(having) & pl.col("arrived") & pl.col("options").is_not_null()
        kinds = through_lenses.kinds(read, counts)
        for sums in kinds.group_by(GROUP).agg(**_lens_sums(lenses)).iter_rows(named=True):
            found |= {(names_of(coded.names[sums[GROUP]]), lens): sums for lens in lenses}
    rows = tuple(
        (
            *group.names,
            lens,
            sums_of(row, f"{lens} share").successes,
            share_of(row, f"{lens} share"),
            share_of(row, f"{lens} accuracy"),
        )
        for group in groups
        for lens in LENSES
        if (row := found.get((group.names, lens))) is not None
    )
    columns = (*records.by, "reading", "answers", "share of outputs", "right, of answers")
    title = "Other readings, not the protocol: what would lenient readings give?"
    foot = identity_of_tasks(records, groups, tasks)
    return Table("other readings", title, columns, rows, foot) if rows else None


def _tasks_by_lenses(records: RecordSet, tasks: Sequence[str]) -> list[tuple[list[str], list[str]]]:
    """Lenses, together if they read the same tasks, behind these tasks: not every contract has every lens."""
    own = {task: {label(lens) for lens in records.parts[task].lenient_readings()} for task in tasks}
    found: dict[tuple[str, ...], list[str]] = {}
    for lens in LENSES:
        if having := tuple(task for task in tasks if lens in own[task]):
            found.setdefault(having, []).append(lens)
    return [(list(having), lenses) for having, lenses in found.items()]


def _lens_sums(lenses: Sequence[str]) -> dict[str, pl.Expr]:
    sums: dict[str, pl.Expr] = {}
    for lens in lenses:
        # A compliant output reads the same through every lens that its contract has.
        n, right, keyed = (pl.col(f"{lens} {name}") + pl.col(name) for name in ("n", "right", "keyed"))
        sums |= cluster_sums(f"{lens} share", n, "size", times=UNITS)
        sums |= cluster_sums(f"{lens} accuracy", right, keyed, times=UNITS)
    return sums


_GAINED = tuple(f"{lens} {name}" for lens in LENSES for name in ("n", "right", "keyed"))
_BITS, _ROW = "gained by lenses", "number of the record"


def _through_lenses(records: RecordSet) -> pl.Series:
    """For each record, as bits, whether each lens gains an answer, and whether that is right and has a key."""
    others = (
        records.outputs()
        .with_row_index(_ROW)
        .filter(pl.col("protocol_compliant").not_() & pl.col("options").is_not_null())
    )
    gained = pl.zeros(len(records.coded.frame), pl.UInt8, eager=True).alias(_BITS)
    broken = records.coded.frame.filter(pl.col("arrived") & ~pl.col("compliant"))
    for options in broken["options"].drop_nulls().unique().cast(pl.String).sort():
        read = _read_through_lenses(others.filter(pl.col("options") == options), options)
        gained.scatter(read[_ROW], read.select(_bits()).to_series())
    return gained


def _read_through_lenses(others: pl.LazyFrame, options: str) -> pl.DataFrame:
    """The letters that lenses read in outputs to items of one option set, where there may be one."""
    block, text, escaped = f"{OPENING}([{options}]){CLOSING}", pl.col("raw_output"), pl.col("raw_output_escaped")
    after = text.str.split(THINK_END).list.last().str.strip_chars(WHITESPACE).str.extract(f"^{block}$")
    # `$` also matches before a last line feed in some engines; the stripped text has none.
    last = text.str.extract_all(block).list.last().str.slice(len(OPENING), 1)
    read = (
        others.filter(text.str.contains(OPENING, literal=True) | escaped.is_not_null())
        .select(_ROW, "right_letter", escaped, **dict(zip(LENSES, (after, last), strict=True)))
        .collect(engine="streaming")
    )
    is_escaped = escaped.is_not_null()
    return pl.concat([read.filter(~is_escaped), _escaped_through_lenses(read.filter(is_escaped), options)])


def _bits() -> pl.Expr:
    """What lenses gain by one output, from the letters that they read and the right one."""
    gained = []
    for lens in LENSES:
        there, right = pl.col(lens).is_not_null(), pl.col("right_letter")
        gained += [there, (pl.col(lens) == right).fill_null(value=False), there & right.is_not_null()]
    return pl.sum_horizontal(each.cast(pl.UInt8) * 2**bit for bit, each in enumerate(gained)).cast(pl.UInt8)


def _escaped_through_lenses(others: pl.DataFrame, options: str) -> pl.DataFrame:
    """The same of texts that no column can hold, one by one."""
    lenses = MultipleChoice(options).lenient_readings()
    texts = [json.loads(text) for text in others["raw_output_escaped"]]
    read = {label(lens): [lens.read(text).extracted_answer for text in texts] for lens in lenses}
    return others.with_columns(**{name: pl.Series(letters, dtype=pl.String) for name, letters in read.items()})
