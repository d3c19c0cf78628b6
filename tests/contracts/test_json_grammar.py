"""Every text of a grammar that is made from a schema fits the schema; what cannot be kept has none (ruling O9)."""

from random import Random

import pytest

from affidavit import JsonObject
from affidavit.contracts.json_grammar import member_names, object_grammar
from affidavit.contracts.json_schema import compiled, schema_text
from support.gbnf_texts import texts_of


def of(**properties: object) -> dict:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


USUAL = {
    "text": of(a={"type": "string"}),
    "short text": of(a={"type": "string", "minLength": 1, "maxLength": 3}),
    "long text": of(a={"type": "string", "maxLength": 5000}),
    "whole number": of(a={"type": "integer"}),
    "from 0": of(a={"type": "integer", "minimum": 0}),
    "from 1": of(a={"type": "integer", "minimum": 1}),
    "from -2 to 3": of(a={"type": "integer", "minimum": -2, "maximum": 3}),
    "number": of(a={"type": "number"}),
    "yes or nothing": of(a={"type": ["boolean", "null"]}),
    "one of": of(a={"enum": ["x", 'a "quote" \\ é\n', 1.5, None, {"b": [1]}]}),
    "one of a type": of(a={"enum": ["x", 1], "type": "string"}),
    "constant": of(a={"const": {"b": True}}),
    "list": of(a={"type": "array", "items": {"type": "integer"}}),
    "bounded list": of(a={"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 4}),
    "at least one": of(a={"type": "array", "items": {"enum": ["x"]}, "minItems": 1}),
    "empty list": of(a={"type": "array", "maxItems": 0}),
    "inner object": of(a=of(b={"type": "string"}, c=of(d={"type": "null"}))),
    "optional": {"properties": {"a": {"type": "null"}, "b": {"type": "null"}, "c": {"type": "null"}}},
    "some optional": {**of(z={"type": "null"}, b={"type": "null"}, a={"type": "null"}), "required": ["z"]},
    "no members": {"type": "object", "additionalProperties": False},
    "others allowed": {"properties": {"a": {"type": "null"}}, "additionalProperties": {"type": "string"}},
    "odd names": of(**{"a b/c~d": {"type": "null"}, 'q"\\é': {"enum": [1, 2]}}),
    "names of keywords": of(properties={"type": "null"}, enum={"enum": ["enum"]}),
    "references": {
        **of(a={"$ref": "#/$defs/one"}, b={"type": "array", "items": {"$ref": "#/$defs/one"}}),
        "$defs": {"one": of(c={"$ref": "#/$defs/two"}), "two": {"enum": ["x", "y"]}},
    },
    "reference at the top": {"$ref": "#/$defs/one", "$defs": {"one": of(a={"type": "null"})}},
    "any of": of(a={"anyOf": [{"type": "string", "maxLength": 2}, {"type": "null"}]}),
    "all of one": of(a={"allOf": [{"type": "boolean"}], "description": "yes or no", "x-order": 1}),
    "long parts": of(a={"type": "array", "items": of(b=of(c={"enum": ["x" * 300, "y" * 300]}))}),
    "listed, one of them too large": of(a={"enum": [1, 10**400]}),
    "draft 7": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **of(a={"$ref": "#/definitions/one"}),
        "definitions": {"one": {"type": "integer"}},
    },
}
NONE = {
    "any object": {},
    "any value": of(a={}),
    "anything": of(a=True),
    "open names": of(a={"type": "object"}),
    "names by a pattern": of(a={"type": "object", "patternProperties": {"^x": {"type": "null"}}}),
    "pattern": of(a={"type": "string", "pattern": "^x"}),
    "bounded number": of(a={"type": "number", "minimum": 0}),
    "bounded number or whole number": of(a={"type": ["number", "null"], "maximum": 3}),
    "far bounds": of(a={"type": "integer", "minimum": 0, "maximum": 10**6}),
    "from 7": of(a={"type": "integer", "minimum": 7}),
    "different items": of(a={"type": "array", "items": {"type": "null"}, "uniqueItems": True}),
    "items left open": of(a={"type": "array"}),
    "a number of members": {**of(a={"type": "null"}), "minProperties": 2},
    "not listed but required": {"properties": {}, "required": ["a"]},
    "one of two": of(a={"oneOf": [{"type": "string"}, {"type": "null"}]}),
    "all of two": of(a={"allOf": [{"type": "string"}, {"type": "string", "maxLength": 2}]}),
    "beside a reference": {**of(a={"$ref": "#/$defs/t", "maxLength": 2}), "$defs": {"t": {"type": "string"}}},
    "back to itself": {"$ref": "#/$defs/t", "$defs": {"t": of(a={"$ref": "#/$defs/t"})}},
    "no value": of(a={"enum": ["x"], "type": "null"}),
    "not an object": {"type": ["object", "null"], "properties": {"a": {"type": "null"}}},
    "least above most": of(a={"type": "string", "minLength": 3, "maxLength": 2}),
    "least above none": of(a={"type": "array", "items": {"type": "null"}, "minItems": 1, "maxItems": 0}),
    "too large a number": of(a={"const": 10**400}),
}


def deep(levels: int) -> dict:
    inner: dict = {"type": "null"}
    parts = {}
    for level in range(levels):
        parts[f"d{level}"] = inner
        inner = of(a={"$ref": f"#/$defs/d{level}"})
    return {**inner, "$defs": parts}


def listed(levels: int) -> dict:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return {**of(a={"$ref": "#/$defs/d"}), "$defs": {"d": of(b={"const": value})}}


USUAL["32 deep"], NONE["33 deep"] = deep(32), deep(33)
USUAL["listed, 32 deep"], NONE["listed, 33 deep"] = listed(30), listed(31)
NONE["deep at its second place"] = {
    **of(a={"$ref": "#/$defs/d20"}, b={"anyOf": [{"$ref": "#/$defs/e15"}, {"$ref": "#/$defs/d20"}]}),
    "$defs": {
        **deep(21)["$defs"],
        "e0": {"$ref": "#/$defs/d20"},
        **{f"e{n + 1}": of(a={"$ref": f"#/$defs/e{n}"}) for n in range(15)},
    },
}


@pytest.mark.parametrize("name", USUAL)
def test_what_a_grammar_lets_through_fits(name):
    contract, chance = JsonObject(USUAL[name]), Random(9)  # noqa: S311 - no secret
    draw = texts_of(contract.grammar())
    for _ in range(300):
        text = draw(chance)
        reading = contract.read(text)
        assert reading.protocol_compliant, (text, reading.findings)


@pytest.mark.parametrize("name", NONE)
def test_a_schema_beyond_the_usual_has_no_grammar(name):
    assert JsonObject(NONE[name]).grammar() is None


def test_a_grammar_grows_with_its_schema_and_not_with_what_each_level_multiplies():
    """Each optional member is written once for every member before it: inlined, this one had 22 million characters."""
    names = {f"a{n}": {"type": "string"} for n in range(10)}
    schema: dict = {"type": "object", "properties": names, "additionalProperties": False}
    for _ in range(4):
        schema = {**schema, "properties": {**names, "z": schema}}
    assert len(JsonObject(schema).grammar()) < 10_000


def test_members_stand_in_the_order_of_the_required_names_then_by_name():
    assert member_names(USUAL["some optional"]) == ["z", "a", "b"]
    grammar = object_grammar(compiled(schema_text(USUAL["some optional"])))
    assert grammar.index("z") < grammar.index(r"\"a\"") < grammar.index(r"\"b\"")


def test_the_grammar_does_not_depend_on_the_order_of_names():
    """A study's files sort them."""
    one = {"required": ["b", "a"], "properties": {"a": {"type": "null"}, "b": {"type": "null"}}}
    other = {"properties": dict(reversed(one["properties"].items())), "required": ["b", "a"]}
    assert JsonObject(one).grammar() == JsonObject(other).grammar()
    assert JsonObject(one).instruction() == JsonObject(other).instruction()
