"""What passes for a JSON Schema and is none: told by name, and nothing is said of a schema that has keywords alone."""

import json

import pytest

from affidavit import JsonObject
from affidavit.contracts.schema_keywords import keyword_notes
from affidavit.study.dry_run import dry_run
from affidavit.study.files import load
from support.command import affidavit
from support.studies import toml, write_items
from support.written_study import tables

KNOWN = "the schema has keywords that JSON Schema does not know: "
ANY = "; any object fits it"
FIELDS = ": fields are described under `properties`"
ODD = {
    "an example of an object": ({"city": "Paris", "population": 123}, f"city, population{ANY}{FIELDS}"),
    "fields without properties": ({"city": {"type": "string"}}, f"city{ANY}{FIELDS}"),
    "beside a type": ({"type": "object", "city": {"type": "string"}}, f"city{ANY}{FIELDS}"),
    "a misspelt keyword": ({"type": "object", "requred": ["a"]}, f"requred (did you mean required?){ANY}"),
    "with conditions left": (
        {"properties": {"a": {"type": "string"}}, "requred": ["a"]},
        "requred (did you mean required?)",
    ),
    "further inside": (
        {"properties": {"a": {"type": "string", "min_length": 3}}},
        "min_length at $.properties.a (did you mean minLength?)",
    ),
    "in a list": ({"anyOf": [{}, {"wanted": 1}]}, "wanted at $.anyOf[1]"),
    "in an item": ({"properties": {"a": {"items": {"tipe": "string"}}}}, "tipe at $.properties.a.items"),
    "many": (dict.fromkeys("ABCDEFGH", 1), f"A, B, C, D, E, F and 2 more{ANY}{FIELDS}"),
}
FINE = {
    "any object": {},
    "names of fields are no keywords": {"properties": {"city": {"type": "string"}, "requred": {}}},
    "notes": {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A city", "x-order": 3},
    "values are no schemas": {"default": {"a": 1}, "enum": [{"b": 2}], "const": {"b": 2}, "examples": [{"c": 3}]},
    "where references lead": {"$ref": "#/components/city", "components": {"city": {"type": "object"}}},
    "an older draft": {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "id": "urn:mine",
        "definitions": {"a": {"dependencies": {"b": ["c"]}}},
    },
}


@pytest.mark.parametrize(("schema", "said"), ODD.values(), ids=ODD)
def test_what_is_no_keyword_is_told(schema, said):
    assert JsonObject(schema).parameter_notes() == (KNOWN + said,)


@pytest.mark.parametrize("schema", FINE.values(), ids=FINE)
def test_nothing_is_said_of_keywords(schema):
    assert JsonObject(schema).parameter_notes() == ()


def test_a_name_of_any_length_makes_a_short_note():
    (note,) = keyword_notes({"properties": {"a" * 1000: {"b" * 1000: 1}}})
    assert len(note) < 600


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps({"city": "Paris"}))
    (tmp_path / "outputs.jsonl").write_text('{"id": "a", "model": "m", "raw_output": "{}"}\n')
    return tmp_path


@pytest.mark.parametrize(
    "typed",
    [
        ("read", "json", "outputs.jsonl", "--json"),
        ("read", "json", "outputs.jsonl", "--by", "model"),
        ("read", "json", "outputs.jsonl", "--out", "study"),
        ("contracts", "try", "json"),
    ],
    ids=" ".join,
)
def test_commands_tell_it_once(folder, typed):
    done = affidavit(*typed, "--param", "schema=schema.json", given=b"{}", cwd=folder)
    assert (done.returncode, done.stderr.decode().count(f"note: {KNOWN}city{ANY}{FIELDS}\n")) == (0, 1)


def test_a_dry_run_tells_it_and_names_the_file(folder):
    write_items(folder / "quiz.jsonl", [{"id": "a", "question": "?", "answer": {"city": "Rome"}}])
    task = {"contract": "json", "items": "quiz.jsonl", "parameters": {"schema": "schema.json"}}
    (folder / "study.toml").write_text("\n".join(toml(tables(tasks={"quiz": task}))))
    planned = dry_run(load(folder / "study.toml"))
    assert planned.notes[0] == f"tasks.quiz: {KNOWN}city{ANY}{FIELDS}"
    assert planned.uses["files"] == ("quiz.jsonl", "schema.json")
