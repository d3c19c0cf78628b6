"""What in a JSON Schema is no keyword of it: allowed by JSON Schema, and most often a mistake.

A schema with a keyword that nobody knows is valid, and the keyword says nothing. So an example of an object,
fields without `properties` around them or `requred` pass for a schema that any object fits. They are told.
"""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from affidavit.contracts.bounded_findings import cut
from affidavit.contracts.finding import LONGEST, at_key

_INNER = (
    "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
    "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip
"""Keywords whose value is a schema; `items` had a list of them."""
_LISTED = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions")
"""Keywords whose value has schemas by names that its author chose."""
_CONDITIONS = (
    "type", "enum", "const", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems", "minContains", "maxContains",
    "minProperties", "maxProperties", "required", "dependentRequired", "$ref", "$dynamicRef", "$recursiveRef",
)  # fmt: skip
_NOTES = (
    "$anchor", "$comment", "$dynamicAnchor", "$id", "$recursiveAnchor", "$schema", "$vocabulary",
    "contentEncoding", "contentMediaType", "default", "deprecated", "description", "examples", "format", "id",
    "readOnly", "title", "writeOnly",
)  # fmt: skip
"""Keywords under which nothing is asked of a value; `format` is a note too (ruling O2)."""
KEYWORDS = frozenset((*_INNER, *_LISTED, *_NAMED, *_CONDITIONS, *_NOTES))
"""Those of all drafts from 4 to 2020-12: one of another draft is known to its author."""
_ASKS_NOTHING = frozenset((*_NOTES, "$defs", "definitions"))
_MOST = 6
_NEAR = 0.8


class Unknown(NamedTuple):
    """A name in the place of a keyword, and where."""

    name: str
    path: str

    def __str__(self) -> str:
        near = get_close_matches(self.name, KEYWORDS, 1, cutoff=_NEAR)
        place = "" if self.path == "$" else f" at {cut(self.path, LONGEST)}"
        return f"{cut(self.name, LONGEST)}{place}{f' (did you mean {near[0]}?)' if near else ''}"


def keyword_notes(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """What the author of a schema should be told of it; nothing if it has nothing but keywords.

    >>> print(*keyword_notes({"type": "object", "requred": ["year"]}))
    the schema has keywords that JSON Schema does not know: requred (did you mean required?); any object fits it
    >>> print(*keyword_notes({"city": {"type": "string"}}))
    the schema has keywords that JSON Schema does not know: city; any object fits it: fields are described under `properties`
    """  # noqa: E501
    unknown = list(_unknown(schema, "$", _used_as_places(schema)))
    if not unknown:
        return ()
    told = ", ".join(map(str, unknown[:_MOST]))
    more = f" and {len(unknown) - _MOST:,} more" if len(unknown) > _MOST else ""
    note = f"the schema has keywords that JSON Schema does not know: {told}{more}"
    if _takes_any_object(schema):
        note += "; any object fits it"
        near = all(get_close_matches(each.name, KEYWORDS, 1, cutoff=_NEAR) for each in unknown)
        note += "" if near else ": fields are described under `properties`"
    return (note,)


def _takes_any_object(schema: Mapping[str, Any]) -> bool:
    """Whether a schema asks nothing of an object but to be one, as far as keywords tell."""
    asked = {name for name in schema if name in KEYWORDS and name not in _ASKS_NOTHING}
    return not asked or (asked == {"type"} and schema["type"] == "object")


def _used_as_places(schema: Mapping[str, Any]) -> frozenset[str]:
    """Names at the top that references lead into, such as `components`: there they are places, not keywords."""
    found, left = set[str](), [schema]
    while left:
        part: Any = left.pop()
        left.extend(part.values() if isinstance(part, Mapping) else part if isinstance(part, list) else ())
        if isinstance(part, Mapping) and isinstance(reference := part.get("$ref"), str):
            found.add(reference.removeprefix("#/").partition("/")[0])
    return frozenset(found)


def _unknown(part: Any, path: str, places: frozenset[str] = frozenset()) -> Iterator[Unknown]:  # noqa: ANN401
    """The names that are no keywords, from the top; not the extensions that begin with `x-`."""
    if not isinstance(part, Mapping):
        return
    for name in part:
        if name not in KEYWORDS and name not in places and not name.startswith("x-"):
            yield Unknown(name, path)
    for name, value in part.items():
        below = at_key(path, name)
        if name in _INNER:
            yield from _unknown(value, below)
        if name in (*_LISTED, "items") and isinstance(value, list):
            for number, each in enumerate(value):
                yield from _unknown(each, f"{below}[{number}]")
        if name in _NAMED and isinstance(value, Mapping):
            for each, inner in value.items():
                yield from _unknown(inner, at_key(below, each))
