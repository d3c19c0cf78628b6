"""Labels that came with the rows of outputs: kept as records that nobody drew, once, and never lost."""

import json
import shutil
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from affidavit.archive.checked_lines import checked_line
from affidavit.archive.disk import Disk
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.rubric import DEFAULT
from affidavit.errors import InputError, UsageError
from affidavit.judging.label_columns import RowLabels, label_columns
from affidavit.reading.source import Row
from affidavit.results.corrected_figures import NOT_DRAWN
from affidavit.running.row_labels import check_recorded, check_rows, frozen_rubric, keep_row_labels
from support.command import affidavit
from support.fault_server import FaultServer
from support.killed_command import calls, killed
from support.labelled_studies import deserves, filled, outputs, passes, sheet, the_judge, words, write_sheet
from support.outputs_elsewhere import row, write_jsonl, write_models
from support.scripted_judge import Always
from support.studies import every_byte, fine, records, told, told_by_verify

ROWS = [
    {
        "id": f"q{number}",
        "model": model,
        "answer": "B",
        "raw_output": None if number == 3 else f"<answer>{'B' if number % 3 else 'A'}</answer>",
        "human": {"right": None if number % 5 == 4 else number % 3 > 0},
        "tone": None if number % 2 else 1 + number % 5,
        "when": "2026-01-31" if number % 4 else None,
    }
    for number in range(20)
    for model in ("small", "large")
]
PLAIN = ("read", "mcqa", "rows.jsonl", "--out", "study", "--json")
LABELS = ("--label", "human.right=correct", "--label", "tone=calm:1,5", "--rater", "anna", "--date-column", "when")
READ = (*PLAIN, *LABELS)


@pytest.fixture
def folder(tmp_path) -> Path:
    write_jsonl(tmp_path / "rows.jsonl", ROWS)
    return tmp_path


def labels(directory: Path) -> list[dict]:
    return [each for each in records(directory) if each["kind"] == "label"]


def expected() -> list[tuple]:
    """Of the rows in their order, by column, what stands in them."""
    said = []
    for each in ROWS:
        if each["raw_output"] is not None:
            day = each["when"] or ""
            right, calm = each["human"]["right"], each["tone"]
            said += [] if right is None else [(each["id"], each["model"], "correct", right, "anna", day)]
            said += [] if calm is None else [(each["id"], each["model"], "calm", float(calm), "anna", day)]
    return said


def found(directory: Path) -> list[tuple]:
    names = {
        each["key"]: (each["item_id"], each["model"]) for each in records(directory) if each["kind"] == "response"
    }
    return [
        (*names[each["labelled_key"]], each["about"], each["value"], each["rater"], each["date"])
        for each in labels(directory)
    ]


# --- with outputs ---


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_every_value_of_a_column_is_one_label_whatever_the_file(tmp_path, form):
    flat = [{**each, "human": each["human"]["right"]} for each in ROWS if each["raw_output"] is not None]
    frame, path = pl.DataFrame(flat), tmp_path / f"rows.{form}"
    {"jsonl": frame.write_ndjson, "csv": frame.write_csv, "parquet": frame.write_parquet}[form](path)
    options = [word.replace("human.right", "human") for word in LABELS]
    done = affidavit("read", "mcqa", path.name, "--out", "study", "--json", *options, cwd=tmp_path)
    assert fine(done, 0)
    assert found(tmp_path / "study") == expected()


