"""Outputs that reason before they answer, from every kind of file: in columns what they are row by row."""

import io
import json
from pathlib import Path

import polars as pl
import pytest

import affidavit.reading.polars_namespace
from affidavit import ReasonedChoice, mcqa_reasoned, read_frame
from affidavit.reading import choices, columns
from affidavit.reading.bulk_records import BulkRecords
from affidavit.reading.choices import ChoiceColumns
from affidavit.reading.output_columns import columns_of
from affidavit.reading.rows import RowReader
from support.command import affidavit
from support.studies import fine, records, told_by_verify

CASES = Path(__file__).parents[1] / "tables" / "mcqa_reasoned.jsonl"
TEXTS = [
    case["raw"]
    for case in map(json.loads, CASES.read_text().splitlines())
    if "options" not in case and not any("\ud800" <= each <= "\udfff" for each in case["raw"])
]
ROWS = [{"id": f"q{n}", "raw_output": raw, "answer": "ABCD"[n % 4]} for n, raw in enumerate(TEXTS)]
ADDED = ("protocol_compliant", "extracted_answer", "deviation", "answer_start", "answer_end", "correct")


def lines(rows: list[dict]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def by_itself(row: dict) -> dict:
    return RowReader(mcqa_reasoned).read(row, where="x").added


def test_lines_get_what_each_gets_by_itself():
    done = affidavit("read", "mcqa-reasoned", given=lines(ROWS))
    assert fine(done, 0)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found == [{**row, **by_itself(row)} for row in ROWS]
    assert [list(row)[-len(ADDED) :] for row in found] == [list(ADDED)] * len(ROWS)
    assert b"mcqa-reasoned/1: " in done.stderr


def test_a_text_that_no_column_holds_is_read_by_itself():
    row = {"raw_output": "\ud800 so <answer>B</answer>", "answer": "B"}
    done = affidavit("read", "mcqa-reasoned", given=lines([row, *ROWS[:3]]))
    assert json.loads(done.stdout.splitlines()[0]) == {**row, **by_itself(row)}


@pytest.mark.slow
def test_tables_get_what_each_row_gets_by_itself(tmp_path):
    pl.DataFrame(ROWS).write_parquet(tmp_path / "rows.parquet")
    assert fine(affidavit("read", "mcqa-reasoned", tmp_path / "rows.parquet", "-o", tmp_path / "read.parquet"), 0)
    found = pl.read_parquet(tmp_path / "read.parquet")
    assert found.rows(named=True) == [{**row, **by_itself(row)} for row in ROWS]
    frame = read_frame(pl.DataFrame(ROWS), "mcqa-reasoned")
    assert frame.equals(found)
    assert frame.schema["answer_start"] == pl.Int64


@pytest.mark.slow
def test_cells_get_what_each_row_gets_by_itself():
    whole = [row for row in ROWS if "\0" not in row["raw_output"]]
    given = pl.DataFrame(whole).write_csv(quote_style="always").encode()
    done = affidavit("read", "mcqa-reasoned", given=given)
    assert fine(done, 0)
    found = pl.read_csv(io.BytesIO(done.stdout), schema_overrides={"correct": pl.Boolean})
    assert found["answer_start"].to_list() == [by_itself(row)["answer_start"] for row in whole]
    assert found["deviation"].to_list() == [by_itself(row)["deviation"] for row in whole]


def test_options_and_other_readings():
    given = lines([{"raw_output": "So <answer>E</answer>!"}])
    done = affidavit("read", "mcqa-reasoned", "--options", "A-E", "--lenses", given=given)
    assert json.loads(done.stdout)["deviation"] == "text_after"
    read = json.loads(done.stdout)["other_readings"]
    assert [name for name in read if name.startswith("mcqa")] == ["mcqa-last-tag/1"]
    assert (read["mcqa-last-tag/1"], read["lawbench-e30981b/1"]) == ("E", "E")


@pytest.mark.slow
def test_a_study_is_made_of_rows_row_by_row(tmp_path):
    """Records say where the answer stands, so that lines share too little to be made in columns."""
    (tmp_path / "rows.jsonl").write_bytes(lines(ROWS))
    done = affidavit("read", "mcqa-reasoned", tmp_path / "rows.jsonl", "--out", tmp_path / "study")
    assert fine(done, 0)
    found = {record["item_id"]: record for record in records(tmp_path / "study")}
    for row in ROWS:
        added, record = by_itself(row), found[row["id"]]
        assert {name: record[name] for name in added} == added
        assert record["contract"] == "mcqa-reasoned/1"
    assert told_by_verify(tmp_path / "study")["differing"] == 0
    bulk = BulkRecords("s", ROWS[0], columns_of(ROWS[0], {}, where="x"), mcqa_reasoned)
    assert not bulk.possible


def test_columns_and_expressions_have_it():
    texts = pl.Series("raw_output", [*TEXTS, None])
    frame = columns.mcqa_reasoned(texts)
    assert frame.schema == columns.REASONED_SCHEMA
    assert frame.equals(mcqa_reasoned.read_texts(texts))
    spread = texts.to_frame().lazy().select(pl.col("raw_output").affidavit.mcqa_reasoned()).collect()
    assert spread.unnest("raw_output").equals(frame)
    assert columns.mcqa_reasoned(pl.Series(["<answer>E</answer>"]), options="A-E").row(0)[1] == "E"


def test_what_is_remembered_of_rows_is_bounded(monkeypatch):
    """Places of answers are many: what was forgotten is made again, and is the same."""
    monkeypatch.setattr(choices, "_MOST_KNOWN", 5)
    found = ChoiceColumns(RowReader(ReasonedChoice()))
    texts = [f"{'x' * n}<answer>B</answer>" for n in range(12)]
    for _ in range(2):
        added = found.of(pl.Series(texts), ["B"] * len(texts))
        assert [each.fields["answer_start"] for each in added] == [n + 8 for n in range(12)]
        assert len(found._known) <= 5


@pytest.mark.parametrize("key", ["E", "b", "Paris"])
def test_a_key_that_no_output_could_give_is_refused(key):
    done = affidavit("read", "mcqa-reasoned", given=lines([{"raw_output": "x", "answer": key}]))
    assert fine(done, 2)
    assert b"expected a letter from A to D in 'answer'" in done.stderr
