"""Which keywords of a schema keep it from having a grammar: those without which it would have one (ruling O9)."""

import json
from collections.abc import Iterable, Iterator
from copy import deepcopy
from itertools import islice
from typing import Any, NamedTuple

from affidavit.contracts.bounded_findings import cut
from affidavit.contracts.finding import LONGEST, at_key
from affidavit.contracts.json_grammar import object_grammar
from affidavit.contracts.json_schema import compiled
from affidavit.errors import InputError
from affidavit.json_values import canonical

_KEPT = frozenset(
    ("type", "properties", "required", "additionalProperties", "items", "$ref", "$defs", "definitions")
)
"""Keywords that make what is written: without them there would be less of a grammar, not more."""
_MOST = 100
"""Keywords that are tried: a schema with more of them is told without their names."""


class Fault(NamedTuple):
    """A keyword, and the way to the part of the schema that has it."""

    steps: tuple[str | int, ...]
    keyword: str

    def __str__(self) -> str:
        path = "$"
        for step in self.steps:
            path = f"{path}[{step}]" if isinstance(step, int) else at_key(path, step)
        return f"`{cut(self.keyword, LONGEST)}` at {cut(path, LONGEST)}"


def grammar_faults(text: str) -> list[Fault]:
    """The keywords of a schema, given as canonical JSON, that no grammar keeps; none if it is not keywords alone.

    >>> list(map(str, grammar_faults('{"properties":{"year":{"maximum":9999,"minimum":0,"type":"integer"}}}')))
    ['`maximum` at $.properties.year']
    """
    schema = json.loads(text)
    every = list(islice(_conditions(schema, ()), _MOST + 1))
    if len(every) > _MOST or not _has_grammar(schema, every):
        return []
    # Each keyword comes back unless there is no grammar with it.
    left_out = list(every)
    for each in every:
        others = [other for other in left_out if other != each]
        if _has_grammar(schema, others):
            left_out = others
    return left_out


def _has_grammar(schema: Any, without: Iterable[Fault]) -> bool:  # noqa: ANN401 - a schema
    tried = deepcopy(schema)
    for steps, keyword in without:
        part = tried
        for step in steps:
            part = part[step]
        del part[keyword]
    try:
        return object_grammar(compiled(canonical(tried).decode())) is not None
    except InputError:  # what is left is no schema
        return False


def _conditions(part: Any, steps: tuple[str | int, ...]) -> Iterator[Fault]:  # noqa: ANN401 - a part of a schema
    """Every keyword that may be at fault, from the top; not those inside of another that may be."""
    if not isinstance(part, dict):
        return
    for keyword, value in part.items():
        if keyword in ("properties", "$defs", "definitions") and isinstance(value, dict):
            for name, each in value.items():
                yield from _conditions(each, (*steps, keyword, name))
        elif keyword == "items":
            yield from _conditions(value, (*steps, keyword))
        elif keyword not in _KEPT:
            yield Fault(steps, keyword)
