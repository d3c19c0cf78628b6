"""The tables of multiple choice that cannot be declared: letters, lenient readings, changed answers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from affidavit.contracts.choice_columns import WHITESPACE
from affidavit.contracts.contract import label
from affidavit.contracts.deviation import CLOSING, OPENING, THINK_END
from affidavit.contracts.mcqa import MultipleChoice
from affidavit.results.changed_answers import MOVES, UNDECIDABLE, ChangeCounts, changes_table
from affidavit.results.counting import RecordSet, name_of, of_tasks
from affidavit.results.groups import Group, identity
from affidavit.results.table import Table
from affidavit.statistics.shares import wilson

LENSES = tuple(label(lens) for lens in MultipleChoice().lenient_readings())


def letter_table(
    records: RecordSet, groups: Sequence[Group], tasks: Sequence[str], controls: Mapping[str, str]
) -> Table | None:
    """Which letters are chosen, and how often where they are right?"""
    keys = list(records.by)
    chosen = records.outputs().filter(pl.col("task").is_in(list(tasks)) & pl.col("letter").is_not_null())
    given = chosen.group_by([*keys, "letter"]).agg(
        chosen=pl.len(), found=pl.col("correct").fill_null(value=False).sum()
    )
    there = (
        chosen.filter(pl.col("right_letter").is_not_null())
        .group_by([*keys, pl.col("right_letter").alias("letter")])
        .agg(there=pl.len())
    )
    joined = (
        given.join(there, on=[*keys, "letter"], how="full", coalesce=True).fill_null(0).collect(engine="streaming")
    )
    sizes = joined.group_by(keys).agg(pl.col("chosen").sum().alias("size"))
    rows = tuple(
        (
            *map(name_of, row[: len(keys)]),
            letter,
            chosen_times,
            wilson(chosen_times, size) if size else None,
            there_times,
            wilson(found, there_times) if there_times else None,
        )
        for row in joined.join(sizes, on=keys).sort([*keys, "letter"]).iter_rows()
        for letter, chosen_times, found, there_times, size in [row[len(keys) :]]
    )
    columns = ("letter", "chosen", "share", "right there", "recall")
    question = "Which letters are chosen, and how often where they are right?"
    foot = identity(of_tasks(records, groups, tasks))
    return Table("letters", question, (*keys, *columns), rows, foot) if rows else None


def lenient_table(
    records: RecordSet, groups: Sequence[Group], tasks: Sequence[str], controls: Mapping[str, str]
) -> Table | None:
    """What would lenient readings give? They are not the protocol (ruling M5)."""
    others = (
        records.outputs()
        .filter(pl.col("protocol_compliant").eq(other=False) & pl.col("options").is_not_null())
        .select(*records.by, "raw_output", "raw_output_escaped", "right_letter", "options")
    )
    own = _compliant_choices(records)
    sets = others.select(pl.col("options").unique().sort()).collect(engine="streaming")["options"]
    more = dict[tuple[str, ...], list[int]]()
    for options in sets:
        for *names, counts in _through_lenses(others.filter(pl.col("options") == options), options, records.by):
            before = more.get(tuple(names), [0] * len(counts))
            more[tuple(names)] = [one + another for one, another in zip(before, counts, strict=True)]
    rows = []
    for group in groups:
        if group.names in own:
            size, *compliant = own[group.names]
            found = more.get(group.names, [0] * 3 * len(LENSES))
            for place, lens in enumerate(LENSES):
                # A compliant output reads the same through every lens.
                n, right, keyed = map(sum, zip(compliant, found[3 * place :], strict=False))
                rows.append((*group.names, lens, n, wilson(n, size), wilson(right, keyed) if keyed else None))
    columns = (*records.by, "reading", "answers", "share of outputs", "right, of answers")
    title = "Other readings, not the protocol: what would lenient readings give?"
    foot = identity(of_tasks(records, groups, tasks))
    return Table("other readings", title, columns, tuple(rows), foot) if rows else None


def _compliant_choices(records: RecordSet) -> dict[tuple[str, ...], list[int]]:
    """Outputs of multiple choice by group: all, the compliant ones, the right ones, those with a key."""
    compliant = pl.col("protocol_compliant").fill_null(value=False)
    counts = (
        records.outputs()
        .filter(pl.col("protocol_compliant").is_not_null() & pl.col("options").is_not_null())
        .group_by(list(records.by))
        .agg(
            pl.len(),
            compliant.sum().alias("compliant"),
            right=(compliant & pl.col("correct").fill_null(value=False)).sum(),
            compared=(compliant & pl.col("correct").is_not_null()).sum(),
        )
        .collect(engine="streaming")
    )
    at = len(records.by)
    return {tuple(map(name_of, row[:at])): list(map(int, row[at:])) for row in counts.iter_rows()}


def _through_lenses(others: pl.LazyFrame, options: str, by: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Answers, right ones and keyed ones that outputs of one option set gain by leniency, lens by lens."""
    yield from _escaped_through_lenses(others, options, by)
    block, text = f"{OPENING}([{options}]){CLOSING}", pl.col("raw_output")
    after = text.str.split(THINK_END).list.last().str.strip_chars(WHITESPACE).str.extract(f"^{block}$")
    # `$` also matches before a last line feed in some engines; the stripped text has none.
    last = text.str.extract_all(block).list.last().str.slice(len(OPENING), 1)
    read = others.filter(text.str.contains(OPENING, literal=True)).with_columns(
        **dict(zip(LENSES, (after, last), strict=True))
    )
    counts = [
        count.alias(f"{lens} {name}")
        for lens in LENSES
        for name, count in (
            ("n", pl.col(lens).is_not_null().sum()),
            ("right", (pl.col(lens) == pl.col("right_letter")).sum()),
            ("keyed", (pl.col(lens).is_not_null() & pl.col("right_letter").is_not_null()).sum()),
        )
    ]
    for row in read.group_by(list(by)).agg(counts).collect(engine="streaming").iter_rows():
        yield (*map(name_of, row[: len(by)]), list(map(int, row[len(by) :])))


