"""Draws and what answers them: sheets of this run alone, lost ones written again, nothing picked counted as drawn."""

import hashlib
import json
import shutil
from itertools import product
from pathlib import Path

import pytest

from affidavit.archive.checked_lines import checked_line
from affidavit.archive.disk import Disk
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.errors import UsageError
from affidavit.running.label_draw import WantedDraw, draw_labels
from support.command import affidavit
from support.fault_server import FaultServer, says
from support.killed_command import calls, killed
from support.labelled_studies import TARGETS, VARIANTS, filled, judged_outputs, sheet, write_sheet
from support.scripted_judge import Always
from support.studies import fine, records, told, told_by_verify, write_study

pytestmark = pytest.mark.slow

DRAW = ("label", "draw", "judged", "--what", "verdict", "-n")


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("drawn from")
    judged_outputs(folder, 15)
    return folder


@pytest.fixture
def folder(study, tmp_path) -> Path:
    shutil.copytree(study, tmp_path / "study")
    return tmp_path / "study"


def tables(directory: Path) -> dict:
    done = affidavit("report", directory.name, "--format", "json", cwd=directory.parent)
    assert fine(done, 0)
    return json.loads(done.stdout)["tables"]


# --- which run ---


def test_the_sheet_of_one_run_is_no_sheet_of_another_and_its_labels_would_be_found(tmp_path):
    """Two runs of one study file have the same keys; what was answered differs."""
    for name, letter in (("first", "B"), ("second", "C")):
        with FaultServer(Always(says(f"<answer>{letter}</answer>"))) as server:
            write_study(tmp_path, server.url, count=40)
            assert fine(affidavit("run", "study.toml", "--out", name, "--no-page", cwd=tmp_path), 0)
        assert fine(affidavit("label", "draw", name, "-n", "35", "--what", "correct", cwd=tmp_path), 0)
    keys = [{each["key"] for each in records(tmp_path / name)} for name in ("first", "second")]
    assert keys[0] == keys[1]
    rows = [
        {**each, "value": "yes", "rater": "anna", "date": ""}
        for each in sheet(tmp_path / "first-labels" / "correct.csv")
    ]
    write_sheet(tmp_path / "filled.csv", rows)
    done = affidavit("label", "add", "second", "filled.csv", "--no-page", cwd=tmp_path)
    assert fine(done, 2)
    assert b"filled.csv:2 " in done.stderr
    assert b"of another run of this one" in done.stderr
    assert fine(affidavit("label", "add", "first", "filled.csv", "--no-page", cwd=tmp_path), 0)
    second = {each["key"] for each in records(tmp_path / "second") if each["kind"] == "response"}
    last = sorted((tmp_path / "first" / "records").glob("*.jsonl"))[-1]
    lines = [json.loads(line) for line in last.read_bytes().splitlines()]
    assert {each["labelled_key"] for each in lines if each["kind"] == "label"} <= second
    # The first run's labels put under the second run's answers, with all checksums.
    answers = sorted((tmp_path / "second" / "records").glob("*.jsonl"))
    own = [each for each in lines if each["kind"] == "label"]
    moved = []
    start = sum(len(path.read_bytes().splitlines()) for path in answers)
    for number, each in enumerate(own, start + 1):
        del each["sha256"]
        moved.append(checked_line({**each, "seq": number, "group": start + 1}))
    answers[-1].write_bytes(answers[-1].read_bytes() + b"".join(moved))
    (tmp_path / "second" / "seal.json").unlink()
    found = told_by_verify(tmp_path / "second")
    assert found["differing"] == 35
    assert "another text than the output has" in found["differences"][0]


def test_nobody_finds_who_gave_an_output_by_trying_names(folder):
    """The keys of outputs are digests of names; what a sheet calls them is not."""
    assert fine(affidavit(*DRAW, "60", "--raters", "2", cwd=folder), 0)
    named = {
        each["output"]
        for rater in (1, 2)
        for each in sheet(folder / "judged-labels" / f"verdict-rater-{rater}.csv")
    }
    keys = {each["key"] for each in records(folder / "judged") if each["kind"] == "response"}
    tried = {
        hashlib.sha256(
            json.dumps(["imported", "imported", f"q{n}", variant, target, 0, f"{target}-{variant}-{n}"],
                       separators=(",", ":")).encode()
        ).hexdigest()
        for n, variant, target in product(range(15), VARIANTS, TARGETS)
    }  # fmt: skip
    assert tried == keys, "keys are digests of names"
    heads = {key[:8] for key in keys}
    assert not any(head in name for name in named for head in heads)
    for page in (folder / "judged-labels").iterdir():
        text = page.read_text()
        assert not any(key in text for key in keys)


