"""What is wrong with outputs and where, beside a count output by output (rulings O4 and S1)."""

import json
from collections import Counter, defaultdict
from random import Random

import pytest

from affidavit import JsonObject
from affidavit.results import findings
from affidavit.results.counting import groups
from affidavit.results.tables import BUILDERS
from affidavit.statistics.shares import wilson
from support.command import affidavit
from support.literal_shares import literal_share, same
from support.outputs_elsewhere import write_jsonl
from support.record_sets import Row, named_rows, record_set
from support.written_study import here, reported

SCHEMA = {
    "properties": {"year": {"type": "integer"}, "places": {"items": {"type": "string"}}},
    "required": ["year"],
    "additionalProperties": False,
}
CONTRACT = JsonObject(SCHEMA)
TEXTS = (
    '{"year": 1815}',
    '{"year": "1815"}',
    '{"year": "1816", "places": [1, "Rome", 2]}',
    '{"places": ["Rome"]}',
    '```json\n{"year": 1815}\n```',
    "I do not know.",
)


def output(item: str, text: str, **more: object) -> Row:
    reading = CONTRACT.read(text)
    said = json.dumps(reading.fields())
    compliant = reading.protocol_compliant
    return {"task": "events", "item_id": item, "protocol_compliant": compliant, "fields": said, **more}


def table(rows: list[Row], **how: object) -> list[Row]:
    records = record_set(rows, **how)
    return named_rows(findings.findings_table(records, groups(records), ["events"], {}))


def test_six_outputs_counted_by_hand():
    """Once for each output, whichever places of a list; a fence is not also told as what it is beside a fence."""
    assert BUILDERS["findings by path"] is findings.findings_table
    found = table([output(f"i{at}", text) for at, text in enumerate(TEXTS)])
    assert [(row["finding"], row["path"], row["count"]) for row in found] == [
        ("schema_type", "$.year", 2),
        ("fenced", "$", 1),
        ("no_json", "$", 1),
        ("schema_required", "$.year", 1),
        ("schema_type", "$.places[*]", 1),
    ]
    assert same(found[0]["share of outputs"], wilson(2, 6))


def test_nothing_wrong_is_no_table():
    assert table([output("i", TEXTS[0])]) == []


def test_of_many_made_up_names_the_most_frequent_are_shown():
    rows = [output(f"i{at}", json.dumps({"year": 1, f"f{at % 40:02}": 1})) for at in range(50)]
    records = record_set(rows)
    made = findings.findings_table(records, groups(records), ["events"], {})
    assert len(made.rows) == findings.MOST
    assert made.rows[0][-4:-1] == ("schema_additional_properties", "$.f00", 2)
    assert made.notes[1] == "10 findings that are rarer are not shown."


@pytest.mark.parametrize("by", [("task", "model", "condition"), ("model",), ("task",)], ids=str)
def test_shares_are_over_items(by):
    chance = Random(3)  # noqa: S311 - no secret
    rows = [
        output(f"i{at}", chance.choice(TEXTS), sample=sample, model=chance.choice("mn"))
        for at in range(12)
        for sample in range(4)
    ]
    found = table(rows, by=by)
    assert len(found) >= 5
    for row in found:
        clusters: dict[str, Counter[str]] = defaultdict(Counter)
        for each in rows:
            if all(each.get(name, row[name]) == row[name] for name in by):
                said = {(one["code"], one["path"]) for one in json.loads(each["fields"])["findings"]}
                wanted = (row["finding"], row["path"].replace("[*]", "[0]"))
                clusters[each["item_id"]].update(right=wanted in said, n=1)
        counts = [(each["right"], each["n"]) for each in clusters.values()]
        assert same(row["share of outputs"], literal_share(counts))


@pytest.mark.slow
def test_read_by_group_and_a_report_have_the_same_table(tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    rows = [{"id": str(at), "model": "ab"[at % 2], "raw_output": text} for at, text in enumerate(TEXTS * 2)]
    path, schema = write_jsonl(tmp_path / "rows.jsonl", rows), f"schema={tmp_path / 'schema.json'}"
    read = ("read", "json", path, "--param", schema)
    alone = reported(here(*read, "--by", "task,model,condition", "--json"))["findings by path"]
    assert affidavit(*read, "--out", tmp_path / "study").returncode == 0
    assert reported(here("report", tmp_path / "study", "--format", "json"))["findings by path"] == alone
    assert {row["model"] for row in alone["rows"]} == {"a", "b"}
