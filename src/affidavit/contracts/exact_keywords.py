"""Keywords of a JSON Schema that are decided here, exactly and in linear time (rulings C4 and O5).

The validator takes a number of many digits for a double where a bound is large or written with a point, and where
it looks for multiples; and among large numbers it looks for equal items by comparing each with each. So it is
given these keywords in place of its own.

    >>> from affidavit.contracts.json_schema import compiled
    >>> schema = compiled('{"properties":{"share":{"maximum":2.0}}}')
    >>> [schema.fits({"share": Decimal(text)}) for text in ("2.00", "2.0000000000000000001")]
    [True, False]
"""

import operator
from collections.abc import Callable, Mapping
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Any

from affidavit.contracts.exact_json import exact_text

_Fits = Callable[[Any, Any], bool]
_ENOUGH = Context(prec=1_000_000, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""More digits than a text has within the size of ruling J1, so that what is left of a division is exact."""
_NUMBERS = (int, Decimal, float)


class NotFittingError(ValueError):
    """A value does not fit a keyword: the validator is told so by raising."""


def _is_multiple(number: int | Decimal, divisor: int | Decimal) -> bool:
    return _ENOUGH.remainder(number, divisor).is_zero()


def _exact(number: Any) -> Any:  # noqa: ANN401 - a number of JSON
    """A number as it is written; a double by the shortest decimal that denotes it."""
    return Decimal(repr(number)) if type(number) is float else number


class _OfNumbers:
    """A keyword that compares numbers with its own; whatever is no number fits."""

    fits: _Fits
    meant_strictly: tuple[str, _Fits] = ("", operator.eq)
    """The keyword that says in draft 4 whether the bound itself is left out, and how numbers are compared then."""

    def __init__(self, parent: Mapping[str, Any], value: Any, path: object) -> None:  # noqa: ANN401
        keyword, strictly = self.meant_strictly
        if parent.get(keyword) is True:
            self.fits = strictly
        # The keyword of draft 4 that is true or false says nothing by itself.
        self._bound = None if isinstance(value, bool) else _exact(value)

    def validate(self, instance: object) -> None:
        """Raise if a number does not fit."""
        if type(instance) in _NUMBERS and self._bound is not None and not self.fits(_exact(instance), self._bound):
            raise NotFittingError


class _Minimum(_OfNumbers):
    fits = staticmethod(operator.ge)
    meant_strictly = ("exclusiveMinimum", operator.gt)


class _Maximum(_OfNumbers):
    fits = staticmethod(operator.le)
    meant_strictly = ("exclusiveMaximum", operator.lt)


class _ExclusiveMinimum(_OfNumbers):
    fits = staticmethod(operator.gt)


class _ExclusiveMaximum(_OfNumbers):
    fits = staticmethod(operator.lt)


class _MultipleOf(_OfNumbers):
    fits = staticmethod(_is_multiple)


class _UniqueItems:
    """No item of a list twice; equal items are equal texts (ruling O5)."""

    def __init__(self, parent: object, value: Any, path: object) -> None:  # noqa: ANN401
        self._asked = value is True

    def validate(self, instance: object) -> None:
        """Raise if a list has an item twice."""
        if self._asked and isinstance(instance, list):
            texts = {exact_text(_without_doubles(item)) for item in instance}
            if len(texts) < len(instance):
                raise NotFittingError


def _without_doubles(value: object) -> object:
    """The same value with exact numbers, so that equal ones are written alike."""
    if isinstance(value, float):
        return _exact(value)
    if isinstance(value, list):
        return [*map(_without_doubles, value)]
    if isinstance(value, dict):
        return {name: _without_doubles(member) for name, member in value.items()}
    return value


EXACT_KEYWORDS: Mapping[str, type] = {
    "minimum": _Minimum,
    "maximum": _Maximum,
    "exclusiveMinimum": _ExclusiveMinimum,
    "exclusiveMaximum": _ExclusiveMaximum,
    "multipleOf": _MultipleOf,
    "uniqueItems": _UniqueItems,
}
"""By the name of the keyword, what decides it."""
