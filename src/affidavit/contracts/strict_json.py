"""Exactly one JSON object, read strictly, or everything that speaks against it (ruling J1).

The standard library's decoder reads, because faster ones keep the last of two equal keys without a word.
What it lets pass is caught by its hooks: repeated keys, `NaN` and `Infinity`, numbers beyond a double.
It recurses, so depth is measured first. Numbers with a fraction or an exponent are doubles, or exact (ruling O5).
"""

import json
import re
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate
from math import isinf
from types import MappingProxyType
from typing import NamedTuple, Never

from affidavit.contracts.bounded_findings import Findings, FindingsSoFar
from affidavit.contracts.finding import Code, at_key, found_value

LARGEST = 256 * 1024
"""Bytes of UTF-8, a lone surrogate counted as three."""
DEEPEST = 32

_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_STEPS = bytes.maketrans(b"[]{}", b"\x01\xff\x01\xff")
_NOT_BRACKETS = bytes(code for code in range(256) if code not in b"[]{}")
_BLANKS = " \t\n\r"
_COUNTED = re.compile(r'["\[\]}]')
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Refused:
    """A text that is not one strict JSON object, and why."""

    findings: Findings


def decode(
    text: str, *, exact: bool = False, most: Mapping[str, int] = MappingProxyType({})
) -> dict[str, object] | Refused:
    """The object that the whole text is; JSON whitespace around it is allowed, nothing else is.

    `most` says how many items the lists under some names may have.

    >>> decode(' {"a": 1} '), decode('{"a": 1.50}', exact=True)
    ({'a': 1}, {'a': Decimal('1.50')})
    >>> [finding.code.value for finding in decode('Here: {"a": 1}').findings.kept]
    ['json_syntax', 'text_around_json']
    """
    if _may_be_beyond_limits(text) and (beyond := _beyond_limits(text)):
        return Refused(beyond.all())
    try:
        value = (_EXACT if exact else _DOUBLES).strict.decode(text)
        if type(value) is dict and not _may_hold_surrogates(text) and not _too_many(value, most):
            return value
    except (_Odd, json.JSONDecodeError):
        pass
    return _second_look(text, most, exact=exact)


def _second_look(text: str, most: Mapping[str, int], *, exact: bool) -> dict[str, object] | Refused:
    """The same verdict with every reason, for the few texts that are not sound at first sight."""
    try:
        value = (_EXACT if exact else _DOUBLES).lenient.decode(text)
    except json.JSONDecodeError as error:
        return Refused(_not_json(text, error).all())
    found = FindingsSoFar()
    _shape(text, value, most, found)
    _Walk(found).value("$", value)
    return Refused(found.all()) if found or not isinstance(value, dict) else value


# --- before parsing ---


def _may_be_beyond_limits(text: str) -> bool:
    """False for most texts, without a closer look: four bytes hold any code point, and few have many brackets."""
    return len(text) * 4 > LARGEST or text.count("{") + text.count("[") > DEEPEST


def _beyond_limits(text: str) -> FindingsSoFar:
    """Too large, too deep, or both: such a text is not parsed."""
    found = FindingsSoFar()
    if len(text) * 4 > LARGEST and (size := len(text.encode("utf-8", "surrogatepass"))) > LARGEST:
        found.add(Code.TOO_LARGE, "$", f"at most {LARGEST} bytes of UTF-8", f"{size} bytes")
    if (depth := _deepest(text)) > DEEPEST:
        found.add(Code.TOO_DEEP, "$", f"brackets nested at most {DEEPEST} deep", f"{depth} deep")
    return found


def _deepest(text: str) -> int:
    """The most brackets open at once outside strings, whether or not the text is JSON."""
    openings = text.count("{") + text.count("[")
    if openings <= DEEPEST:
        return openings
    # Without escapes, every second part between quote marks is outside strings.
    outside = _STRING.sub("", text) if "\\" in text else "".join(text.split('"')[::2])
    steps = outside.encode("utf-8", "surrogatepass").translate(_STEPS, _NOT_BRACKETS)
    return max(accumulate(array("b", steps)), default=0)


# --- when the text is not JSON ---


def _not_json(text: str, error: json.JSONDecodeError) -> FindingsSoFar:
    """Broken syntax and, beside it, that there is no object at all or that text stands around one (ruling J4)."""
    found, start = FindingsSoFar(), text.find("{")
    # What stands before the object matters to the count only by its quote marks and brackets.
    if start >= 0 and _COUNTED.search(text, 0, start) and (beyond := _beyond_limits(text[start:])):
        return beyond
    place = f"{error.msg} at line {error.lineno}, column {error.colno}"
    found.add(Code.JSON_SYNTAX, "$", "one JSON object", place)
    if start < 0:
        _add_no_json(text, found)
        return found
    try:
        _, end = _SYNTAX_ALONE.raw_decode(text, start)
    except json.JSONDecodeError:
        return found
    around = text[:start].strip(_BLANKS) or text[end:].strip(_BLANKS)
    found.add(Code.TEXT_AROUND_JSON, "$", "one JSON object and nothing else", found_value(around))
    return found


