"""Schemas as parameters (ruling O2), and what does not fit them beside what another library says (ruling O4)."""

import json
import pickle
from datetime import date
from random import Random

import jsonschema
import pytest

from affidavit import InputError, JsonObject
from affidavit.contracts.json_deviation import ORDER, JsonDeviation
from affidavit.contracts.json_schema import DEEPEST, LARGEST, compiled, schema_text
from affidavit.contracts.schema_violations import Violation, schema_violations


def nested(levels: int) -> dict:
    value: dict = {}
    for _ in range(levels):
        value = {"not": value}
    return value


def endless() -> dict:
    value: dict = {}
    value["not"] = value
    return value


REFUSED = {
    "a text": ("object", '"object"'),
    "a list": ([{}], "[{}]"),
    "nothing": (False, "false"),
    "no JSON value": ({"default": date(2026, 1, 1)}, ""),
    "no number": ({"minimum": float("nan")}, "not JSON compliant"),
    "half a character": ({"title": "\ud800"}, "surrogates not allowed"),
    "no type": ({"properties": {"a": {"type": "whole"}}}, 'at $.properties.a.type: "whole"'),
    "a negative length": ({"minLength": -1}, "at $.minLength"),
    "another draft": ({"$schema": "https://example.org/mine"}, "example.org/mine"),
    "to be fetched": ({"$ref": "http://127.0.0.1:9/schema.json"}, "127.0.0.1:9"),
    "to be fetched, within": ({"properties": {"a": {"$ref": "https://example.org/s#/a"}}}, "example.org"),
    "a file": ({"$ref": "file:///etc/hostname"}, "file:///etc/hostname"),
    "beside it": ({"$ref": "other.json"}, "other.json"),
    "nowhere": ({"$ref": "#/$defs/none"}, "/$defs/none"),
    "look-around": ({"pattern": "(?=a)b"}, "at $.pattern"),
    "a backreference": ({"properties": {"a": {"pattern": r"(a)\1"}}}, "at $.properties.a.pattern"),
    "a broken pattern": ({"patternProperties": {"(": {}}}, "$.patternProperties"),
    "too large": ({"title": "x" * LARGEST}, f"{LARGEST + 12:,} characters"),
    "too deep": (nested(DEEPEST), "a deeper one"),
    "much too deep": (nested(100_000), "nested too deeply"),
    "endless": (endless(), "nested too deeply"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_schema_is_refused_with_its_place(name):
    schema, found = REFUSED[name]
    with pytest.raises(InputError) as caught:
        JsonObject(schema)
    assert caught.value.where == "parameters.schema"
    assert found in caught.value.found
    assert len(caught.value.found) <= 200


@pytest.mark.parametrize("name", ["to be fetched", "nowhere"])
def test_a_reference_that_leads_out_is_told_what_to_do(name):
    with pytest.raises(InputError, match=r"nothing is fetched. Put what they name into \$defs"):
        schema_text(REFUSED[name][0])


def test_a_schema_may_be_as_deep_as_the_limit():
    assert DEEPEST == 64
    assert JsonObject(nested(63)).schema == nested(63)


def test_not_even_a_file_that_is_a_schema_is_opened(tmp_path):
    file = tmp_path / "words.json"
    file.write_text('{"type": "string"}')
    with pytest.raises(InputError, match="nothing is fetched"):
        JsonObject({"properties": {"a": {"$ref": file.as_uri()}}})


@pytest.mark.slow
def test_a_schema_that_leads_back_to_itself_has_an_end():
    assert JsonObject({"$ref": "#"}).read("{}").protocol_compliant
    chain = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(400)}
    schema = {"$defs": {**chain, "d400": {"required": ["a"]}}, "$ref": "#/$defs/d0"}
    assert JsonObject(schema).read("{}").deviation is JsonDeviation.SCHEMA_OTHER, "too far down to be told"
    schema["$ref"] = "#/$defs/d390"
    assert JsonObject(schema).read("{}").deviation is JsonDeviation.SCHEMA_REQUIRED


def test_references_by_name_are_followed_by_the_validator_and_told_at_the_top():
    schema = {"$defs": {"t": {"$anchor": "word", "type": "string"}}, "properties": {"a": {"$ref": "#word"}}}
    reading = JsonObject(schema).read('{"a": 1}')
    assert [(each.code, each.path) for each in reading.findings] == [(JsonDeviation.SCHEMA_OTHER, "$.a")]
    within = {
        "$id": "https://example.org/top",
        "properties": {"a": {"$id": "inner", "$ref": "#/$defs/t", "$defs": {"t": {"type": "string"}}}},
    }
    contract = JsonObject(within)
    assert contract.read('{"a": "x"}').protocol_compliant
    assert contract.read('{"a": 1}').deviation is JsonDeviation.SCHEMA_OTHER


@pytest.mark.parametrize("own", [{"propertyNames": {"maxLength": 1}}, {"unevaluatedProperties": False}])
def test_a_deviation_is_told_also_where_a_schema_leads_back_to_itself(own):
    """Ruling O3: an output that is not compliant has exactly one."""
    reading = JsonObject({"allOf": [{"$ref": "#"}], **own}).read('{"aa": 1}')
    assert [(each.code, each.path) for each in reading.findings] == [(JsonDeviation.SCHEMA_OTHER, "$")]


DRAFT = "http://json-schema.org/draft-0{}/schema#"
LATER = {
    "contains": (DRAFT.format(4), {"contains": {"type": "string"}}),
    "if": (DRAFT.format(6), {"if": {}, "then": {"type": "null"}}),
    "minContains": (DRAFT.format(7), {"contains": {}, "minContains": 2}),
    "dependentSchemas": (DRAFT.format(7), {"items": {"dependentSchemas": {"b": {"required": ["c"]}}}}),
    "prefixItems": ("https://json-schema.org/draft/2019-09/schema", {"prefixItems": [{"type": "null"}]}),
}


@pytest.mark.parametrize("keyword", LATER)
def test_a_keyword_that_the_draft_does_not_know_is_no_condition_and_not_told(keyword):
    draft, part = LATER[keyword]
    schema = {"$schema": draft, "properties": {"a": part}}
    assert JsonObject(schema).read('{"a": [{"b": 1}]}').protocol_compliant
    schema["properties"]["a"] = {**part, "maxItems": 0}  # a reason to look for all that is wrong
    reading = JsonObject(schema).read('{"a": [{"b": 1}]}')
    assert [each.code for each in reading.findings] == [JsonDeviation.SCHEMA_MAX_ITEMS]


def test_a_schema_of_another_draft_is_told_which_are_known():
    with pytest.raises(InputError) as caught:
        JsonObject({"$schema": "http://json-schema.org/draft-03/schema#"})
    assert "2019-09" in caught.value.hint


def test_a_value_that_is_no_json_is_told_as_such():
    with pytest.raises(InputError, match="found a value that is none"):
        JsonObject({"const": date(2020, 1, 1)})


def test_a_contract_goes_to_other_processes():
    contract = JsonObject({"required": ["a"]}, ["a"])
    assert contract.read("{}").deviation is JsonDeviation.SCHEMA_REQUIRED
    again = pickle.loads(pickle.dumps(contract))  # noqa: S301 - our own
    assert again == contract
    assert hash(again) == hash(contract)
    assert again.read("{}") == contract.read("{}")


# --- violations, beside another library ---

WORDS = {code.value.removeprefix("schema_"): code for code in JsonDeviation if code.value.startswith("schema_")}
OF_KEYWORD = {
    "".join([first, *map(str.capitalize, more)]): code
    for name, code in WORDS.items()
    for first, *more in [name.split("_")]
}
SCHEMAS = [
    {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "minimum": 0, "maximum": 3, "multipleOf": 2},
            "b": {"type": "string", "minLength": 1, "maxLength": 2, "pattern": "^x"},
            "c": {"type": "array", "items": {"type": ["integer", "null"]}, "minItems": 1, "maxItems": 2, "uniqueItems": True},
        },
        "required": ["a"],
        "additionalProperties": False,
    },
    {
        "$defs": {"n": {"properties": {"a": {"$ref": "#/$defs/n"}, "b": {"enum": [1, "x", None]}}, "minProperties": 1}},
        "$ref": "#/$defs/n",
        "maxProperties": 2,
        "patternProperties": {"^[cd]$": {"type": "string"}},
        "additionalProperties": {"exclusiveMinimum": 1},
    },
    {
        "properties": {
            "a": {"anyOf": [{"type": "string"}, {"minimum": 2}]},
            "b": {"oneOf": [{"type": "integer"}, {"minimum": 2}, {"type": "null"}]},
            "c": {"not": {"type": "string"}, "prefixItems": [{"const": 1}, {"type": "null"}], "contains": {"type": "integer"}},
        },
        "allOf": [{"required": ["a"]}, {"properties": {"d": {"exclusiveMaximum": 1}}}],
        "if": {"required": ["b"]},
        "then": {"required": ["c"]},
        "else": {"properties": {"a": {"type": "string"}}},
    },
]  # fmt: skip


