"""Files that `affidavit export` wrote, as sources of rows: `read` takes them like any file of outputs.

Their columns are those of records, where an answer is what was read from an output, and the right one stands in
the item. So rows are made of them under the names that `read` has: each output once, what never arrived as null
whatever the format can say, and judgements and labels left out, which are no outputs.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affidavit.errors import InputError, UsageError
from affidavit.json_values import Fields
from affidavit.reading.csv_files import CSV, any_header
from affidavit.reading.first_row import first_names
from affidavit.reading.source import Columns, Format, Row, Source, Stream, file_source
from affidavit.reading.sources import format_of

_OF_ALL = frozenset(("kind", "key", "item_id", "model", "condition", "sample", "item"))
_OF_TABLES, _OF_LINES = _OF_ALL | {"raw_output_escaped", "row"}, _OF_ALL | {"study"}
_NAMES = {"item_id": "id", "model": "model", "task": "task", "condition": "condition"}
RowOf = Callable[[Mapping[str, Any]], Fields | None]
_KEPT = ("output_id", "prompt", "finish_reason", "reasoning")
"""What goes along where it is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnExport(Source):
    """The outputs of an export."""

    file: Source
    row_of: RowOf


def source_if_export(path: Path) -> OwnExport | None:
    """The outputs of a file that an export wrote; None if it is none."""
    file = file_source(path)
    names = frozenset(first_names(file))
    row_of: RowOf
    if names >= _OF_LINES:
        row_of = _of_line
    elif names >= _OF_TABLES:
        row_of = _of_cells if format_of(file) is CSV else _of_columns
    else:
        return None
    return OwnExport(str(path), _no_bytes, path, OWN_ROWS, file=file, row_of=row_of)


def _no_bytes() -> AbstractContextManager[Stream]:
    raise UsageError("an export", expected="to be read output by output", found="a reader of its bytes")


def _rows(source: Source, _columns: Columns) -> Iterator[Row]:
    assert isinstance(source, OwnExport)  # noqa: S101 - no other source has this format
    for row in format_of(source.file).rows(source.file, any_header):
        try:
            fields = source.row_of(row.fields)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise InputError(row.where, expected="a row of an export", found="one that was changed") from error
        if fields is not None:
            yield Row(row.where, row.number, fields)


OWN_ROWS = Format("an export", (), lambda _head: False, _rows)
"""What the rows of every export are."""


def _of_cells(cells: Mapping[str, Any]) -> Fields | None:
    """Of CSV: an apostrophe is no part of a text, and an empty cell is nothing but where a text was empty."""
    texts = {name: cell.removeprefix("'") for name, cell in cells.items()}
    known: dict[str, Any] = {name: text or None for name, text in texts.items()}
    known["sample"] = int(texts["sample"]) if texts["sample"] else None
    return _of_columns({**known, "raw_output": texts["raw_output"]})


def _of_columns(cells: Mapping[str, Any]) -> Fields | None:
    escaped = cells["raw_output_escaped"]
    texts = {name: json.loads(cells[name]) if cells[name] else None for name in ("item", "row")}
    raw = cells["raw_output"] if escaped is None else json.loads(escaped)
    return _of_line({**cells, **texts, "raw_output": raw})


def _of_line(record: Mapping[str, Any]) -> Fields | None:
    """The row of an output; None where the record is of something else."""
    if record["kind"] not in ("response", "failure") or record.get("judged_key") is not None:
        return None
    known = {name: record[name] for name in _KEPT if record.get(name) is not None}
    return {
        **(record.get("row") or {}),
        **(record.get("item") or {}),
        **{ours: record[name] for name, ours in _NAMES.items()},
        "sample": record["sample"],
        **known,
        "raw_output": record["raw_output"] if record["kind"] == "response" else None,
    }