def _escaped_through_lenses(others: pl.LazyFrame, options: str, by: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The same of texts that no column can hold, one by one."""
    lenses, at = MultipleChoice(options).lenient_readings(), len(by)
    escaped = others.filter(pl.col("raw_output_escaped").is_not_null())
    rows = escaped.select(*by, "raw_output_escaped", "right_letter").collect(engine="streaming")
    for row in rows.iter_rows():
        text, right = json.loads(row[at]), row[at + 1]
        letters = [lens.read(text).extracted_answer for lens in lenses]
        counts = [
            [letter is not None, letter is not None and letter == right, letter is not None and right is not None]
            for letter in letters
        ]
        yield (*map(name_of, row[:at]), [int(each) for three in counts for each in three])


def changed_answers_table(
    records: RecordSet, groups: Sequence[Group], tasks: Sequence[str], controls: Mapping[str, str]
) -> Table | None:
    """How many answers changed against those under the control (ruling M7)?"""
    if not controls:
        return None
    outputs = records.outputs().filter(pl.col("task").is_in(list(tasks)))
    counts = [
        ChangeCounts.of({**row, "condition": condition, "control": control})
        for condition, control in controls.items()
        for row in _changes(outputs, condition, control).iter_rows(named=True)
    ]
    return changes_table(sorted(counts, key=lambda each: each.names))


def _changes(outputs: pl.LazyFrame, condition: str, control: str) -> pl.DataFrame:
    item = ["task", "model", "item_id"]
    read = outputs.filter(pl.col("protocol_compliant").is_not_null())
    compliant = pl.col("protocol_compliant").fill_null(value=False)
    under_control = read.filter(pl.col("condition") == control)
    answers = (
        under_control.filter(compliant).group_by([*item, "answer"]).agg(n=pl.len(), right=pl.col("correct").any())
    )
    modes = answers.group_by(item).agg(
        mode=pl.col("answer").sort_by("n").last(),
        mode_right=pl.col("right").sort_by("n").last(),
        leaders=(pl.col("n") == pl.col("n").max()).sum(),
    )
    arrived = under_control.group_by(item).agg(arrived=pl.len())
    joined = (
        read.filter(pl.col("condition") == condition)
        .join(modes, on=item, how="left")
        .join(arrived, on=item, how="left")
    )
    kind = (
        pl.when(~compliant)
        .then(pl.lit("not_compliant"))
        .when(pl.col("arrived").is_null())
        .then(pl.lit("control_not_arrived"))
        .when(pl.col("mode").is_null())
        .then(pl.lit("control_not_compliant"))
        .when(pl.col("leaders") > 1)
        .then(pl.lit("control_tied"))
        .when(pl.col("answer") == pl.col("mode"))
        .then(pl.lit("kept"))
        .when(pl.col("correct").fill_null(value=False))
        .then(pl.lit("to_right"))
        .when(pl.col("mode_right").fill_null(value=False))
        .then(pl.lit("to_wrong"))
        .otherwise(pl.lit("to_other"))
    )
    names = ("kept", *MOVES, *UNDECIDABLE)
    return (
        joined.with_columns(kind=kind)
        .group_by(["task", "model"])
        .agg(**{name: (pl.col("kind") == name).sum() for name in names})
        .sort(["task", "model"])
        .collect(engine="streaming")
    )