def test_labels_have_a_digest_of_their_own_and_the_root_digest_stays(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("without")
    shutil.copy(folder / "rows.jsonl", other)
    without, done = affidavit(*PLAIN, cwd=other), affidavit(*READ, cwd=folder)
    assert fine(without, 0)
    assert fine(done, 0)
    assert told(done)["root_sha256"] == told(without)["root_sha256"]
    kept = told(done)["labels"]
    assert (kept["added"], kept["there"], kept["without_output"]) == (len(expected()), 0, 2)
    checked = told_by_verify(folder / "study")
    assert (checked["sealed"], checked["differing"]) == (True, 0)
    assert (checked["labels"], checked["labels_sha256"]) == (len(expected()), kept["labels_sha256"])
    assert told(done)["seal_sha256"] == checked["seal_sha256"]
    assert b"note: labels by people: `human.right` as correct by `anna`, `tone` as calm by `anna`" in done.stderr


def test_the_same_file_again_changes_nothing_and_labels_may_come_later(folder):
    assert fine(affidavit(*PLAIN, cwd=folder), 0)
    root = told_by_verify(folder / "study")["root_sha256"]
    assert fine(affidavit(*READ, cwd=folder), 0)
    before = every_byte(folder / "study")
    again = affidavit(*READ, cwd=folder)
    assert told(again)["labels"]["added"] == 0
    assert told(again)["labels"]["there"] == len(expected())
    assert fine(affidavit(*PLAIN, cwd=folder), 0)
    assert every_byte(folder / "study") == before
    assert told_by_verify(folder / "study")["root_sha256"] == root
    assert found(folder / "study") == expected()


@pytest.mark.slow
def test_what_was_corrected_since_is_passed_over_and_another_word_of_the_same_rater_is_refused(folder):
    assert fine(affidavit(*READ, cwd=folder), 0)
    first = next(each for each in labels(folder / "study") if each["about"] == "correct")
    (folder / "new.csv").write_text(f"output,value\n{first['labelled_key']},{'no' if first['value'] else 'yes'}\n")
    options = ("--what", "correct", "--rater", "anna", "--corrections", "--no-page")
    assert fine(affidavit("label", "add", "study", "new.csv", *options, cwd=folder), 0)
    before = every_byte(folder / "study")
    assert fine(affidavit(*READ, cwd=folder), 0)
    other = affidavit(*PLAIN, "--label", "tone=correct", "--rater", "anna", cwd=folder)
    assert fine(other, 2)
    write_jsonl(folder / "rows.jsonl", [{**each, "turned": each["human"]["right"] is False} for each in ROWS])
    assert fine(affidavit("read", "mcqa", "rows.jsonl", "--out", "turned", *LABELS[:2], cwd=folder), 0)
    turned = (
        "read",
        "mcqa",
        "rows.jsonl",
        "--out",
        "turned",
        "--label",
        "turned=correct",
        "--rater",
        "human.right",
    )
    refused = affidavit(*turned, cwd=folder)
    assert fine(refused, 2)
    assert b'expected no label of correct that differs from one of "human.right" on the record' in refused.stderr
    assert every_byte(folder / "study") == before


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--label", "tone=calm:2,5"), b"rows.jsonl:1: expected a number from 2 to 5 in 'tone', found 1"),
        (("--label", "human.rihgt=correct"), b"--label: expected a column of the rows: id, model"),
        (("--label", "human.right=verdict"), b"rows.jsonl:1: expected PASS, PARTIAL, FAIL in 'human.right'"),
        (("--label", "tone=score:COMPLETENESS"), b"name it where outputs are judged"),
        (("--label", "tone=calm:1,5", "--rater-column", "who"), b"rows.jsonl:1: expected who labelled, in 'who'"),
        (("--label", "tone=calm:1,5", "--date-column", "day"), b"--date-column: expected a column of the rows"),
        (("--label", "tone=calm:1,5", "--date-column", "id"), b"rows.jsonl:1: expected a day such as 2026-01-31"),
        (("--rater", "anna"), b"--rater: expected --label COLUMN=WHAT beside it"),
    ],
)
def test_what_is_wrong_is_told_by_its_place_before_anything_is_written(folder, options, why):
    done = affidavit(*PLAIN, *options, cwd=folder)
    assert fine(done, 2)
    assert why in done.stderr, done.stderr
    assert not (folder / "study").exists()


def test_labels_need_a_study(folder):
    done = affidavit("read", "mcqa", "rows.jsonl", "-o", "out.jsonl", *LABELS, cwd=folder)
    assert fine(done, 2)
    assert b"--label: expected --out DIR beside it" in done.stderr