def drawn(chance: Random, depth: int = 3) -> object:
    kind = chance.randrange(10 if depth else 6)
    if kind < 2:
        return chance.choice([0, 1, 2, 3, -1, 4])
    if kind < 4:
        return chance.choice(["", "x", "xy", "yx", "xyz", "é"])
    if kind < 6:
        return chance.choice([None, True, False, 1.5, 2.0])
    if kind < 8:
        return [drawn(chance, depth - 1) for _ in range(chance.randrange(4))]
    return {chance.choice("abcde"): drawn(chance, depth - 1) for _ in range(chance.randrange(4))}


def of_the_other(schema: dict, value: dict) -> set[Violation]:
    """The same by a library in Python, its errors by keyword and place."""
    found = set()
    for error in jsonschema.Draft202012Validator(schema).iter_errors(value):
        steps, code = tuple(error.absolute_path), OF_KEYWORD[error.validator]
        if error.validator == "required":
            found |= {
                Violation(code, (*steps, name)) for name in error.validator_value if name not in error.instance
            }
        elif error.validator == "additionalProperties":
            known = error.schema.get("properties", {})
            found |= {Violation(code, (*steps, name)) for name in error.instance if name not in known}
        else:
            found.add(Violation(code, steps))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("at", range(len(SCHEMAS)))
