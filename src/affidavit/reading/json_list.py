"""A JSON list of objects: one row each, in their order. It is read whole."""

import re
from collections.abc import Generator, Iterator
from json import JSONDecodeError

from affidavit.errors import InputError
from affidavit.json_values import shown
from affidavit.reading import source as limits
from affidavit.reading.row_lines import DECODER
from affidavit.reading.source import Columns, Format, Row, Source, reading_on
from affidavit.reading.utf8 import BYTE_ORDER_MARK, decoded_whole

_LIST = re.compile(rb"[ \t\r\n]*+\[[ \t\r\n]*+[{\]]")
_BLANKS = re.compile(r"[ \t\r\n]*+")


def _rows(source: Source, _columns: Columns) -> Iterator[Row]:
    with source.opened() as stream, reading_on(source.name):
        content = stream.read(limits.LONGEST_ROW + 1)
    if len(content) > limits.LONGEST_ROW:
        expected = f"a JSON list of at most {limits.LONGEST_ROW:,} bytes"
        hint = "It is read whole; JSON Lines, one object per line, may have any size."
        raise InputError(source.name, expected=expected, found="a longer one", hint=hint)
    text = decoded_whole(content, name=source.name)
    number = 0
    for number, value in enumerate(_values(text, source.name), 1):
        where = f"{source.name}:row {number}"
        if not isinstance(value, dict):
            raise InputError(where, expected="a JSON object", found=shown(value))
        yield Row(where, number, value)
    if number == 0:
        raise InputError(source.name, expected="a JSON list of objects", found="an empty list")


def _values(text: str, name: str) -> Iterator[object]:
    """The members of the list, one after another."""
    expected = "a JSON list of objects"
    try:
        at = _skip(text, text.index("[") + 1)
        at = at + 1 if text.startswith("]", at) else (yield from _members(text, at))
        if _skip(text, at) < len(text):
            raise _fault("Extra data", text, at)
    except JSONDecodeError as error:
        found = f"{error.msg} at column {error.colno}"
        raise InputError(f"{name}:{error.lineno}", expected=expected, found=found) from error
    except RecursionError as error:
        raise InputError(name, expected=expected, found="one nested too deeply") from error


def _members(text: str, at: int) -> Generator[object, None, int]:
    """The members from here on; returns where the list has ended."""
    while True:
        value, at = DECODER.raw_decode(text, at)
        yield value
        at = _skip(text, at)
        if text.startswith("]", at):
            return at + 1
        if not text.startswith(",", at):
            raise _fault("Expecting ',' delimiter", text, at)
        at = _skip(text, at + 1)


def _fault(message: str, text: str, at: int) -> JSONDecodeError:
    return JSONDecodeError(message, text, at)


def _skip(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return at if blanks is None else blanks.end()


def _begins_with_list(head: bytes) -> bool:
    return _LIST.match(head.removeprefix(BYTE_ORDER_MARK)) is not None


JSON_LIST = Format("a JSON list", (".json",), _begins_with_list, _rows)