def test_a_column_that_may_hold_labels_is_proposed(folder):
    write_jsonl(folder / "rows.jsonl", [{**each, "human_verdict": "PASS"} for each in ROWS])
    done = affidavit(*PLAIN, cwd=folder)
    assert (
        b"note: a column `human_verdict` may hold labels by people: name it with --label human_verdict=verdict"
        in (done.stderr)
    )
    assert labels(folder / "study") == []


@pytest.mark.slow
def test_a_label_that_was_changed_is_found_with_its_line(folder):
    assert fine(affidavit(*READ, cwd=folder), 0)
    path = sorted((folder / "study" / "records").glob("*.jsonl"))[-1]
    path.write_bytes(path.read_bytes().replace(b'"value":true', b'"value":false', 1))
    done = affidavit("verify", "study", cwd=folder)
    assert done.returncode == 5
    assert str(path.relative_to(folder)).encode() in done.stderr


@pytest.mark.slow
def test_a_label_whose_checksum_was_made_anew_is_found_by_the_seal(folder):
    assert fine(affidavit(*READ, cwd=folder), 0)
    path = sorted((folder / "study" / "records").glob("*.jsonl"))[-1]
    lines = path.read_bytes().splitlines(keepends=True)
    fields = json.loads(lines[0])
    del fields["sha256"]
    path.write_bytes(checked_line({**fields, "rater": "eve"}) + b"".join(lines[1:]))
    done = affidavit("verify", "study", cwd=folder)
    assert done.returncode == 5
    assert str(path.relative_to(folder)).encode() in done.stderr


@pytest.mark.slow
def test_a_killed_reading_goes_on_when_it_is_run_again(folder, tmp_path):
    """At each of its calls to the file system: nothing is lost, nothing is there twice."""
    few = folder / "few"
    few.mkdir()
    write_jsonl(few / "rows.jsonl", ROWS[:8])
    shutil.copytree(few, tmp_path / "whole")
    last = calls(*READ, cwd=tmp_path / "whole")
    whole = told_by_verify(tmp_path / "whole" / "study")
    for at in range(1, last + 1):
        place = tmp_path / f"kill {at}"
        shutil.copytree(few, place)
        killed(at, *READ, cwd=place)
        assert fine(affidavit(*READ, cwd=place), 0)
        now = told_by_verify(place / "study")
        assert now["sealed"]
        for name in ("labels", "labels_sha256", "root_sha256"):
            assert now[name] == whole[name]
        shutil.rmtree(place)


# --- in the report ---


@pytest.mark.slow
def test_labels_that_nobody_drew_correct_nothing_and_the_tables_say_why(folder):
    assert fine(affidavit(*READ, cwd=folder), 0)
    tables = json.loads(affidavit("report", "study", "--format", "json", cwd=folder).stdout)["tables"]
    rows = {each["question"]: each for each in tables["labels"]["rows"]}
    counts = Counter(about for _, _, about, *_ in expected())
    for about in ("correct", "calm"):
        assert rows[about]["labelled, not drawn"] == counts[about]
        assert rows[about]["outputs drawn"] is None
        assert rows[about]["no figure because"] == NOT_DRAWN
    for each in tables["corrected accuracy by correct"]["rows"]:
        assert each["corrected"] is each["people alone"] is None
        assert each["no figure because"] == NOT_DRAWN
    assert "corrected calm" not in tables
    for form in ("latex", "md", "csv"):
        assert b"not drawn by" in affidavit("report", "study", "--format", form, cwd=folder).stdout


# --- with a judging ---


VERDICTS = ("--label", "anna=verdict", "--label", "ben=verdict", "--label", "complete=score:COMPLETENESS")
JUDGE = ("judge", "outputs.jsonl", "--out", "judged", "--judge", "j", "--models", "models.toml", "--no-page")


def says(rater: str, output: str) -> str | None:
    if rater == "ben":
        return None if output.endswith("3") else "FAIL" if output.endswith("1") or not deserves(output) else "PASS"
    return "PASS" if deserves(output) else "FAIL"