def test_what_is_told_is_what_another_library_finds(at):
    """20,000 objects in all; the order is that of ruling O4."""
    chance, schema = Random(at), SCHEMAS[at]  # noqa: S311 - no secret
    ours, fitting = compiled(schema_text(schema)), 0
    for _ in range(20_000 // len(SCHEMAS)):
        value = {chance.choice("abcd"): drawn(chance) for _ in range(chance.randrange(4))}
        found = schema_violations(ours, value)
        assert set(found) == of_the_other(schema, value), value
        assert found == sorted(found, key=lambda each: (ORDER[each.code], each.steps))
        assert len(set(found)) == len(found)
        assert ours.fits(value) == (not found)
        fitting += not found
    assert fitting > 50


def test_the_search_ends_at_a_bound_and_what_is_kept_is_small():
    contract = JsonObject({"additionalProperties": {"items": {"type": "string"}}})
    reading = contract.read(json.dumps({"a": [1] * 50_000}))
    assert len(reading.findings) == 200
    assert reading.findings[0].path == "$.a[0]"
    assert reading.further == ((JsonDeviation.SCHEMA_TYPE, 800),)
    long = contract.read(json.dumps({"k\x7f" * 40_000: [1] * 1000}))
    assert len(json.dumps(long.fields())) < 40_000
