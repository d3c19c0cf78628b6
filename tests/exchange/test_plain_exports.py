"""Every record leaves once, its text verbatim, as Parquet, CSV and JSON Lines; spreadsheets compute nothing."""

import csv
import json
import tracemalloc
from io import StringIO
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import StorageError, UsageError
from affidavit.exchange import export_format
from affidavit.exchange.plain_exports import CSV, JSON_LINES, PARQUET, _cell
from affidavit.exchange.record_rows import ADDED, RecordRows
from affidavit.exchange.study_records import StudyRecords
from affidavit.plain_text import is_formula
from affidavit.reading.csv_files import CSV as CSV_ROWS
from affidavit.reading.csv_files import any_header
from affidavit.reading.source import file_source
from affidavit.study.files import load
from support.exports import HOSTILE, TIMEOUT, exported, imported, planned
from support.golden_files import GOLDEN
from support.strategies import any_text
from support.written_study import Hasty, append, plan_of_frozen

FORMS = {form.name: form for form in (PARQUET, CSV, JSON_LINES)}


def as_written(cell: str) -> str:
    """A cell of CSV as the text that it stands for."""
    return cell.removeprefix("'")


def rows_of(path: Path) -> list[tuple]:
    """Key, kind and text of each row, however they are written."""
    if path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_bytes().splitlines()]
        return [(row["key"], row["kind"], row.get("raw_output")) for row in rows]
    if path.suffix == ".parquet":
        rows = pl.read_parquet(path).to_dicts()
    else:
        stream = StringIO(path.read_bytes().decode(), newline="")
        rows = [{name: as_written(cell) for name, cell in row.items()} for row in csv.DictReader(stream)]
    found = []
    for row in rows:
        escaped = row["raw_output_escaped"]
        text = None if row["kind"] == "failure" else row["raw_output"]
        found.append((row["key"], row["kind"], json.loads(escaped) if escaped else text))
    return found


def expected_of(study: Path) -> list[tuple]:
    segments = sorted((study / "records").iterdir())
    lines = [json.loads(line) for path in segments for line in path.read_bytes().splitlines()]
    return [(line["key"], line["kind"], line.get("raw_output")) for line in lines]


@pytest.mark.parametrize("name", FORMS)
def test_every_record_is_there_once_with_its_text_verbatim(tmp_path, name):
    study, out = imported(tmp_path), tmp_path / f"records{FORMS[name].ending}"
    written = exported(study, FORMS[name], out)
    assert written.rows == {"response": len(HOSTILE), "failure": 1}
    assert written.left_out == {}
    assert rows_of(out) == expected_of(study)
    assert {text for _, _, text in rows_of(out)} == {*HOSTILE, None}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("kept", ["planned", "imported", "mixed", "own"])
def test_studies_of_every_kind_leave_whole(tmp_path, name, kept):
    study, out = GOLDEN / "studies" / kept, tmp_path / f"records{FORMS[name].ending}"
    exported(study, FORMS[name], out)
    last = {key: (kind, text) for key, kind, text in expected_of(study)}
    assert len(rows_of(out)) == len(last)
    assert {key: (kind, text) for key, kind, text in rows_of(out)} == last


@pytest.mark.parametrize("name", FORMS)
def test_the_last_word_on_a_question_leaves(tmp_path, name):
    """A failure that was answered later is answered; one that failed again failed once."""
    study = planned(tmp_path, TIMEOUT, TIMEOUT, "<answer>B</answer>", sealed=False)
    later = {"q0": "<answer>A</answer>", "q1": TIMEOUT}
    plan = plan_of_frozen(StudyDirectory(study), load(tmp_path / "study.toml"), Hasty())
    append(study, plan, lambda asked: later.get(asked.item.id))
    out = tmp_path / f"records{FORMS[name].ending}"
    assert exported(study, FORMS[name], out).rows == {"response": 2, "failure": 1}
    assert sorted((kind, text) for _, kind, text in rows_of(out) if text) == [
        ("response", "<answer>A</answer>"),
        ("response", "<answer>B</answer>"),
    ]


