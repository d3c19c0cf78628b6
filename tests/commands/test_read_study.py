"""`affidavit read … --out DIR`: from a file of outputs to a page, a comparison and a gate."""

import json

import pytest

from affidavit.archive.disk import Disk
from affidavit.archive.study_directory import StudyDirectory
from affidavit.commands.column_options import given_columns
from affidavit.commands.read_into_study import refuse_directory, refuse_file
from affidavit.contracts.frozen_contract import named_contract
from affidavit.errors import InputError, UsageError
from affidavit.reading.output_columns import Role
from affidavit.running.import_outputs import keep_outputs
from support.command import affidavit
from support.kept_outputs import opened
from support.outputs_elsewhere import write_jsonl
from support.studies import every_byte, fine, told

ROWS = [
    {"qid": f"q{number}", "model_name": model, "target": "B", "subject": "art", "completion": text}
    for model, text in (("small", "B."), ("large", "<answer>B</answer>"), ("wrong", "<answer>A</answer>"))
    for number in range(12)
]
NAMED = ("--field", "completion", "--answer", "target", "--id", "qid", "--model", "model_name")


@pytest.mark.slow
def test_a_file_of_three_models_becomes_a_page_a_comparison_and_a_gate(tmp_path):
    write_jsonl(tmp_path / "rows.jsonl", ROWS)
    done = affidavit("read", "mcqa", "rows.jsonl", *NAMED, "--out", "study", cwd=tmp_path)
    assert fine(done, 0)
    assert b"36 planned = 24 compliant + 12 non-compliant + 0 unread + 0 failed + 0 pending" in done.stdout
    assert b"note: no column names the condition: all outputs are of one, `base`" in done.stderr
    assert fine(affidavit("report", "study", cwd=tmp_path), 0)
    page = (tmp_path / "study/report.html").read_text()
    assert "which prompts they answer is known only as far as their rows say" in page
    assert "rows.jsonl" in page.replace("<wbr>", "")
    compared = affidavit("compare", "study@model=small", "study@model=large", cwd=tmp_path)
    assert fine(compared, 0)
    assert b"higher" in compared.stdout
    gated = affidavit("gate", "study@model=large", "--min-accuracy", "0.9", cwd=tmp_path)
    assert fine(gated, 0)
    assert fine(affidavit("gate", "study@model=wrong", "--min-accuracy", "0.9", cwd=tmp_path), 3)
    checked = affidavit("verify", "study", cwd=tmp_path)
    assert fine(checked, 0)
    assert b"report.html: " in checked.stdout


@pytest.mark.slow
def test_lenient_readings_are_in_the_report_of_a_study_anyway(tmp_path):
    write_jsonl(tmp_path / "rows.jsonl", [{**row, "choices": ["a", "b", "c", "d"]} for row in ROWS])
    done = affidavit("read", "mcqa", "rows.jsonl", *NAMED, "--out", "study", "--lenses", cwd=tmp_path)
    assert fine(done, 0)
    said = done.stderr.decode()
    assert "note: the study's report has lenient readings in a table of their own\n" in said
    assert "may hold the options' texts, which lm-eval-flexible-0.4.13/1 needs: call it `options`\n" in said


def test_columns_that_may_be_meant_are_told_before_anything_is_sealed(tmp_path):
    """The last row cannot be read, so that nothing is kept: what the columns may be is told all the same."""
    write_jsonl(tmp_path / "rows.jsonl", [*ROWS, {"qid": "q", "completion": 3}])
    done = affidavit("read", "mcqa", "rows.jsonl", "--field", "completion", "--out", "study", cwd=tmp_path)
    assert fine(done, 2)
    assert b"note: a column `qid` may hold the ids of items: name it with --id qid\n" in done.stderr
    assert not (tmp_path / "study").exists()


