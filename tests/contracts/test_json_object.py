"""json/1 beyond its table: totality, keys and fields that are refused, parameters, words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit import InputError, JsonObject, json_object
from affidavit.contracts.json_deviation import JsonDeviation
from affidavit.contracts.json_key import MOST_FIELDS, ObjectKey, checked_fields
from affidavit.contracts.json_object import FITTING, INSTRUCTION
from affidavit.contracts.registry import contract_named, task_contract_named
from affidavit.contracts.strict_json import Refused, decode
from support.strategies import any_text, blanks, made_of

DATED = JsonObject(
    {
        "type": "object",
        "properties": {"name": {"type": "string"}, "year": {"type": "integer"}},
        "required": ["name", "year"],
        "additionalProperties": False,
    }
)
json_texts = made_of(
    "{", "}", "[", "]", '"', ":", ",", '"name"', '"year"', '{"name": "Ada", "year": 1815}', '{"year": 1}', "1", "-1.5",
    "1e999", "1e-999", "NaN", "true", "null", "```", "```json\n", "\n```", "\\u", "\\ud800", "Sure! ", "\n", " ",
)  # fmt: skip
texts = st.one_of(any_text, json_texts)


@pytest.mark.slow
@given(texts)
def test_any_text_gives_the_same_reading_twice(raw):
    """Rulings C3 and C4: total and deterministic; a text is compliant or has a deviation, which comes first."""
    for contract in (json_object, DATED):
        reading = contract.read(raw)
        assert reading == contract.read(raw)
        fields = reading.fields()
        assert fields == contract.read(raw).fields() == json.loads(json.dumps(fields))
        assert reading.protocol_compliant == (reading.deviation is None) == (reading.extracted_answer is not None)
        if reading.findings:
            assert fields["deviation"] == fields["findings"][0]["code"]


@pytest.mark.slow
@given(json_texts, blanks, blanks)
def test_outer_whitespace_changes_nothing(raw, before, after):
    """Ruling O1, by the whitespace of ruling M1."""
    assert DATED.read(before + raw + after) == DATED.read(raw)


@pytest.mark.slow
@given(texts)
def test_any_object_is_what_strict_json_takes(raw):
    """Rulings O1 and J1."""
    taken = not isinstance(decode(raw.strip()), Refused)
    assert json_object.read(raw).protocol_compliant == taken
    assert taken or not DATED.read(raw).protocol_compliant


@given(st.sampled_from(["", "json", "JSON", "js on"]), st.text("` \n x", max_size=6), blanks)
def test_a_fence_is_one_only_around_a_strict_object(word, extra, blank):
    """Ruling O3."""
    assert json_object.read(f'```{word}\n{blank}{{"a": 1}}\n```{blank}').deviation is JsonDeviation.FENCED
    expected = JsonDeviation.TEXT_AROUND_JSON if extra.strip() else JsonDeviation.FENCED
    assert json_object.read(f'```{word}\n{extra}{{"a": 1}}\n```').deviation is expected


def test_the_deviations_of_the_examples_are_the_ones_meant():
    assert JsonObject.failing
    assert json_object.read(JsonObject.passing).protocol_compliant
    assert json_object.read(JsonObject.failing).deviation is JsonDeviation.FENCED


# --- keys ---

KEYS = {
    "a text": ("Ada", "a JSON object in 'answer'"),
    "a number": (4, "a JSON object in 'answer'"),
    "a list": ([{"name": "Ada"}], "a JSON object in 'answer'"),
    "nothing in it": ({}, "a JSON object in 'answer'"),
    "a key twice": ('{"name": "Ada", "name": "Bob"}', "a JSON object in 'answer'"),
    "half a character": ({"name": "\ud800"}, "a JSON object in 'answer'"),
    "no number": ({"year": float("inf")}, "a JSON object in 'answer'"),
    "another type": ({"year": "1815"}, "an answer that an output could give"),
    "another name": ({"Year": 1815}, "an answer that an output could give"),
}


@pytest.mark.parametrize("name", KEYS)
def test_a_key_that_no_output_could_equal_is_refused(name):
    """Ruling O6: else every output would be counted wrong."""
    answer, expected = KEYS[name]
    with pytest.raises(InputError) as caught:
        DATED.item({"answer": answer}, where="items.jsonl:3")
    assert caught.value.where == "items.jsonl:3"
    assert caught.value.expected == expected
    assert caught.value.hint


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"year": {}}, "additionalProperties": False},
        {"properties": {"place": {"type": "string"}}},
        {"properties": {"place": {"additionalProperties": False}}},
    ],
)
def test_a_key_whose_inner_field_could_not_be_there_is_refused(schema):
    """Ruling O6: what is around the field may not be there, or is something else."""
    with pytest.raises(InputError, match="an answer that an output could give"):
        JsonObject(schema, ["place.city"]).item({"answer": {"place": {"city": "Brno"}}}, where="items.jsonl:3")


def test_a_key_may_be_a_part_of_an_object():
    """Ruling O6: what is required beside it, and what holds under a condition only, is not held against it."""
    assert DATED.item({"answer": {"year": 1815}}, where="") == ObjectKey({"year": 1815})
    branch = JsonObject(
        {"if": {"properties": {"kind": {"const": "a"}}}, "then": {"properties": {"x": {"type": "null"}}}}
    )
    assert branch.item({"answer": {"x": 1}}, where="").answer == {"x": 1}
    inner = JsonObject({"properties": {"place": {"required": ["city", "land"]}}}, ["place.city"])
    assert inner.item({"answer": {"place": {"city": "Brno"}}}, where="").answer
    with pytest.raises(InputError, match=r"schema_required at \$.place.land"):
        JsonObject(inner.schema, ["place"]).item({"answer": {"place": {"city": "Brno"}}}, where="")


def test_a_key_needs_every_field_that_is_compared():
    contract = JsonObject(fields=["name", "place.city"])
    with pytest.raises(InputError, match=r"a field 'place\.city' in 'answer'"):
        contract.item({"answer": {"name": "Ada", "place": "London"}}, where="items.jsonl:1")
    assert contract.item({"answer": None}, where="") == contract.item({}, where="") == ObjectKey(None)
    assert [contract.right_answer_known(ObjectKey(key)) for key in ({"a": 1}, None)] == [True, False]


def test_an_answer_is_compared_field_by_field():
    key = DATED.item({"answer": {"name": "Ada", "year": 1815}}, where="")
    validation = DATED.validate(DATED.read('{"name": "Ada", "year": 1816}'), key)
    assert (validation.correct, validation.reason) == (False, "wrong_fields")
    row = {"answer": {}}
    assert DATED.verdict(row, validation) == {
        "correct": False, "reason": "wrong_fields", "right_fields": ["name"], "wrong_fields": ["year"],
    }  # fmt: skip
    assert list(DATED.labels({"deviation": None, "wrong_fields": ["year"]})) == [("wrong_fields", "year")]
    assert set(DATED.verdict(row, None).values()) == {None}
    assert DATED.verdict({}, None) == {}
    reading = DATED.read("no")
    assert DATED.validate(reading, key) is None
    assert set(DATED.fields_added(row)) == {*reading.fields(), *DATED.verdict(row, None)}
    assert set(DATED.fields_added({})) == set(reading.fields())


def test_an_example_is_the_key_where_that_is_a_whole_object():
    assert DATED.example({"answer": {"year": 1815, "name": "Ada"}}, where="") == '{"name":"Ada","year":1815}'
    assert DATED.example({"answer": {"year": 1815}}, where="") is None
    assert DATED.example({}, where="") is None


# --- parameters ---


@pytest.mark.parametrize(
    "fields",
    [[], [""], ["a..b"], [1], ["a", "a"], {"a": 1}, 4, True, "", ".", ["a\n"], ["x" * 201], ["a"] * (MOST_FIELDS + 1)],
    ids=str,
)  # fmt: skip
def test_fields_that_are_none_are_refused(fields):
    with pytest.raises(InputError) as caught:
        JsonObject(fields=fields)
    assert caught.value.where == "parameters.fields"


def test_parameters_give_the_same_contract_again():
    """Ruling C3; JSON values only."""
    for contract in (json_object, DATED, JsonObject(fields=["a.b"]), JsonObject({"title": "é"}, "a")):
        params = json.loads(json.dumps(contract.params))
        assert json_object.with_parameters(params) == contract
        assert task_contract_named("json", "A-D", params) == contract
        assert params == dict(contract.params)
    assert contract_named("json") is json_object
    assert DATED.with_parameters({"fields": ["year"]}).schema == DATED.schema
    assert checked_fields(None) is None
    changed = DATED.schema
    changed["required"].append("x")
    assert DATED.schema != changed, "a copy"


# --- words ---


def test_an_example_in_a_schema_is_shown_whatever_it_looks_like():
    odd = {"properties": {"a": 1}, "required": [[1], {}, "a"]}
    for schema in ({"const": odd}, {"examples": [odd]}):
        assert json.loads(JsonObject(schema).instruction().partition("\n\n")[2]) == schema


def test_a_key_that_is_there_three_times_is_told_once():
    """Ruling O4: the same code at the same path is told once."""
    reading = json_object.read('{"b": 1, "b": 2, "b": 3, "a": {"\\ud800": 1, "\\ud800": 2}}')
    assert [(each.code.value, each.path) for each in reading.findings] == [
        ("duplicate_key", "$.b"),
        ("duplicate_key", '$.a["\\ud800"]'),
        ("bad_text", '$.a["\\ud800"]'),
    ]


def test_the_words_ask_for_one_object_and_show_the_schema():
    """Ruling O8."""
    asked = "Answer with exactly one JSON object, and nothing else: no Markdown, no explanation."
    assert json_object.instruction() == INSTRUCTION == asked
    words = JsonObject(
        {"required": ["b"], "properties": {"a": {"title": "é"}, "b": {}, "properties": {"properties": {"z": {}}}}}
    ).instruction()
    head, _, shown = words.partition("\n\n")
    assert head == f"{INSTRUCTION} {FITTING}"
    assert '"é"' in shown
    assert list(json.loads(shown)["properties"]) == ["b", "a", "properties"]
