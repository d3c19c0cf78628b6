"""What newcomers typed or had in their files, and what they are told: the very name, the right form, the way on."""

import json

import pytest

from support.command import affidavit
from support.read_rows import jsonl, rows
from support.studies import toml, write_items
from support.written_study import tables

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "population": {"type": "integer"}}}
GOLD = {"city": "Rome", "population": 3}
ROW = {"id": "a", "raw_output": json.dumps(GOLD), "answer": GOLD}


def refusal(*typed: str, given: bytes) -> str:
    done = affidavit("read", *typed, "--json", given=given)
    assert done.returncode == 2
    return done.stderr.decode()


def test_fields_between_commas_are_refused_with_the_right_form():
    said = refusal("json", "--param", "fields=city, population", given=jsonl(ROW))
    assert said == (
        'affidavit: --param fields: expected a list of fields, or the name of one, found "city, population"\n'
        """Say --param 'fields=["city", "population"]'.\n"""
    )


def test_the_nearest_field_is_named():
    said = refusal("json", "--param", "fields=popluation", given=jsonl(ROW))
    assert "expected a field 'popluation' in 'answer', which is compared" in said
    assert "\nDid you mean population? `fields` names what is compared" in said


def test_a_schema_may_be_typed_as_it_is():
    given = jsonl(ROW, {**ROW, "raw_output": '{"city": 3}'})
    done = affidavit("read", "json", "--param", f"schema={json.dumps(SCHEMA)}", given=given)
    assert [row["deviation"] for row in rows(done.stdout)] == [None, "schema_type"]
    said = refusal("json", "--param", "schema={type: object}", given=given)
    assert "--param schema: expected JSON, found Expecting property name" in said


def test_a_column_is_told_by_the_name_that_it_has():
    given = jsonl({"raw_output": "{}", "gold": "Rome"})
    assert "expected a JSON object in 'gold'" in refusal("json", "--answer", "gold", given=given)
    given = jsonl({"raw_output": "B", "gold": "Rome"})
    assert "expected a letter from A to D in 'gold'" in refusal("mcqa", "--answer", "gold", given=given)


def test_of_a_parsed_object_it_is_said_that_texts_are_read():
    said = refusal("json", given=jsonl({"raw_output": GOLD}))
    assert (
        "--field 'raw_output.city'. If it is the output itself, parsed already: a contract reads the text" in said
    )


@pytest.mark.parametrize(("answer", "said"), [(0, "0 is A."), (2, "2 is C; counted from 1, B."), ("4", "4 is E;")])
def test_numbers_may_be_the_places_of_options(answer, said):
    told = refusal("mcqa", given=jsonl({"raw_output": "<answer>A</answer>", "answer": answer}))
    assert f"If numbers are places, write the letters: counted from 0, {said}" in told


def test_an_item_without_an_id_is_told_with_a_key_that_may_hold_it(tmp_path):
    write_items(tmp_path / "quiz.jsonl", [{"question_id": "q1", "question": "Where?", "gold": GOLD}])
    task = {"contract": "json", "items": "quiz.jsonl"}
    (tmp_path / "study.toml").write_text("\n".join(toml(tables(tasks={"quiz": task}))))
    done = affidavit("run", "study.toml", "--dry-run", cwd=tmp_path)
    assert done.returncode == 2
    assert (
        "found no 'id' among the keys question_id, question, gold\nDid you mean question_id?"
        in done.stderr.decode()
    )
