"""What in an object does not fit its schema, and where: by keyword and path (rulings O3 and O4).

Whether a value fits a keyword, or a part of the schema, is asked of the validator; only the way down is gone here.
So what is said depends neither on the order nor on the words in which a library tells its errors, and takes time
linear in the text. The way ends at a thousand violations, however hostile a text is.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from affidavit.contracts.finding import at_key
from affidavit.contracts.json_deviation import ORDER, JsonDeviation
from affidavit.contracts.json_schema import Schema

Steps = tuple[str | int, ...]
"""The way to a value within an object: names and places."""
MOST = 1000
"""Violations that are looked for, in the order of the text."""
DEEPEST = 200
"""Parts of a schema that are gone through for one value; what is further down is `schema_other`."""

_ALONE: Mapping[str, JsonDeviation] = {
    "type": JsonDeviation.SCHEMA_TYPE,
    "enum": JsonDeviation.SCHEMA_ENUM,
    "const": JsonDeviation.SCHEMA_CONST,
    "pattern": JsonDeviation.SCHEMA_PATTERN,
    "minLength": JsonDeviation.SCHEMA_MIN_LENGTH,
    "maxLength": JsonDeviation.SCHEMA_MAX_LENGTH,
    "minimum": JsonDeviation.SCHEMA_MINIMUM,
    "maximum": JsonDeviation.SCHEMA_MAXIMUM,
    "exclusiveMinimum": JsonDeviation.SCHEMA_EXCLUSIVE_MINIMUM,
    "exclusiveMaximum": JsonDeviation.SCHEMA_EXCLUSIVE_MAXIMUM,
    "multipleOf": JsonDeviation.SCHEMA_MULTIPLE_OF,
    "minItems": JsonDeviation.SCHEMA_MIN_ITEMS,
    "maxItems": JsonDeviation.SCHEMA_MAX_ITEMS,
    "uniqueItems": JsonDeviation.SCHEMA_UNIQUE_ITEMS,
    "minProperties": JsonDeviation.SCHEMA_MIN_PROPERTIES,
    "maxProperties": JsonDeviation.SCHEMA_MAX_PROPERTIES,
}
"""Keywords that say all by themselves."""
_DRAFT_4 = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}
"""In draft 4 the one says whether the other is met by its own value."""


class Violation(NamedTuple):
    """One thing that does not fit."""

    code: JsonDeviation
    steps: Steps

    @property
    def path(self) -> str:
        """The way as findings write it."""
        path = "$"
        for step in self.steps:
            path = f"{path}[{step}]" if isinstance(step, int) else at_key(path, step)
        return path


def schema_violations(schema: Schema, value: dict[str, object], *, branches: bool = True) -> list[Violation]:
    """What does not fit, in the order of ruling O4; nothing exactly if the value fits.

    Without `branches`, what only counts under a condition (`then`, `else`, `dependentSchemas`) is left out.

    >>> from affidavit.contracts.json_schema import compiled
    >>> schema = compiled('{"properties":{"year":{"type":"integer"}},"required":["name"]}')
    >>> [(each.code.value, each.path) for each in schema_violations(schema, {"year": "1850"})]
    [('schema_required', '$.name'), ('schema_type', '$.year')]
    """
    walk = _Walk(schema, branches=branches)
    walk.explained(_Place("", schema.value, 0), value, ())
    if not walk.found and not schema.fits(value):
        # A schema that cannot be asked in parts, or one whose parts refer to each other in a circle.
        return [Violation(JsonDeviation.SCHEMA_OTHER, ())]
    return sorted(walk.found, key=lambda each: (ORDER[each.code], each.steps))


class _Place(NamedTuple):
    """A part of a schema, its JSON pointer, and how many parts lie above it."""

    pointer: str
    part: Any
    depth: int

    def below(self, *names: str | int) -> "_Place":
        pointer, part = self.pointer, self.part
        for name in names:
            pointer = f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}"
            part = part[name]
        return _Place(pointer, part, self.depth + 1)


class _Walk:
    """The way down a schema and a value at once, wherever the one does not fit the other."""

    def __init__(self, schema: Schema, *, branches: bool) -> None:
        self.found: set[Violation] = set()
        self._schema, self._branches = schema, branches
        self._met: set[tuple[str, Steps]] = set()

    def explained(self, place: _Place, value: object, steps: Steps) -> bool:
        """Whether the value does not fit this part, all of it said; False if it fits, or cannot be asked."""
        if self._fits(place, value):
            return False
        if len(self.found) >= MOST or (place.pointer, steps) in self._met:
            return True
        self._met.add((place.pointer, steps))
        if isinstance(place.part, dict) and place.depth < DEEPEST and self._any(place, value, steps):
            return True
        return self._say(JsonDeviation.SCHEMA_OTHER, steps)

    def _any(self, place: _Place, value: object, steps: Steps) -> bool:
        """Whether anything that has a name was found in this part."""
        found = [self.explained(target, value, steps) for target in self._target(place)]
        if not (found and self._schema.old_draft):
            found += self._by_itself(place.part, value, steps)
            found += self._in_place(place, value, steps)
            if isinstance(value, dict):
                found += self._in_object(place, value, steps)
            if isinstance(value, list):
                found += self._in_list(place, value, steps)
        return any(found)

    def _say(self, code: JsonDeviation, steps: Steps) -> bool:
        self.found.add(Violation(code, steps))
        return True

    def _by_itself(self, part: dict[str, Any], value: object, steps: Steps) -> Iterator[bool]:
        for keyword, code in _ALONE.items():
            if keyword in part and type(part[keyword]) is not bool:
                other = _DRAFT_4.get(keyword, "")
                strict = {other: True} if part.get(other) is True else {}
                if not self._schema.fits_keywords({keyword: part[keyword], **strict}, value):
                    yield self._say(code, steps)
        if part.get("uniqueItems") is True and not self._schema.fits_keywords({"uniqueItems": True}, value):
            yield self._say(JsonDeviation.SCHEMA_UNIQUE_ITEMS, steps)

    def _target(self, place: _Place) -> Iterator[_Place]:
        """The part that a reference leads to, if it leads there by a JSON pointer."""
        reference = place.part.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#") or self._schema.has_parts_with_names:
            return
        names = [name.replace("~1", "/").replace("~0", "~") for name in unquote(reference[1:]).split("/")]
        part: Any = self._schema.value
        for name in names[1:]:
            part = (
                part[int(name)] if isinstance(part, list) else part.get(name) if isinstance(part, dict) else None
            )
            if part is None:
                return
        if names[0] == "":  # else it is the name of an anchor
            yield _Place(unquote(reference[1:]), part, place.depth + 1)

    def _in_place(self, place: _Place, value: object, steps: Steps) -> Iterator[bool]:
        """The keywords that put further parts of the schema to the same value."""
        part = place.part
        for at, _ in enumerate(part.get("allOf", ())):
            yield self.explained(place.below("allOf", at), value, steps)
        for keyword, code in (("anyOf", JsonDeviation.SCHEMA_ANY_OF), ("oneOf", JsonDeviation.SCHEMA_ONE_OF)):
            if keyword in part:
                fitting = [self._fits(place.below(keyword, at), value) for at, _ in enumerate(part[keyword])]
                if sum(fitting) == 0 or (keyword == "oneOf" and sum(fitting) > 1):
                    yield self._say(code, steps)
        if "not" in part and self._fits(place.below("not"), value):
            yield self._say(JsonDeviation.SCHEMA_NOT, steps)
        if self._branches:
            yield from self._under_conditions(place, value, steps)

    def _under_conditions(self, place: _Place, value: object, steps: Steps) -> Iterator[bool]:
        part = place.part
        if "if" in part and self._schema.knows("if"):
            branch = "then" if self._fits(place.below("if"), value) else "else"
            if branch in part:
                yield self.explained(place.below(branch), value, steps)
        if isinstance(value, dict) and self._schema.knows("dependentSchemas"):
            for name in value.keys() & part.get("dependentSchemas", {}).keys():
                yield self.explained(place.below("dependentSchemas", name), value, steps)

    def _fits(self, place: _Place, value: object) -> bool:
        return self._schema.fits_part(place.pointer, value) is not False

    def _in_object(self, place: _Place, value: dict[str, object], steps: Steps) -> Iterator[bool]:
        part = place.part
        required = part.get("required", ())
        for name in required if isinstance(required, list) else ():
            if name not in value:
                yield self._say(JsonDeviation.SCHEMA_REQUIRED, (*steps, name))
        properties, patterns = part.get("properties", {}), part.get("patternProperties", {})
        for name, member in value.items():
            if len(self.found) >= MOST:
                break
            matching = [pattern for pattern in patterns if self._schema.fits_keywords({"pattern": pattern}, name)]
            for pattern in matching:
                yield self.explained(place.below("patternProperties", pattern), member, (*steps, name))
            if name in properties:
                yield self.explained(place.below("properties", name), member, (*steps, name))
            elif not matching and part.get("additionalProperties") is False:
                yield self._say(JsonDeviation.SCHEMA_ADDITIONAL_PROPERTIES, (*steps, name))
            elif not matching and "additionalProperties" in part:
                yield self.explained(place.below("additionalProperties"), member, (*steps, name))

    def _in_list(self, place: _Place, value: list[object], steps: Steps) -> Iterator[bool]:
        part, knows = place.part, self._schema.knows
        first = part.get("prefixItems", ()) if knows("prefixItems") else ()
        for at, item in enumerate(value[: len(first)]):
            yield self.explained(place.below("prefixItems", at), item, (*steps, at))
        if "items" in part and not isinstance(part["items"], list):
            below = place.below("items")
            for at in range(len(first), len(value)):
                if not self._fits(below, value[at]):
                    yield self.explained(below, value[at], (*steps, at))
                    if len(self.found) >= MOST:
                        break
        if "contains" in part and knows("contains"):
            below = place.below("contains")
            fitting = sum(self._fits(below, item) for item in value)
            counts = part if knows("minContains") else {}
            if not counts.get("minContains", 1) <= fitting <= counts.get("maxContains", len(value)):
                yield self._say(JsonDeviation.SCHEMA_CONTAINS, steps)
