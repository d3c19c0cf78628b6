"""The right object of an item, and which of its fields an answer is compared by (rulings O6 and O7)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from affidavit.contracts.exact_json import equal_json
from affidavit.contracts.finding import LONGEST, found_value
from affidavit.contracts.schema_violations import Steps
from affidavit.contracts.strict_json import Refused, decode
from affidavit.errors import InputError, ParameterError, did_you_mean
from affidavit.json_values import canonical, shown

MOST_FIELDS = 200
PLACE = "parameters.fields"


@dataclass(frozen=True, slots=True)
class ObjectKey:
    """The right object, with exact numbers, or None where nobody knows it."""

    answer: Mapping[str, object] | None


def checked_fields(given: object) -> tuple[str, ...] | None:
    """The fields that were chosen; None for all that a key has. One field may be given as a text.

    >>> checked_fields(["name", "place.city"]), checked_fields("year"), checked_fields(None)
    (('name', 'place.city'), ('year',), None)
    """
    if given is None:
        return None
    if isinstance(given, str) and "," in given:
        say = [("fields", [name.strip() for name in given.split(",") if name.strip()])]
        expected = "a list of fields, or the name of one"
        raise ParameterError("fields", expected=expected, found=shown(given), hint="Say {}.", say=say)
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not 0 < len(names) <= MOST_FIELDS or not all(map(_is_path, names)):
        expected = f"a list of 1 to {MOST_FIELDS} names of fields, an inner one after a dot: place.city"
        raise InputError(PLACE, expected=expected, found=shown(given))
    if len(set(names)) < len(names):
        raise InputError(PLACE, expected="each field once", found=shown(given))
    return tuple(names)


def _is_path(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= LONGEST and name.isprintable() and all(name.split("."))


def key_of(answer: object, *, where: str) -> Mapping[str, object]:
    """The object in an item's `answer`: an object, or the JSON text of one; with its names in order.

    >>> key_of('{"year": 1850.0, "name": "Ada"}', where="items.jsonl:1")
    {'name': 'Ada', 'year': Decimal('1850.0')}
    """
    if isinstance(answer, str):
        text = answer.strip()
    else:
        try:
            text = canonical(answer).decode() if isinstance(answer, Mapping) else ""
        except (TypeError, ValueError, RecursionError):
            text = ""
    key = decode(text, exact=True)
    if isinstance(key, Refused) or not key:
        hint = "A right answer is an object with the fields to compare, or its JSON text. Unknown: leave it null."
        raise InputError(where, expected="a JSON object in 'answer'", found=found_value(answer)[:80], hint=hint)
    return dict(sorted(key.items()))


def chosen_fields(key: Mapping[str, object], fields: tuple[str, ...] | None) -> dict[str, Steps]:
    """The fields that are compared, by the names that they are told by: chosen ones, or all that the key has."""
    return {name: (name,) for name in key} if fields is None else {name: tuple(name.split(".")) for name in fields}


def field_hint(name: str, key: Mapping[str, object]) -> str:
    """What to do where a right answer lacks a field that is compared.

    >>> print(field_hint("place.ctiy", {"place": {"city": "Rome"}, "year": 1850}))
    Did you mean place.city? `fields` names what is compared: every right answer has it, null where it is null.
    """
    inner = (f"{outer}.{each}" for outer, value in key.items() if isinstance(value, Mapping) for each in value)
    near = did_you_mean(name, [*key, *inner])
    said = "`fields` names what is compared: every right answer has it, null where it is null."
    return f"{near} {said}" if near else said


def missing_field(key: Mapping[str, object], fields: Mapping[str, Steps]) -> str | None:
    """The first chosen field that a key lacks, so that nothing could be compared with it."""
    return next((name for name, steps in fields.items() if not _way(key, steps)), None)


def is_right(answer: Mapping[str, object], key: Mapping[str, object], steps: Steps) -> bool:
    """Whether a field of an answer is there and equals the key's.

    >>> is_right({"year": 1850}, {"year": 1850.0}, ("year",)), is_right({}, {"year": None}, ("year",))
    (True, False)
    """
    found, expected = _way(answer, steps), _way(key, steps)
    return bool(found) and bool(expected) and equal_json(found[-1], expected[-1])


def _way(value: object, steps: Steps) -> list[object]:
    """The values on the way to a field, the field last; none if it is not there."""
    way: list[object] = []
    for step in steps:
        if not isinstance(value, Mapping) or step not in value:
            return []
        value = value[step]
        way.append(value)
    return way
