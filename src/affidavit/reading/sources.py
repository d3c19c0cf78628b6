"""Every format of rows that is read here, and how a file's format is told: by its content.

`affidavit read`, `affidavit judge FILE` and the items of a study all read through here, so that one rule holds for
each kind of file and one fault has one message. A new format is a file with a `Format` in it, and a line in
`FORMATS`.

The rules:

- Content that is unmistakable decides, whatever the file is called: Parquet's mark, `{` and a name, `[` and `{`.
- Other text could be CSV, or JSON Lines with a fault in the first line. A file that is called `.jsonl`, `.ndjson`
  or `.json` is JSON Lines, one that is called `.csv` or `.tsv` is CSV. Under other names, text that begins with a
  brace or bracket is JSON Lines, and any other is CSV.
- A compressed file is what it holds, and is called what it is called without its last ending.
- A file of blanks, or of nothing, is of no format and has no rows.
- Whatever else it may be (Excel, zip, UTF-16, a Git LFS pointer …) is refused by name, with what to do.
"""

from collections.abc import Iterator
from pathlib import PurePath

from affidavit.errors import InputError
from affidavit.reading.compressed import compression_of, without_compression_ending
from affidavit.reading.csv_files import CSV, any_header
from affidavit.reading.foreign_files import ROWS, refuse_foreign
from affidavit.reading.json_lines import JSON_LINES
from affidavit.reading.json_list import JSON_LIST
from affidavit.reading.parquet_files import PARQUET
from affidavit.reading.source import HEAD, Columns, Format, Row, Source, Stream
from affidavit.reading.utf8 import BYTE_ORDER_MARK

FORMATS: dict[str, Format] = {row_format.name: row_format for row_format in (JSON_LINES, JSON_LIST, CSV, PARQUET)}
"""Every format that is known, by its name; the first that is certain of a file has it."""


def _no_rows(_source: Source, _columns: Columns) -> Iterator[Row]:
    return iter(())


EMPTY = Format("an empty file", (), lambda head: not head, _no_rows)
"""What a file is that holds nothing but blanks."""


def format_of(source: Source) -> Format:
    """The format of a source; InputError if it is none that is known."""
    if source.format is not None:
        return source.format
    with source.opened() as stream:
        head = stream.head()
        text = head.removeprefix(BYTE_ORDER_MARK)
        if len(head) < HEAD and not text.strip():
            return EMPTY
        _refuse_packed_twice(text, stream, source)
        for row_format in FORMATS.values():
            if row_format.recognises(text):
                return row_format
        refuse_foreign(head, stream, where=source.name)
    return _by_name(text, source)


def rows_of(source: Source, columns: Columns = any_header) -> Iterator[Row]:
    """Every row of a source in its order; InputError at the first that is none, or if there is none at all.

    `columns` says which columns are looked for, where the file is a table of cells.
    """
    row_format = format_of(source)
    if row_format is EMPTY:
        raise empty(source)
    return row_format.rows(source, columns)


def empty(source: Source) -> InputError:
    """The refusal of a source without any content."""
    return InputError(source.name, expected=ROWS, found="an empty file")


def ending_of(name: str) -> str:
    """What a file's name ends with, compression aside: `.jsonl`; empty if there is nothing."""
    return PurePath(without_compression_ending(name)).suffix.lower()


def _refuse_packed_twice(text: bytes, stream: Stream, source: Source) -> None:
    """Refuse what cannot be read through its compression: another one, or Parquet, which is read from its end."""
    if stream.compression is None:
        return
    inside = compression_of(text)
    if inside is not None or PARQUET.recognises(text):
        found = f"{PARQUET.name if inside is None else inside.name} inside {stream.compression.name}"
        hint = f"Unpack it first: `{stream.compression.unpack_command}`."
        raise InputError(source.name, expected=ROWS, found=found, hint=hint)


def _by_name(text: bytes, source: Source) -> Format:
    """The format that a text was meant for which could be of several."""
    ending = ending_of(source.name)
    for row_format in FORMATS.values():
        if row_format.may_be_any_text and ending in row_format.endings:
            return row_format
    return JSON_LINES if text.lstrip().startswith((b"{", b"[")) else CSV
