"""A column of rows by its name, or a place inside of one: `response.body.choices[0].message.content`.

A column of exactly this name comes first, whatever characters are in it; only then is the text a way from value to
value: names of objects between dots, places of lists in brackets, counted from 0.

    >>> path = ColumnPath("choices[0].text")
    >>> path.of({"choices": [{"text": "B"}], "id": 1}), path.of({"choices[0].text": "A"}), path.of({"id": 1})
    ('B', 'A', None)
    >>> path.taken_out({"choices": [{"text": "B", "index": 0}], "id": 1})
    {'choices': [{'index': 0}], 'id': 1}

Where null stands on the way, null stands at its end: what a failed request left of an answer.

    >>> path.is_in({"choices": None}), path.is_in({"choices": []})
    (True, False)
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from affidavit.json_values import Fields

_STEP = re.compile(r"(?:^|\.)([^.\[\]]+)|\[([0-9]{1,9})\]")


@dataclass(frozen=True)
class ColumnPath:
    """Where a value stands in a row."""

    text: str

    @cached_property
    def steps(self) -> tuple[str | int, ...]:
        """The way to the value; empty if the text is no such way, but only a name."""
        found, at = list[str | int](), 0
        while at < len(self.text):
            step = _STEP.match(self.text, at)
            if step is None or (at == 0 and step[1] is None):
                return ()
            found.append(step[1] if step[1] is not None else int(step[2]))
            at = step.end()
        return tuple(found)

    @cached_property
    def is_nested(self) -> bool:
        """Whether it may lead into a column."""
        return len(self.steps) > 1

    def is_in(self, row: Mapping[str, object]) -> bool:
        """Whether a row has such a place, if null stands there or on the way."""
        return self.text in row or (self.is_nested and self._ends(row))

    def _ends(self, row: Mapping[str, object]) -> bool:
        value: object = row
        for step in self.steps:
            if not _has(value, step):
                return False
            value = _inner(value, step)
            if value is None:
                return True
        return True

    def known_part(self, row: Mapping[str, object]) -> tuple[str, object]:
        """As much of the way as a row has, and what stands there; an empty text and the row if it has none of it.

        >>> ColumnPath("choices[0].message.text").known_part({"choices": [{"message": {"content": "B"}}]})
        ('choices[0].message', {'content': 'B'})
        """
        value, text = cast("object", row), ""
        for step in self.steps:
            if not _has(value, step):
                break
            value = _inner(value, step)
            text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
        return text, value

    def of(self, row: Mapping[str, object]) -> object:
        """The value; null where the row has no such place."""
        if self.text in row:
            return row[self.text]
        if not self.is_nested:
            return None
        return _inner(self._parent(row), self.steps[-1])

    def taken_out(self, row: Fields) -> Fields:
        """A copy of the row without this value; the row itself where it has none."""
        if self.text in row:
            return {name: value for name, value in row.items() if name != self.text}
        if not self.is_nested or not _has(self._parent(row), self.steps[-1]):
            return row
        taken: object = _without(row, self.steps)
        assert isinstance(taken, dict)  # noqa: S101 - the first step of a way is a name
        return taken

    def _parent(self, row: Mapping[str, object]) -> object:
        value: object = row
        for step in self.steps[:-1]:
            value = _inner(value, step)
        return value


def _has(value: object, step: str | int) -> bool:
    if isinstance(step, int):
        return isinstance(value, list) and step < len(value)
    return isinstance(value, Mapping) and step in value


def _inner(value: object, step: str | int) -> object:
    if not _has(value, step):
        return None
    return value[step]  # type: ignore[index] # it has it


def _without(value: object, steps: tuple[str | int, ...]) -> object:
    """A value without what is at the end of a way into it; of a list, null stands there, so that others stay."""
    first, rest = steps[0], steps[1:]
    if isinstance(value, list):
        inner = _without(value[int(first)], rest) if rest else None
        return [*value[: int(first)], inner, *value[int(first) + 1 :]]
    assert isinstance(value, dict)  # noqa: S101 - it was asked whether the way leads somewhere
    if not rest:
        return {name: each for name, each in value.items() if name != first}
    return {name: _without(each, rest) if name == first else each for name, each in value.items()}
