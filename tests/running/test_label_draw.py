"""What a draw hands out of multiple choice, what it refuses, where its sheets go, and what it says of too few."""

import json
from pathlib import Path

import pytest

from support.command import affidavit
from support.labelled_studies import sheet, write_sheet
from support.outputs_elsewhere import write_jsonl
from support.studies import fine, records, told, told_by_verify

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path) -> Path:
    """Outputs of two models to forty questions, with their options and a number of their own."""
    rows = [
        {
            "id": f"q{at}", "model": model, "completion": "<answer>B</answer>", "answer": "B", "score": at / 40,
            "options": [f"{at}", f"{at + 1}", "<b>", "none of these"],
        }
        for model in ("able", "weak")
        for at in range(40)
    ]  # fmt: skip
    write_jsonl(tmp_path / "outputs.jsonl", rows)
    done = affidavit("read", "mcqa", "outputs.jsonl", "--field", "completion", "--out", "quiz", cwd=tmp_path)
    assert fine(done, 0)
    return tmp_path


def draw(folder: Path, *options: str, code: int = 0):
    done = affidavit("label", "draw", "quiz", *options, cwd=folder)
    assert fine(done, code)
    return done


def test_answers_of_multiple_choice_are_letters_or_none(folder):
    draw(folder, "-n", "60", "--what", "answer")
    rows = sheet(folder / "quiz-labels" / "answer.csv")
    assert {row["scale"] for row in rows} == {"A, B, C, D, none"}
    page = (folder / "quiz-labels" / "answer.html").read_text()
    assert page.count('value="D"> D: none of these</label>') == 60
    assert "C: &lt;b&gt;" in page
    said = [{**row, "value": ("b", "(C)", "None")[at % 3], "rater": "anna"} for at, row in enumerate(rows)]
    write_sheet(folder / "filled.csv", [*said[:-1], {**said[-1], "value": "Z"}])
    refused = affidavit("label", "add", "quiz", "filled.csv", cwd=folder)
    assert fine(refused, 2)
    assert b"expected A, B, C, D, none in 'value', found \"Z\"" in refused.stderr
    write_sheet(folder / "filled.csv", said)
    assert fine(affidavit("label", "add", "quiz", "filled.csv", cwd=folder), 0)
    kept = {each["value"] for each in records(folder / "quiz") if each["kind"] == "label"}
    assert kept == {"B", "C", "none"}
    assert told_by_verify(folder / "quiz")["differing"] == 0


def test_a_name_that_no_output_has_a_number_under_is_refused_with_those_that_there_are(folder):
    done = draw(folder, "-n", "40", "--what", "scor", "--scale", "0,1", code=2)
    assert (
        b"a name under which outputs came with a number: score, found 'scor', which no output has" in done.stderr
    )
    assert b"Did you mean score?" in done.stderr
    assert not (folder / "quiz" / "labels.json").exists()


def test_labels_lie_on_the_scale_of_their_draw_and_a_draw_holds_labels_that_are_there(folder):
    key = next(each["key"] for each in records(folder / "quiz") if each["kind"] == "response")
    write_sheet(folder / "one.csv", [{"output": key, "what": "score", "value": "40", "rater": "anna"}])
    assert fine(affidavit("label", "add", "quiz", "one.csv", "--scale", "0,100", cwd=folder), 0)
    done = draw(folder, "-n", "40", "--what", "score", "--scale", "0,1", code=2)
    assert b"--scale: expected a scale that holds the labels of score on the record, 40 to 40" in done.stderr
    draw(folder, "-n", "40", "--what", "score", "--scale", "0,50")
    write_sheet(folder / "one.csv", [{"output": key, "what": "score", "value": "80", "rater": "ben"}])
    refused = affidavit("label", "add", "quiz", "one.csv", "--scale", "0,100", cwd=folder)
    assert fine(refused, 2)
    assert b"expected as at the draw for score: 0,50, found 0,100" in refused.stderr
    assert told_by_verify(folder / "quiz")["differing"] == 0


def test_further_draws_find_a_directory_and_names_of_their_own(folder):
    options = ("--what", "correct", "--raters", "2", "--json")
    first = told(draw(folder, "-n", "40", *options))
    second = told(draw(folder, "-n", "60", *options))
    assert first["sheets"][0] == "quiz-labels/correct-rater-1.csv"
    assert second["sheets"][0] == "quiz-labels-2/correct-draw-2-rater-1.csv"
    page = (folder / "quiz-labels-2" / "correct-draw-2-rater-1.html").read_text()
    assert 'data-file-name="correct-draw-2-rater-1-filled.csv"' in page
    # A fifth of all sixty, of which the first draw has given eight.
    assert (first["shared"], second["shared"]) == (8, 4)
    held = [{row["output"] for row in sheet(folder / name)} for name in second["sheets"] if name.endswith("csv")]
    assert len(held[0] & held[1]) == 4
    again = told(draw(folder, "-n", "60", *options))
    assert again["sheets"] == second["sheets"], "they are there, byte for byte"
    (folder / second["sheets"][0]).write_text("filled in")
    third = told(draw(folder, "-n", "60", *options))
    assert third["sheets"][0].startswith("quiz-labels-3/")
    assert len(json.loads((folder / "quiz" / "labels.json").read_text())["draws"]) == 2


def test_a_draw_of_too_few_of_a_model_says_so(folder):
    assert (
        b"note: fewer than 30 drawn of able 20 of 40, weak 20 of 40"
        in draw(folder, "-n", "40", "--what", "correct", "--by", "model").stdout
    )
    assert b"-n 60 would have them" in draw(folder, "-n", "40", "--what", "correct", "--by", "model").stdout
    assert told(draw(folder, "-n", "60", "--what", "correct", "--by", "model", "--json"))["notes"] == []