@pytest.fixture(scope="module")
def judged(tmp_path_factory) -> Path:
    """Outputs that were judged with what two people say of them."""
    folder = tmp_path_factory.mktemp("judged")
    rows = [
        row(f"q{name.split('-')[2]}", name.split("-")[1], name.split("-")[0], name, words(name))
        | {"anna": says("anna", name), "ben": says("ben", name), "complete": 2 if deserves(name) else 0}
        for name in outputs(12)
    ]
    write_jsonl(folder / "outputs.jsonl", rows)
    with FaultServer(Always(the_judge)) as server:
        write_models(folder, server.url, j={"connections": 16})
        shutil.copytree(folder, folder / "without")
        assert fine(affidavit(*JUDGE, cwd=folder / "without"), 0)
        wrong = affidavit(*JUDGE, "--label", "anna=score:COMPLETENESS", "--dry-run", cwd=folder)
        assert b"outputs.jsonl:1: expected 0, 1, 2 in 'anna'" in wrong.stderr
        asked = len(server.log)
        assert fine(affidavit(*JUDGE, "--label", "anna=correct", cwd=folder), 2)
        assert fine(affidavit(*JUDGE, *VERDICTS, "--batch", "batch", cwd=folder), 2)
        assert len(server.log) == asked
        assert not (folder / "judged").exists()
        done = affidavit(*JUDGE, *VERDICTS, "--json", cwd=folder)
        assert fine(done, 0)
        (folder / "told.json").write_bytes(done.stdout)
    return folder


@pytest.mark.slow
def test_a_judging_keeps_labels_of_its_rows_and_its_root_digest(judged):
    said = json.loads((judged / "told.json").read_text())
    names = outputs(12)
    people = sum(says(rater, name) is not None for rater in ("anna", "ben") for name in names)
    assert said["labels"]["added"] == people + len(names)
    checked = told_by_verify(judged / "judged")
    assert (checked["sealed"], checked["differing"]) == (True, 0)
    assert checked["seal_sha256"] == said["seal_sha256"]
    assert checked["labels_sha256"] == said["labels"]["labels_sha256"]
    assert checked["root_sha256"] == told_by_verify(judged / "without" / "judged")["root_sha256"]


@pytest.mark.slow
def test_they_count_for_agreement_confusion_and_bias_and_correct_nothing(judged):
    tables = json.loads(affidavit("report", "judged", "--format", "json", cwd=judged).stdout)["tables"]
    names, both = outputs(12), [name for name in outputs(12) if says("ben", name) is not None]
    rows = [each for each in tables["label agreement"]["rows"] if each["question"] == "verdict"]
    agree = {(each["rater"], each["other rater or judge"]): each for each in rows}
    alike = sum(says("anna", name) == says("ben", name) for name in both)
    assert agree["anna", "ben"]["exact agreement"]["value"] == pytest.approx(alike / len(both))
    judge = sum((says("anna", name) == "PASS") == passes(name) for name in names)
    assert agree["anna", "j · free"]["exact agreement"]["value"] == pytest.approx(judge / len(names))
    pairs = Counter(
        (says(rater, name), "PASS" if passes(name) else "FAIL")
        for rater in ("anna", "ben")
        for name in names
        if says(rater, name) is not None
    )
    rows = [each for each in tables["label confusion"]["rows"] if each["question"] == "verdict"]
    assert {(each["people"], each["judge says"]): each["ratings"] for each in rows} == pairs
    rows = [each for each in tables["judge bias"]["rows"] if each["question"] == "verdict" and not each["variant"]]
    for each in rows:
        own = [name for name in names if name.startswith(each["target"])]
        steps = {"PASS": 2, "FAIL": 0}
        given = [[steps[word] for rater in ("anna", "ben") if (word := says(rater, name))] for name in own]
        gaps = [2 * passes(name) - sum(said) / len(said) for name, said in zip(own, given, strict=True)]
        assert each["labels"] == len(own)
        assert each["judge minus people"]["value"] == pytest.approx(sum(gaps) / len(gaps))
    assert any(NOT_DRAWN in note for note in tables["judge bias"]["notes"])
    for name in ("corrected verdicts", "corrected scores"):
        assert {each["no figure because"] for each in tables[name]["rows"]} == {NOT_DRAWN}
        assert all(each["corrected"] is None for each in tables[name]["rows"])
    assert "corrected differences" not in tables


