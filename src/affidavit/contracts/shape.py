"""The shape that every contract has, whoever wrote it: what its core must be."""

import json
from functools import partial
from typing import Any, NamedTuple

from affidavit.contracts.contract import CORE, Unread, guarded

_EXPECTED = {"name": "a text", "version": "a whole number", "params": "a mapping of JSON values"}


class Misfit(NamedTuple):
    """A part of the core that is not what it must be."""

    expected: str
    found: str


def misfit(contract: object) -> Misfit | None:
    """The first part of the core that does not fit; None if the object has the shape of a contract.

    >>> misfit(str)
    Misfit(expected='an object', found='the class str; is it str() that was meant?')
    """
    if isinstance(contract, type):
        name = contract.__name__
        return Misfit("an object", f"the class {name}; is it {name}() that was meant?")
    for part in CORE:
        if guarded(partial(_fits, contract, part)) is not True:
            expected = f"a contract, with {_EXPECTED.get(part, 'a method')} in {part!r}"
            return Misfit(expected, part_in_words(contract, part))
    return None


def _fits(contract: object, part: str) -> bool:
    value: Any = getattr(contract, part, None)
    if part == "name":
        return isinstance(value, str) and bool(value) and value.isprintable()
    if part == "version":
        return type(value) is int
    if part == "params":
        # What is written down must come back as it was, or a study that nobody touched would look changed.
        return bool(json.loads(json.dumps(dict(value), allow_nan=False)) == dict(value))
    return callable(value)


def part_in_words(contract: object, part: str) -> str:
    """What an object has under a name, for a message."""
    found = guarded(lambda: repr(getattr(contract, part, "nothing of that name"))[:80])
    return found.error if isinstance(found, Unread) else found
