"""The records of a study as JSON Lines, CSV and Parquet.

JSON Lines hold every field of every record under its own name, every text verbatim, and in `item` what was asked.
CSV and Parquet hold the columns of `record_rows`. In CSV a text that a spreadsheet might compute has an apostrophe
before it, and so has one that begins with an apostrophe: without the first apostrophe of a cell that begins with
one, every text is what it was. `own_exports` reads all of them again.
"""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from io import TextIOWrapper

import polars as pl
from polars.io.plugins import register_io_source

from affidavit.archive.copy_parts import ROW_GROUP
from affidavit.archive.disk import new_file, new_path
from affidavit.archive.record import Record, record_fields
from affidavit.archive.record_columns import without_surrogates
from affidavit.exchange.asked_items import AskedItems
from affidavit.exchange.export_format import ExportFormat, ExportOrder, Written
from affidavit.exchange.record_rows import RecordRows
from affidavit.json_values import canonical
from affidavit.plain_text import is_formula


def _counted(records: Iterable[Record], rows: Counter[str]) -> Iterator[Record]:
    """The same records, counted by their kind."""
    for record in records:
        rows[record.kind.value] += 1
        yield record


def _record_rows(order: ExportOrder) -> RecordRows:
    return RecordRows(order.records.parts, AskedItems(order.records.directory, order.records.frozen).of)


def _json_lines(order: ExportOrder) -> Written:
    written, asked = Written(), AskedItems(order.records.directory, order.records.frozen)
    with new_file(order.out) as stream:
        for record in _counted(order.records, written.rows):
            stream.write(canonical({"item": asked.of(record), **record_fields(record)}) + b"\n")
    return written


def _csv(order: ExportOrder) -> Written:
    written, rows = Written(), _record_rows(order)
    with new_file(order.out) as stream:
        text = TextIOWrapper(stream, encoding="utf-8", newline="")
        # By this line end, carriage returns within a text are quoted too, in every version of Python.
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow([_cell(name) for name in rows.schema])
        for record in _counted(order.records, written.rows):
            writer.writerow([_cell(each) for each in rows.cells(record)])
        text.flush()
        text.detach()
    return written


def _cell(value: object) -> object:
    r"""A value as a cell of CSV holds it: texts that cannot be computed, lists as JSON, truth as JSON has it.

    >>> _cell("=1"), _cell("'a"), _cell("a"), _cell(True), _cell(["b"]), _cell(-1), _cell("\ud800")
    ("'=1", "''a", 'a', 'true', '["b"]', -1, '\\ud800')
    """
    if isinstance(value, str):
        spelt = value if value.isascii() else without_surrogates(value)
        return f"'{spelt}" if spelt.startswith("'") or is_formula(spelt) else spelt
    return json.dumps(value) if isinstance(value, bool | list) else value


def _parquet(order: ExportOrder) -> Written:
    written, rows, failures = Written(), _record_rows(order), list[BaseException]()

    def frames(*_pushed_down: object) -> Iterator[pl.DataFrame]:
        try:
            yield from rows.frames(_counted(order.records, written.rows))
        except BaseException as error:
            failures.append(error)  # Polars would only keep its text
            raise

    with new_path(order.out) as partial:
        columns = register_io_source(frames, schema=rows.schema)
        try:
            columns.sink_parquet(partial, compression="zstd", row_group_size=ROW_GROUP)
        except pl.exceptions.PolarsError:
            if failures:
                raise failures[0] from None
            raise
    return written


JSON_LINES = ExportFormat("jsonl", "JSON Lines, every field of every record", ".jsonl", _json_lines)
CSV = ExportFormat("csv", "a table for spreadsheets, its texts no formulas", ".csv", _csv)
PARQUET = ExportFormat("parquet", "the same columns, typed", ".parquet", _parquet)