@pytest.mark.slow
def test_a_judging_that_is_done_takes_labels_of_the_rows_on_its_record(judged, tmp_path):
    shutil.copytree(judged / "without", tmp_path / "study")
    again = ("judge", "judged", "--judge", "j", "--models", "models.toml", "--no-page", *VERDICTS, "--json")
    done = affidavit(*again, cwd=tmp_path / "study")
    assert fine(done, 0)
    told_first = json.loads((judged / "told.json").read_text())
    assert told(done)["labels"]["labels_sha256"] == told_first["labels"]["labels_sha256"]
    before = every_byte(tmp_path / "study" / "judged")
    assert told(affidavit(*again, cwd=tmp_path / "study"))["labels"]["added"] == 0
    assert every_byte(tmp_path / "study" / "judged") == before


@pytest.mark.slow
def test_what_came_with_outputs_corrects_nothing_though_they_are_drawn_later(judged, tmp_path):
    """Whoever then says the same of them under the same name has labelled them, and that counts."""
    shutil.copytree(judged, tmp_path / "study")
    folder = tmp_path / "study"
    assert fine(affidavit("label", "draw", "judged", "-n", "40", "--what", "verdict", cwd=folder), 0)
    first = json.loads(affidavit("report", "judged", "--format", "json", cwd=folder).stdout)["tables"]
    (row,) = (each for each in first["labels"]["rows"] if each["question"] == "verdict")
    assert (row["outputs drawn"], row["drawn and labelled"], row["labelled, not drawn"]) == (40, 0, 48)
    assert {each["labels"] for each in first["corrected verdicts"]["rows"]} == {0}
    assert first["label agreement"]["rows"]
    sheet_ = write_sheet(folder / "f.csv", filled(sheet(folder / "judged-labels" / "verdict.csv")))
    done = affidavit("label", "add", "judged", sheet_.name, "--json", cwd=folder)
    assert fine(done, 0)
    assert (told(done)["added"], told(done)["corrected"], told(done)["there"]) == (40, 0, 0)
    assert told(affidavit("label", "add", "judged", sheet_.name, "--json", cwd=folder))["there"] == 40
    tables = json.loads(affidavit("report", "judged", "--format", "json", cwd=folder).stdout)["tables"]
    (row,) = (each for each in tables["labels"]["rows"] if each["question"] == "verdict")
    assert (row["drawn and labelled"], row["by several raters"], row["corrections"]) == (40, 0, 0)
    assert sum(each["labels"] for each in tables["corrected verdicts"]["rows"] if each["verdict"] == "PASS") == 40
    assert told_by_verify(folder / "judged")["differing"] == 0


# --- in Python ---


def test_the_same_is_there_in_python(folder):
    named = label_columns(["human.right=correct"])
    assert named is not None
    rows = [Row(f"rows:{number}", number, each) for number, each in enumerate(ROWS, 1)]
    check_rows(rows, RowLabels(named, DEFAULT))
    with pytest.raises(InputError, match="rows:41"):
        check_rows([*rows, Row("rows:41", 41, {"human": {"right": "maybe"}})], RowLabels(named, DEFAULT))
    assert fine(affidavit(*PLAIN, cwd=folder), 0)
    directory = StudyDirectory(folder / "study")
    assert frozen_rubric(directory) is None
    check_recorded(directory, RowLabels(named, None))
    with pytest.raises(UsageError, match="expected a column of the rows"):
        check_recorded(directory, RowLabels(label_columns(["x=correct"]), None))
    with directory.locked():
        kept = keep_row_labels(directory, named, Disk())
        assert (kept.added, kept.there, kept.without_output) == (30, 0, 2)
        assert keep_row_labels(directory, named, Disk()).there == 30
    assert kept.in_words()[0] == "30 labels by people kept; 2 of rows without a text left out"
