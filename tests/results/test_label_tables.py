"""Tables of labels against plain counting: agreement, bias, corrected verdicts, scores, accuracy, means."""

import json
import shutil
from collections import Counter
from math import ceil
from pathlib import Path

import pytest

from affidavit.archive.disk import Disk
from affidavit.archive.study_directory import StudyDirectory
from affidavit.results.corrected_readings import OWN
from affidavit.results.corrected_tables import FIGURES, JUDGES
from affidavit.results.label_plan import label_plan
from affidavit.results.label_set import LabelSet
from affidavit.results.label_tables import number_of
from affidavit.results.labelled_tables import labelled_tables
from affidavit.running.labelled_study import labelled_study
from affidavit.statistics import corrected_mean, people_alone
from support.command import affidavit
from support.labelled_studies import (
    deserves,
    filled,
    judged_outputs,
    name_in,
    outputs,
    passes,
    sheet,
    write_sheet,
)
from support.outputs_elsewhere import write_jsonl
from support.record_sets import choice, record_set
from support.studies import fine, records

pytestmark = pytest.mark.slow

QUESTIONS = 40


def tables_of(folder: Path, *options: str) -> dict:
    done = affidavit("report", "judged", "--format", "json", *options, cwd=folder)
    assert fine(done, 0)
    return json.loads(done.stdout)["tables"]


