"""A checked line: one JSON object in ASCII, its keys sorted, with a checksum at its end over the bytes before it.

Whatever a study directory keeps is made of such lines: the journal, the items, the seal, the frozen plans. Any
byte that is changed, any line that is cut, is found out.

    >>> line = checked_line({"text": "é", "number": 1})
    >>> print(line.decode(), end="")  # doctest: +ELLIPSIS
    {"number":1,"text":"\\u00e9","sha256":"...
    >>> checked_fields(line), checked_fields(line[:-9])
    ({'number': 1, 'text': 'é'}, None)
"""

from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import BinaryIO

from affidavit.archive.json_bytes import loads
from affidavit.json_values import Fields, canonical

LONGEST_LINE = 1 << 29
"""Bytes that a line may have, 512 MiB: a file that somebody made is never read into memory beyond that."""
LONGEST_TEXT = 80_000_000
"""Bytes that a text may have which came from elsewhere: as JSON in ASCII it takes up to six times as many."""
_CHECKSUM = b',"sha256":"'
_END = b'"}\n'
_CHECKSUM_AT = -(len(_CHECKSUM) + 64 + len(_END))


def lines_of(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a file; of one that is too long, parts that are none."""
    return iter(partial(stream.readline, LONGEST_LINE + 1), b"")


def only_line_of(stream: BinaryIO) -> bytes:
    """What is in a file of one line; of one that is too long, a part that is none."""
    return stream.read(LONGEST_LINE + 1)


def checked_line(fields: Mapping[str, object]) -> bytes:
    """The fields as one line with a checksum at its end."""
    return with_checksum(canonical(fields)[:-1])


def with_checksum(start: bytes) -> bytes:
    """The line that begins so: all of its fields, without the brace that ends them."""
    return b"".join((start, _CHECKSUM, sha256(start).hexdigest().encode(), _END))


def is_whole(line: bytes) -> bool:
    """Whether a line is as it was written, to the last bit."""
    return checked_content(line) is not None


def checked_content(line: bytes) -> bytes | None:
    """The JSON object of a whole line, without its checksum; None for any other."""
    if len(line) > LONGEST_LINE:
        return None
    start = line[:_CHECKSUM_AT]
    if not start or line[_CHECKSUM_AT:] != _CHECKSUM + sha256(start).hexdigest().encode() + _END:
        return None
    return start + b"}"


def content_of(line: bytes) -> bytes:
    """The JSON object of a line that is known to be whole, without its checksum."""
    return line[:_CHECKSUM_AT] + b"}"


def checked_fields(line: bytes) -> Fields | None:
    """The fields of a whole line, without the checksum; None for any other.

    A line that fits its checksum and is no JSON object was never written here.
    """
    content = checked_content(line)
    try:
        fields = None if content is None else loads(content)
    except (ValueError, RecursionError):
        return None
    return fields if type(fields) is dict else None


def is_as_written(line: bytes, fields: Mapping[str, object]) -> bool:
    """Whether a line says its fields in the one way in which they are written: no name twice, all in their order.

    Of two equal names readers of JSON take one or the other.
    """
    try:
        return checked_line(fields) == line
    except (ValueError, RecursionError):
        return False
