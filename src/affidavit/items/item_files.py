"""Files of items: our own JSON Lines as they are, and the files that others publish turned into our own rows.

Which kind of file it is (JSON Lines, a JSON list, CSV, Parquet, compressed or not) is told by its content, as for
any file of rows; which published format its rows have, by their fields.
"""

import re
from collections.abc import Iterator
from itertools import chain

from affidavit.errors import InputError
from affidavit.items.formats import format_of, items_of_rows, unknown_format
from affidavit.json_values import Fields, shown
from affidavit.reading import sources
from affidavit.reading.compressed import without_compression_ending
from affidavit.reading.csv_files import any_header
from affidavit.reading.json_lines import JSON_LINES
from affidavit.reading.source import Row, Source

_PLAIN_MMLU = ["question", "A", "B", "C", "D", "answer"]
"""The columns of MMLU's own files, which have no header."""


def item_rows(source: Source, *, as_they_are: bool = False) -> Iterator[tuple[str, Fields]]:
    """Place and item of every row of a file; InputError at the first row that is not one.

    Rows of our own JSON Lines are given as they stand, one by one, and so is any row that is to be taken as it is.

    >>> from affidavit.reading.source import bytes_source
    >>> mmlu = bytes_source("mmlu.csv", b"Two and two?,3,4,5,6,B")
    >>> list(item_rows(mmlu))  # doctest: +NORMALIZE_WHITESPACE
    [('mmlu.csv:1', {'id': 'mmlu-1', 'question': 'Two and two?', 'options': ['3', '4', '5', '6'],
                     'answer': 'B', 'metadata': {}})]
    """
    if as_they_are:
        return ((row.where, row.fields) for row in _some(source, sources.rows_of(source, any_header)))
    rows = _rows(source)
    first = next(rows)
    rows = chain([first], rows)
    if is_own(first.fields) and sources.format_of(source) is JSON_LINES:
        return ((row.where, row.fields) for row in rows)
    return _published(source, rows)


def published_rows(source: Source) -> Iterator[tuple[str, Fields]]:
    """Place and item of every row of a file, each read by its published format; our own are two of them."""
    return _published(source, _rows(source))


def _published(source: Source, rows: Iterator[Row]) -> Iterator[tuple[str, Fields]]:
    return items_of_rows(source.name, rows, id_prefix=_stem(source.name))


def is_own(row: Fields) -> bool:
    """Whether a row is an item of our own shape, so that it can be taken as it is.

    >>> is_own({"id": 1, "question": "?"}), is_own({"question": "?", "choices": []})
    (True, False)
    """
    return "id" in row and (isinstance(row.get("question"), str) or "numbers" in row) and "choices" not in row


def _rows(source: Source) -> Iterator[Row]:
    """Every row of a file, at least one."""
    columns = _Columns()
    rows = sources.rows_of(source, columns)
    first = next(rows, None)
    if columns.unknown and not columns.known:
        raise unknown_format(source.name, f"a first row of {shown(columns.unknown)}")
    return _some(source, rows if first is None else chain([first], rows))


def _some(source: Source, rows: Iterator[Row]) -> Iterator[Row]:
    """The rows; refused if there is none."""
    first = next(rows, None)
    if first is None:
        raise InputError(source.name, expected="at least one item", found="no rows")
    yield first
    yield from rows


class _Columns:
    """The columns of a CSV file by its first row: a header of a known format, or MMLU without one."""

    def __init__(self) -> None:
        self.known = False
        self.unknown: list[str] = []

    def __call__(self, cells: list[str]) -> list[str] | None:
        """The names of the columns; None if the row tells nothing."""
        if format_of(dict.fromkeys(cells, "")) is not None:
            self.known = True
            return cells
        if len(cells) == len(_PLAIN_MMLU) and re.fullmatch("[A-Z]?", cells[-1].strip()):
            self.known = True
            return _PLAIN_MMLU
        self.unknown = self.unknown or cells
        return None


def _stem(name: str) -> str:
    """The file's name without its directory and endings."""
    file = without_compression_ending(re.split(r"[/\\]", name)[-1])
    return file.rpartition(".")[0] or file.lstrip(".") or "item"
