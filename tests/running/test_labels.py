"""Labels by people on the record: drawn, added, never changed, never lost; and what verify finds of them."""

import json
import shutil
from pathlib import Path

import pytest

from affidavit.archive.checked_lines import checked_line
from affidavit.archive.disk import Disk
from affidavit.archive.record import Label
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.errors import InputError
from affidavit.judging.directory import read_judging
from affidavit.reading.source import bytes_source
from affidavit.running.label_checks import LabelChecks
from affidavit.running.label_draw import WantedDraw, draw_labels
from affidavit.running.label_records import COLUMNS, LabelTerms, add_labels
from affidavit.running.labelled_study import FEWEST_DIGITS, labelled_study
from support.command import affidavit
from support.killed_command import calls, killed
from support.labelled_studies import filled, judged_outputs, keys_of, name_in, sheet, write_sheet
from support.studies import fine, records, told, told_by_verify

pytestmark = pytest.mark.slow

DRAW = ("label", "draw", "judged", "-n", "40", "--what", "verdict")


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Path:
    """A judged study of which nothing is labelled yet."""
    folder = tmp_path_factory.mktemp("labels")
    judged_outputs(folder, 20)
    return folder


@pytest.fixture(scope="module")
def drawn(study, tmp_path_factory) -> Path:
    """The same after a draw of forty outputs."""
    folder = tmp_path_factory.mktemp("drawn") / "study"
    shutil.copytree(study, folder)
    assert fine(affidavit(*DRAW, cwd=folder), 0)
    return folder


@pytest.fixture
def folder(drawn, tmp_path) -> Path:
    shutil.copytree(drawn, tmp_path / "study")
    return tmp_path / "study"


def labels(folder: Path) -> list[dict]:
    return [each for each in records(folder / "judged") if each["kind"] == "label"]


def add(folder: Path, rows: list[dict], *options: str, code: int = 0):
    done = affidavit("label", "add", "judged", write_sheet(folder / "filled.csv", rows), *options, cwd=folder)
    assert fine(done, code)
    return done


def drawn_rows(folder: Path) -> list[dict[str, str]]:
    return sheet(folder / "judged-labels" / "verdict.csv")


# --- drawing ---


def test_a_draw_is_the_same_whenever_it_is_made_and_is_under_the_seal(study, drawn, tmp_path):
    shutil.copytree(study, tmp_path / "study")
    assert fine(affidavit(*DRAW, cwd=tmp_path / "study"), 0)
    one, other = (
        json.loads((each / "judged" / "labels.json").read_text()) for each in (drawn, tmp_path / "study")
    )
    assert one["draws"] == other["draws"]
    assert drawn_rows(drawn) == drawn_rows(tmp_path / "study")
    assert "labels.json" in json.loads((drawn / "judged" / "seal.json").read_text())["files"]
    assert told_by_verify(drawn / "judged")["sealed"]


def test_a_sheet_shows_task_and_output_and_never_judge_or_target(drawn):
    rows = drawn_rows(drawn)
    assert len(rows) == len({row["output"] for row in rows}) == 40
    assert set(rows[0]) == {"output", "what", "value", "rater", "date", "scale", "task", "text"}
    assert all(row["task"] == "Say some fine words." and not row["value"] for row in rows)
    page = (drawn / "judged-labels" / "verdict.html").read_text()
    for row in rows:
        assert row["output"] in page
    assert "cross_judge" not in page
    rubric = (drawn / "judged-labels" / "verdict-rubric.txt").read_text()
    for said in ("FORMAT_COMPLIANCE (Structure and format): ", "FAIL: the sum is 3 or less", "2: Satisfied"):
        assert said in page
        assert said in rubric
    assert {row["scale"] for row in rows} == {"PASS, PARTIAL, FAIL; by verdict-rubric.txt"}


