"""Figures of outputs by group, before anything is kept: those of the report of the same rows."""

import json

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.frozen_contract import named_contract
from affidavit.contracts.parts import parts_of
from affidavit.errors import UsageError
from affidavit.reading.output_columns import OutputColumns
from affidavit.results.label_scores import MACRO
from affidavit.results.read_groups import chosen_tables, group_columns, grouped_report
from affidavit.results.study_results import StudyResults
from support.kept_outputs import kept, opened
from support.outputs_elsewhere import write_jsonl
from support.written_study import here, reported

CHOICES = [
    {"id": f"q{number % 3}", "who": "ab"[number % 2], "subject": "xyz"[number % 3], "answer": "AB"[number % 2],
     "raw_output": (None, "<answer>A</answer>", "A.")[number % 5 % 3]}
    for number in range(30)
]  # fmt: skip
LACKING = [{**row, "subject": (None, "", "art")[number % 3]} for number, row in enumerate(CHOICES)]
HANDS = [
    {
        "id": f"h{number}",
        "who": "a",
        "numbers": [4, 9, 10, 13],
        "raw_output": "Output: (13-9)*(10-4)" * (number % 2),
    }
    for number in range(12)
]
NUMBERS = [
    {"id": f"n{number % 4}", "who": "ab"[number % 2], "answer": "4",
     "raw_output": ("<answer>4</answer>", "about 4", "<answer>five</answer>")[number % 3]}
    for number in range(12)
]  # fmt: skip
LABELS = [
    {"id": f"t{number}", "model": "ab"[number % 2], "subject": "xyz"[number % 3], "answer": ("art", "sport")[number % 2],
     "raw_output": ("<answer>art</answer>", "art", "<answer>sport</answer>")[number % 5 % 3]}
    for number in range(24)
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("contract", "rows", "by"),
    [
        ("mcqa", CHOICES, ("model",)),
        ("mcqa", CHOICES, ("metadata.subject", "model")),
        ("mcqa", LACKING, ("metadata.subject",)),
        ("mcqa", CHOICES, ("sample",)),
        ("game24", HANDS, ("condition",)),
        ("number", NUMBERS, ("model",)),
    ],
)
def test_the_figures_are_those_of_the_report_of_the_study(tmp_path, contract, rows, by):
    path = write_jsonl(tmp_path / "rows.jsonl", rows)
    named = named_contract(contract)
    files = opened(path, contract=contract, given={"model": "who"})
    parts = dict.fromkeys(files.tasks(), parts_of(named.contract))
    report = grouped_report(files.records("", named), by, files.columns, parts, own=False)
    kept(tmp_path / "out", path, contract=contract, model="who")
    expected = chosen_tables(StudyResults(StudyDirectory(tmp_path / "out"), by).report())
    assert [table.name for table in report.tables] == [table.name for table in expected.tables]
    for found, wanted in zip(report.tables, expected.tables, strict=True):
        assert (found.columns, found.rows, found.foot) == (wanted.columns, wanted.rows, wanted.foot)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["model", "subject", "model,subject"])
def test_labels_have_their_scores_and_deviations_by_group(tmp_path, by):
    path = write_jsonl(tmp_path / "rows.jsonl", LABELS)
    order = ["read", "labels", path, "--param", 'labels=["art", "sport"]', "--by", by]
    alone = reported(here(*order, "--json"))
    assert list(alone) == ["compliance", "deviations", "accuracy", "label scores"]
    assert {row["deviation"] for row in alone["deviations"]["rows"]} == {"no_block"}
    assert {row["label"] for row in alone["label scores"]["rows"]} == {"art", "sport", MACRO}
    assert reported(here(*order, "--out", tmp_path / "s", "--json")) == alone
    text = here(*order).stdout.decode()
    assert "What did non-compliant outputs do instead?" in text
    assert "How often is a label right" in text
    assert text.splitlines()[1] == "read by labels/1, labels [art, sport]"


def test_methods_and_deviations_stand_beside_accuracy(tmp_path):
    path = write_jsonl(tmp_path / "rows.jsonl", NUMBERS)
    found = reported(here("read", "number", path, "--by", "who", "--json"))
    assert list(found) == ["compliance", "deviations", "accuracy", "extraction methods"]
    shown = reported(here("read", "mcqa", write_jsonl(tmp_path / "c.jsonl", CHOICES), "--by", "who", "--json"))
    assert list(shown) == ["compliance", "deviations", "accuracy"]


def test_fields_of_objects_have_their_accuracy_by_group(tmp_path):
    answer = {"city": "Rome", "people": 3}
    rows = [
        {"id": str(number), "who": who, "answer": answer, "raw_output": json.dumps({**answer, "people": people})}
        for who, people in (("a", 3), ("b", 4))
        for number in range(3)
    ]
    path = write_jsonl(tmp_path / "rows.jsonl", rows)
    found = reported(here("read", "json", path, "--by", "who", "--json"))
    assert list(found) == ["compliance", "deviations", "accuracy", "field accuracy"]
    columns = ("metadata.who", "field", "compared", "right")
    assert [tuple(row[name] for name in columns) for row in found["field accuracy"]["rows"]] == [
        ("a", "city", 3, 3), ("a", "people", 3, 3), ("b", "city", 3, 3), ("b", "people", 3, 0),
    ]  # fmt: skip
    assert reported(here("read", "json", path, "--by", "who", "--out", tmp_path / "s", "--json")) == found


def test_rows_without_the_column_have_a_name(tmp_path):
    path = write_jsonl(tmp_path / "rows.jsonl", LACKING)
    named = named_contract("mcqa")
    files = opened(path, contract="mcqa", given={"model": "who"})
    parts = dict.fromkeys(files.tasks(), parts_of(named.contract))
    report = grouped_report(files.records("", named), ("metadata.subject",), files.columns, parts, own=False)
    assert [row[:2] for row in report.tables[0].rows] == [("(no subject)", 20), ("art", 10)]


def test_columns_to_group_by_are_known_or_refused():
    columns = OutputColumns.of({"text": "raw_output", "model": "who", "answer": "gold"})
    first = {"raw_output": "x", "who": "a", "gold": "B", "meta": {"level": 1}}
    by = ["who", "gold", "meta.level", "metadata.meta", "condition"]
    assert group_columns(by, first, columns) == (
        "model", "metadata.gold", "metadata.meta.level", "metadata.meta", "condition",
    )  # fmt: skip
    for wrong in (["levl"], ["raw_output"], [], ["model", "who"]):
        with pytest.raises(UsageError, match="--by: expected"):
            group_columns(wrong, first, columns)