# --- sheets that were lost ---


def test_a_killed_draw_goes_on_where_it_was(folder, tmp_path):
    whole = tmp_path / "whole"
    shutil.copytree(folder, whole)
    last = calls(*DRAW, "40", cwd=whole)
    expected = {path.name: path.read_bytes() for path in (whole / "judged-labels").iterdir()}
    for at in range(last - 8, last + 1):
        place = tmp_path / f"killed {at}"
        shutil.copytree(folder, place)
        killed(at, *DRAW, "40", cwd=place)
        assert fine(affidavit(*DRAW, "40", cwd=place), 0)
        found = {path.name: path.read_bytes() for path in (place / "judged-labels").iterdir()}
        assert expected.items() <= found.items()
        assert all(name.endswith(".partial") for name in found.keys() - expected.keys())
        assert not (place / "judged-labels-2").exists()
        assert told_by_verify(place / "judged")["sealed"]


def test_sheets_that_were_lost_are_written_again_also_after_a_larger_draw(folder):
    assert fine(affidavit(*DRAW, "30", "--raters", "2", cwd=folder), 0)
    shutil.move(folder / "judged-labels", folder / "kept")
    assert fine(affidavit(*DRAW, "50", cwd=folder), 0)
    before = (folder / "judged" / "seal.json").read_bytes()
    refused = affidavit(*DRAW, "30", "--raters", "2", "-o", "again", cwd=folder)
    assert refused.returncode == 2
    done = affidavit(*DRAW, "30", "--again", "-o", "again", cwd=folder)
    assert fine(done, 0)
    for path in (folder / "kept").iterdir():
        assert (folder / "again" / path.name).read_bytes() == path.read_bytes()
    assert (folder / "judged" / "seal.json").read_bytes() == before
    done = affidavit(*DRAW, "40", "--again", "-o", "never", cwd=folder)
    assert fine(done, 2)
    assert b"--again: expected a draw for verdict that is frozen: -n 30, -n 50" in done.stderr
    assert not (folder / "never").exists()


def test_a_sheet_that_is_there_is_passed_over_and_one_that_somebody_filled_is_not_touched(folder):
    assert fine(affidavit(*DRAW, "30", "-o", "sheets", cwd=folder), 0)
    (folder / "sheets" / "verdict.html").unlink()
    assert fine(affidavit(*DRAW, "30", "-o", "sheets", cwd=folder), 0)
    assert (folder / "sheets" / "verdict.html").exists()
    write_sheet(folder / "sheets" / "verdict.csv", filled(sheet(folder / "sheets" / "verdict.csv")))
    (folder / "sheets" / "verdict.html").unlink()
    done = affidavit(*DRAW, "30", "-o", "sheets", cwd=folder)
    assert fine(done, 2)
    assert b"Somebody may have filled it in" in done.stderr
    assert not (folder / "sheets" / "verdict.html").exists()


@pytest.mark.parametrize(
    "place", ["judged", "judged/records", "judged/sheets", "judged/revisions/x", "link", "file"]
)
def test_where_no_sheets_can_be_nothing_is_drawn(folder, place):
    (folder / "else").mkdir()
    (folder / "link").symlink_to("else")
    (folder / "file").write_text("")
    before = sorted(path for path in folder.rglob("*"))
    done = affidavit(*DRAW, "30", "-o", place, cwd=folder)
    assert fine(done, 2)
    assert sorted(path for path in folder.rglob("*")) == before
    assert not (folder / "judged" / "labels.json").exists()


def test_from_within_the_directory_no_sheet_gets_into_it(folder):
    done = affidavit("label", "draw", ".", "-n", "30", "--what", "verdict", cwd=folder / "judged")
    assert fine(done, 2)
    assert b"It is evidence: write elsewhere" in done.stderr
    assert told_by_verify(folder / "judged")["sealed"]


def test_a_place_is_refused_before_anything_is_frozen_in_python_too(folder):
    class Nowhere:
        def check(self, draw, sheets):
            assert len(sheets[0].outputs) == draw.n
            raise UsageError("here", expected="a place", found="none")

        def write(self):
            raise AssertionError

    with pytest.raises(UsageError, match=r"^here: expected a place"):
        draw_labels(
            StudyDirectory(folder / "judged"), WantedDraw("verdict", 30), GivenContracts(), Disk(), Nowhere()
        )
    assert not (folder / "judged" / "labels.json").exists()


