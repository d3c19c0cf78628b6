"""Accuracy by field, beside a count by hand and one output by output (rulings M6, O7 and S1)."""

import json
from collections import defaultdict
from random import Random

import pytest

from affidavit import JsonObject
from affidavit.results import fields
from affidavit.results.counting import groups
from affidavit.results.tables import BUILDERS
from affidavit.statistics.shares import wilson
from support.literal_shares import literal_share, same
from support.record_sets import Row, named_rows, record_set
from support.written_study import here, reported, tables, written

KEY = {"name": "Ada", "year": 1815}
CONTRACT = JsonObject({"properties": {"year": {"type": "integer"}}})


def output(item: str, text: str, **more: object) -> Row:
    """What the contract itself reads of an output."""
    key = CONTRACT.item({"answer": KEY}, where=item)
    reading = CONTRACT.read(text)
    said = CONTRACT.verdict({"answer": KEY}, CONTRACT.validate(reading, key))
    return {
        "task": "events", "item_id": item, "protocol_compliant": reading.protocol_compliant, "keyed": True,
        "correct": said["correct"], "fields": json.dumps({**reading.fields(), **said}), **more,
    }  # fmt: skip


def table(rows: list[Row], **how: object) -> list[Row]:
    records = record_set(rows, **how)
    return named_rows(fields.field_table(records, groups(records), ["events"], {}))


def test_four_outputs_counted_by_hand():
    assert BUILDERS["field accuracy"] is fields.field_table
    texts = ['{"name": "Ada", "year": 1815}', '{"name": "Bob", "year": 1815}', '{"name": "Ada"}', "I do not know."]
    found = table([output(f"i{at}", text) for at, text in enumerate(texts)])
    assert [(row["field"], row["compared"], row["right"]) for row in found] == [("name", 3, 2), ("year", 3, 2)]
    assert same(found[0]["accuracy over compliant"], wilson(2, 3))


def test_nothing_compared_is_no_table():
    assert table([output("i", "no")]) == []


@pytest.mark.parametrize("by", [("task", "model", "condition"), ("model",), ("task",)], ids=str)
def test_shares_are_over_items(by):
    chance, rows = Random(3), []  # noqa: S311 - no secret
    for at in range(12):
        for sample in range(4):
            answer = {"name": chance.choice(["Ada", "Bob"]), "year": chance.choice([1815, 1816])}
            text = json.dumps(answer) if chance.random() < 0.9 else "no"
            rows.append(output(f"i{at}", text, sample=sample, model=chance.choice("mn")))
    found = table(rows, by=by)
    assert {row["field"] for row in found} == {"name", "year"}
    for row in found:
        clusters = defaultdict(lambda: [0, 0])
        for each in rows:
            said = json.loads(each["fields"])
            if all(each.get(name, row[name]) == row[name] for name in by) and said["correct"] is not None:
                clusters[each["item_id"]][0] += row["field"] in said["right_fields"]
                clusters[each["item_id"]][1] += 1
        assert same(row["accuracy over compliant"], literal_share(list(map(tuple, clusters.values()))))


def test_a_study_of_objects_is_reported_and_verified(tmp_path):
    """From the file of the schema to the report, and every field derived again."""
    tmp_path.joinpath("schema.json").write_text(json.dumps(CONTRACT.schema))
    task = {"contract": "json", "items": "quiz.jsonl", "parameters": {"schema": "schema.json", "fields": ["name"]}}
    items = [{"id": f"q{n}", "question": "Who?", "answer": KEY} for n in range(4)]
    texts = iter(
        ['{"name": "Ada", "year": 1}', '{"name": "Bob"}', '```json\n{"name": "Ada"}\n```', '{"year": "x"}']
    )
    directory = written(tmp_path, tables(tasks={"quiz": task}), {"quiz": items}, lambda _: next(texts))
    found = reported(here("report", directory, "--format", "json"))
    deviations = [row["deviation"] for row in found["deviations"]["rows"]]
    assert deviations == ["fenced", "schema_type"]
    (row,) = found["field accuracy"]["rows"]
    assert (row["field"], row["compared"], row["right"]) == ("name", 2, 1)
    assert here("verify", directory).returncode == 0