@pytest.mark.slow
def test_standard_input_becomes_a_study_and_json_says_what_it_is(tmp_path):
    lines = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    done = affidavit("read", "mcqa", *NAMED, "--out", "study", "--json", given=lines, cwd=tmp_path)
    assert fine(done, 0)
    said = told(done)
    assert said["columns"] == {"text": "completion", "answer": "target", "id": "qid", "model": "model_name"}
    assert [cell["model"] for cell in said["cells"]] == ["large", "small", "wrong"]
    assert said["tasks"]["imported"]["n"] == 36
    frozen = json.loads((tmp_path / "study/study.json").read_text())
    assert [file["name"] for file in frozen["files"]] == ["standard input"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mcqa", "rows.jsonl", "--out", "rows2.jsonl"], "Rows go to a file with -o: -o rows2.jsonl."),
        (["mcqa", "rows.jsonl", "--out", "study", "-o", "x.jsonl"], "-o: expected no --out beside it"),
        (["mcqa", "rows.jsonl", "--by", "model_name", "--lenses"], "`affidavit report DIR --by COLUMNS` has"),
        (["json", "rows.jsonl", "--out", "study", "--lenses"], "expected a contract that has lenient readings"),
        (["judge", "rows.jsonl", "--out", "study"], "Evaluations are sorted into two trees"),
        (["mcqa", "rows.jsonl", "--out", "study"], "name it with --field completion."),
    ],
)
def test_a_mistake_is_told_and_leaves_nothing_behind(tmp_path, arguments, said):
    write_jsonl(tmp_path / "rows.jsonl", ROWS)
    done = affidavit("read", *arguments, cwd=tmp_path)
    assert fine(done, 2)
    assert said in done.stderr.decode()
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


def test_files_and_directories_are_told_apart(tmp_path):
    (tmp_path / "study.csv").mkdir()
    refuse_file(tmp_path / "study.csv")
    refuse_file(tmp_path / "study")
    for name in ("rows.jsonl", "rows.csv.gz", "rows.parquet"):
        with pytest.raises(UsageError, match="--out: expected a directory for a study, found the file"):
            refuse_file(tmp_path / name)
    refuse_directory(tmp_path / "rows.jsonl")
    with pytest.raises(UsageError, match="-o: expected a file for the rows, found the directory"):
        refuse_directory(tmp_path)


def test_the_options_of_columns_are_roles():
    assert given_columns({"field_column": "a.b", "answer_column": None, "id_column": "n"}) == {
        Role.TEXT: "a.b", Role.ID: "n",
    }  # fmt: skip


WAY = "response.body.choices[0].message.content"


def batch_row(number: int, response: object) -> dict:
    return {"custom_id": f"q{number}", "gold": "B", "response": response}


def answered(text: str) -> dict:
    return {"status_code": 200, "body": {"choices": [{"message": {"role": "assistant", "content": text}}]}}


def read_batch_file(folder, rows: list[dict], *more: str):
    write_jsonl(folder / "batch.jsonl", rows)
    columns = ("--field", WAY, "--id", "custom_id", "--answer", "gold")
    return affidavit("read", "mcqa", "batch.jsonl", *columns, "--out", "study", *more, cwd=folder)


@pytest.mark.slow
def test_a_failed_request_of_a_batch_did_not_arrive(tmp_path):
    rows = [batch_row(1, answered("<answer>B</answer>")), batch_row(2, None), batch_row(3, {"body": None})]
    done = read_batch_file(tmp_path, rows)
    assert fine(done, 0)
    assert b"3 planned = 1 compliant + 0 non-compliant + 0 unread + 2 failed + 0 pending" in done.stdout
    assert fine(affidavit("verify", "study", cwd=tmp_path), 0)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            batch_row(2, {"body": {"error": {"message": "overloaded"}}}),
            f"batch.jsonl:2: expected a field '{WAY}', found in 'response.body' an object with 'error'",
        ),
        (batch_row(2, answered("x")) | {"gold": "b"}, "expected a letter from A to D in 'gold', found \"b\""),
        (
            batch_row(2, answered("x")) | {"custom_id": "m\ud800"},
            "batch.jsonl:2: expected a name in 'custom_id' that tables can hold, found",
        ),
    ],
)
def test_what_is_wrong_is_told_by_its_own_place_and_column(tmp_path, row, said):
    done = read_batch_file(tmp_path, [batch_row(1, answered("B")), row])
    assert fine(done, 2)
    assert said in done.stderr.decode()