# --- picked by hand ---


def test_labels_that_were_picked_by_hand_are_not_drawn_by_a_later_draw(folder):
    passed = {
        each["judged_key"] for each in records(folder / "judged")
        if each["kind"] == "judgement" and each["verdict"] == "PASS"
    }  # fmt: skip
    rows = [{"output": key, "what": "verdict", "value": "FAIL", "rater": "anna"} for key in sorted(passed)]
    write_sheet(folder / "picked.csv", rows)
    assert fine(affidavit("label", "add", "judged", "picked.csv", "--no-page", cwd=folder), 0)
    assert fine(affidavit(*DRAW, "60", cwd=folder), 0)
    found = tables(folder / "judged")
    (counts,) = found["labels"]["rows"]
    assert (counts["drawn and labelled"], counts["labelled before drawn"]) == (0, len(passed))
    assert counts["labelled, not drawn"] == 0
    assert "had labels before the draw" in " ".join(found["labels"]["notes"])
    assert {each["corrected"] for each in found["corrected verdicts"]["rows"]} == {None}
    again = affidavit("label", "add", "judged", "picked.csv", "--no-page", "--json", cwd=folder)
    assert told(again)["added"] == 0, "the same file again makes nothing drawn"
    drawn = [
        {**each, "value": "FAIL", "rater": "anna"} for each in sheet(folder / "judged-labels" / "verdict.csv")
    ]
    write_sheet(folder / "filled.csv", drawn)
    for added in (60, 0):
        done = affidavit("label", "add", "judged", "filled.csv", "--no-page", "--json", cwd=folder)
        assert fine(done, 0)
        assert told(done)["added"] == added
    (counts,) = tables(folder / "judged")["labels"]["rows"]
    assert (counts["drawn and labelled"], counts["labelled before drawn"], counts["corrections"]) == (60, 0, 0)


# --- forged ---


def forge(folder: Path) -> None:
    """A second draw, of a choice of one's own, put behind the first with all checksums."""
    path = folder / "judged" / "labels.json"
    fields = json.loads(path.read_bytes())
    del fields["sha256"]
    first = fields["draws"][0]
    keys = [each["key"] for each in records(folder / "judged") if each["kind"] == "response"]
    stratum = {**first["strata"][0], "outputs": keys[:40]}
    fields["draws"].append({**first, "n": 40, "strata": [stratum]})
    path.write_bytes(checked_line(fields))


def test_a_draw_of_ones_own_choice_is_never_sealed_and_never_reported(folder):
    assert fine(affidavit(*DRAW, "30", cwd=folder), 0)
    rows = filled(sheet(folder / "judged-labels" / "verdict.csv"))
    write_sheet(folder / "filled.csv", rows)
    forge(folder)
    before = (folder / "judged" / "seal.json").read_bytes()
    commands = [
        ("label", "add", "judged", "filled.csv", "--no-page"), (*DRAW, "50", "-o", "more"),
        ("report", "judged", "--format", "json"), ("label", "plan", "judged"),
    ]  # fmt: skip
    for command in commands:
        done = affidavit(*command, cwd=folder)
        assert done.returncode == 5, command
        assert b"labels.json: expected draws by the study's seed" in done.stderr
        assert b"draw 2: it is not the one that the study's seed gives" in done.stderr
    assert (folder / "judged" / "seal.json").read_bytes() == before
    assert not (folder / "more").exists()
    found = told_by_verify(folder / "judged")
    assert not found["sealed"]
    assert any("draw 2: it is not the one" in said for said in found["differences"])


# --- told by verify ---


def test_verify_says_what_was_drawn(folder):
    assert fine(affidavit(*DRAW, "30", "--raters", "2", "--by", "model", cwd=folder), 0)
    (draw,) = told_by_verify(folder / "judged")["draws"]
    assert {name: draw[name] for name in ("about", "n", "outputs", "raters", "by")} == {
        "about": "verdict", "n": 30, "outputs": 60, "raters": 2, "by": ["model"],
    }  # fmt: skip
    said = affidavit("verify", "judged", cwd=folder).stdout
    assert b"drawn for verdict on " in said
    assert b": 30 of 60 outputs for 2 raters, as many of each model" in said