def rows_of(table: dict, **named: object) -> list[dict]:
    return [row for row in table["rows"] if all(row[name] == value for name, value in named.items())]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Eighty of a hundred and sixty outputs are labelled by anna, forty of these by ben too, who errs."""
    folder = tmp_path_factory.mktemp("labelled")
    judged_outputs(folder, QUESTIONS)
    options = ("-n", "80", "--what", "verdict", "--by", "model", "--raters", "2", "--shared", "40")
    assert fine(affidavit("label", "draw", "judged", *options, cwd=folder), 0)
    first, second = (sheet(folder / "judged-labels" / f"verdict-rater-{rater}.csv") for rater in (1, 2))
    write_sheet(folder / "filled.csv", [*filled(first), *filled(second, "ben", errs=0.15)])
    assert fine(affidavit("label", "add", "judged", "filled.csv", cwd=folder), 0)
    return folder


@pytest.fixture(scope="module")
def tables(folder) -> dict:
    return tables_of(folder)


@pytest.fixture(scope="module")
def said(folder) -> dict[str, dict[str, str]]:
    """By the name of an output, what each rater said."""
    found: dict[str, dict[str, str]] = {}
    for row in sheet(folder / "filled.csv"):
        found.setdefault(name_in(row["text"]), {})[row["rater"]] = row["value"]
    return found


def expected(said, target: str, variants="AB"):
    names = [
        name for name in outputs(QUESTIONS) if name.split("-")[0] == target and name.split("-")[1] in variants
    ]
    labels = [
        sum(each == "PASS" for each in said[name].values()) / len(said[name]) if name in said else None
        for name in names
    ]
    judged, clusters = [float(passes(name)) for name in names], [name.split("-")[2] for name in names]
    return names, judged, labels, clusters


@pytest.mark.parametrize("target", ["able", "weak"])
def test_corrected_verdicts_are_those_of_the_formula_over_the_outputs_of_a_target(tables, said, target):
    (row,) = rows_of(tables["corrected verdicts"], target=target, verdict="PASS")
    _, judged, labels, clusters = expected(said, target)
    found = corrected_mean(judged, labels, clusters=clusters)
    alone = people_alone(judged, labels, clusters=clusters)
    assert (row["outputs"], row["labels"]) == (80, 40)
    assert row["uncorrected"]["value"] == pytest.approx(sum(judged) / 80)
    assert row["weight"] == pytest.approx(found.weight)
    for shown, estimate in ((row["corrected"], found.estimate), (row["people alone"], alone.estimate)):
        assert (shown["value"], shown["low"]) == pytest.approx((estimate.value, max(0, estimate.low)))
    assert row["no figure because"] is None


def test_a_correction_is_nearer_to_the_truth_where_the_judge_is_kind(tables):
    """By the names of the outputs everybody knows the truth here: the judge is kind to `weak`, and people are not."""
    truth = sum(deserves(name) for name in outputs(QUESTIONS) if name.startswith("weak")) / 80
    (row,) = rows_of(tables["corrected verdicts"], target="weak", verdict="PASS")
    assert abs(row["corrected"]["value"] - truth) < abs(row["uncorrected"]["value"] - truth)
    assert row["corrected"]["low"] <= truth <= row["corrected"]["high"]
    assert row["uncorrected"]["low"] > truth


def test_few_labels_correct_nothing_and_the_row_says_why(tables, said):
    for row in tables["corrected verdicts by variant"]["rows"]:
        _, _, labels, _ = expected(said, row["target"], row["variant"])
        count = sum(label is not None for label in labels)
        assert row["labels"] == count
        if count < 30:
            assert row["corrected"] is row["people alone"] is row["weight"] is None
            assert row["no figure because"] == f"{count} labels: fewer than 30"


def test_labels_are_counted(tables, said):
    (row,) = tables["labels"]["rows"]
    both = sum(len(each) > 1 for each in said.values())
    counts = {
        name: row[name]
        for name in ("outputs listed", "outputs drawn", "drawn and labelled", "by several raters", "raters")
    }
    assert counts == {
        "outputs listed": 160, "outputs drawn": 80, "drawn and labelled": 80, "by several raters": both, "raters": 2,
    }  # fmt: skip
    assert both == 40
    assert (row["strata"], row["drawn, not labelled"]) == ("model", 0)
    assert tables["labels"]["identity"] == "verdict: 80 drawn = 80 labelled + 0 not labelled"


def test_agreement_is_over_the_outputs_that_both_have_rated(tables, said):
    both = [each for each in said.values() if len(each) == 2]
    alike = sum(each["anna"] == each["ben"] for each in both)
    (row,) = rows_of(tables["label agreement"], rater="anna", **{"other rater or judge": "ben"})
    assert row["outputs"] == 40
    assert row["exact agreement"]["value"] == pytest.approx(alike / 40)
    assert alike < 40
    (row,) = rows_of(tables["label agreement"], rater="anna", **{"other rater or judge": "j · free"})
    own = [(each["anna"], passes(name)) for name, each in said.items() if "anna" in each]
    assert row["exact agreement"]["value"] == pytest.approx(
        sum((each == "PASS") == judge for each, judge in own) / len(own)
    )


def test_confusion_is_every_label_beside_the_judges_word(tables, said):
    counts = Counter(
        (value, "PASS" if passes(name) else "FAIL") for name, each in said.items() for value in each.values()
    )
    found = {(row["people"], row["judge says"]): row["ratings"] for row in tables["label confusion"]["rows"]}
    assert found == counts
    assert {row["raters"] for row in tables["label confusion"]["rows"]} <= {1, 2}
    assert all(row["share"]["clusters"] <= row["share"]["n"] for row in tables["label confusion"]["rows"])
    assert "Every rating counts" in tables["label confusion"]["notes"][0]


def test_bias_is_the_mean_gap_in_steps(tables, said):
    for row in rows_of(tables["judge bias"], variant=None):
        names, judged, labels, _ = expected(said, row["target"])
        gaps = [2 * (judge - label) for judge, label in zip(judged, labels, strict=True) if label is not None]
        assert row["judge minus people"]["value"] == pytest.approx(sum(gaps) / len(gaps))
        assert len(names) == 80


def test_a_difference_between_targets_is_corrected_and_the_ranking_is_told(tables):
    (row,) = tables["corrected differences"]["rows"]
    figures = {each["target"]: each for each in rows_of(tables["corrected verdicts"], verdict="PASS")}
    gap = figures["weak"]["corrected"]["value"] - figures["able"]["corrected"]["value"]
    assert (row["from"], row["to"], row["measure"]) == ("able", "weak", "PASS")
    assert row["difference"]["value"] == pytest.approx(gap)
    notes = " ".join(tables["corrected differences"]["notes"])
    assert "PASS by j: the judge has" in notes


@pytest.mark.parametrize("form", ["text", "md", "csv", "latex"])
def test_all_forms_have_the_tables(folder, form):
    done = affidavit(
        "report", "judged", "--format", form, *(("-o", "tables.csv") if form == "csv" else ()), cwd=folder
    )
    assert fine(done, 0)
    text = (folder / "tables.csv").read_text() if form == "csv" else done.stdout.decode()
    assert ("corrected verdicts" if form == "csv" else "Which verdicts would people give?") in text


def test_the_page_has_the_tables_and_is_verified(folder):
    page = (folder / "judged" / "report.html").read_text()
    assert "Which verdicts would people give?" in page
    assert "Do people agree with each other and with the judges?" in page
    assert '<table class="wraps">' in page, "all columns of corrected figures are seen at once"
    assert "Zero or empty in every row and not shown: not judged" in page
    summary = page[: page.index("Which verdicts would people give?")]
    assert "judges&#39; own figures. People labelled 80 of 160 outputs for verdict" in summary
    assert "80 drawn = 80 labelled + 0 not labelled" in summary
    assert (
        b"report.html: made again from the records and compared"
        in affidavit("verify", "judged", cwd=folder).stdout
    )


def test_a_plan_has_a_row_for_each_figure(folder):
    done = affidavit("label", "plan", "judged", "--width", "0.3", "--json", cwd=folder)
    assert fine(done, 0)
    rows = json.loads(done.stdout)["rows"]
    assert len(rows) == 6
    assert {row["question"] for row in rows} == {"verdict"}
    of_pass = [row for row in rows if row["figure"].startswith("PASS")]
    assert all(row["labels needed"] is None or row["labels needed"] >= 30 for row in of_pass)
    for row in rows:
        more = row["labels needed"] is not None and row["labels needed"] > row["labels"]
        # Drawn were 80, of all targets together.
        typed = min(160, ceil(80 * row["labels needed"] / row["labels"])) if more else None
        assert row["draw -n"] == typed


def test_a_plan_never_asks_for_more_where_an_interval_is_narrow_already(folder):
    for width in ("0.1", "0.25", "0.6"):
        done = affidavit("label", "plan", "judged", "--width", width, "--json", cwd=folder)
        for row in json.loads(done.stdout)["rows"]:
            assert (row["in words"] == "there are enough") >= (float(row["width"]) <= float(width))


# --- answers, and numbers that rows brought along ---


def write_outputs(folder: Path) -> list[dict]:
    """A model that often means the right letter and breaks the format, with a score of its own in each row."""
    rows = []
    for at in range(90):
        letter = "AB"[at % 3 == 0]
        text = f"<answer>{letter}</answer>" if at % 2 else f"The answer is {letter}."
        rows.append({"id": f"q{at}", "model": "m", "completion": text, "answer": "A", "score": round(at / 89, 3)})
    write_jsonl(folder / "outputs.jsonl", rows)
    return rows


@pytest.fixture
def read(tmp_path) -> tuple[Path, list[dict]]:
    rows = write_outputs(tmp_path)
    done = affidavit("read", "mcqa", "outputs.jsonl", "--field", "completion", "--out", "judged", cwd=tmp_path)
    assert fine(done, 0)
    return tmp_path, rows


def test_labels_of_answers_correct_the_accuracy_of_any_reading(read):
    folder, rows = read
    assert fine(affidavit("label", "draw", "judged", "-n", "45", "--what", "answer", cwd=folder), 0)
    drawn = sheet(folder / "judged-labels" / "answer.csv")
    meant = [
        {**row, "value": "A" if "A" in row["text"].removeprefix("The answer") else "B", "rater": "eve"}
        for row in drawn
    ]
    write_sheet(folder / "filled.csv", meant)
    assert fine(affidavit("label", "add", "judged", "filled.csv", "--no-page", cwd=folder), 0)
    found = {row["reading"]: row for row in tables_of(folder)["corrected accuracy by answer"]["rows"]}
    assert len(found) > 1
    notes = tables_of(folder)["corrected accuracy by answer"]["notes"]
    assert any(f"cite that of {OWN}" in note for note in notes)
    (agreed,) = tables_of(folder)["labels"]["rows"]
    assert agreed["drawn, not labelled"] == 0
    own = found[OWN]
    assert (own["outputs"], own["labels"]) == (90, 45)
    strict = [float("<" in row["completion"] and "A" in row["completion"]) for row in rows]
    assert own["uncorrected"]["value"] == pytest.approx(sum(strict) / 90)
    truth = sum("A" in row["completion"].removeprefix("The answer") for row in rows) / 90
    for row in found.values():
        assert row["corrected"]["low"] <= truth <= row["corrected"]["high"]
    lenient = max(found.values(), key=lambda row: row["weight"])
    assert lenient["reading"] != OWN


def test_a_number_of_the_rows_is_corrected_by_people(read):
    folder, rows = read
    assert fine(
        affidavit("label", "draw", "judged", "-n", "40", "--what", "score", "--scale", "0,1", cwd=folder), 0
    )
    by_key = {
        each["key"]: each["row"]["score"] for each in records(folder / "judged") if each["kind"] == "response"
    }
    drawn = sheet(folder / "judged-labels" / "score.csv")
    with labelled_study(StudyDirectory(folder / "judged"), Disk()) as labelled:
        said = [by_key[labelled.key_of(row["output"])] / 2 for row in drawn]
    write_sheet(
        folder / "filled.csv",
        [{**row, "value": f"{value:.4f}", "rater": "eve"} for row, value in zip(drawn, said, strict=True)],
    )
    assert fine(affidavit("label", "add", "judged", "filled.csv", "--no-page", cwd=folder), 0)
    (row,) = tables_of(folder)["corrected score"]["rows"]
    assert row["uncorrected"]["value"] == pytest.approx(sum(each["score"] for each in rows) / 90)
    assert row["corrected"]["low"] <= 0.25 <= row["corrected"]["high"]
    assert (
        row["corrected"]["high"] - row["corrected"]["low"]
        < row["people alone"]["high"] - row["people alone"]["low"]
    )
    assert fine(affidavit("verify", "judged", cwd=folder), 0)


def test_nothing_is_made_of_no_labels():
    records = record_set([choice("q1", "A")])
    assert list(labelled_tables(records, LabelSet(), None)) == []
    assert label_plan(records, LabelSet(), None, width=0.1).rows == ()


def test_every_table_of_figures_has_the_same_columns(tables):
    for name in ("corrected verdicts", "corrected verdicts by variant"):
        columns = list(tables[name]["rows"][0])
        assert tuple(columns[:3]) == JUDGES
        assert tuple(columns[-len(FIGURES) :]) == FIGURES


@pytest.mark.parametrize(
    ("about", "value", "step"), [("verdict", "FAIL", 0), ("correct", False, 0), ("tone", 0.5, 0.5)]
)
def test_labels_are_steps_of_their_scale(about, value, step):
    number = number_of(about)
    assert number is not None
    assert number(value) == step


def test_a_study_without_labels_has_no_table_of_them(tmp_path):
    write_outputs(tmp_path)
    assert fine(
        affidavit("read", "mcqa", "outputs.jsonl", "--field", "completion", "--out", "judged", cwd=tmp_path), 0
    )
    assert not any("label" in name or "corrected" in name for name in tables_of(tmp_path))
    done = affidavit("label", "plan", "judged", cwd=tmp_path)
    assert done.returncode == 2
    assert b"label draw" in done.stderr
    shutil.rmtree(tmp_path / "judged")
