"""Records → changed answers: each output against its control's most frequent answer, and pairs against chance."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from affidavit.results.changed_answers import MOVES, NAMES, UNDECIDABLE, ChangeCounts, changes_against_chance
from affidavit.results.coded_records import UNIT, numbers_of
from affidavit.results.collecting import collected
from affidavit.results.counting import ITEM, RecordSet, name_of
from affidavit.results.groups import Group
from affidavit.results.item_shares import cluster_sums, share_of
from affidavit.results.table import Table
from affidavit.statistics.disagreement import ItemPairs, excess_disagreement

_ITEM = ("task", "model", "item_id")
_KINDS = ("kept", *MOVES, *UNDECIDABLE)
_PAIRS = tuple(f"pairs {field}" for field in ItemPairs._fields)
"""Columns of their own: `to_wrong` is also what becomes of an output."""


def changed_answers_table(
    records: RecordSet, groups: Sequence[Group], tasks: Sequence[str], controls: Mapping[str, str]
) -> Table | None:
    """How many answers changed against those under the control (ruling M7), and how many beyond chance (S4)?"""
    if not controls:
        return None
    question = "How many answers changed against the control?"
    return changes_against_chance(
        "flips", question, NAMES, _counts(_changes(records, tasks, controls), NAMES, records.cluster)
    )


def changes_by_paradigm(
    records: RecordSet, groups: Sequence[Group], tasks: Sequence[str], controls: Mapping[str, str]
) -> Table | None:
    """The same over all conditions of a paradigm that have one control; None where none with a control has one.

    Under another control the null is another one: such conditions have a row of their own.
    """
    told = {condition: control for condition, control in controls.items() if condition in records.paradigms}
    if not told:
        return None
    heads = ("task", "model", "paradigm", "control")
    items = _changes(records, tasks, told).with_columns(
        paradigm=pl.col("condition").replace_strict(records.paradigms, return_dtype=pl.String)
    )
    # The outputs of an item under several conditions are one cluster.
    pooled = items.group_by([*heads, *dict.fromkeys((ITEM, records.cluster))]).agg(pl.col(*_KINDS, *_PAIRS).sum())
    question = "How many answers changed against the control, by paradigm?"
    return changes_against_chance("flips by paradigm", question, heads, _counts(pooled, heads, records.cluster))


def _counts(items: pl.DataFrame, names: Sequence[str], cluster: str) -> list[ChangeCounts]:
    """The rows of a table, from what the outputs of each item count; shares are over clusters."""
    moved = pl.sum_horizontal(MOVES)
    units = items.group_by([*names, cluster]).agg(pl.col(*_KINDS).sum())
    totals = units.group_by(list(names)).agg(
        pl.col(*_KINDS).sum(), **cluster_sums("share", moved, moved + pl.col("kept"))
    )
    kinds = items.group_by([*names, *_PAIRS]).agg(items=pl.len())
    pairs: dict[tuple[object, ...], dict[ItemPairs, int]] = {}
    at = len(names)
    for row in kinds.iter_rows():
        pairs.setdefault(row[:at], {})[ItemPairs(*row[at:-1])] = row[-1]
    return [
        replace(
            ChangeCounts.of({**row, **{name: name_of(row[name]) for name in names}}, names),
            share=share_of(row, "share"),
            pairs=excess_disagreement(pairs[tuple(row[name] for name in names)]),
        )
        for row in totals.sort(list(names)).iter_rows(named=True)
    ]


def _changes(records: RecordSet, tasks: Sequence[str], controls: Mapping[str, str]) -> pl.DataFrame:
    """By item, condition and control: what became of the outputs, and what the pairs count."""
    compliant, named = pl.col("protocol_compliant"), list(dict.fromkeys((*_ITEM, records.cluster)))
    asked = pl.col("condition").is_in([*controls, *controls.values()])
    found = (
        records.outputs()
        .filter(asked & pl.col("task").is_in(list(tasks)) & compliant.is_not_null())
        .select(*named, "condition", "sample", "answer", "correct", compliant=compliant)
        .with_columns(pl.col(pl.String).cast(pl.Categorical))
    )
    read = collected(found, records.coded.frame.height)
    numbered = read.with_columns(numbers_of(read, _ITEM).alias(UNIT))
    items, outputs = numbered.select(UNIT, *named).unique(UNIT), numbered.drop(named)
    each = [
        _against_control(outputs, condition, control).with_columns(
            pl.lit(condition).alias("condition"), pl.lit(control).alias("control")
        )
        for condition, control in controls.items()
    ]
    return pl.concat(each).join(items, on=UNIT, how="left").drop(UNIT)


def _against_control(outputs: pl.DataFrame, condition: str, control: str) -> pl.DataFrame:
    """What became of the outputs of each item under the condition, and the fields of `ItemPairs`."""
    both = outputs.lazy().filter(pl.col("condition").is_in([control, condition]))
    is_control = pl.col("condition") == control
    pairs = (
        _by_answer(both, is_control)
        .join(_by_sample(both, is_control), on=UNIT, how="left")
        .filter(pl.col("c") + pl.col("not_compliant") > 0)
        .with_columns(pl.col("^met.*$").fill_null(0))
        .select(UNIT, "not_compliant", **_against_mode(), **_pairs())
    )
    return collected(pairs, outputs.height)


def _by_answer(outputs: pl.LazyFrame, is_control: pl.Expr) -> pl.LazyFrame:
    """By item, how many compliant outputs there are under control and condition, k and c, and of what sort.

    Those with the most frequent answer under the control are `leading`.
    """
    compliant, correct, answered = pl.col("compliant"), pl.col("correct"), pl.col("answer").is_not_null()
    of = {"k": is_control & compliant, "c": ~is_control & compliant}
    counts = {
        **of,
        **{f"{name}_right": each & correct.fill_null(value=False) for name, each in of.items()},
        **{f"{name}_known": each & correct.is_not_null() for name, each in of.items()},
        "control_arrived": is_control,
        "not_compliant": ~is_control & ~compliant,
    }
    k, c, leads = pl.col("k"), pl.col("c"), pl.col("leads")
    return (
        outputs.group_by(UNIT, "answer")
        .agg(**{name: each.sum().cast(pl.Int64) for name, each in counts.items()})
        .with_columns(leads=(k > 0) & (k == k.max().over(UNIT)))
        .group_by(UNIT)
        .agg(
            pl.col(*counts).sum(),
            alike=(k * c).sum(),
            alike_within=(k * (k - 1)).sum() // 2,
            leaders=leads.sum(),
            leading_answers=(leads & answered).sum(),
            mode_right=(leads & (pl.col("k_right") > 0)).any(),
            leading=(leads * c).sum(),
            leading_right=(leads * pl.col("c_right")).sum(),
        )
    )


def _against_mode() -> dict[str, pl.Expr]:
    """What became of the compliant outputs of an item, against the most frequent answer under the control."""
    reason = (
        pl.when(pl.col("control_arrived") == 0)
        .then(pl.lit("control_not_arrived"))
        .when(pl.col("leading_answers") == 0)
        .then(pl.lit("control_not_compliant"))
        .when(pl.col("leaders") > 1)
        .then(pl.lit("control_tied"))
    )
    c, kept, to_right = pl.col("c"), pl.col("leading"), pl.col("c_right") - pl.col("leading_right")
    others, right = c - kept - to_right, pl.col("mode_right")
    decided = {"kept": kept, "to_right": to_right, "to_wrong": others * right, "to_other": others * ~right}
    undecided = {name: c * (reason == name) for name in UNDECIDABLE if name != "not_compliant"}
    counts = {**{name: each * reason.is_null() for name, each in decided.items()}, **undecided}
    return {name: each.fill_null(0).cast(pl.Int64) for name, each in counts.items()}


def _by_sample(outputs: pl.LazyFrame, is_control: pl.Expr) -> pl.LazyFrame:
    """By item, how many samples of one number met: compliant under control and condition; the rest is of these."""
    known, right = pl.col("correct").is_not_null(), pl.col("correct").fill_null(value=False)
    control_answer, condition_answer = (
        pl.when(each).then(pl.col("answer").to_physical()).max() for each in (is_control, ~is_control)
    )
    return (
        outputs.filter("compliant")
        .group_by(UNIT, "sample")
        .agg(
            met=(is_control.any() & (~is_control).any()).cast(pl.Int64),
            met_alike=(control_answer == condition_answer).fill_null(value=False).cast(pl.Int64),
            met_known=((is_control & known).any() & (~is_control & known).any()).cast(pl.Int64),
            met_right=(is_control & right).any().cast(pl.Int64) - (~is_control & right).any().cast(pl.Int64),
        )
        .with_columns(met_right=pl.col("met_right") * pl.col("met_known"))
        .group_by(UNIT)
        .agg(pl.col("met", "met_alike", "met_known", "met_right").sum())
    )


def _pairs() -> dict[str, pl.Expr]:
    """The fields of `ItemPairs` for each item, without making the pairs.

    With k and c samples of an answer under control and condition, k·c pairs across agree, less those of equal
    sample numbers, and k·(k−1)/2 within the control.
    """
    k, c = pl.col("k"), pl.col("c")
    moved = pl.col("k_right") * pl.col("c_known") - pl.col("k_known") * pl.col("c_right") - pl.col("met_right")
    counted = ItemPairs(
        across=k * c - pl.col("met"),  # type: ignore[arg-type]  # expressions here, numbers in what comes back
        across_differ=k * c - pl.col("met") - pl.col("alike") + pl.col("met_alike"),  # type: ignore[arg-type]
        within=k * (k - 1) // 2,  # type: ignore[arg-type]
        within_differ=k * (k - 1) // 2 - pl.col("alike_within"),  # type: ignore[arg-type]
        keyed=pl.col("k_known") * pl.col("c_known") - pl.col("met_known"),  # type: ignore[arg-type]
        to_wrong=moved,  # type: ignore[arg-type]
    )
    return dict(zip(_PAIRS, counted, strict=True))  # type: ignore[arg-type]
