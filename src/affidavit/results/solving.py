"""The solve rate of tasks in which every answer counts, with or without the marker asked for (ruling G12)."""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from affidavit.plain_text import counted_noun
from affidavit.results.collecting import collected
from affidavit.results.counting import RecordSet, identity_of_tasks, name_of
from affidavit.results.groups import Group
from affidavit.results.item_shares import cluster_sums, share_of
from affidavit.results.table import Table

ALL = "all"
"""The row over all extraction methods."""
_SHARES = ("solve rate", "share of outputs", "with an answer", "accuracy over answers", "marker rate")


def solve_table(
    records: RecordSet, groups: Sequence[Group], tasks: Sequence[str], controls: Mapping[str, str]
) -> Table | None:
    """How many problems are solved, over all outputs that can be checked, and where were the answers found?

    An output whose right answer nobody knows is neither solved nor unsolved. In the row of one method the solve
    rate is its part of the whole, and accuracy is over what it found.
    """
    by, column, units = list(records.by), "extraction_method", records.units
    answered, read = pl.col("answer").is_not_null(), pl.col("protocol_compliant").is_not_null()
    counts = {
        "outputs": read.sum(),
        "checked": pl.col("keyed").fill_null(value=False).sum(),
        "checked and read": (read & pl.col("keyed").fill_null(value=False)).sum(),
        "right": pl.col("correct").fill_null(value=False).sum(),
        "answered": answered.sum(),
        "compared": (answered & pl.col("correct").is_not_null()).sum(),
        "marked": pl.col("protocol_compliant").sum(),
    }
    by_method = (
        records.outputs()
        .filter(pl.col("task").is_in(list(tasks)) & pl.col("failure").is_null())
        .group_by([*units, column])
        .agg(**counts)
    )
    methods = collected(by_method, records.coded.frame.height)
    whole = methods.group_by(units).agg(pl.col(*counts).sum()).with_columns(pl.lit(ALL).alias(column))
    arrived = whole.select(*units, arrived="outputs", known="checked")
    methods = methods.filter(pl.col("outputs") > 0)  # the others are unread, and no method's
    # An item that a method found nothing in has outputs that it could have been found in.
    every = arrived.join(methods.select(*by, column).unique(), on=by, nulls_equal=True)
    each = every.join(methods, on=[*units, column], how="left", nulls_equal=True)
    rows = []
    all_methods = _summed(whole.with_columns(arrived="outputs", known="checked"), [*by, column])
    for frame in (all_methods, _summed(each, [*by, column])):
        for row in frame.filter(pl.col("outputs") > 0).iter_rows(named=True):
            found = [share_of(row, name) for name in _SHARES]
            names = tuple(name_of(row[name]) for name in (*by, column))
            # Whether there is an answer, or a marker, says nothing within one method: it is what the method is.
            shown = found if names[-1] == ALL else [*found[:2], None, found[3], None]
            rows.append((*names, int(row["outputs"]), int(row["right"]), *shown))
    rows.sort(key=lambda row: (row[: len(by)], row[len(by)] != ALL, row[len(by)]))
    labels = records.parts[tasks[0]].value_labels
    named = {ALL: "all methods", **labels.get(column, {})}
    question = "How many outputs solve their problem, and where was the answer found?"
    columns, foot = (*by, column, "outputs", "right", *_SHARES), identity_of_tasks(records, groups, tasks)
    labelled = {**labels, column: named}
    outputs, checked = (int(whole[name].sum()) for name in ("outputs", "checked and read"))
    notes = tuple(_unchecked(outputs - checked, outputs))
    made = Table("solve rate", question, columns, tuple(rows), foot, notes, value_labels=labelled)
    return made if rows else None


def _unchecked(without: int, outputs: int) -> Iterator[str]:
    """How many outputs nobody can call solved or unsolved; nothing where there is none.

    >>> list(_unchecked(4, 49)), list(_unchecked(0, 49))
    (['No hand is known for 4 of 49 outputs: the solve rate is over the others.'], [])
    >>> list(_unchecked(49, 49))
    ['No hand is known for 49 of 49 outputs: nothing could be checked, and there is no solve rate.']
    """
    if without:
        nothing = "nothing could be checked, and there is no solve rate"
        then = "the solve rate is over the others" if without < outputs else nothing
        yield f"No hand is known for {without:,} of {counted_noun(outputs, 'output')}: {then}."


def _summed(units: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    return units.group_by(list(keys)).agg(
        pl.col("outputs", "right").fill_null(0).sum(),
        **cluster_sums("solve rate", "right", "known"),
        **cluster_sums("share of outputs", "outputs", "arrived"),
        **cluster_sums("with an answer", "answered", "arrived"),
        **cluster_sums("accuracy over answers", "right", "compared"),
        **cluster_sums("marker rate", "marked", "arrived"),
    )
