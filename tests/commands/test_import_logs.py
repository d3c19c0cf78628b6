"""`affidavit import` and `affidavit read` of other harnesses' logs: studies like any other, the source's word beside."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from affidavit.archive.parquet_copy import WORTH_A_COPY
from affidavit.commands.import_logs import import_logs
from support.command import affidavit
from support.peak_memory import peak_memory
from support.written_logs import write_log, write_long_log


@pytest.fixture
def log(tmp_path) -> Path:
    return write_log(tmp_path)


def ended(*arguments: object, cwd: Path) -> tuple[int, str, str]:
    done = affidavit(*arguments, cwd=cwd)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def records(study: Path) -> list[dict]:
    return [json.loads(line) for line in (study / "records" / "000001.jsonl").read_text().splitlines()]


def test_a_place_for_the_study_must_be_named(log):
    done = CliRunner().invoke(import_logs, [str(log)])
    assert done.exit_code == 2
    assert "--out" in done.output


@pytest.mark.slow
def test_a_log_becomes_a_study_like_any_other(log, tmp_path):
    code, out, err = ended("import", log, "-o", "study", "--contract", "mcqa", cwd=tmp_path)
    assert code == 0, err
    assert "3 planned = 1 compliant + 1 non-compliant + 0 unread + 1 failed + 0 pending" in out
    assert f"{log.name}: lm-eval samples, task quiz, 3 outputs, 1 missing, 1 sentinels" in err
    assert f"{log.name}: by its own account it has 4 outputs" in err
    first, second, third = records(tmp_path / "study")
    assert (first["model"], first["task"], first["item_id"], first["correct"]) == ("tiny", "quiz", "0", True)
    assert (second["raw_output"], second["deviation"]) == ("B. x", "option_text")
    assert second["output_id"] == f"{log.name}: line 2"
    said = second["row"]
    assert (said["source_correct"], said["source_answer"], said["verbatim"]) == (True, "B", True)
    assert third["kind"] == "failure"
    assert (third["row"]["source_no_answer"], third["row"]["source_correct"]) == ("missing", False)
    for command, *options in (["verify"], ["report", "--format", "md"], ["gate", "--min-compliance", "0.01"]):
        assert ended(command, "study", *options, cwd=tmp_path)[0] == 0
    assert ended("import", log, "-o", "study", "--contract", "mcqa", cwd=tmp_path)[0] == 0


@pytest.mark.slow
def test_a_folder_of_logs_is_taken_whole(log, tmp_path):
    code, _, err = ended("import", "tiny", "-o", "study", cwd=tmp_path)
    assert code == 0, err
    assert [each["kind"] for each in records(tmp_path / "study")] == ["response", "response", "failure"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.jsonl"], "none.jsonl: expected a log of"),
        (["tiny", "--contract", "mcq"], "Did you mean mcqa"),
        (["tiny", "--contract", "mcqa"], "line 1: expected a number"),
        (["tiny", "--answer", "gold"], "--answer: expected a column"),
    ],
)
@pytest.mark.slow
def test_what_is_wrong_is_said_and_nothing_is_made(log, tmp_path, arguments, said):
    code, out, err = ended("import", *arguments, "-o", "study", cwd=tmp_path)
    assert (code, out) == (2, "")
    assert said in err
    assert not (tmp_path / "study" / "study.json").exists()


@pytest.mark.slow
def test_read_takes_a_log_unless_a_field_is_named(log, tmp_path):
    code, _, err = ended("read", "mcqa", log, "-o", "rows.jsonl", cwd=tmp_path)
    assert code == 0, err
    assert "is read as a log: lm-eval samples" in err
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [each["protocol_compliant"] for each in rows] == [True, False, None]
    assert [each["source_correct"] for each in rows] == [True, True, False]
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:2]))
    code, _, err = ended("read", "text", log, "--field", "resps[0][0]", "-o", "plain.jsonl", cwd=tmp_path)
    assert code == 0, err
    assert "doc_id" in (tmp_path / "plain.jsonl").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [("import", "-o", "study"), ("audit", "--contract", "mcqa")], ids=["import", "audit"]
)
def test_memory_hardly_grows_with_a_log(tmp_path, command):
    # The longer log gets a columnar copy, which is made in a process of its own.
    logs = [write_long_log(tmp_path, count) for count in (1_000, WORTH_A_COPY + 4_000)]
    name, *options = command
    few, many = (peak_memory(name, log, *options, cwd=log.parent) for log in logs)
    assert many < 1.5 * few
