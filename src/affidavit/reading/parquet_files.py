"""Parquet files of outputs through a contract: streamed by Polars, the contract's columns after the others."""

from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import polars as pl

from affidavit.archive.disk import new_path
from affidavit.contracts.contract import RAW_OUTPUT
from affidavit.errors import AffidavitError, InputError
from affidavit.reading.columns import polars_type
from affidavit.reading.json_lines import Progress, Result
from affidavit.reading.row_cache import Gained, OnceReader
from affidavit.reading.rows import RowReader, column_values, columns_added

_ROW = "row number, for messages"
_ROWS_AT_ONCE = 16_384
"""Rows that travel together; Polars' own hundred thousand need gigabytes where texts are long."""
_ROW_GROUP = 32_768
"""Rows that are held in memory before they are written."""


def read_parquet(
    paths: Sequence[Path], reader: RowReader, *, out: Path | None, progress: Progress | None = None
) -> Result:
    """Read every row of every file in order; write the rows with their new columns to `out`."""
    name = ", ".join(map(str, paths))
    engine: _FrameEngine | None = None
    try:
        frame = pl.scan_parquet(list(paths), row_index_name=_ROW, glob=False)
        engine = _FrameEngine(reader, frame.collect_schema(), name, progress)
        rows = frame.select(pl.len()).collect().item()
        engine.bytes_per_row = sum(path.stat().st_size for path in paths) / max(rows, 1)
        engine.refuse_impossible_keys(frame)
        whole = frame.map_batches(engine.read, schema=engine.schema(), streamable=True)
        with pl.Config(streaming_chunk_size=_ROWS_AT_ONCE):
            if out is None:
                whole.select(pl.len()).collect(engine="streaming")
            else:
                with new_path(out) as partial:
                    whole.sink_parquet(partial, row_group_size=_ROW_GROUP)
    except (OSError, pl.exceptions.PolarsError) as error:
        if engine is not None and engine.error is not None:
            raise engine.error from None
        expected = "Parquet files of the same columns"
        raise InputError(name, expected=expected, found=str(error).partition("\n")[0]) from error
    return engine.result


class _FrameEngine:
    """Frames on their way through a contract."""

    def __init__(self, reader: RowReader, schema: pl.Schema, name: str, progress: Progress | None) -> None:
        self.result = Result()
        self.error: AffidavitError | None = None
        self.bytes_per_row = 0.0
        self._reader = reader
        self._once = OnceReader(reader)
        self._name = name
        self._progress = progress
        self._one_at_a_time = Lock()
        if reader.field not in schema:
            found = "the columns " + ", ".join(each for each in schema if each != _ROW)
            hint = "Name the column that holds the model's text with --field."
            raise InputError(name, expected=f"a column {reader.field!r}", found=found, hint=hint)
        if schema[reader.field] not in (pl.String, pl.Categorical, pl.Enum, pl.Null):
            expected = f"texts in the column {reader.field!r}"
            raise InputError(name, expected=expected, found=str(schema[reader.field]))
        self._types = {column: polars_type(kind) for column, kind in columns_added(reader, schema).items()}
        self._added = list(self._types)
        self._kept = {each: kind for each, kind in schema.items() if each not in (*self._added, _ROW)}
        self.result.replaced.update(schema.keys() & set(self._added))

    def schema(self) -> pl.Schema:
        """The columns of the output."""
        return pl.Schema({**self._kept, **self._types})

    def read(self, frame: pl.DataFrame) -> pl.DataFrame:
        """One batch. Polars may ask for several at once; contracts and counts are not made for that."""
        with self._one_at_a_time:
            try:
                return self._read(frame)
            except AffidavitError as error:
                self.error = self.error or error  # Polars would only keep its text
                raise

    def refuse_impossible_keys(self, frame: pl.LazyFrame) -> None:
        """Name the first row whose key no output could ever give."""
        if self._reader.ours and self._reader.parts.equals_key and "correct" in self._added:
            keys = frame.select(_ROW, "answer").filter(pl.col("answer").is_not_null())
            wrong = keys.filter(~self._can_be(keys)).head(1).collect()
            for row in wrong.iter_rows(named=True):
                self._reader.item(row, where=f"{self._name}:row {row[_ROW] + 1}")

    def _can_be(self, keys: pl.LazyFrame) -> pl.Expr:
        """Whether an output could ever give the key of a row."""
        if keys.collect_schema()["answer"] not in (pl.String, pl.Categorical, pl.Enum):
            return pl.lit(value=False)
        answer = pl.col("answer").cast(pl.String)
        different = keys.select(answer.unique()).collect()["answer"]
        return answer.is_in([key for key in different if self._reader.parts.can_answer(key)])

    def _read(self, frame: pl.DataFrame) -> pl.DataFrame:
        added = self._read_columns(frame) if self._reader.in_columns else None
        if added is None:
            added = self._read_rows(frame)
        if self._progress is not None:
            self._progress(self.result.tally, round(self.bytes_per_row * len(frame)))
        return frame.select(*self._kept).hstack(added)

    def _read_columns(self, frame: pl.DataFrame) -> pl.DataFrame | None:
        raw = frame[self._reader.field].cast(pl.String)
        added = self._reader.parts.read_texts(raw)
        if added is None:
            return None
        if RAW_OUTPUT in self._added:
            added = added.with_columns(raw.alias(RAW_OUTPUT))
        if "correct" in self._added:
            key = frame["answer"].cast(pl.String)
            known = key.is_not_null()
            right = pl.when(pl.col("extracted_answer").is_not_null() & known).then(
                pl.col("extracted_answer") == key
            )
            added = added.with_columns(correct=right, keyed=known)
        self._count(added)
        return added.select(self._added)

    def _count(self, added: pl.DataFrame) -> None:
        for group in (
            added.drop(RAW_OUTPUT, strict=False)
            .group_by(pl.all(), maintain_order=True)
            .len("times")
            .iter_rows(named=True)
        ):
            times, keyed = group.pop("times"), bool(group.pop("keyed", False))
            self.result.tally.add(group, parts=self._reader.parts, has_key=keyed, times=times)

    def _read_rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        gained = []
        for row in frame.iter_rows(named=True):
            where = f"{self._name}:row {row.pop(_ROW) + 1}"
            gained.append(self._once.read(row, where=where)[1])
            self.result.count(gained[-1], self._reader, row)
        return self._framed(gained)

    def _framed(self, gained: Sequence[Gained]) -> pl.DataFrame:
        values = [column_values(self._reader, each.fields, self._added) for each in gained]
        return pl.DataFrame(values, self._types, orient="row", strict=False)
