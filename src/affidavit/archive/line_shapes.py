"""Fields of a line: which names some types have together, and of which types their values are.

Whoever forges a line computes its checksum as we do, so nothing is of its type until somebody has looked.
"""

from collections.abc import Mapping
from itertools import product
from operator import itemgetter
from types import NoneType, UnionType
from typing import Any, NoReturn, get_args, get_origin, get_type_hints

from msgspec import Struct

from affidavit.json_values import Fields, shown


class NotARecordError(Exception):
    """A line that is whole, and whose fields are not those of a record."""

    def __init__(self, expected: str, found: str) -> None:
        self.expected = expected
        self.found = found
        super().__init__(expected, found)


class Shape:
    """Fields of a line: the names that some types have together, and the types that their values may have."""

    def __init__(self, *types: type[Struct], without: tuple[str, ...] = ()) -> None:
        hints = {name: hint for each in types for name, hint in get_type_hints(each).items()}
        self._names = tuple(name for each in types for name in each.__struct_fields__ if name not in without)
        self._kinds = tuple(_kinds(hints[name]) for name in self._names)
        self._get = itemgetter(*self._names)
        # One lookup for all values at once: a record has twenty, and there may be a million records.
        self._allowed = frozenset(product(*self._kinds))

    def take(self, fields: Fields) -> tuple[Any, ...]:
        """The values, in the order of the names; they are fields of the line no more."""
        try:
            values: tuple[Any, ...] = self._get(fields)
        except KeyError as error:
            raise NotARecordError(f"a field {error.args[0]!r}", "none") from error
        if tuple(map(type, values)) not in self._allowed:
            self._refuse(values)
        for name in self._names:
            del fields[name]
        return values

    def all_of(self, fields: object, where: str) -> dict[str, Any]:
        """An object that has these fields and no other."""
        if type(fields) is not dict:
            raise NotARecordError(f"an object in {where!r}", shown(fields))
        values = self.take(fields)
        check_nothing_left(fields)
        return dict(zip(self._names, values, strict=True))

    def _refuse(self, values: tuple[Any, ...]) -> NoReturn:
        wrong = zip(self._names, self._kinds, values, strict=True)
        for name, kinds, value in wrong:
            check_type(value, kinds, name)
        raise AssertionError(self._names)  # one of them was wrong


_IN_WORDS: dict[type, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
    NoneType: "null",
}


def _kinds(hint: Any) -> tuple[type, ...]:  # noqa: ANN401 - a type, in any of the ways in which types are written
    """The types that values have in JSON where Python has this one.

    >>> _kinds(str | None), _kinds(tuple[str, ...]), _kinds(Mapping[str, int])
    ((<class 'str'>, <class 'NoneType'>), (<class 'list'>,), (<class 'dict'>,))
    """
    if isinstance(hint, UnionType):
        return tuple(kind for part in get_args(hint) for kind in _kinds(part))
    origin = get_origin(hint)
    if origin is tuple:
        return (list,)
    return (dict,) if origin in (dict, Mapping) else (hint,)


def check_type(value: object, kinds: tuple[type, ...], name: str) -> None:
    """Refuse a value of another type, by the name of its field."""
    if type(value) not in kinds:
        raise NotARecordError(f"{' or '.join(_IN_WORDS[kind] for kind in kinds)} in {name!r}", shown(value))


def check_nothing_left(fields: Fields) -> None:
    """Refuse an object that has any field left."""
    if fields:
        raise NotARecordError("no other field", f"a field {next(iter(fields))!r}")