def _add_no_json(text: str, found: FindingsSoFar) -> None:
    found.add(Code.NO_JSON, "$", "one JSON object", found_value(text))


_SYNTAX_ALONE = json.JSONDecoder(parse_int=float)


# --- when it is ---


class _Odd(Exception):  # noqa: N818 - a signal to look again, not an error
    """Strict JSON refuses something in this text."""


class _NotFinite(float):
    """A number that no double holds, with its text."""

    text: str


class _WithRepeats(dict[str, object]):
    """An object in which a key occurs again; `pairs` holds all members as written."""

    pairs: list[tuple[str, object]]


# Most texts are sound and are read once, by hooks that stop at the first oddity ...


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Odd
    return members


def _short(text: str) -> int:
    # A double ends near 1.8e308; and Python itself refuses to read more than 4,300 digits.
    if len(text) > 308:
        raise _Odd
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if isinf(value):
        raise _Odd
    return value


def _finite_exact(text: str) -> Decimal:
    return _decimal(text, _finite(text))


def _decimal(text: str, double: float) -> Decimal:
    """The number as it is written; one that is too small for a double is zero (ruling O5)."""
    return Decimal(text) if double else Decimal(0)


def _no_constant(text: str) -> Never:
    raise _Odd


# ... and the few others are read again, by hooks that keep every oddity in its place.


def _keep_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    repeats = _WithRepeats(members)
    repeats.pairs = pairs
    return repeats


def _keep_int(text: str) -> float:
    return _keep_not_finite(text) if len(text) > 308 and isinf(float(text)) else int(text)


def _keep_float(text: str) -> float:
    value = float(text)
    return _keep_not_finite(text) if isinf(value) else value


def _keep_exact(text: str) -> Decimal | float:
    value = float(text)
    return _keep_not_finite(text) if isinf(value) else _decimal(text, value)


def _keep_not_finite(text: str) -> float:
    value = _NotFinite("nan")
    value.text = text
    return value


class _Decoders(NamedTuple):
    """The first reading and the second, with one kind of numbers."""

    strict: json.JSONDecoder
    lenient: json.JSONDecoder

    @classmethod
    def of(cls, finite: Callable[[str], object], keep: Callable[[str], object]) -> "_Decoders":
        return cls(
            json.JSONDecoder(
                object_pairs_hook=_unique, parse_int=_short, parse_float=finite, parse_constant=_no_constant
            ),
            json.JSONDecoder(
                object_pairs_hook=_keep_repeats,
                parse_int=_keep_int,
                parse_float=keep,
                parse_constant=_keep_not_finite,
            ),
        )


_DOUBLES = _Decoders.of(_finite, _keep_float)
_EXACT = _Decoders.of(_finite_exact, _keep_exact)


_WALKED = (_NotFinite, str, list, dict)


def _shape(text: str, value: object, most: Mapping[str, int], found: FindingsSoFar) -> None:
    if not isinstance(value, dict):
        if "{" not in text:
            _add_no_json(text, found)
        found.add(Code.NOT_AN_OBJECT, "$", "one JSON object", found_value(text.strip()))
        return
    for name in _too_many(value, most):
        found.add(Code.TOO_LARGE, at_key("$", name), f"at most {most[name]} items", "more")


def _too_many(value: dict[str, object], most: Mapping[str, int]) -> list[str]:
    """The names of lists that have too many items."""
    return [name for name in most if isinstance(each := value.get(name), list) and len(each) > most[name]]


def _may_hold_surrogates(text: str) -> bool:
    return ("\\" in text and "\\u" in text) or (not text.isascii() and _SURROGATE.search(text) is not None)


class _Walk:
    """Repeated keys, numbers beyond a double and lone surrogates, in the order of the text."""

    def __init__(self, found: FindingsSoFar) -> None:
        self._found = found

    def value(self, path: str, value: object) -> None:
        """A value and everything below it."""
        if isinstance(value, _NotFinite):
            self._found.add(Code.NOT_FINITE, path, "a finite number", found_value(value.text))
        elif isinstance(value, str):
            if _SURROGATE.search(value):
                self._found.add(Code.BAD_TEXT, path, "text without lone surrogates", found_value(value))
        elif isinstance(value, list):
            for place, element in enumerate(value):
                if isinstance(element, _WALKED):
                    self.value(path if self._found.full else f"{path}[{place}]", element)
        elif isinstance(value, dict):
            self._members(path, value)

    def _members(self, path: str, members: dict[str, object]) -> None:
        met: set[str] = set()
        for key, member in members.pairs if isinstance(members, _WithRepeats) else members.items():
            below = path if self._found.full else at_key(path, key)
            if key in met:
                self._found.add(Code.DUPLICATE_KEY, below, "each key once", found_value(key))
            if _SURROGATE.search(key):
                self._found.add(Code.BAD_TEXT, below, "keys without lone surrogates", found_value(key))
            met.add(key)
            self.value(below, member)