def test_the_same_draw_again_changes_nothing_and_no_sheet_is_written_over(folder):
    before = (folder / "judged" / "labels.json").read_bytes()
    assert fine(affidavit(*DRAW, cwd=folder), 0)
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == ["judged", "judged-labels"]
    write_sheet(folder / "judged-labels" / "verdict.csv", filled(drawn_rows(folder)))
    again = affidavit(*DRAW, "-o", "judged-labels", cwd=folder)
    assert again.returncode == 2
    assert b"Somebody may have filled it in" in again.stderr
    assert fine(affidavit(*DRAW, "-o", "again", cwd=folder), 0)
    assert (folder / "judged" / "labels.json").read_bytes() == before
    assert [row["output"] for row in sheet(folder / "again" / "verdict.csv")] == [
        row["output"] for row in drawn_rows(folder)
    ]


def test_a_larger_draw_hands_out_what_is_new(folder):
    done = affidavit(
        "label",
        "draw",
        "judged",
        "-n",
        "60",
        "--what",
        "verdict",
        "--raters",
        "2",
        "-o",
        "more",
        "--json",
        cwd=folder,
    )
    assert fine(done, 0)
    assert (told(done)["n"], told(done)["new"], told(done)["shared"]) == (60, 20, 12)
    first, second = (sheet(folder / "more" / f"verdict-draw-2-rater-{rater}.csv") for rater in (1, 2))
    new = {row["output"] for row in (*first, *second)}
    assert len(new) == 20
    assert len({row["output"] for row in first} & {row["output"] for row in second}) == 12
    assert new.isdisjoint(row["output"] for row in drawn_rows(folder))
    assert told_by_verify(folder / "judged")["sealed"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("-n", "81"), b"-n: expected at least as many outputs as are to be drawn, 81, found 80"),
        (("-n", "50", "--by", "model"), b"--by: expected as at the first draw"),
        (("-n", "30"), b"-n: expected at least 40"),
        (("-n", "50", "--by", "modle"), b"Did you mean model?"),
        (("-n", "50", "--task", "importd"), b"Did you mean imported?"),
        (("-n", "50", "--shared", "51"), b"--shared: expected at most the 50"),
        (("-n", "50", "--what", "tone"), b"--scale: expected LOW,HIGH"),
        (("-n", "50", "--what", "tone", "--scale", "0,1"), b"here there is none, found 'tone'"),
        (("-n", "50", "--what", "overall", "--scale", "0,8"), b"the sum of its dimensions"),
        (("-n", "50", "--what", "answer"), b"--what: expected a task whose contract compares an answer"),
        (("-n", "50", "-o", "judged"), b"It is evidence: write elsewhere"),
    ],
)
def test_a_draw_that_cannot_be_is_refused_and_nothing_is_written(folder, options, why):
    before = (folder / "judged" / "seal.json").read_bytes()
    done = affidavit(*DRAW, "-o", "other", *options, cwd=folder)
    assert fine(done, 2)
    assert why in done.stderr
    assert (folder / "judged" / "seal.json").read_bytes() == before
    assert not (folder / "other").exists()


def test_outputs_are_drawn_from_a_sealed_study_alone(study, tmp_path):
    shutil.copytree(study, tmp_path / "study")
    (tmp_path / "study" / "judged" / "seal.json").unlink()
    done = affidavit(*DRAW, cwd=tmp_path / "study")
    assert done.returncode in (2, 5)
    assert b"Traceback" not in done.stderr


# --- adding ---


def test_labels_are_records_under_a_digest_of_their_own(folder):
    before = told_by_verify(folder / "judged")
    done = add(folder, filled(drawn_rows(folder)), "--json")
    after = told_by_verify(folder / "judged")
    assert after["sealed"]
    assert (after["labels"], after["differing"]) == (40, 0)
    assert after["root_sha256"] == before["root_sha256"] == told(done)["root_sha256"]
    assert before["labels_sha256"] == ""
    assert after["labels_sha256"] == told(done)["labels_sha256"] != ""
    keys = keys_of(folder / "judged")
    for record, row in zip(labels(folder), filled(drawn_rows(folder)), strict=True):
        said = (record["labelled_key"], record["about"], record["value"], record["rater"], record["date"])
        assert said == (keys[name_in(row["text"])], "verdict", row["value"], "anna", "2026-01-31")
    expected = affidavit("verify", "judged", "--expect", after["labels_sha256"], cwd=folder)
    assert b"the expected digest is the labels' digest" in expected.stdout


