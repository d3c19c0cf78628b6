"""The names of a file's columns, by its beginning: what a person can be told of before all is read, or after."""

from contextlib import suppress

from affidavit.errors import InputError
from affidavit.reading.csv_files import any_header
from affidavit.reading.source import Source, bytes_source
from affidavit.reading.sources import format_of


def first_names(source: Source) -> list[str]:
    """The names in the first row; none where the beginning of the file does not tell.

    >>> first_names(bytes_source("rows.jsonl", b'{"id": 1, "target": "B"}'))
    ['id', 'target']
    """
    with suppress(InputError):
        row_format = format_of(source)
        if row_format.names is not None and source.path is not None:
            return row_format.names(source)
        if source.path is None or row_format.may_be_any_text:
            with source.opened() as stream:
                source = bytes_source(source.name, stream.head())
        for row in row_format.rows(source, any_header):
            return list(row.fields)
    return []
