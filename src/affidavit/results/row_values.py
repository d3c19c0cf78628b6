"""What stood in the rows that outputs from elsewhere came in, from the column of records that holds it as JSON."""

import json
from collections.abc import Iterator, Sequence

import polars as pl

from affidavit.archive.record_columns import without_surrogates
from affidavit.items.item import Item
from affidavit.json_values import Fields
from affidavit.reading.column_path import ColumnPath
from affidavit.reading.output_columns import OutputColumns

_SEEN = 1000
"""Rows that are looked at for the names of their fields."""


def row_values(name: str) -> pl.Expr:
    """A field of each row as a text, empty where it has none; `name` may be a way into nested values.

    >>> frame = pl.DataFrame({"row": ['{"subject": "art"}', '{"subject": null}', '{"a": {"b": 1}}', None]})
    >>> frame.select(row_values("subject"), b=row_values("a.b")).rows()
    [('art', ''), ('', ''), ('', '1'), ('', '')]
    """
    path = ColumnPath(name)

    def values(rows: pl.Series) -> pl.Series:
        known: dict[str | None, str] = {None: ""}
        for row in rows.unique():
            if row is not None:
                known[row] = _text(path.of(json.loads(row)))
        return pl.Series(rows.name, [known[row] for row in rows], dtype=pl.String)

    return pl.col("row").map_batches(values, return_dtype=pl.String, is_elementwise=True)


def row_names(records: pl.LazyFrame) -> list[str]:
    """The names of the fields that the first rows have."""
    rows = records.select("row").drop_nulls().head(_SEEN).collect()["row"]
    return list(dict.fromkeys(name for row in rows for name in json.loads(row)))


def items_of_rows(records: pl.LazyFrame, columns: OutputColumns) -> Iterator[tuple[str, Item]]:
    """Task and item of the rows, each item once, as its first row has it."""
    return _items(records, columns, once_for=["task", "item_id"])


def every_item_of_rows(records: pl.LazyFrame, columns: OutputColumns) -> Iterator[tuple[str, Item]]:
    """Task and item of the rows, an item as often as its rows say different things."""
    return _items(records, columns, once_for=["task", "item_id", "row"])


def _items(
    records: pl.LazyFrame, columns: OutputColumns, *, once_for: Sequence[str]
) -> Iterator[tuple[str, Item]]:
    rows = records.select("task", "item_id", "row").filter(pl.col("row").is_not_null())
    first = rows.unique(once_for, keep="first", maintain_order=True).collect(engine="streaming")
    for task, item_id, row in first.iter_rows():
        fields: Fields = columns.item_row(json.loads(row))
        yield task, Item(item_id, fields)


def _text(value: object) -> str:
    return "" if value is None else without_surrogates(str(value))
