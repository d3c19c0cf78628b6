"""A contract over somebody's own frame: the same columns as `affidavit read` adds to a Parquet file.

Polars frames and pandas frames come back as what they are, with the contract's columns after their own. A lazy
frame is collected, and a DataFrame comes back: what is wrong with a row is said where it is read.
"""

from typing import Any

import polars as pl

from affidavit.errors import InputError, UsageError, did_you_mean
from affidavit.json_values import shown
from affidavit.reading.frame_batches import FrameBatch, FrameBatches, is_text
from affidavit.reading.pandas_frames import is_pandas, pandas_frame, polars_frame
from affidavit.reading.parquet_files import ROWS_AT_ONCE
from affidavit.reading.rows import RowReader, columns_added

WHERE = "frame"


def read_frame(frame: object, reader: RowReader) -> Any:  # noqa: ANN401 - whatever kind of frame came in
    """The frame with the contract's columns after its own; columns of the same names are replaced."""
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        _check_text(reader, frame, frame.columns)
        return _read(frame, reader)
    if is_pandas(frame):
        return _read_pandas(frame, reader)
    raise UsageError(
        WHERE,
        expected="a DataFrame of Polars or pandas, or a LazyFrame",
        found=type(frame).__name__,
        hint="polars.DataFrame(rows) makes one of a list of rows.",
    )


def _read(frame: pl.DataFrame, reader: RowReader) -> pl.DataFrame:
    batches = FrameBatches(reader)
    # A frame of no rows has columns all the same.
    parts = list(frame.iter_slices(ROWS_AT_ONCE)) or [frame]
    contents = []
    for number, part in enumerate(parts):
        batch = FrameBatch(WHERE, number * ROWS_AT_ONCE, part, 0)
        contents.append(batches.read_batch(batch).content)
    return pl.concat(contents)


def _read_pandas(frame: Any, reader: RowReader) -> Any:  # noqa: ANN401
    needed = reader.item_fields
    texts = polars_frame(frame, None if needed is None else {*needed, reader.field})
    _check_text(reader, texts, [str(name) for name in frame.columns])
    names = list(columns_added(reader, texts.columns))
    added = pandas_frame(_read(texts, reader).select(names), frame.index)
    # By their places: two columns may have the same name.
    kept = frame.iloc[:, [place for place, name in enumerate(frame.columns) if name not in names]]
    # By arrays, which have no names of rows: two rows may have the same name.
    return kept.assign(**{name: added[name].array for name in names})


def _check_text(reader: RowReader, frame: pl.DataFrame, columns: list[str]) -> None:
    text = reader.field
    if text not in frame.columns:
        hint = did_you_mean(text, columns) or "Name the column that holds the model's text with --field."
        raise InputError(
            WHERE, expected=f"a column {text!r}", found=f"the columns {', '.join(columns) or 'none'}", hint=hint
        )
    if frame[text].dtype == pl.Object:
        for number, value in enumerate(frame[text], 1):
            if value is not None and not isinstance(value, str):
                where = f"{WHERE}:row {number}"
                raise InputError(where, expected=f"a text in {text!r}", found=shown(value))
        raise InputError(
            WHERE,
            expected=f"texts in {text!r} that a column can hold",
            found="half of a character (a lone surrogate)",
            hint="JSON Lines can hold it: affidavit read.",
        )
    if not is_text(frame[text].dtype):
        raise InputError(WHERE, expected=f"texts in the column {text!r}", found=str(frame[text].dtype))
