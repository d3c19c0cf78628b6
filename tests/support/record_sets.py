"""Records as the tables of results get them, made of a few fields each, without a study."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from affidavit import Hand, MultipleChoice, game24
from affidavit.archive.record_columns import SCHEMA
from affidavit.contracts.contract import AnyContract
from affidavit.contracts.parts import parts_of
from affidavit.results.counting import ITEM, RecordSet
from affidavit.results.groups import CELL
from affidavit.results.table import Table

Row = dict[str, Any]
CONTRACTS: Mapping[str, AnyContract] = {"quiz": MultipleChoice(), "hands": game24}
HAND = Hand((4, 9, 10, 13))


def choice(item: str, letter: str | None, right: str | None = "B", *, options: str = "A-D", **more: object) -> Row:
    """An output of multiple choice; without a letter it is not compliant."""
    return {
        "task": "quiz",
        "item_id": item,
        "protocol_compliant": letter is not None,
        "answer": letter,
        "letter": letter,
        "right_letter": right,
        "correct": None if letter is None or right is None else letter == right,
        "keyed": right is not None,
        "options": options,
        **more,
    }


def hand(item: str, text: str, **more: object) -> Row:
    """What the contract itself reads of an output to 4 9 10 13."""
    reading = game24.read(text, HAND)
    said = game24.validate(reading, HAND)
    return {
        "task": "hands",
        "item_id": item,
        "protocol_compliant": reading.protocol_compliant,
        "answer": reading.candidate or None,
        "correct": said.correct,
        "keyed": True,
        "extraction_method": str(reading.extraction_method),
        "reason": str(said.reason),
        **more,
    }


def record_set(
    rows: Iterable[Row],
    *,
    by: Sequence[str] = CELL,
    cluster: str = ITEM,
    paradigms: Mapping[str, str] | None = None,
) -> RecordSet:
    """The records; planned is what is there."""
    below = {"kind": "response", "model": "m", "condition": "plain", "sample": 0, "truncated": False}
    full = [{**dict.fromkeys(SCHEMA), **below, **row} for row in rows]
    told = paradigms or {}
    frame = pl.DataFrame(full, schema={**SCHEMA, "metadata.passage": pl.String()}).with_columns(
        paradigm=pl.col("condition").replace_strict(told, default="", return_dtype=pl.String)
    )
    planned = frame.group_by(list(dict.fromkeys((*CELL, *by)))).agg(planned=pl.len().cast(pl.Int64))
    parts = {task: parts_of(contract) for task, contract in CONTRACTS.items()}
    return RecordSet(frame.lazy(), planned, 5, tuple(by), parts, cluster, told)


def named_rows(table: Table | None) -> list[Row]:
    """The rows of a table, each by its headings."""
    return [] if table is None else [dict(zip(table.columns, row, strict=True)) for row in table.rows]
