"""JSON Lines: one object per line, in UTF-8.

A line ends at a line feed and nowhere else; blank lines are skipped.
"""

import re
from collections.abc import Iterator

from affidavit.reading import source as limits
from affidavit.reading.row_lines import Batch, decode_row
from affidavit.reading.source import Columns, Format, Row, Source, Stream, reading_on, too_long
from affidavit.reading.utf8 import BYTE_ORDER_MARK

PIECE = 512 * 1024
"""Bytes of lines that are read and decoded together: few enough to stay in the processor's cache."""
_OBJECT = re.compile(rb'[ \t\r\n]*+\{[ \t\r\n]*+["}]')


def pieces(stream: Stream, name: str) -> Iterator[bytes]:
    """Whole lines, some hundreds at a time; the last may lack its line feed."""
    first = True
    with reading_on(name):
        while content := stream.read(PIECE):
            if not content.endswith(b"\n"):
                content += stream.readline(limits.LONGEST_ROW)
                if len(content) > limits.LONGEST_ROW and not content.endswith(b"\n"):
                    raise too_long(name)
            yield content.removeprefix(BYTE_ORDER_MARK) if first else content
            first = False
            del content  # so that its memory, still in the cache, takes what comes next


def _rows(source: Source, _columns: Columns) -> Iterator[Row]:
    number = 1
    with source.opened() as stream:
        for content in pieces(stream, source.name):
            lines = Batch(source.name, number, content)
            for line, text in lines.lines():
                where = f"{source.name}:{line}"
                yield Row(where, line, decode_row(text, where=where))
            number += lines.height


def _begins_with_object(head: bytes) -> bool:
    return _OBJECT.match(head) is not None


JSON_LINES = Format("JSON Lines", (".jsonl", ".ndjson", ".json"), _begins_with_object, _rows, may_be_any_text=True)
