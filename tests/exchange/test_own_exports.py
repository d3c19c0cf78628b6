"""What an export wrote is read again: every output with its text, its verdict and its failure, and nothing else."""

import json
from pathlib import Path

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import InputError
from affidavit.exchange.own_exports import source_if_export
from affidavit.exchange.plain_exports import CSV, JSON_LINES, PARQUET
from affidavit.exchange.study_records import StudyRecords
from affidavit.reading.csv_files import any_header
from support.exports import HOSTILE, TIMEOUT, exported, hostile_rows, imported, planned
from support.golden_files import GOLDEN
from support.written_study import here, questions, reported, tables, written

FORMS = {form.name: form for form in (PARQUET, CSV, JSON_LINES)}
ANY_FORM = pytest.mark.parametrize("name", FORMS)


def file_of(study: Path, name: str, folder: Path) -> Path:
    path = folder / f"records{FORMS[name].ending}"
    exported(study, FORMS[name], path)
    return path


def rows_of(path: Path) -> list[dict]:
    source = source_if_export(path)
    assert source is not None
    return [row.fields for row in source.format.rows(source, any_header)]


def read_again(path: Path, contract: str, *options: str) -> dict:
    done = here("read", contract, path, "-o", path.with_suffix(".read"), "--json", *options)
    assert done.returncode == 0, done.stderr
    assert b"is read as an export" in done.stderr
    return json.loads(done.stdout)


def shuffled(folder: Path) -> Path:
    """Two answers to each question, one of them right, with the options in another order each time."""
    rows = [{**each, "options": [f"{each['id']} {option}" for option in "wxyz"]} for each in questions(6)]
    tasks = {"quiz": {"contract": "mcqa", "items": "quiz.jsonl", "option_order": "shuffle"}}
    study = tables(conditions={"plain": {}}, decoding={"samples": 2}, tasks=tasks)
    return written(folder, study, {"quiz": rows}, answered_by_half)


def answered_by_half(asked: object) -> str:
    return f"<answer>{asked.item.fields['answer'] if asked.sample else 'A'}</answer>"


@ANY_FORM
def test_every_text_comes_back_and_what_never_arrived_stays_so(tmp_path, name):
    rows = rows_of(file_of(imported(tmp_path), name, tmp_path))
    assert [row["raw_output"] for row in rows] == [*HOSTILE, None]
    assert [(row["id"], row["answer"], row["question"]) for row in rows] == [
        (row["id"], row["answer"], row["question"]) for row in hostile_rows()
    ]


@ANY_FORM
def test_the_figures_of_an_export_are_those_of_the_study(tmp_path, name):
    """The column that held what was read was once taken for the right answers: then everything was right."""
    study = planned(tmp_path, "<answer>B</answer>", "<answer>A</answer>", "B", "", TIMEOUT)
    (row,) = reported(here("report", study, "--format", "json"))["accuracy"]["rows"]
    told = read_again(file_of(study, name, tmp_path), "mcqa")
    assert (told["n"], told["compliant"], told["failed"]) == (5, 2, 1)
    for figure, column in (("accuracy_over_compliant", "accuracy over compliant"), ("yield", "yield")):
        assert {end: told[figure][end] for end in ("value", "low", "high", "n")}.items() <= row[column].items()
    assert told["accuracy_over_compliant"]["value"] == 0.5


@ANY_FORM
def test_options_that_were_shuffled_are_read_as_they_were_shown(tmp_path, name):
    study = shuffled(tmp_path)
    kept = {record.key: record for record in StudyRecords(StudyDirectory(study))}
    path = file_of(study, name, tmp_path)
    assert read_again(path, "mcqa")["compliant"] == 12
    again = [json.loads(line) for line in path.with_suffix(".read").read_bytes().splitlines()]
    assert [row["correct"] for row in again] == [record.correct for record in kept.values()]
    assert all(row["options"]["ABCD".index(row["answer"])] == f"{row['id']} x" for row in again)


@ANY_FORM
def test_what_a_contract_needs_beside_a_text_is_there(tmp_path, name):
    hands = {"quiz": [{"id": "h", "numbers": [4, 9, 10, 13]}]}
    study = tables(tasks={"quiz": {"contract": "game24", "items": "quiz.jsonl"}}, conditions={"plain": {}})
    directory = written(tmp_path, study, hands, lambda _asked: "<answer>(13-9)*(10-4)</answer>")
    assert read_again(file_of(directory, name, tmp_path), "game24")["yield"]["value"] == 1


@ANY_FORM
def test_judgements_and_labels_are_no_outputs(tmp_path, name):
    study = GOLDEN / "studies" / "mixed"
    outputs = {
        record.key: getattr(record, "raw_output", None)
        for record in StudyRecords(StudyDirectory(study))
        if record.kind in ("response", "failure") and not hasattr(record.subject, "judge")
    }
    found = rows_of(file_of(study, name, tmp_path))
    assert sorted(map(repr, outputs.values())) == sorted(repr(row["raw_output"]) for row in found)


@pytest.mark.parametrize("content", ['{"id": "q", "raw_output": "B"}', "kind,key,item_id\nresponse,k,q\n", ""])
def test_other_files_are_none(tmp_path, content):
    (tmp_path / "rows").write_text(content)
    assert source_if_export(tmp_path / "rows") is None


def test_a_row_that_was_changed_is_refused_with_its_place(tmp_path):
    path = file_of(imported(tmp_path), "csv", tmp_path)
    path.write_bytes(path.read_bytes().replace(b",unnamed,base,0,", b",unnamed,base,none,", 1))
    with pytest.raises(InputError, match=r"records\.csv:2: expected a row of an export"):
        rows_of(path)
