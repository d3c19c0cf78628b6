"""JSON objects of a known kind with further fields, whose names are learnt: read at a third of the usual cost.

Most lines of a journal have the same fields. A struct of msgspec that knows them checks names and types while it
parses. Whatever it does not know, or cannot take, is left to whoever reads objects of any kind, and may be learnt:

    >>> points = LearntObjects({"x": int}, {"note": str | None})
    >>> points.read(b'{"colour":[1],"x":3}') is None
    True
    >>> points.learn(["colour"])
    >>> point, further = points.read(b'{"colour":[1],"x":3}')
    >>> point.x, further
    (3, {'colour': [1]})

What is read is what `json_bytes.loads` makes of the same bytes, further fields in the order of their names: of two
equal names the last counts, and numbers are neither rounded nor taken for something else.
"""

from collections.abc import Callable, Collection, Mapping
from operator import attrgetter
from typing import Any

from msgspec import UNSET, MsgspecError, UnsetType, defstruct
from msgspec.json import Decoder

from affidavit.json_values import Fields

MOST_LEARNT = 64
"""Further names that are learnt; objects with others are left to whoever reads objects of any kind."""


class LearntObjects:
    """Reads JSON objects that have all of the known fields, any of the optional ones, and further ones."""

    def __init__(
        self, known: Mapping[str, Any], further: Mapping[str, Any], optional: Mapping[str, Any] | None = None
    ) -> None:
        """The names with their types: `optional` fields are None where they are not there.

        `further` are the types of those further fields that have one.
        """
        self._known, self._optional, self._types = dict(known), dict(optional or {}), dict(further)
        self._names: tuple[str, ...] = ()
        self._decode: Callable[[bytes], Any]
        self._further: Callable[[Any], tuple[Any, ...]]
        self._learnt(())

    def learn(self, names: Collection[str]) -> None:
        """From now on objects may have these further fields too."""
        new = [name for name in names if name not in self._names]
        if new and len(self._names) + len(new) <= MOST_LEARNT and all(map(_is_plain, new)):
            self._learnt(tuple(sorted((*self._names, *new))))

    def read(self, content: bytes) -> tuple[Any, Fields] | None:
        """The known fields as attributes, and the further ones; None: it takes another reader."""
        try:
            found = self._decode(content)
        except (MsgspecError, ValueError, RecursionError):
            return None
        values = self._further(found)
        further = dict(zip(self._names, values))  # noqa: B905 - the keyword alone would take a tenth of the time
        if UNSET in values:
            return found, {name: value for name, value in further.items() if value is not UNSET}
        return found, further

    def _learnt(self, names: tuple[str, ...]) -> None:
        """A struct with these further fields, all in the order of names, in which they stand on lines."""
        attributes = {f"further_{number}": name for number, name in enumerate(names)}
        fields: list[tuple[str, str, tuple[Any, ...]]] = [
            *((name, name, (name, kind)) for name, kind in self._known.items()),
            *((name, name, (name, kind | None, None)) for name, kind in self._optional.items()),
            *(
                (name, attribute, (attribute, self._types.get(name, Any) | UnsetType, UNSET))
                for attribute, name in attributes.items()
            ),
        ]
        struct = defstruct(
            "LearntObject",
            [field for _, _, field in sorted(fields, key=lambda each: each[0])],
            rename=attributes,
            forbid_unknown_fields=True,
            kw_only=True,
        )
        # Two attributes more, as one alone would not come in a tuple.
        some = next(iter(self._known))
        self._decode, self._further = Decoder(struct).decode, attrgetter(*attributes, some, some)
        self._names = names


def _is_plain(name: str) -> bool:
    """Whether a name is one of which no reader of JSON thinks otherwise than another."""
    return name.isascii() and name.isidentifier()
