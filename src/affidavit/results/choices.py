"""The tables of multiple choice that cannot be declared: letters and chance."""

from collections.abc import Mapping, Sequence
from math import fsum
from typing import NamedTuple

import polars as pl

from affidavit.results.coded_records import GROUP, UNITS, CodedRecords
from affidavit.results.collecting import collected
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
    seen = collected(coded.where(chosen).select(columns).unique(), coded.frame.height)
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