@pytest.mark.slow
def test_a_first_reading_by_other_columns_is_named_as_that(tmp_path):
    write_jsonl(tmp_path / "rows.jsonl", ROWS)
    assert fine(affidavit("read", "mcqa", "rows.jsonl", *NAMED[:4], "--out", "study", cwd=tmp_path), 0)
    again = affidavit("read", "mcqa", "rows.jsonl", *NAMED, "--out", "study", cwd=tmp_path)
    assert fine(again, 2)
    assert (
        "columns that they were taken in by: `target` as answer, `completion` as text, found"
        in again.stderr.decode()
    )


@pytest.mark.slow
def test_rows_that_lack_what_they_are_checked_by_are_counted(tmp_path):
    write_jsonl(tmp_path / "hands.jsonl", [{"id": "h1", "raw_output": "<answer>1+1</answer>", "cards": "4 9 1 2"}])
    done = affidavit("read", "game24", "hands.jsonl", "--out", "hands", cwd=tmp_path)
    assert fine(done, 0)
    assert (
        "imported: the rows of 1 of 1 outputs have no 'numbers': candidates were looked for without a hand"
        in done.stderr.decode()
    )
    rows = [{"id": f"q{n}", "raw_output": "<answer>B</answer>", "answer": ("B", None)[n % 2]} for n in range(4)]
    write_jsonl(tmp_path / "keys.jsonl", rows)
    done = affidavit("read", "mcqa", "keys.jsonl", "--out", "keys", cwd=tmp_path)
    assert (
        "imported: the rows of 2 of 4 outputs have no 'answer': accuracy is over the others"
        in done.stderr.decode()
    )


@pytest.mark.slow
def test_rows_that_contradict_each_other_in_what_is_right_are_told_first(tmp_path):
    rows = [
        {"id": f"q{n}", "model": model, "raw_output": "<answer>B</answer>", "answer": "A" if n < 2 and model == "b" else "B"}
        for n in range(12)
        for model in "ab"
    ]  # fmt: skip
    write_jsonl(tmp_path / "rows.jsonl", rows)
    assert fine(affidavit("read", "mcqa", "rows.jsonl", "--out", "study", cwd=tmp_path), 0)
    told_in = affidavit("report", "study", "--format", "md", cwd=tmp_path)
    assert fine(told_in, 0)
    assert b"The rows of 2 items name different right answers." in told_in.stdout
    assert fine(affidavit("report", "study", cwd=tmp_path), 0)
    assert "The rows of 2 items name different right answers." in (tmp_path / "study/report.html").read_text()


@pytest.mark.slow
def test_a_file_that_grows_while_it_is_read_is_not_kept(tmp_path):
    """Its digest would be that of a file which holds other rows."""
    rows = write_jsonl(tmp_path / "rows.jsonl", ROWS)
    files = opened(rows, given={Role.TEXT: "completion", Role.ANSWER: "target", Role.ID: "qid"})
    directory = StudyDirectory(tmp_path / "study")
    taken = files.imported("study", named_contract("mcqa"))
    with rows.open("a") as stream:
        stream.write(json.dumps({**ROWS[0], "qid": "late"}) + "\n")
    with (
        pytest.raises(InputError, match="expected the same file to its end, found one that was changed"),
        directory.made(Disk()),
    ):
        keep_outputs(directory, taken, Disk())
    assert not directory.path.exists()


@pytest.mark.slow
def test_what_was_frozen_and_has_no_record_begins_anew(tmp_path):
    """A kill between plan and journal: other rows may come, and nothing of the first is left."""
    write_jsonl(tmp_path / "rows.jsonl", ROWS)
    read = ("read", "mcqa", "rows.jsonl", *NAMED, "--out", "study")
    assert fine(affidavit(*read, cwd=tmp_path), 0)
    whole = every_byte(tmp_path / "study")
    for name in ("seal.json", "used_prompt_manifest.md", "records/000001.jsonl"):
        (tmp_path / "study" / name).unlink()
    (tmp_path / "study/.records.partial").write_bytes(b"half")
    write_jsonl(tmp_path / "rows.jsonl", ROWS[:30])
    assert fine(affidavit(*read, cwd=tmp_path), 0)
    assert fine(affidavit("verify", "study", cwd=tmp_path), 0)
    assert not (tmp_path / "study/.records.partial").exists()
    assert len((tmp_path / "study/records/000001.jsonl").read_bytes().splitlines()) == 30
    assert whole != every_byte(tmp_path / "study")
