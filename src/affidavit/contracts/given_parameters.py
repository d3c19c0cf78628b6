"""Parameters of a contract as people give them: in a study file, or as `name=value` on a command line.

What names a file becomes the file's content here, so that a contract is made of values alone.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from math import isfinite
from pathlib import Path

from affidavit.contracts.parts import Parts
from affidavit.errors import ParameterError, UsageError


def parameters_given(words: Iterable[str]) -> dict[str, object]:
    """Parameters as they are typed: each value as a study file would have it, or else a text as it stands.

    >>> parameters_given(["marker=####", "tolerance=0.5", 'labels=["a", "b"]'])
    {'marker': '####', 'tolerance': 0.5, 'labels': ['a', 'b']}
    """
    given: dict[str, object] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise UsageError("--param", expected="a name and a value: NAME=VALUE", found=repr(word))
        if name in given:
            raise UsageError("--param", expected="each parameter once", found=f"{name} twice")
        given[name] = _value(value)
    return given


def _value(words: str) -> object:
    try:
        tables = tomllib.loads(f"value = {words}", parse_float=exact_float)
    except (ValueError, RecursionError):
        return words
    # A line break would begin another key: whoever types that means a text.
    return tables["value"] if tables.keys() == {"value"} else words


def exact_float(typed: str) -> float | str:
    """A number of a TOML text; where a double would round it, the text as it was typed (ruling N7).

    >>> exact_float("0.10"), exact_float("0.10000000000000000001")
    (0.1, '0.10000000000000000001')
    """
    value = float(typed)
    try:
        written = Decimal(typed)
    except InvalidOperation:  # an exponent of twenty digits
        return typed
    is_exact = written == Decimal(repr(value)) if isfinite(value) else not written.is_finite()
    return value if is_exact else typed


def with_files(parts: Parts, given: Mapping[str, object], *, beside: Path) -> dict[str, object]:
    """The same parameters, JSON files by their content; a file's name is taken from the folder `beside`.

    A text that begins with a brace is no name of a file, but the JSON itself, as it is typed on a command line.

    >>> from affidavit.contracts.registry import parts_named
    >>> with_files(parts_named("json"), {"schema": '{"type": "object"}'}, beside=Path())
    {'schema': {'type': 'object'}}
    """
    return {
        name: _object(name, value, beside) if name in parts.file_parameters and isinstance(value, str) else value
        for name, value in given.items()
    }


def _object(name: str, value: str, beside: Path) -> object:
    if value.lstrip().startswith("{"):
        return _parsed(name, value, "")
    path = beside / value
    try:
        content = path.read_bytes()
    except OSError as error:
        expected = "a file that can be read"
        raise ParameterError(name, expected=expected, found=f"{path}: {error.strerror}") from error
    return _parsed(name, content, f"{path}: ")


def _parsed(name: str, content: str | bytes, place: str) -> object:
    try:
        value = json.loads(content, object_pairs_hook=_each_once)
    except RecursionError as error:
        found = f"{place}values that are nested too deeply"
        raise ParameterError(name, expected="JSON", found=found) from error
    except ValueError as error:
        raise ParameterError(name, expected="JSON", found=f"{place}{error}") from error
    if value is None:  # it would be taken for a parameter that was left out
        raise ParameterError(name, expected="a JSON value", found=f"{place}null")
    return value


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object; of a name that is there twice, nobody knows which is meant."""
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        message = f"the name {json.dumps(twice)} twice in one object"
        raise ValueError(message)
    return members