def test_the_same_file_again_adds_nothing(folder):
    rows = filled(drawn_rows(folder))
    add(folder, rows[:25])
    add(folder, rows)
    seal = (folder / "judged" / "seal.json").read_bytes()
    done = add(folder, rows, "--json")
    assert (told(done)["added"], told(done)["there"], told(done)["labels"]) == (0, 40, 40)
    assert (folder / "judged" / "seal.json").read_bytes() == seal
    assert len(labels(folder)) == 40


def test_a_correction_is_a_new_record_and_the_last_one_counts(folder):
    rows = filled(drawn_rows(folder))
    add(folder, rows)
    changed = [{**rows[0], "value": "PARTIAL"}]
    refused = add(folder, changed, code=2)
    assert b"--corrections" in refused.stderr
    assert len(labels(folder)) == 40
    done = add(folder, changed, "--corrections", "--json")
    assert (told(done)["added"], told(done)["corrected"], told(done)["labels"]) == (1, 1, 40)
    key = keys_of(folder / "judged")[name_in(rows[0]["text"])]
    of_first = [each["value"] for each in labels(folder) if each["labelled_key"] == key]
    assert of_first == [rows[0]["value"], "PARTIAL"]
    report = affidavit("report", "judged", "--format", "json", cwd=folder)
    assert json.loads(report.stdout)["tables"]["labels"]["rows"][0]["corrections"] == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"output": "0" * 64}, b"expected in 'output' the key of an output"),
        ({"output": "abc"}, b"expected in 'output' the key of an output"),
        ({"value": "GOOD"}, b"expected PASS, PARTIAL, FAIL in 'value'"),
        ({"what": "score:COMPLETENESS", "value": "3"}, b"expected 0, 1, 2 in 'value'"),
        ({"what": "score:NONE", "value": "1"}, b"expected a dimension of the rubric"),
        ({"what": ""}, b"expected a text in 'what'"),
        ({"rater": " "}, b"expected a text in 'rater'"),
        ({"date": "31.1.2026"}, b"expected a day such as 2026-01-31"),
        ({"date": "31.1.2026"}, b"Or leave the column empty."),
        ({"date": "2999-01-31"}, b"expected a day that has come"),
        ({"date": "0001-01-01"}, b"expected a day that has come"),
        ({"output": "2.3922E+63"}, b"A spreadsheet has made a number of it"),
        ({"rater": "an\u3164na"}, b"printable characters"),
        ({"what": "tone", "value": "0.5"}, b"expected LOW,HIGH"),
    ],
)
def test_what_is_wrong_with_a_row_is_told_by_its_place_and_nothing_is_written(folder, change, why):
    before = (folder / "judged" / "seal.json").read_bytes()
    rows = filled(drawn_rows(folder))
    plain = [{name: each[name] for name in ("output", "what", "value", "rater", "date")} for each in rows]
    done = add(folder, [plain[0], {**plain[1], **change}, *plain[2:]], code=2)
    named = f"filled.csv:3 (row 2, output {({**plain[1], **change})['output'][:16]}".encode()
    assert why in done.stderr, done.stderr
    assert named in done.stderr
    assert labels(folder) == []
    assert (folder / "judged" / "seal.json").read_bytes() == before


def test_a_rater_who_labels_an_output_twice_is_refused(folder):
    rows = [
        {name: each[name] for name in ("output", "what", "value", "rater")} for each in filled(drawn_rows(folder))
    ]
    done = add(folder, [*rows, rows[3]], code=2)
    place, _, said = done.stderr.partition(b": expected ")
    assert b"filled.csv:42 (row 41, output " in place
    assert said.startswith(b'one label of verdict by "anna" for an output, found a second one: the first is at ')
    assert b"filled.csv:5 (row 4, output " in said
    assert b"Give each a name of their own" in said
    add(folder, [*rows, {**rows[3], "rater": "ben"}])


