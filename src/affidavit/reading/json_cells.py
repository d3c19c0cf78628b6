"""Values of a row that JSON has no word for: a table's dates and decimals, and numbers that are none."""

import math
from collections.abc import Mapping
from datetime import date, time
from types import NoneType

from affidavit.errors import InputError
from affidavit.json_values import Fields

_AS_THEY_ARE = frozenset({str, int, bool, NoneType})
_NAMES = frozenset({str})
DEEPEST = 200
"""How deep values of a row may be nested."""


def json_cells(row: Fields, *, where: str) -> Fields:
    """The row with JSON values alone: NaN and infinities by their names, dates as ISO has them, others as text.

    >>> from datetime import date
    >>> json_cells({"a": float("nan"), "b": [date(2026, 1, 31), 1.5], "c": b"\\xff"}, where="")
    {'a': 'NaN', 'b': ['2026-01-31', 1.5], 'c': 'ff'}
    """
    if _AS_THEY_ARE.issuperset(map(type, row.values())):
        return row
    return {str(name): _json(value, 0, where) for name, value in row.items()}


def _json(value: object, depth: int, where: str) -> object:
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if depth > DEEPEST:
        raise InputError(where, expected=f"values of at most {DEEPEST} levels", found="one nested more deeply")
    # Most objects and lists hold nothing that has to change: looking is a third of what a copy costs.
    if kind is list and _AS_THEY_ARE.issuperset(map(type, value)):  # type: ignore[call-overload]
        return value
    if kind is dict and _is_plain(value):  # type: ignore[arg-type]
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {str(name): _json(each, depth + 1, where) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_json(each, depth + 1, where) for each in value]
    if isinstance(value, date | time):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else str(value)


def _is_plain(value: Mapping[object, object]) -> bool:
    return _AS_THEY_ARE.issuperset(map(type, value.values())) and _NAMES.issuperset(map(type, value))
