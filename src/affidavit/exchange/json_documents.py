"""JSON of logs, read with care: whoever wrote a log may have been cut off, or may mean harm.

Documents are read whole and have a limit; lines are read one by one. What a source wrote as `NaN` is a float here.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from affidavit.errors import InputError
from affidavit.exchange.repeated_names import refuse_repeated_names
from affidavit.json_values import Fields, shown
from affidavit.reading.json_lines import pieces
from affidavit.reading.row_lines import DECODER, Batch, decode_line, decode_row
from affidavit.reading.source import LONGEST_ROW, file_source, reading_on
from affidavit.reading.utf8 import decoded_whole

_NOT_FINITE = frozenset(("nan", "inf", "-inf", "+inf", "infinity", "-infinity", "+infinity"))


def document(path: Path, *, what: str, may_repeat: bool = False) -> Fields:
    """The one JSON object of a file; `what` is what it should be, for messages. No name may be in an object twice,
    unless whoever asks takes the last (`may_repeat`)."""
    with reading_on(str(path)), path.open("rb") as stream:
        content = stream.read(LONGEST_ROW + 1)
    if len(content) > LONGEST_ROW:
        hint = "It is read whole. A log of many outputs has a form in parts: for Inspect, `.eval`."
        raise InputError(str(path), expected=f"{what} of at most {LONGEST_ROW:,} bytes", found="more", hint=hint)
    fields = object_of(content, where=str(path), what=what)
    if not may_repeat:
        refuse_repeated_names(content, fields, where=str(path))
    return fields


def object_of(content: bytes, *, where: str, what: str) -> Fields:
    """The JSON object that bytes are; InputError with the place if they are none."""
    text = decoded_whole(content, name=where)
    try:
        value = DECODER.decode(text)
    except json.JSONDecodeError as error:
        at = f"{where}:{error.lineno}" if "\n" in text else where
        raise InputError(at, expected=what, found=f"no JSON at column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise InputError(where, expected=what, found="JSON nested too deeply") from error
    if not isinstance(value, dict):
        refuse(where, expected=what, found=value)
    return value


def lines(path: Path) -> Iterator[tuple[int, Fields]]:
    """The objects of a JSON Lines file with their line numbers; lines end at line feeds alone, CR LF is one."""
    source, number = file_source(path), 1
    with source.opened() as stream:
        for content in pieces(stream, source.name):
            batch = Batch(source.name, number, content)
            for line, text in batch.lines():
                yield line, row_of(text, where=f"{path}:{line}")
            number += batch.height


def row_of(text: str, *, where: str) -> Fields:
    """The object that the text of a line is, in which no name is twice."""
    fields = decode_row(text, where=where)
    refuse_repeated_names(text, fields, where=where)
    return fields


def row_in(line: bytes, *, where: str) -> Fields:
    """The same of a line's bytes, in a third of the time."""
    fields = decode_line(line, where=where)
    refuse_repeated_names(line, fields, where=where)
    return fields


def refuse(where: str, *, expected: str, found: object) -> NoReturn:
    """Refuse a value that a log of this kind cannot have there (ruling I4)."""
    hint = "Nothing is guessed of a log: if this is a newer version of its format, it is not known here yet."
    raise InputError(where, expected=expected, found=shown(found), hint=hint)


def number_in_words(value: object) -> object:
    """A number that is no finite one, where it is written as a text; any other value as it is.

    >>> number_in_words("NaN"), number_in_words("-Infinity"), number_in_words("high"), number_in_words(0.5)
    (nan, -inf, 'high', 0.5)
    """
    return float(value) if isinstance(value, str) and value.casefold() in _NOT_FINITE else value


def text_in(fields: Fields, name: str, *, where: str) -> str:
    """The text in a field; refused with its place if there is none."""
    value = fields.get(name)
    if not isinstance(value, str):
        refuse(where, expected=f"a text in {name!r}", found=value)
    return value


def object_in(fields: Fields, name: str, *, where: str) -> Fields:
    """The object in a field; refused with its place if there is none."""
    value = fields.get(name)
    if not isinstance(value, dict):
        refuse(where, expected=f"an object in {name!r}", found=value)
    return value


def list_in(fields: Fields, name: str, *, where: str) -> list[object]:
    """The list in a field; refused with its place if there is none."""
    value = fields.get(name)
    if not isinstance(value, list):
        refuse(where, expected=f"a list in {name!r}", found=value)
    return value
