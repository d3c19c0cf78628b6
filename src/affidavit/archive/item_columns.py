"""Items as columns, to be joined with the records: a row for each, a column for each field."""

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from affidavit.archive.record_columns import without_surrogates
from affidavit.archive.study_directory import FrozenItem


def items_frame(items: Sequence[FrozenItem]) -> pl.LazyFrame:
    """A row for each item, by task and id, with a column for each field; a field of different kinds is JSON."""
    fields = dict.fromkeys(name for item in items for name in item.fields if name != "id")
    columns = [
        pl.Series("task", [without_surrogates(item.task) for item in items], dtype=pl.String),
        pl.Series("item_id", [without_surrogates(item.id) for item in items], dtype=pl.String),
    ]
    columns += [
        _item_column(without_surrogates(name), [item.fields.get(name) for item in items])
        for name in fields
        if name not in ("task", "item_id")
    ]
    return pl.DataFrame(columns).lazy()


def _item_column(name: str, values: list[Any]) -> pl.Series:
    nested = any(isinstance(value, dict) for value in values)
    try:
        if not nested:
            return pl.Series(name, values)
    except (TypeError, OverflowError, UnicodeEncodeError, pl.exceptions.PolarsError):
        pass  # of different kinds, or nothing that a column can hold
    return pl.Series(name, [None if value is None else json.dumps(value) for value in values], dtype=pl.String)
