"""Parquet through a contract: frames of some thousand rows, the contract's columns after the others."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO, ClassVar

import polars as pl
from polars.io.plugins import register_io_source

from affidavit.contracts.contract import RAW_OUTPUT
from affidavit.errors import InputError
from affidavit.reading.batches import BatchResult, Result, RowReading
from affidavit.reading.columns import polars_type
from affidavit.reading.output_columns import text_hint
from affidavit.reading.parquet_files import RowRange, frames
from affidavit.reading.row_cache import RowCache
from affidavit.reading.rows import RowReader, column_values, columns_added
from affidavit.reading.shortest_decimals import with_shortest_decimals
from affidavit.reading.source import Source

Types = dict[str, pl.DataType]
"""The columns that are added, with their types."""
_ROW_GROUP = 32_768
"""Rows that are held in memory before they are written."""


@dataclass(frozen=True, slots=True)
class FrameBatch:
    """Rows that follow each other in a file, as a frame."""

    name: str
    rows_before: int
    frame: pl.DataFrame
    size: int

    def halves(self) -> "tuple[FrameBatch, FrameBatch] | None":
        """The rows in two."""
        middle = len(self.frame) // 2
        if not middle:
            return None
        first, second = self.frame[:middle], self.frame[middle:]
        return replace(self, frame=first), replace(self, frame=second, rows_before=self.rows_before + middle)


class FrameBatches:
    """Parquet under one contract."""

    binary: ClassVar[bool] = True

    def __init__(self, reader: RowReader, *, keep_readings: bool = False) -> None:
        self._reader = reader
        self._row_cache = RowCache(reader)
        self._keep_readings = keep_readings

    def batches(self, sources: Iterable[Source]) -> Iterator[FrameBatch]:
        """Some thousands of rows at a time; a file begins with a batch of no rows, which shows its columns."""
        first: FrameBatch | None = None
        for source in sources:
            begin = source.start if isinstance(source, RowRange) else 0
            rows_before, bytes_per_row = begin, _bytes_per_row(source)
            for frame in frames(source):
                batch = FrameBatch(source.name, rows_before, frame, round(bytes_per_row * len(frame)))
                if rows_before == begin:
                    self._check_columns(batch, first)
                    first = first or batch
                if first is not None:
                    yield FrameBatch(batch.name, rows_before, _columns(frame, first.frame.columns), batch.size)
                rows_before += len(frame)

    def _check_columns(self, batch: FrameBatch, first: FrameBatch | None) -> None:
        schema, text, path = batch.frame.schema, self._reader.field, self._reader.text
        leads_into = path.is_nested and text not in schema and path.steps[0] in schema
        if text not in schema and not leads_into:
            raise InputError(
                batch.name,
                expected=f"a column {text!r}",
                found=f"the columns {', '.join(schema)}",
                hint=text_hint(text, schema, "column"),
            )
        if not leads_into and not is_text(schema[text]):
            raise InputError(batch.name, expected=f"texts in the column {text!r}", found=str(schema[text]))
        if first is not None and dict(schema) != dict(first.frame.schema):
            expected = f"the columns {_described(first.frame.schema)}, as in {first.name}"
            raise InputError(batch.name, expected=expected, found=_described(schema))

    def read_batch(self, batch: FrameBatch) -> BatchResult[pl.DataFrame]:
        """The rows with their new columns."""
        added = columns_added(self._reader, batch.frame.columns)
        types = {name: polars_type(kind) for name, kind in added.items()}
        result = Result(replaced=frozenset(batch.frame.columns) & frozenset(types))
        readings: list[RowReading] = []
        new_fields = self._read_columns(batch, types, result) if self._reader.in_columns else None
        if new_fields is None:
            new_fields = self._read_rows(batch, types, result, readings)
        kept = [name for name in batch.frame.columns if name not in types]
        return BatchResult(_columns(batch.frame, kept).hstack(new_fields), result, readings, batch.size)

    def _read_columns(self, batch: FrameBatch, types: Types, result: Result) -> pl.DataFrame | None:
        raw = batch.frame[self._reader.field].cast(pl.String)
        added = self._reader.parts.read_texts(raw)
        if added is None:
            return None
        if RAW_OUTPUT in types:
            added = added.with_columns(raw.alias(RAW_OUTPUT))
        if "correct" in types:
            self._refuse_impossible_keys(batch)
            key = batch.frame[self._reader.answer.text].cast(pl.String)
            known = key.is_not_null()
            right = pl.when(pl.col("extracted_answer").is_not_null() & known).then(
                pl.col("extracted_answer") == key
            )
            added = added.with_columns(correct=right, keyed=known)
        self._count(added, result)
        return added.select(list(types))

    def _refuse_impossible_keys(self, batch: FrameBatch) -> None:
        """Name the first row whose key no output could ever give."""
        keys = batch.frame[self._reader.answer.text]
        is_text = keys.dtype in (pl.String, pl.Categorical, pl.Enum)
        if keys.null_count() == len(keys):
            return
        if is_text and all(self._reader.parts.can_answer(str(key)) for key in keys.drop_nulls().unique()):
            return
        for number, key in enumerate(keys, batch.rows_before + 1):
            self._reader.item({"answer": key}, where=f"{batch.name}:row {number}")

    def _count(self, added: pl.DataFrame, result: Result) -> None:
        # Where an answer stands is counted by nobody, and differs from row to row.
        places = (name for pair in self._reader.parts.mark_fields for name in pair)
        for group in (
            added.drop(RAW_OUTPUT, *places, strict=False)
            .group_by(pl.all(), maintain_order=True)
            .len("times")
            .iter_rows(named=True)
        ):
            times, keyed = group.pop("times"), bool(group.pop("keyed", False))
            result.tally.add(group, parts=self._reader.parts, right_answer_known=keyed, times=times)

    def _read_rows(
        self, batch: FrameBatch, types: Types, result: Result, readings: list[RowReading]
    ) -> pl.DataFrame:
        values = []
        # What is written out keeps its type.
        rows = with_shortest_decimals(batch.frame).iter_rows(named=True)
        for number, row in enumerate(rows, batch.rows_before + 1):
            where = f"{batch.name}:row {number}"
            row_result, new_fields = self._row_cache.read(row, where=where)
            result.count(new_fields, self._reader, row)
            values.append(column_values(self._reader, new_fields.fields, types))
            if self._keep_readings:
                readings.append(RowReading(self._reader.text.of(row), row_result, where))
        return pl.DataFrame(values, types, orient="row", strict=False)

    def write(self, contents: Iterator[pl.DataFrame], out: BinaryIO | None) -> None:
        """One Parquet file, written while its rows are read."""
        if out is None:
            deque(contents, maxlen=0)  # they are counted all the same
            return
        failures: list[BaseException] = []
        first = next(contents)

        def frames_to_write(*_pushed_down: object) -> Iterator[pl.DataFrame]:
            try:
                yield first
                yield from contents
            except BaseException as error:
                failures.append(error)  # Polars would only keep its text
                raise

        try:
            register_io_source(frames_to_write, schema=first.schema).sink_parquet(out, row_group_size=_ROW_GROUP)
        except (OSError, pl.exceptions.PolarsError):
            if failures:
                raise failures[0] from None
            raise


def is_text(kind: pl.DataType) -> bool:
    """Whether a column of this type holds texts, or nothing at all."""
    return kind in (pl.String, pl.Categorical, pl.Enum, pl.Null)


def _columns(frame: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    """These columns, each by its very name: to `select`, `*` and `^x$` would mean others."""
    return pl.DataFrame([frame.get_column(name) for name in names])


def _bytes_per_row(source: Source) -> float:
    """How many bytes of the file one of its rows is, on average."""
    if source.path is None:
        return 0.0
    try:
        rows = pl.scan_parquet(source.path, glob=False).select(pl.len()).collect().item()
        return float(source.path.stat().st_size / max(rows, 1))
    except (OSError, pl.exceptions.PolarsError):
        return 0.0  # what is wrong with it is told when it is read


def _described(schema: pl.Schema) -> str:
    return ", ".join(f"{name} ({kind})" for name, kind in schema.items())
