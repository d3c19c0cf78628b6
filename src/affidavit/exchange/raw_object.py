"""A JSON object of which nothing is read but where its members stand: each value is the text that was written.

What came over a wire inside of a line is judged by whoever reads bodies from the wire, so it must reach them as it
is: a number of any length, a control character, a repeated key. A body that is no JSON leaves its line one.

    >>> written = RawObject('{"id": "a", "body": {"n": 1.0, "n": 2}}', where="out:1")
    >>> written.text("body"), written.value("id"), written.text("error")
    ('{"n": 1.0, "n": 2}', 'a', None)
"""

import re
from json import JSONDecodeError

from affidavit.errors import InputError
from affidavit.json_values import shown
from affidavit.reading.row_lines import DECODER, decode_row

_BLANKS = re.compile(r"[ \t\r\n]*+")
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(r'[^ \t\r\n,:"\[\]{}]++')
_MARK = re.compile(r'["\[\]{}]')


class RawObject:
    """The members of an object, by their keys."""

    def __init__(self, text: str, *, where: str) -> None:
        """Refused with its place where the text is no object, or ends within one."""
        self._where = where
        self._texts: dict[str, list[str]] = {}
        try:
            self._read(text)
        except (ValueError, IndexError) as error:
            decode_row(text, where=where)  # has the words for what is wrong
            raise InputError(where, expected="a JSON object", found="something else") from error

    def _read(self, text: str) -> None:
        at = _after(text, 0, "{")
        while text[at] != "}":
            if self._texts:
                at = _after(text, at, ",")
            start, at = at, _end_of_string(text, at)
            key = DECODER.decode(text[start:at])
            start = _after(text, at, ":")
            at = _end_of_value(text, start)
            self._texts.setdefault(key, []).append(text[start:at])
            at = _skipped(text, at)
        if _skipped(text, at + 1) != len(text):
            raise ValueError

    def __contains__(self, name: str) -> bool:
        return name in self._texts

    def text(self, name: str) -> str | None:
        """The value of a key as it is written; None where there is none. A key that comes twice is refused."""
        texts = self._texts.get(name)
        if texts is None:
            return None
        if len(texts) > 1:
            # Readers of JSON differ in which of them they take.
            raise InputError(self._where, expected=f"the key {name!r} once", found=f"it {len(texts)} times")
        return texts[0]

    def value(self, name: str) -> object:
        """The value of a key; None where there is none. What cannot be read is refused."""
        text = self.text(name)
        if text is None:
            return None
        expected = f"JSON in {name!r}"
        try:
            return DECODER.decode(text)
        except JSONDecodeError as error:
            raise InputError(self._where, expected=expected, found=shown(text)) from error
        except RecursionError as error:
            raise InputError(self._where, expected=expected, found="a value nested too deeply") from error


def _skipped(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return at if found is None else found.end()


def _after(text: str, at: int, sign: str) -> int:
    """What follows a sign, with blanks around it."""
    at = _skipped(text, at)
    if text[at] != sign:
        raise ValueError
    return _skipped(text, at + 1)


def _end_of_string(text: str, at: int) -> int:
    found = _STRING.match(text, at)
    if found is None:
        raise ValueError
    return found.end()


def _end_of_value(text: str, at: int) -> int:
    """Where a value ends: a string or a scalar at its end, anything else where its brackets have closed."""
    if text[at] == '"':
        return _end_of_string(text, at)
    if text[at] not in "[{":
        if (found := _SCALAR.match(text, at)) is None:
            raise ValueError
        return found.end()
    depth = 0
    while mark := _MARK.search(text, at):
        at = mark.end()
        if mark[0] == '"':
            at = _end_of_string(text, mark.start())
            continue
        depth += 1 if mark[0] in "[{" else -1
        if not depth:
            return at
    raise ValueError
