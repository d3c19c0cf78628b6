"""JSON values with exact numbers: when two are equal, and one way to write each down (rulings O5 and O7)."""

import re
from decimal import Decimal
from json.encoder import encode_basestring_ascii

from affidavit.json_values import canonical

_LONG = re.compile("[0-9]{22}")
_PLAIN = range(-5, 22)
"""Places before the point, or less than none, with which a number is written without an exponent."""


def equal_json(one: object, other: object) -> bool:
    """Whether two values are the same JSON: numbers by their exact value, everything else by type and content.

    >>> equal_json({"a": [1]}, {"a": [Decimal("1.0")]}), equal_json(1, "1"), equal_json(1, True)
    (True, False, False)
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal_json(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal_json, one, other))
    return _kind(one) is _kind(other) and one == other


def _kind(value: object) -> type:
    """The JSON type; a number is one, however it is written, and true is none."""
    return Decimal if type(value) in (int, Decimal, float) else type(value)


def exact_text(value: object) -> str:
    """Canonical JSON with exact numbers: equal values, equal texts.

    >>> exact_text({"b": Decimal("1.50"), "a": [Decimal("2.0"), Decimal("1E+30"), 10**30, Decimal("-0.00")]})
    '{"a":[2,1e30,1e30,0],"b":1.5}'
    """
    try:
        text = canonical(value).decode()
    except TypeError:  # of decimals, which are few
        return _written(value)
    return text if _LONG.search(text) is None else _written(value)


def _written(value: object) -> str:
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if isinstance(value, dict):
        return (
            "{"
            + ",".join(f"{encode_basestring_ascii(name)}:{_written(value[name])}" for name in sorted(value))
            + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(map(_written, value)) + "]"
    if type(value) is int or isinstance(value, Decimal):
        return _number(Decimal(value))
    return canonical(value).decode()


def _number(number: Decimal) -> str:
    """A number with as few digits as tell it from all others; without an exponent where that is short.

    >>> [_number(Decimal(text)) for text in ("100", "0.00012", "-1e-7", "12.5e21", "0e9")]
    ['100', '0.00012', '-1e-7', '1.25e22', '0']
    """
    text = str(number)
    if len(text) <= 21 and "." in text and text[-1] != "0" and "E" not in text:
        return text  # as most are
    sign, places, exponent = number.as_tuple()
    digits = "".join(map(str, places)).lstrip("0")
    size = len(digits) + int(exponent)
    digits = digits.rstrip("0")
    if not digits:
        return "0"
    minus = "-" if sign else ""
    if size not in _PLAIN:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{minus}{digits[0]}{fraction}e{size - 1}"
    if size <= 0:
        return f"{minus}0.{'0' * -size}{digits}"
    fraction = f".{digits[size:]}" if len(digits) > size else ""
    return f"{minus}{digits[:size].ljust(size, '0')}{fraction}"
