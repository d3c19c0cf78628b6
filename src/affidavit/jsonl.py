"""One line of a JSON Lines file, kept as it was written.

New fields are spliced in before the closing brace; no other byte of the row changes. That keeps what a
decoder would lose: escapes, key order, repeated keys, `1.0` beside `1`, integers beyond any float. A field
that is there already is taken out first, so that no reader has to choose between two.
"""

import json
from collections.abc import Iterator, Mapping

from affidavit.contract import Fields
from affidavit.errors import InputError
from affidavit.finding import shown

_BLANKS = " \t\n\r"


def _whole(text: str) -> int | str:
    # Python refuses to read more than 4,300 digits; nothing that we look at has so many.
    return int(text) if len(text) < 4000 else text


_DECODER = json.JSONDecoder(parse_int=_whole, strict=False)


def decode_row(line: str, *, where: str) -> Fields:
    """The fields of the object that a line is; the last of repeated ones counts, as in any JSON reader.

    >>> decode_row('{"a": 1}', where="file:1")
    {'a': 1}
    """
    hint = "JSON Lines hold one JSON object per line."
    try:
        value = _DECODER.decode(line)
    except json.JSONDecodeError as error:
        found = f"{error.msg} at column {error.colno} of {shown(line)}"
        raise InputError(where, expected="a JSON object", found=found, hint=hint) from error
    except RecursionError as error:
        raise InputError(where, expected="a JSON object", found="one nested too deeply", hint=hint) from error
    if not isinstance(value, dict):
        raise InputError(where, expected="a JSON object", found=shown(value), hint=hint)
    return value


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
        key, at = _DECODER.raw_decode(line, at)
        at = _skip(line, _skip(line, at) + 1)  # the colon
        _, at = _DECODER.raw_decode(line, at)
        yield key, line[start:at]
        at = _skip(line, at)
        if line[at] == ",":
            at = _skip(line, at + 1)


def _skip(line: str, at: int) -> int:
    while line[at] in _BLANKS:
        at += 1
    return at
