r"""A grammar for constrained decoding, in the notation of llama.cpp, from a JSON Schema of the usual kind.

Every text of the grammar fits the schema; not every text that fits is of the grammar. Members stand in one order,
with one blank after colons and commas, and names that the schema does not list are not written. A schema whose
conditions cannot be kept in this way has no grammar (ruling O9).

    >>> from affidavit.contracts.json_schema import compiled
    >>> text = '{"properties":{"year":{"type":"integer"}},"required":["year"],"type":"object"}'
    >>> print(object_grammar(compiled(text)))
    root ::= "{" "\"year\": " integer "}"
    integer ::= "-"? natural
    natural ::= "0" | [1-9] [0-9]{0,14}
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from affidavit.contracts.json_schema import Schema
from affidavit.contracts.strict_json import DEEPEST, Refused, decode

MOST_REPEATS = 1000
"""How long a text or a list with a bound may become: a shorter one fits as well, and decoders count them all."""
LONGEST_INLINE = 500
"""Characters of a rule that is written wherever it is used."""
_NOTES = frozenset(
    {
        "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "format", "$schema",
        "$id", "$comment", "$defs", "definitions",
    }
)  # fmt: skip
"""Keywords that are no conditions."""
_OF_TYPES: Mapping[str, frozenset[str]] = {
    "string": frozenset(("minLength", "maxLength")),
    "integer": frozenset(("minimum", "maximum")),
    "number": frozenset(),
    "boolean": frozenset(),
    "null": frozenset(),
    "array": frozenset(("items", "minItems", "maxItems")),
    "object": frozenset(("properties", "required", "additionalProperties")),
}
"""The conditions that the grammar keeps, by the type that they are about."""
_TERMINALS = {
    "string": ('"\\"" character* "\\""', ("character",)),
    "character": (r'[^"\\\x7F\x00-\x1F] | "\\" ["\\/bfnrt]', ()),
    "integer": ('"-"? natural', ("natural",)),
    "number": ('"-"? natural ("." [0-9]{1,15})?', ("natural",)),
    "natural": ('"0" | [1-9] [0-9]{0,14}', ()),
    "boolean": ('"true" | "false"', ()),
    "null": ('"null"', ()),
}
"""Rules by name, and the rules that each needs."""


class _Beyond(Exception):  # noqa: N818 - a signal that there is no grammar, not an error
    """The schema has a condition that the grammar cannot keep."""


def object_grammar(schema: Schema) -> str | None:
    """The grammar of objects that fit a schema; None if it has a condition that no grammar of this kind keeps."""
    writer = _Writer(schema)
    try:
        root = writer.object_at("", schema.value)
    except _Beyond:
        return None
    return "\n".join((f"root ::= {root}", *(f"{name} ::= {rule}" for name, rule in writer.rules.items())))


def member_names(part: Mapping[str, Any]) -> list[str]:
    """The names of an object's members in the order in which they are asked for: required ones first.

    JSON objects have no order, but the list of required names has.

    >>> member_names({"properties": {"a": {}, "b": {}, "c": {}}, "required": ["c", "a"]})
    ['c', 'a', 'b']
    """
    properties, required = part.get("properties", {}), part.get("required", ())
    # An example within a schema may look like a schema and list anything at all.
    names = [name for name in required if isinstance(name, str)] if isinstance(required, Sequence) else []
    first = [name for name in names if name in properties]
    return list(dict.fromkeys((*first, *sorted(properties))))


class _Writer:
    """The rules of a grammar on their way."""

    def __init__(self, schema: Schema) -> None:
        self.rules: dict[str, str] = {}
        self._schema = schema
        self._named: dict[str, str] = {}
        self._inner: dict[str, str] = {}
        """The names of rules by their content."""
        self._open: list[str] = []
        """The references that are being followed: one that leads back to itself has no end."""
        self._depth = self._deepest = 0
        self._heights: dict[str, int] = {}
        """How deep the rule of a reference goes by itself."""

    def object_at(self, pointer: str, part: Any) -> str:  # noqa: ANN401 - a part of a schema
        """The rule of a part that must be an object."""
        conditions = _conditions(part)
        if conditions == {"$ref"} and part["$ref"] not in self._open:
            self._open.append(part["$ref"])
            return self.object_at(part["$ref"][1:], self._target(part["$ref"]))
        if part.get("type", "object") != "object" or not conditions <= {"type", *_OF_TYPES["object"]}:
            raise _Beyond
        return self._object(pointer, part)

    def _value(self, pointer: str, part: Any) -> str:  # noqa: ANN401
        """The expression of any part, as it can stand among others."""
        conditions = _conditions(part)
        if conditions & {"enum", "const"}:
            return self._one_of(pointer, part)
        if conditions == {"$ref"}:
            return self._reference(part["$ref"])
        for keyword in ("anyOf", "allOf"):
            if conditions == {keyword} and (keyword == "anyOf" or len(part[keyword]) == 1):
                parts = (self._value(f"{pointer}/{keyword}/{at}", each) for at, each in enumerate(part[keyword]))
                return f"({' | '.join(dict.fromkeys(parts))})"
        types = _types(part, conditions)
        if not conditions <= {"type"}.union(*_OF_TYPES.values()):
            raise _Beyond
        made = [self._of_type(name, pointer, part) for name in types]
        return made[0] if len(made) == 1 else f"({' | '.join(made)})"

    def _of_type(self, name: str, pointer: str, part: dict[str, Any]) -> str:
        match name:
            case "string":
                return self._string(part)
            case "integer":
                return self._integer(part)
            case "array":
                return self._named_if_long(f"({self._nested(self._list, pointer, part)})")
            case "object":
                return self._named_if_long(f"({self._nested(self._object, pointer, part)})")
        # A whole number is a number, and its bounds are kept only where it is asked for as such.
        if name not in _OF_TYPES or (name == "number" and {"minimum", "maximum"} & part.keys()):
            raise _Beyond
        return self._terminal(name)

    def _named_if_long(self, expression: str) -> str:
        """A rule of its own for what is long: written wherever it is used, it would double with every level."""
        if len(expression) <= LONGEST_INLINE:
            return expression
        name = self._inner.setdefault(expression, f"inner-{len(self._inner)}")
        self.rules[name] = expression
        return name

    def _nested(self, write: Any, pointer: str, part: dict[str, Any]) -> str:  # noqa: ANN401
        self._depth += 1
        self._reach(self._depth)
        written: str = write(pointer, part)
        self._depth -= 1
        return written

    def _reach(self, depth: int) -> None:
        if depth >= DEEPEST:  # no object of ruling J1
            raise _Beyond
        self._deepest = max(self._deepest, depth)

    def _terminal(self, name: str) -> str:
        rule, needed = _TERMINALS[name]
        self.rules.setdefault(name, rule)
        for each in needed:
            self._terminal(each)
        return name

    def _one_of(self, pointer: str, part: dict[str, Any]) -> str:
        """The listed values that fit all else that the part says."""
        listed = part.get("enum", [part.get("const")])
        values = [value for value in listed if self._schema.fits_part(pointer, value) and _is_strict(value)]
        if not values:
            raise _Beyond
        self._reach(self._depth + max(map(_levels, values)))
        written = (_literal(json.dumps(value, ensure_ascii=False, sort_keys=True)) for value in values)
        return self._named_if_long(f"({' | '.join(written)})")

    def _string(self, part: dict[str, Any]) -> str:
        least, most = part.get("minLength", 0), part.get("maxLength")
        if least == 0 and most is None:
            return self._terminal("string")
        self._terminal("character")
        return f'("\\"" character{_repeated(least, most)} "\\"")'

    def _integer(self, part: dict[str, Any]) -> str:
        least, most = part.get("minimum"), part.get("maximum")
        if least is None and most is None:
            return self._terminal("integer")
        if type(least) is int and type(most) is int and 0 <= most - least <= MOST_REPEATS:
            return f"({' | '.join(_literal(str(number)) for number in range(least, most + 1))})"
        if most is None and least in (0, 1):
            return self._terminal("natural") if least == 0 else "([1-9] [0-9]{0,14})"
        raise _Beyond

    def _list(self, pointer: str, part: dict[str, Any]) -> str:
        least, most = part.get("minItems", 0), part.get("maxItems")
        if most == 0 and least == 0:
            return '"[]"'
        if "items" not in part:
            raise _Beyond
        item = self._value(f"{pointer}/items", part["items"])
        more = f'{item} (", " {item}){_repeated(max(least - 1, 0), None if most is None else most - 1)}'
        return f'"[" {more} "]"' if least else f'"[" ({more})? "]"'

    def _object(self, pointer: str, part: dict[str, Any]) -> str:
        properties, required = part.get("properties", {}), part.get("required", [])
        if not set(required) <= set(properties) or not (properties or part.get("additionalProperties") is False):
            raise _Beyond
        pairs = {
            name: f"{_literal(f'{json.dumps(name, ensure_ascii=False)}: ')} "
            + self._value(f"{pointer}/properties/{name.replace('~', '~0').replace('/', '~1')}", properties[name])
            for name in member_names(part)
        }
        optional = [pair for name, pair in pairs.items() if name not in required]
        if required:
            first = ' ", " '.join(pair for name, pair in pairs.items() if name in required)
            return f'"{{" {first}{_each_or_none(optional)} "}}"'
        beginnings = [f"{pair}{_each_or_none(optional[at + 1 :])}" for at, pair in enumerate(optional)]
        return f'"{{" ({" | ".join(beginnings)})? "}}"' if beginnings else '"{}"'

    def _reference(self, reference: str) -> str:
        """The name of the rule of what a reference leads to."""
        if reference not in self._named:
            target, before = self._target(reference), self._deepest
            self._open.append(reference)
            self._deepest = self._depth
            name = f"part-{len(self._named)}"
            self._named[reference] = name
            self.rules[name] = self._value(reference[1:], target)
            self._heights[name] = self._deepest - self._depth
            self._deepest = max(self._deepest, before)
            self._open.pop()
        elif reference in self._open:  # it would have no end
            raise _Beyond
        name = self._named[reference]
        self._reach(self._depth + self._heights[name])
        return name

    def _target(self, reference: str) -> Any:  # noqa: ANN401 - a part of a schema
        names = reference.split("/")
        plain = len(names) == 3 and names[:2] in (["#", "$defs"], ["#", "definitions"])
        if not plain or self._schema.has_parts_with_names or "%" in reference or "~" in reference:
            raise _Beyond
        return self._schema.value[names[1]][names[2]]


def _conditions(part: Any) -> set[str]:  # noqa: ANN401 - a part of a schema
    """The keywords of a part that a value has to meet."""
    if not isinstance(part, dict):
        raise _Beyond
    return {keyword for keyword in part if keyword not in _NOTES and not keyword.startswith("x-")}


def _types(part: dict[str, Any], conditions: set[str]) -> list[str]:
    """The types that a value may have; where none is named, the one that the conditions are about."""
    if "type" in part:
        return [part["type"]] if isinstance(part["type"], str) else list(part["type"])
    about = [name for name in ("object", "array") if conditions & _OF_TYPES[name]]
    if not about:
        raise _Beyond
    return about[:1]


def _is_strict(value: object) -> bool:
    """Whether ruling J1 lets a listed value be in an object at all: no number in it is too large."""
    return not isinstance(decode(json.dumps({"value": value})), Refused)


def _levels(value: object) -> int:
    """How deep a listed value is nested.

    >>> _levels("a"), _levels([]), _levels({"a": [1]})
    (0, 1, 2)
    """
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(_levels, inner), default=0)


def _each_or_none(pairs: Sequence[str]) -> str:
    return "".join(f' (", " {pair})?' for pair in pairs)


def _repeated(least: int, most: int | None) -> str:
    """How often something stands there; not more often than decoders can count.

    >>> _repeated(0, None), _repeated(1, None), _repeated(2, 4), _repeated(0, 10**6)
    ('*', '{1,}', '{2,4}', '{0,1000}')
    """
    if (
        type(least) is not int
        or least > MOST_REPEATS
        or not (most is None or (type(most) is int and most >= least))
    ):
        raise _Beyond
    if most is None:
        return "*" if least == 0 else f"{{{least},}}"
    return f"{{{least},{min(most, MOST_REPEATS)}}}"


def _literal(text: str) -> str:
    r"""A text as the grammar quotes it.

    >>> print(_literal('"a\\b"'))
    "\"a\\b\""
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
