"""Lines of a JSON Lines file, kept as they were written.

New fields are spliced in before the closing brace; no other byte of the row changes. That keeps what a
decoder would lose: escapes, key order, repeated keys, `1.0` beside `1`, integers beyond any float. A field
that is there already is taken out first, so that no reader has to choose between two.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from msgspec import MsgspecError
from msgspec.json import Decoder

from affidavit.errors import InputError
from affidavit.json_values import Fields, shown
from affidavit.reading.utf8 import decoded

_BLANKS = " \t\n\r"


_DIGITS_OF_A_NUMBER = 4000
"""A number of fewer digits is one; a longer one is kept as its text."""


def _whole(text: str) -> int | str:
    # Python refuses to read more than 4,300 digits; nothing that we look at has so many.
    return int(text) if len(text) < _DIGITS_OF_A_NUMBER else text


DECODER = json.JSONDecoder(parse_int=_whole, strict=False)
"""Of rows: control characters may stand in a text, and a number may have any length."""


def decode_row(line: str, *, where: str) -> Fields:
    """The fields of the object that a line is; the last of repeated ones counts, as in any JSON reader.

    >>> decode_row('{"a": 1}', where="file:1")
    {'a': 1}
    """
    hint = "JSON Lines hold one JSON object per line."
    try:
        value = DECODER.decode(line)
    except json.JSONDecodeError as error:
        raise InputError(where, expected="a JSON object", found=_no_json(line, error), hint=hint) from error
    except RecursionError as error:
        raise InputError(where, expected="a JSON object", found="one nested too deeply", hint=hint) from error
    if not isinstance(value, dict):
        raise InputError(where, expected="a JSON object", found=shown(value), hint=hint)
    return value


_quick = Decoder()
_DIGITS = bytes(ord("0") if chr(byte).isdecimal() and byte < 128 else byte for byte in range(256))
_LONG_NUMBER = b"0" * _DIGITS_OF_A_NUMBER
"""What a number of so many digits looks like if all digits are noughts."""


def decode_line(line: bytes, *, where: str) -> Fields:
    """What `decode_row` makes of the text of a line, mostly in a third of its time.

    >>> decode_line(b'{"a": 1}', where="file:1")
    {'a': 1}
    """
    if len(line) < _DIGITS_OF_A_NUMBER or _LONG_NUMBER not in line.translate(_DIGITS):
        # Whatever it refuses or finds something else in is left to the reader that has words for it.
        with suppress(MsgspecError, ValueError, RecursionError):
            value = _quick.decode(line)
            if type(value) is dict:
                return value
    return decode_row(decoded(line, where=where), where=where)


def _no_json(line: str, error: json.JSONDecodeError) -> str:
    """What stands in a line where JSON ends, in words, with its column.

    >>> for line in ('{"a": 1,}', "{'a': 1}", '{"a": 1 "b": 2}', '{"a": "b}', '{"a": 1', '{"a": 1} 2'):
    ...     try:
    ...         DECODER.decode(line)
    ...     except json.JSONDecodeError as error:
    ...         print(_no_json(line, error))
    a comma before } at column 8: ',}'
    a single quote, where JSON has a double quote, at column 2: "'a': 1}"
    no comma at column 9: '"b": 2}'
    a text that does not end, at column 7: '"b}'
    an end that comes too early, at column 8
    more than one value, at column 10: '2'
    """
    before = line[: error.pos].rstrip(_BLANKS)
    rest = line[error.pos :].lstrip(_BLANKS) if not error.msg.startswith("Illegal trailing") else line[error.pos :]
    at, what = len(line) - len(rest), "no JSON"
    if rest[:1] == "," and rest[1:].lstrip(_BLANKS)[:1] in ("}", "]"):
        what = f"a comma before {rest[1:].lstrip(_BLANKS)[0]}"
    elif before.endswith(",") and rest[:1] in ("}", "]"):
        at, what = len(before) - 1, f"a comma before {rest[0]}"
    elif error.msg.startswith("Unterminated string"):
        what = "a text that does not end,"
    elif not rest:
        return f"an end that comes too early, at column {len(line.rstrip(_BLANKS)) + 1:,}"
    elif rest[0] == "'":
        what = "a single quote, where JSON has a double quote,"
    elif error.msg.startswith("Expecting ','") and rest[0] in '"{[':
        what = "no comma"
    elif error.msg.startswith("Extra data"):
        what = "more than one value,"
    return f"{what} at column {at + 1:,}: {line[at : at + 40]!r}"


def members_of(added: Mapping[str, object]) -> str:
    """The added fields as they are spliced into a row: `"a": 1, "b": null`."""
    return json.dumps(added)[1:-1]


def splice(line: str, row: Fields, added: Mapping[str, object]) -> str:
    """The line of `row` with the added fields at its end and every other byte as it was.

    >>> splice('{"a":1.0, "b":"é" }', {"a": 1.0, "b": "é"}, {"c": True})
    '{"a":1.0, "b":"é" , "c": true}'
    >>> splice('{"a": 1, "b": 2}', {"a": 1, "b": 2}, {"a": None})
    '{"b": 2, "a": null}'
    """
    members = members_of(added)
    if not row.keys().isdisjoint(added):
        kept = (text for key, text in _members(line) if key not in added)
        before, after = line[: line.index("{") + 1], line[line.rindex("}") :]
        return before + ", ".join((*kept, members)) + after
    brace = line.rindex("}")
    comma = ", " if row and members else ""
    return f"{line[:brace]}{comma}{members}{line[brace:]}"


def _members(line: str) -> Iterator[tuple[str, str]]:
    """Key and text (`"key": value`) of each member of the object, repeated ones each time."""
    at = _skip(line, line.index("{") + 1)
    while line[at] != "}":
        start = at
        key, at = DECODER.raw_decode(line, at)
        at = _skip(line, _skip(line, at) + 1)  # the colon
        _, at = DECODER.raw_decode(line, at)
        yield key, line[start:at]
        at = _skip(line, at)
        if line[at] == ",":
            at = _skip(line, at + 1)


def _skip(line: str, at: int) -> int:
    while line[at] in _BLANKS:
        at += 1
    return at


class Batch:
    """Lines that follow each other in a file, each with its line feed."""

    def __init__(self, name: str, first: int, content: bytes) -> None:
        self.name = name
        self.first = first
        self.content = content if content.endswith(b"\n") else content + b"\n"

    @cached_property
    def height(self) -> int:
        """How many lines there are, blank ones too."""
        return self.content.count(b"\n")

    def heads(self, objects: int) -> "Heads | None":
        """Every line without its closing brace and line feed; None unless each is one object and nothing else.

        `objects` is how many a decoder found. Where JSON follows JSON, a line that begins with `{` after one
        that ended with `}` begins a new object.
        """
        heads = _LINE_END.split(self.content)[:-1]
        if len(heads) != objects or not _all_begin_with_brace(heads):
            return None
        self.height = objects
        return Heads(self.name, self.first, heads)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Number and text of every line that is not blank."""
        for number, line in enumerate(self.content.split(b"\n")[:-1], self.first):
            if line and not line.isspace():
                yield number, decoded(line, where=f"{self.name}:{number}")


@dataclass(frozen=True, slots=True)
class Heads:
    """Lines without their ends, which are a closing brace and a line feed."""

    name: str
    first: int
    lines: list[bytes]

    def batch(self) -> Batch:
        """The lines with their ends."""
        return Batch(self.name, self.first, b"}\n".join((*self.lines, b"")))


def _all_begin_with_brace(lines: list[bytes]) -> bool:
    # If the first and the last in order do, so do all between; this asks no line by itself.
    return not lines or (min(lines).startswith(b"{") and max(lines).startswith(b"{"))


_LINE_END = re.compile(rb"\}\n")
