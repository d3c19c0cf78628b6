"""Parquet: columns of typed values, read in batches of rows. Rows are counted from 1."""

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from affidavit.errors import InputError
from affidavit.reading.source import Columns, Format, Row, Source, reading_on

if TYPE_CHECKING:
    import polars as pl

ROWS_AT_ONCE = 32_768
"""Rows that travel together; Polars' own hundred thousand need gigabytes where texts are long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowRange(Source):
    """Some rows of a file that follow each other."""

    start: int
    stop: int


def frames(source: Source) -> Iterator["pl.DataFrame"]:
    """The rows of a file, or of a range of it, some at a time; at least one frame, which shows the columns."""
    import polars as pl  # noqa: PLC0415 - few files need it, and it is slow to import

    try:
        lazy = pl.scan_parquet(_content(source), glob=False)
        yield lazy.collect_schema().to_frame()
        if isinstance(source, RowRange):
            lazy = lazy.slice(source.start, source.stop - source.start)
        yield from lazy.collect_batches(chunk_size=ROWS_AT_ONCE, maintain_order=True)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(source.name, expected="Parquet", found=str(error).partition("\n")[0]) from error


def row_count(source: Source) -> int:
    """How many rows a file has, by its own account."""
    import polars as pl  # noqa: PLC0415 - few files need it, and it is slow to import

    try:
        return int(pl.scan_parquet(_content(source), glob=False).select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(source.name, expected="Parquet", found=str(error).partition("\n")[0]) from error


def _content(source: Source) -> "str | BytesIO":
    """The file, or its content where it is none."""
    if source.path is not None:
        return str(source.path)
    with source.opened() as stream, reading_on(source.name):
        return BytesIO(stream.read())


def _rows(source: Source, _columns: Columns) -> Iterator[Row]:
    from affidavit.reading.shortest_decimals import with_shortest_decimals  # noqa: PLC0415 - it brings Polars

    number = 0
    for frame in frames(source):
        for fields in with_shortest_decimals(frame).iter_rows(named=True):
            number += 1
            yield Row(f"{source.name}:row {number}", number, fields)


def schema_of(source: Source) -> list[str]:
    """Each column of a file with its type."""
    return [f"{name}: {kind}" for name, kind in next(frames(source)).schema.items()]


def _names(source: Source) -> list[str]:
    return next(frames(source)).columns


def _begins_with_mark(head: bytes) -> bool:
    return head.startswith(b"PAR1")


PARQUET = Format("Parquet", (".parquet", ".pq"), _begins_with_mark, _rows, names=_names)