def test_rows_say_what_they_must_and_options_the_rest(folder):
    keys = keys_of(folder / "judged")
    rows = [{"output": keys[name_in(row["text"])][:12], "value": "PASS"} for row in drawn_rows(folder)[:3]]
    by_own_id = {"output": name_in(drawn_rows(folder)[3]["text"]), "value": "FAIL"}
    blank = {"output": drawn_rows(folder)[4]["output"], "value": " "}
    done = add(folder, [*rows, by_own_id, blank], "--what", "verdict", "--rater", "eve", "--json")
    assert (told(done)["added"], told(done)["blank"], told(done)["not_drawn"]) == (4, 1, 0)
    assert [each["value"] for each in labels(folder)] == ["PASS"] * 3 + ["FAIL"]


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        (
            ("output", "what", "label", "rater"),
            "expected a column 'value', found columns output, what, label, rater",
        ),
        (("key", "what", "value", "rater"), "expected a column 'output', found columns key, what, value, rater"),
        (
            ("output", "what", "value", "name"),
            "expected a column 'rater', found columns output, what, value, name",
        ),
    ],
)
def test_a_file_without_a_column_is_refused_with_those_that_it_has(folder, columns, why):
    ours = ("output", "what", "value", "rater")
    rows = [dict(zip(columns, map(each.get, ours), strict=True)) for each in filled(drawn_rows(folder))]
    assert f"filled.csv: {why}".encode() in add(folder, rows, code=2).stderr
    assert labels(folder) == []


def test_columns_may_be_written_in_any_case(folder):
    names = {"output": "Output", "what": " WHAT", "value": "Value", "rater": "RATER", "date": "Date"}
    rows = [{names.get(name, name): value for name, value in each.items()} for each in filled(drawn_rows(folder))]
    assert told(add(folder, rows, "--json"))["added"] == 40


def test_up_to_ten_mistakes_are_told_at_once(folder):
    rows = [{**each, "value": "GOOD"} for each in filled(drawn_rows(folder))]
    said = add(folder, rows, code=2).stderr.decode()
    assert "40 mistakes" in said
    assert said.count("expected PASS, PARTIAL, FAIL") == 10
    assert said.rstrip().endswith("and 30 more")
    assert labels(folder) == []


def test_rows_without_the_field_and_unknown_outputs_without_a_label_are_mistakes(folder):
    key = drawn_rows(folder)[0]["output"]
    full = {"output": key, "what": "verdict", "value": "PASS", "rater": "anna"}
    bare = {name: value for name, value in full.items() if name != "value"}
    lines = [full, bare, {**full, "output": "nonsense", "value": ""}]
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    done = affidavit("label", "add", "judged", "rows.jsonl", cwd=folder)
    assert fine(done, 2)
    assert b"rows.jsonl:2" in done.stderr
    assert b"expected a field 'value', found fields output, what, rater" in done.stderr
    assert b"rows.jsonl:3" in done.stderr
    assert labels(folder) == []


def test_a_file_that_is_named_twice_is_added_once(folder):
    path = write_sheet(folder / "filled.csv", filled(drawn_rows(folder)))
    assert told(affidavit("label", "add", "judged", path, path, "--json", cwd=folder))["added"] == 40
    assert len(labels(folder)) == 40


def test_an_older_file_puts_no_value_back_that_was_corrected(folder):
    rows = filled(drawn_rows(folder))
    add(folder, rows)
    assert b"newest files alone" in add(folder, [{**rows[0], "value": "PARTIAL"}], code=2).stderr
    add(folder, [{**rows[0], "value": "PARTIAL"}], "--corrections")
    assert told(add(folder, rows, "--corrections", "--json"))["added"] == 0


def test_names_that_look_alike_are_noted_and_blanks_in_them_do_not_count(folder):
    rows = [{**each, "rater": f"anna{' ' * (at % 3)} b"} for at, each in enumerate(filled(drawn_rows(folder)))]
    assert told(add(folder, rows, "--json"))["notes"] == []
    done = add(folder, [{**each, "rater": "ANNA B"} for each in rows])
    assert b'raters "ANNA B" and "anna b" count as 2 people' in done.stdout


