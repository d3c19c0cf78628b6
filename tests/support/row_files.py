"""Files of rows, in every format and compression, and the three doors through which they are read."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import zstandard

from affidavit.contracts.text import text
from affidavit.items.item_files import item_rows
from affidavit.reading.engines import batch_reader, common_format, read_files
from affidavit.reading.rows import RowReader
from affidavit.reading.source import file_source
from affidavit.running.import_outputs import rows_in

Rows = list[dict[str, str]]


def json_lines(rows: Rows) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def json_list(rows: Rows) -> bytes:
    return json.dumps(rows, ensure_ascii=False, indent=1).encode()


def separated(delimiter: str, *, end: str = "\r\n") -> Callable[[Rows], bytes]:
    def write(rows: Rows) -> bytes:
        out = io.StringIO(newline="")
        # Everything in quotes: Python's writer would leave a lone carriage return bare.
        writer = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator=end)
        writer.writerow(rows[0])
        writer.writerows([row[name] for name in rows[0]] for row in rows)
        return out.getvalue().encode()

    return write


def parquet(rows: Rows) -> bytes:
    out = io.BytesIO()
    pl.DataFrame(rows).write_parquet(out)
    return out.getvalue()


WRITERS = {
    "JSON Lines": json_lines,
    "a JSON list": json_list,
    "commas": separated(","),
    "semicolons": separated(";"),
    "tabs": separated("\t", end="\n"),
    "Parquet": parquet,
}
COMPRESS = {
    "": lambda content: content,
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


def read_door(path: Path) -> list[object]:
    """As `affidavit read text FILE` reads; gives the lines that it writes."""
    sources, out = [file_source(path)], io.BytesIO()
    batches = batch_reader(common_format(sources, None), RowReader(text))
    read_files(sources, batches, out=out)
    return out.getvalue().splitlines()


def judge_door(path: Path) -> list[object]:
    """As `affidavit judge FILE` reads."""
    return [row.fields for row in rows_in(path, None)]


def items_door(path: Path) -> list[object]:
    """As the items of a study are read."""
    return [item for _, item in item_rows(file_source(path))]


DOORS = {"read": read_door, "judge": judge_door, "items": items_door}