def test_failures_are_rows_with_their_kind_and_without_an_answer(tmp_path):
    study = planned(tmp_path, TIMEOUT)
    exported(study, PARQUET, tmp_path / "r.parquet")
    exported(study, JSON_LINES, tmp_path / "r.jsonl")
    (row,) = pl.read_parquet(tmp_path / "r.parquet").to_dicts()
    assert (row["kind"], row["failure"]) == ("failure", "timeout")
    assert {row[name] for name in ("raw_output", "extracted_answer", "correct", "protocol_compliant")} == {None}
    line = json.loads((tmp_path / "r.jsonl").read_bytes())
    assert (line["reason"], "raw_output" in line, "correct" in line) == ("timeout", False, False)


def test_columns_of_a_table_are_those_of_the_records_and_what_these_leave_out(tmp_path):
    study = imported(tmp_path)
    rows = RecordRows(StudyRecords(StudyDirectory(study)).parts, lambda _record: None)
    for name in ("csv", "parquet"):
        exported(study, FORMS[name], tmp_path / f"r.{name}")
    assert pl.read_parquet(tmp_path / "r.parquet").schema == rows.schema
    header = (tmp_path / "r.csv").read_text().partition("\n")[0].split(",")
    assert header == list(rows.schema)
    assert header[-len(ADDED) :] == list(ADDED)
    first = pl.read_parquet(tmp_path / "r.parquet").row(0, named=True)
    assert json.loads(first["reading"])["extracted_answer"] == first["extracted_answer"] == "B"


def test_our_own_reader_takes_the_table(tmp_path):
    exported(imported(tmp_path), CSV, tmp_path / "r.csv")
    rows = list(CSV_ROWS.rows(file_source(tmp_path / "r.csv"), any_header))
    assert [as_written(row.fields["raw_output"]) for row in rows][:4] == list(HOSTILE[:4])


@given(any_text)
def test_no_cell_is_a_formula_and_every_text_comes_back(text):
    cell = _cell(text)
    assert isinstance(cell, str)
    assert not is_formula(cell)
    spelt = text.encode("utf-8", "backslashreplace").decode()
    assert as_written(cell) == spelt


@given(
    st.sampled_from(["", " ", "\u200b", "\ufeff", "\t"]), st.sampled_from("=+-@|%＝＋－＠"), st.text(max_size=3)
)
def test_whatever_stands_before_a_sign_it_is_seen(before, sign, after):
    assert is_formula(before + sign + after)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_file_is_there_whole_or_what_was_there_before(tmp_path, form):
    study, out = imported(tmp_path), tmp_path / f"r{form.ending}"
    out.write_text("before")
    segment = study / "records" / "000001.jsonl"
    content = bytearray(segment.read_bytes())
    content[-200] ^= 1
    segment.write_bytes(content)
    with pytest.raises(StorageError, match="checksum"):
        exported(study, form, out)
    assert out.read_text() == "before"
    assert [path.name for path in tmp_path.glob(".*")] == []


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_nothing_is_written_over_evidence(tmp_path, form):
    study = imported(tmp_path)
    with pytest.raises(UsageError, match="evidence"):
        exported(study, form, study / "records" / "000001.jsonl")
    assert StudyRecords(StudyDirectory(study)).check()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["csv", "jsonl"])
def test_memory_does_not_grow_with_the_records(tmp_path, name):
    peaks = []
    for count in (500, 4000):
        folder = tmp_path / str(count)
        folder.mkdir()
        rows = [{"id": f"q{n}", "answer": "B", "raw_output": "x" * 500} for n in range(count)]
        study = imported(folder, rows)
        tracemalloc.start()
        exported(study, FORMS[name], folder / "r")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 300_000


@pytest.mark.slow
def test_parquet_is_written_by_row_groups(tmp_path):
    rows = [{"id": f"q{n}", "answer": "B", "raw_output": "x"} for n in range(25_000)]
    exported(imported(tmp_path, rows), PARQUET, tmp_path / "r.parquet")
    assert pl.scan_parquet(tmp_path / "r.parquet").select(pl.len()).collect().item() == 25_000
    assert pl.read_parquet(tmp_path / "r.parquet", columns=["item_id"])["item_id"].n_unique() == 25_000


def test_a_format_says_what_it_is():
    for form in FORMS.values():
        assert isinstance(form, export_format.ExportFormat)
        assert form.summary
        assert form.ending == f".{form.name}"
