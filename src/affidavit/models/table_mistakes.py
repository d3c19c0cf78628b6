"""What is wrong with a table of a study file, in the words of all other errors: msgspec's own are for programmers.

No text is repeated that may be a secret: of headers and keys only the kind of a value is told, and of a long name
its beginning.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import UnionType
from typing import Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from affidavit.errors import InputError, Mistakes, did_you_mean
from affidavit.json_values import shown
from affidavit.models.shown_names import LONGEST_WORD, quoted_name, shown_name

_KINDS = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "array": "a list",
    "object": "a table",
}
"""The words of msgspec, and ours."""
_NAMES: dict[type, str] = {dict: "object", list: "array", tuple: "array"}
"""What msgspec calls the types of Python that TOML gives, where it has a word of its own."""
_MAY_BE_SECRET = {"headers", "key_env", "body", "tools"}
_SAID_TRUE = {"true", "yes", "on", "1"}
_SAID_FALSE = {"false", "no", "off", "0"}

TableT = TypeVar("TableT")
_Steps = tuple[str | int, ...]


def table_mistake(
    error: msgspec.ValidationError, table: object, kind: type, *, where: str, place: str = ""
) -> InputError:
    """The error of a table that could not be converted to its kind; `place` is the table's name in the file.

    >>> class Condition(msgspec.Struct):
    ...     constrained: bool = False
    >>> try:
    ...     msgspec.convert({"constrained": "yes"}, Condition)
    ... except msgspec.ValidationError as error:
    ...     print(table_mistake(error, {"constrained": "yes"}, Condition, where="s.toml", place="conditions.base"))
    s.toml: conditions.base.constrained: expected true or false, found "yes"
    Write constrained = true, without quotes.
    """
    said, _, path = str(error).partition(" - at `")
    got = re.search(r"got `(\w+)`$", said)
    steps = _steps(table, path.rstrip("`"), got[1] if got else "")
    found = _at(table, steps)
    if (names := re.match(r"Expected `(.+)`, got `\w+`$", said)) is not None:
        expected = [name for name in names[1].split(" | ") if name != "null"]
        if all(name in _KINDS for name in expected):
            return _other_type(expected, found, steps, where=where, place=place)
    if (name := re.match(r"Object missing required field `(\w+)`$", said)) is not None:
        inside = _named(place, steps)
        what = f"a key {name[1]} in {inside}" if inside else f"a table [{name[1]}]"
        return InputError(where, expected=what, found="none")
    types = list(_types_at(kind, steps))
    if said.startswith("Object contains unknown field") and isinstance(found, dict):
        return _unknown_key(found, types, where=where, place=_named(place, steps))
    if said.startswith("Invalid enum value") and isinstance(found, str):
        known = [str(each) for one in types if get_origin(one) is Literal for each in get_args(one)]
        *others, last = map(shown, known)
        expected_words = " or ".join(filter(None, (", ".join(others), last)))
        at = f"{where}: {_named(place, steps)}"
        told = shown(found) if len(found) <= LONGEST_WORD else kind_in_words(found)
        return InputError(at, expected=expected_words, found=told, hint=did_you_mean(found, known))
    return InputError(f"{where}: {_named(place, steps)}", expected="another value", found=said)


def converted(table: object, kind: type[TableT], *, where: str, place: str = "") -> TableT:
    """The table of a file as an object of its kind; whatever does not fit is refused in our words, all at once."""
    mistakes, taken_out = Mistakes(), set[str]()
    while True:
        try:
            found = msgspec.convert(table, kind)
        except msgspec.ValidationError as error:
            key, missing = _key_at_fault(error, table, kind), _MISSING.match(str(error))
            if key is not None or missing is None or missing[1] not in taken_out:
                mistakes.add(table_mistake(error, table, kind, where=where, place=place))
            if key is None or not isinstance(table, dict):
                mistakes.refuse()
                raise
            taken_out.add(key)
            table = {name: value for name, value in table.items() if name != key}
        else:
            mistakes.refuse()
            return found


_MISSING = re.compile(r"Object missing required field `(\w+)`")


def _key_at_fault(error: msgspec.ValidationError, table: object, kind: type) -> str | None:
    """The key of the table itself without which the rest may fit; None if the table is none, or lacks a key."""
    said, _, path = str(error).partition(" - at `")
    got = re.search(r"got `(\w+)`$", said)
    if steps := _steps(table, path.rstrip("`"), got[1] if got else ""):
        return str(steps[0])
    known = getattr(kind, "__struct_fields__", ())
    if said.startswith("Object contains unknown field") and isinstance(table, dict):
        return next((key for key in table if key not in known), None)
    return None


# --- where ---


def _steps(table: object, path: str, got: str) -> _Steps:
    """The way to a value, by msgspec's path; a name that it leaves out is found by the type of what is there."""
    steps: list[str | int] = []
    for name, number in re.findall(r"\.(\w+)|\[(\d+|\.\.\.)\]", path):
        value = _at(table, steps)
        if number == "..." and isinstance(value, dict):
            wrong = (key for key, each in value.items() if _name_of(each) == got)
            steps.append(next(wrong, next(iter(value), "")))
        else:
            steps.append(int(number) if number else name)
    return tuple(steps)