def test_labels_stay_on_the_scale_that_was_drawn_with(study, tmp_path):
    shutil.copytree(study, tmp_path / "study")
    folder = tmp_path / "study"
    key = next(each["key"] for each in records(folder / "judged") if each["kind"] == "response")
    row = {"output": key, "what": "tone", "value": "40", "rater": "anna"}
    add(folder, [row], "--scale", "0,100")
    assert told_by_verify(folder / "judged")["differing"] == 0
    refused = affidavit("label", "add", "judged", "filled.csv", "--scale", "0,1e180", cwd=folder)
    assert b"--scale: expected two numbers" in refused.stderr


def test_labels_that_were_not_drawn_are_kept_and_correct_nothing(folder):
    every = [each for each in records(folder / "judged") if each["kind"] == "response"]
    rows = [{"output": each["key"], "what": "correct", "value": "yes", "rater": "anna"} for each in every]
    done = add(folder, rows, "--json")
    assert told(done)["not_drawn"] == len(rows) == 80
    rows = [{"output": each["key"], "what": "score:COMPLETENESS", "value": "2", "rater": "anna"} for each in every]
    add(folder, rows)
    tables = json.loads(affidavit("report", "judged", "--format", "json", cwd=folder).stdout)["tables"]
    told_why = {row["no figure because"] for row in tables["corrected scores"]["rows"]}
    assert told_why == {"labels not drawn by `affidavit label draw`"}


# --- in Python ---


def test_the_same_is_there_in_python(folder):
    directory = StudyDirectory(folder / "judged")
    drawn = draw_labels(directory, WantedDraw("verdict", 40), GivenContracts(), Disk())
    assert [output.key for output in drawn.sheets[0].outputs] == [row["output"] for row in drawn_rows(folder)]
    keys = keys_of(folder / "judged")
    rows = [
        f"{keys[name_in(row['text'])][: FEWEST_DIGITS + 4]},verdict,PASS,eve,2026-01-31"
        for row in drawn_rows(folder)
    ]
    source = bytes_source("filled.csv", "\n".join([",".join(COLUMNS), *rows]).encode())
    assert add_labels(directory, [source], LabelTerms(), Disk()).added == 40
    with labelled_study(directory, Disk()) as labelled:
        assert len(labelled.labels) == 40
        assert labelled.key_of("0" * FEWEST_DIGITS) is labelled.key_of("0") is None
    with pytest.raises(InputError, match="expected PASS, PARTIAL, FAIL"):
        add_labels(
            directory,
            [bytes_source("a.csv", b"output,value,rater\n" + rows[0][:12].encode() + b",x,eve")],
            LabelTerms("verdict"),
            Disk(),
        )


@pytest.mark.parametrize(
    ("about", "value", "fits"),
    [
        ("verdict", "PASS", True), ("verdict", "Pass", False), ("correct", True, True), ("correct", "yes", False),
        ("score:COMPLETENESS", 2, True), ("score:COMPLETENESS", True, False), ("answer", "B", True), ("tone", 0.5, True),
        ("tone", "x", False), ("answer", " ", False),
    ],
)  # fmt: skip
def test_a_label_is_checked_by_the_scale_of_its_question(drawn, about, value, fits):
    directory = StudyDirectory(drawn / "judged")
    checks = LabelChecks(directory, directory.frozen(), read_judging(directory))
    label = Label("0" * 64, about, value, "anna", "2026-01-31", "0" * 64)
    assert (checks.difference(label, is_known=True) is None) is fits
    assert "no earlier record" in (checks.difference(label, is_known=False) or "")


# --- kills ---


