"""Parquet: columns of typed values, read in batches of rows. Rows are counted from 1."""

from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING

from affidavit.errors import InputError
from affidavit.reading.source import Columns, Format, Row, Source, reading_on

if TYPE_CHECKING:
    import polars as pl

ROWS_AT_ONCE = 32_768
"""Rows that travel together; Polars' own hundred thousand need gigabytes where texts are long."""


def frames(source: Source) -> Iterator["pl.DataFrame"]:
    """The rows of a file, some at a time; at least one frame, which shows the columns."""
    import polars as pl  # noqa: PLC0415 - few files need it, and it is slow to import

    try:
        lazy = pl.scan_parquet(_content(source), glob=False)
        yield lazy.collect_schema().to_frame()
        yield from lazy.collect_batches(chunk_size=ROWS_AT_ONCE, maintain_order=True)
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


def _names(source: Source) -> list[str]:
    return next(frames(source)).columns


def _begins_with_mark(head: bytes) -> bool:
    return head.startswith(b"PAR1")


PARQUET = Format("Parquet", (".parquet", ".pq"), _begins_with_mark, _rows, names=_names)