def _at(value: object, steps: Sequence[str | int]) -> object:
    for step in steps:
        if isinstance(value, list) and isinstance(step, int):
            value = value[step]
        else:
            value = value[step] if isinstance(value, dict) else value
    return value


def _name_of(value: object) -> str:
    return _NAMES.get(type(value), type(value).__name__)


def kind_in_words(value: object) -> str:
    """What kind of value stands there, where the value itself is better not repeated.

    >>> kind_in_words("sk-123"), kind_in_words(3)
    ('a text', 'a whole number')
    """
    return _KINDS.get(_name_of(value), "a date or a time")


def _named(place: str, steps: Sequence[str | int]) -> str:
    """The name of a place in the file.

    >>> _named("tasks.quiz", ("models", 0)), _named("models.m", ("headers", "sk-proj-0123456789abcdef"))
    ('tasks.quiz.models[0]', 'models.m.headers.sk-pro…')
    """
    for step in steps:
        name = f"[{step}]" if isinstance(step, int) else shown_name(step)
        place += name if isinstance(step, int) or not place else f".{name}"
    return place


# --- what ---


def _other_type(expected: Sequence[str], found: object, steps: _Steps, *, where: str, place: str) -> InputError:
    told = " or ".join(_KINDS[name] for name in expected)
    secret = bool(_MAY_BE_SECRET.intersection(steps)) or (isinstance(found, str) and len(found) > LONGEST_WORD)
    repeated = isinstance(found, bool | int | float | str) and not secret
    if isinstance(found, str) and set(expected) <= {"object", "str"}:
        repeated = False  # whatever a text is that stands in place of a table
    shown_as = shown(found) if repeated else kind_in_words(found)
    at = _named(place, steps)
    hint = _hint(steps, expected, found) if repeated else ""
    return InputError(f"{where}: {at}" if at else where, expected=told, found=shown_as, hint=hint)


def _hint(steps: _Steps, expected: Sequence[str], found: object) -> str:
    """How the value that seems to be meant is written; empty if none does."""
    key = f"{shown_name(steps[-1])} = " if steps and isinstance(steps[-1], str) else ""
    if isinstance(found, str) and "array" in expected:
        return f"Write {key}[{shown(found)}]."
    if "bool" in expected and (word := str(found).strip().lower()) in _SAID_TRUE | _SAID_FALSE:
        meant = "true" if word in _SAID_TRUE else "false"
        return f"Write {key}{meant}{', without quotes' if isinstance(found, str) else ''}."
    if isinstance(found, str) and re.fullmatch(_NUMBERS[expected[0]], found.strip()):
        return f"Write {key}{found.strip()}, without quotes."
    if "str" in expected and isinstance(found, bool | int | float):
        return f'Write {key}"{shown(found)}", in quotes.'
    return ""


_NUMBERS = {**dict.fromkeys(_KINDS, "(?!)"), "int": r"-?\d{1,18}", "float": r"-?\d{1,18}(\.\d{1,18})?"}
"""What a text looks like that was meant as such a value."""


def _unknown_key(table: Mapping[str, object], types: Sequence[object], *, where: str, place: str) -> InputError:
    known = [name for one in types for name in getattr(one, "__struct_fields__", ())]
    key = next((each for each in table if each not in known), "")
    expected = f"a key of {place}: {', '.join(known)}"
    return InputError(where, expected=expected, found=quoted_name(key, known), hint=did_you_mean(key, known))


def _types_at(kind: object, steps: Sequence[str | int]) -> Iterator[object]:
    """The types that a value at this place may have, none of them a union of others."""
    if get_origin(kind) in (Union, UnionType):
        for each in get_args(kind):
            yield from _types_at(each, steps)
    elif not steps:
        yield kind
    elif isinstance(kind, type) and steps[0] in getattr(kind, "__struct_fields__", ()):
        yield from _types_at(get_type_hints(kind)[str(steps[0])], steps[1:])
    elif get_origin(kind) in (list, tuple, dict):
        inside = [each for each in get_args(kind) if each is not Ellipsis]
        yield from _types_at(inside[-1], steps[1:])