def test_a_killed_draw_or_addition_loses_and_doubles_nothing(study, tmp_path):
    """At each of its calls to the file system; the same command then ends as if nobody had killed it."""
    whole = tmp_path / "whole"
    shutil.copytree(study, whole)
    last = calls(*DRAW, "-o", "sheets", cwd=whole)
    rows = filled(sheet(whole / "sheets" / "verdict.csv"))
    write_sheet(whole / "filled.csv", rows)
    shutil.copytree(whole, tmp_path / "to add")
    addition = ("label", "add", "judged", "filled.csv", "--no-page")
    last_of_addition = calls(*addition, cwd=whole)
    expected = told_by_verify(whole / "judged")
    for at in range(1, last + 1):
        place = tmp_path / f"draw {at}"
        shutil.copytree(study, place)
        killed(at, *DRAW, "-o", "sheets", cwd=place)
        assert fine(affidavit(*DRAW, "-o", f"again {at}", cwd=place), 0)
        assert told_by_verify(place / "judged")["sealed"]
        again = json.loads((place / "judged" / "labels.json").read_text())["draws"]
        assert again == json.loads((whole / "judged" / "labels.json").read_text())["draws"]
        shutil.rmtree(place)
    for at in range(1, last_of_addition + 1):
        place = tmp_path / f"add {at}"
        shutil.copytree(tmp_path / "to add", place)
        killed(at, *addition, cwd=place)
        assert fine(affidavit(*addition, cwd=place), 0)
        found = told_by_verify(place / "judged")
        assert found["sealed"]
        assert found["labels"] == 40
        assert found["labels_sha256"] == expected["labels_sha256"]
        assert found["root_sha256"] == expected["root_sha256"]
        shutil.rmtree(place)


# --- tampering ---


def segment_with_labels(folder: Path) -> Path:
    return sorted((folder / "judged" / "records").glob("*.jsonl"))[-1]


def test_a_label_that_was_changed_is_found_with_its_line(folder):
    add(folder, filled(drawn_rows(folder)))
    path = segment_with_labels(folder)
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"FAIL"', b'"PASS"', 1))
    done = affidavit("verify", "judged", cwd=folder)
    assert done.returncode == 5
    assert str(path.relative_to(folder)).encode() in done.stderr


def forged(path: Path, number: int, **changed: object) -> None:
    """Change a line and compute its checksum anew, as whoever knows the format can."""
    lines = path.read_bytes().splitlines(keepends=True)
    fields = json.loads(lines[number])
    del fields["sha256"]
    lines[number] = checked_line({**fields, **changed})
    path.write_bytes(b"".join(lines))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"value": "GOOD"}, b"off the scale of 'verdict'"),
        ({"value": "pass"}, b"the scale of 'verdict' has 'PASS'"),
        ({"value": True}, b"off the scale of 'verdict'"),
        ({"about": "score:NONE"}, b"off the scale of 'score:NONE'"),
        ({"labelled_key": "0" * 64}, b"an output that no earlier record holds"),
        ({"text_sha256": "0" * 64}, b"about another text than the output has"),
    ],
)
def test_a_forged_label_that_cannot_be_is_told(folder, changed, why):
    """A seal that is gone hides the bytes, not what does not follow."""
    add(folder, filled(drawn_rows(folder)))
    (folder / "judged" / "report.html").unlink()
    forged(segment_with_labels(folder), 0, **changed)
    only_open_segment(folder)
    done = affidavit("verify", "judged", cwd=folder)
    assert why in done.stderr, done.stderr


def only_open_segment(folder: Path) -> None:
    """Take the seal away: all records stand in one open segment then."""
    paths = sorted((folder / "judged" / "records").glob("*.jsonl"))
    paths[0].write_bytes(b"".join(path.read_bytes() for path in paths))
    for path in paths[1:]:
        path.unlink()
    (folder / "judged" / "seal.json").unlink()


def test_a_draw_that_was_changed_is_found(folder):
    path = folder / "judged" / "labels.json"
    fields = json.loads(path.read_text())
    del fields["sha256"]
    outputs = fields["draws"][0]["strata"][0]["outputs"]
    every = [each["key"] for each in records(folder / "judged") if each["kind"] == "response"]
    outputs[0] = next(key for key in every if key not in outputs)
    path.write_bytes(checked_line(fields))
    done = affidavit("verify", "judged", cwd=folder)
    assert done.returncode == 5
    assert b"labels.json" in done.stderr
