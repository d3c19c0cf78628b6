"""Files through a contract: batches out of the sources, through an engine, into the output.

An engine decides where batches are read and nothing else. A new one is a function and a line in `ENGINES`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Protocol

from affidavit.errors import UsageError
from affidavit.reading.batches import BatchReader, BatchResult, Content, OnRow, Result, RowBatches
from affidavit.reading.csv_files import CSV
from affidavit.reading.json_lines import JSON_LINES
from affidavit.reading.line_batches import LineBatches
from affidavit.reading.parquet_files import PARQUET
from affidavit.reading.rows import RowReader
from affidavit.reading.source import Format, Source
from affidavit.reading.sources import EMPTY, FORMATS, empty, ending_of, format_of
from affidavit.reading.tally import Tally

Engine = Callable[[Callable[[Any], BatchResult[Any]], Iterable[Any]], Iterator[BatchResult[Any]]]
"""Gives every batch to the function and its results back in the order of the batches."""
Progress = Callable[[Tally, int], None]
"""Called after every batch: the counts so far, and the bytes read since the last time."""


def local(read_batch: Callable[[Any], BatchResult[Any]], batches: Iterable[Any]) -> Iterator[BatchResult[Any]]:
    """One batch after another, in this process."""
    return map(read_batch, batches)


ENGINES: dict[str, Engine] = {"local": local}
"""Every way to have batches read, by its name."""


def common_format(sources: Sequence[Source], out: Path | None) -> Format:
    """The one format of all these files, and of the name of the output; UsageError if they have several."""
    formats = [(source.name, format_of(source)) for source in sources]
    formats = [(name, row_format) for name, row_format in formats if row_format is not EMPTY]
    if not formats:
        raise empty(sources[0])
    first = formats[0][1]
    named = [] if out is None else _formats_by_ending(out)
    if any(row_format is not first for _, row_format in formats) or (named and _written(first) not in named):
        kinds = [f"{name} ({row_format.name})" for name, row_format in formats]
        kinds += [f"{out} ({named[0]})"] if named else []
        expected = "files of one kind: JSON Lines, CSV or Parquet"
        raise UsageError("FILES and -o", expected=expected, found=", ".join(kinds))
    return first


def _formats_by_ending(out: Path) -> list[str]:
    """The formats that files with this ending have; none if any file may have it."""
    ending = ending_of(out.name)
    return [row_format.name for row_format in FORMATS.values() if ending in row_format.endings]


def _written(read: Format) -> str:
    """The name of the format in which rows come out."""
    return read.name if read.name in BATCH_READERS else JSON_LINES.name


def read_files(  # noqa: PLR0913 - where to, how, and whom to tell
    sources: Sequence[Source],
    batches: BatchReader[Any, Any],
    *,
    out: BinaryIO | None,
    engine: str = "local",
    on_row: OnRow | None = None,
    progress: Progress | None = None,
    named: Mapping[str, str] = MappingProxyType({}),
) -> Result:
    """Read every row of every source in order; write the rows with their new fields to `out`.

    The sources are of the one format that `batches` reads; those without any content have no rows. `named` are
    columns that must stay what they are, each with the option that named it.
    """
    with_rows = (source for source in sources if format_of(source) is not EMPTY)
    results = ENGINES[engine](batches.read_batch, batches.batches(with_rows))
    joined = _Joined(on_row, progress, named)
    batches.write(map(joined.add, results), out)
    return joined.result


class _Joined:
    """The results of all batches so far."""

    def __init__(self, on_row: OnRow | None, progress: Progress | None, named: Mapping[str, str]) -> None:
        self.result = Result()
        self._named = named
        self._on_row = on_row
        self._progress = progress

    def add(self, batch: BatchResult[Content]) -> Content:
        """Add a batch; its rows are given back, to be written."""
        refuse_replaced(batch.result.replaced, self._named)
        self.result += batch.result
        if self._on_row is not None:
            for reading in batch.row_readings:
                self._on_row(reading)
        if self._progress is not None:
            self._progress(self.result.tally, batch.size)
        return batch.content


def refuse_replaced(replaced: Collection[str], named: Mapping[str, str]) -> None:
    """Refuse to write over what a person has named: right answers would be gone, and what was read in their place.

    Asked of a batch before it is written, as only its rows tell which fields a contract of the user's own adds.
    """
    for column in (column for column in named if column in replaced):
        raise UsageError(
            named[column],
            expected="a column that no field of the contract replaces",
            found=repr(column),
            hint="Give the column another name in the file; or make a study with --out DIR, which keeps both.",
        )


def batch_reader(row_format: Format, reader: RowReader, *, keep_readings: bool = False) -> BatchReader[Any, Any]:
    """How files of this format are read in batches: in a way of their own, or row by row."""
    own = BATCH_READERS.get(row_format.name)
    if own is None:
        return RowBatches(reader, row_format.rows, keep_readings=keep_readings)
    return own(reader, keep_readings=keep_readings)


def _cells(reader: RowReader, *, keep_readings: bool) -> BatchReader[Any, Any]:
    from affidavit.reading.cell_batches import CellBatches  # noqa: PLC0415 - Polars, for those who need it

    return CellBatches(reader, keep_readings=keep_readings)


def _frames(reader: RowReader, *, keep_readings: bool) -> BatchReader[Any, Any]:
    from affidavit.reading.frame_batches import FrameBatches  # noqa: PLC0415 - Polars, for those who need it

    return FrameBatches(reader, keep_readings=keep_readings)


class _MakeReader(Protocol):
    def __call__(self, reader: RowReader, *, keep_readings: bool) -> BatchReader[Any, Any]: ...


BATCH_READERS: dict[str, _MakeReader] = {JSON_LINES.name: LineBatches, CSV.name: _cells, PARQUET.name: _frames}
"""The formats whose rows come out as they came in, by name; rows of any other come out as JSON Lines."""
