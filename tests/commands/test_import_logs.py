"""`affidavit import` and `affidavit read` of other harnesses' logs: studies like any other, the source's word beside."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from affidavit.archive.parquet_copy import WORTH_A_COPY
from affidavit.commands.import_logs import import_logs
from affidavit.commands.main import cli
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
    # By the group: a command that is called by itself keeps the names of its help from then on.
    done = CliRunner().invoke(cli, ["import", str(log)])
    assert cli.commands["import"] is import_logs
    assert done.exit_code == 2
    assert "--out" in done.output


@pytest.mark.slow
def test_a_log_becomes_a_study_like_any_other(log, tmp_path):
    code, out, err = ended("import", log, "-o", "study", "--contract", "mcqa", cwd=tmp_path)
    assert code == 0, err
    assert "3 planned = 1 compliant + 1 non-compliant + 0 unread + 1 failed + 0 pending" in out
    assert f"{log.name}: lm-eval samples, task quiz, 3 outputs, 1 missing, 1 sentinel" in err
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


def test_a_file_for_rows_is_no_place_for_the_study(log, tmp_path):
    code, _, err = ended("import", log, "-o", "rows.csv", cwd=tmp_path)
    assert code == 2
    assert err == (
        "affidavit: -o: expected a directory for a study, found the file rows.csv\n"
        "`import` makes a study. Rows go to a file with `affidavit read CONTRACT LOG -o rows.csv`.\n"
    )


@pytest.mark.slow
def test_a_folder_of_logs_is_taken_whole(log, tmp_path):
    code, _, err = ended("import", "tiny", "-o", "study", cwd=tmp_path)
    assert code == 0, err
    assert [each["kind"] for each in records(tmp_path / "study")] == ["response", "response", "failure"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.jsonl"], "none.jsonl: expected a log"),
        (["tiny", "--contract", "mcq"], "Did you mean mcqa"),
        (["tiny", "--contract", "number"], "line 1: expected a number"),
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
def test_a_table_becomes_a_study_with_the_words_of_its_source(tmp_path):
    (tmp_path / "t.csv").write_text("text,gold,ok,read\n<answer>B</answer>,B,yes,B\nB,B,no,[invalid]\n")
    named = ("--field", "text", "--answer", "gold", "--source-correct", "ok", "--source-answer", "read")
    code, out, err = ended("import", "t.csv", "-o", "study", "--contract", "mcqa", *named, cwd=tmp_path)
    assert code == 0, err
    assert "2 planned = 1 compliant + 1 non-compliant" in out
    assert "t.csv: a table (CSV), task t, 2 outputs, 1 sentinel" in err
    assert "`text` as text, `gold` as answer, `read` as source_answer, `ok` as source_correct" in err
    first, second = records(tmp_path / "study")
    assert (first["correct"], first["output_id"], first["task"]) == (True, "t.csv: line 2", "t")
    assert first["row"] == {
        "answer": "B",
        "gold": "B",
        "source_answer": "B",
        "source_correct": True,
        "source_score": None,
        "source_scorer": "ok",
        "verbatim": True,
    }
    assert second["row"]["source_no_answer"] == "sentinel"
    assert ended("verify", "study", cwd=tmp_path)[0] == 0
    code, _, err = ended("import", "t.csv", "-o", "other", *named[:-1], "reed", cwd=tmp_path)
    assert (code, "Traceback" in err) == (2, False)
    assert "--source-answer: expected a column of t.csv:2: text, gold, ok, read, found 'reed'" in err
    assert not (tmp_path / "other").exists()


@pytest.mark.slow
def test_truncated_outputs_are_counted_and_two_runs_are_of_the_same_items(tmp_path):
    """C6: what a source says of an output's end is kept. S1: rows of one item are one cluster, in every command."""
    rows = [
        {
            "custom_id": f"q{number}",
            "response": {"status_code": 200, "body": {"model": "m", "choices": [choice]}},
            "error": None,
        }
        for number in range(12)
        for choice in [
            {
                "finish_reason": "length" if number % 3 == 0 else "stop",
                "message": {"content": "<answer>A</answer>" if number % 4 else "A"},
            }
        ]
    ]
    for name in ("one", "two"):
        (tmp_path / "logs" / name).mkdir(parents=True)
        (tmp_path / "logs" / name / "quiz.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    code, closing, err = ended("import", "logs", "-o", "study", "--contract", "mcqa", cwd=tmp_path)
    assert code == 0, err
    found = records(tmp_path / "study")
    assert [each["finish_reason"] for each in found[:4]] == ["length", "stop", "stop", "length"]
    report = ended("report", "study", "--format", "md", cwd=tmp_path)[1].replace("\\", "")
    (interval,) = re.findall(r"75\.0% (\[[0-9., ]+\])", closing)
    assert "(12 clusters)" in closing
    assert f"| 8 | 75.0% {interval} n=24 (12 clusters) |" in report
    assert ended("verify", "study", cwd=tmp_path)[0] == 0


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


@pytest.mark.slow
def test_right_answers_are_taken_out_of_longer_ones(tmp_path):
    (tmp_path / "t.csv").write_text("raw_output,answer\n<answer>B</answer>,The answer is B.\n")
    order = ("import", "t.csv", "-o", "study", "--contract", "mcqa", "--answer-pattern")
    code, _, err = ended(*order, r"The answer is (?P<answer>[A-D])\.", cwd=tmp_path)
    assert code == 0, err
    (record,) = records(tmp_path / "study")
    assert (record["correct"], record["right_answer"]) == (True, "B")
    assert record["row"]["source_right_answer"] == "The answer is B."
    assert ended("verify", "study", cwd=tmp_path)[0] == 0


@pytest.mark.slow
def test_a_pattern_is_frozen_and_verified_without_a_file_of_ones_own(log, tmp_path):
    regex = "<answer>(?P<answer>[A-D])</answer>"
    code, _, err = ended("import", log, "-o", "study", "--pattern", regex, cwd=tmp_path)
    assert code == 0, err
    assert [each.get("protocol_compliant") for each in records(tmp_path / "study")] == [True, False, None]
    (contract,) = json.loads((tmp_path / "study" / "study.json").read_text())["config"]["contracts"].values()
    assert contract == {"contract": "pattern/1", "params": {"pattern": regex, "compare": "text"}}
    code, out, _ = ended("verify", "study", cwd=tmp_path)
    assert (code, "every field derived again" in out) == (0, True)
    code, _, err = ended("import", log, "-o", "other", "--pattern", regex, "--contract", "mcqa", cwd=tmp_path)
    assert code == 2
    assert "import: expected either --contract NAME or --pattern REGEX, found both" in err
    rows = ended("read", "pattern", log, "--pattern", regex, "-o", "rows.jsonl", "--json", cwd=tmp_path)
    assert rows[0] == 0, rows[2]
    assert json.loads(rows[1])["contract"] == "pattern/1"


@pytest.mark.slow
def test_logs_that_are_left_out_are_told_and_the_study_is_made_of_the_others(log, tmp_path):
    cut = tmp_path / "tiny" / "cut" / log.name
    cut.parent.mkdir()
    cut.write_text(log.read_text()[:-9])
    order = ("import", "tiny", "-o", "study", "--contract", "mcqa")
    assert ended(*order, cwd=tmp_path)[0] == 2
    code, out, err = ended(*order, "--skip-unreadable", cwd=tmp_path)
    assert code == 4, err
    assert "3 planned = 1 compliant" in out
    assert f"note: left out: tiny/cut/{log.name}:3: expected a JSON object" in err
    assert ended("verify", "study", cwd=tmp_path)[0] == 0
    code, _, err = ended("import", cut, "-o", "other", "--skip-unreadable", cwd=tmp_path)
    assert (code, "expected at least one log that fits, found none: no log is left" in err) == (2, True)
