"""`affidavit audit`: what a score hides comes first, every output is in one place, and CI can hold it to a bound."""

import json
import os
from inspect import signature
from pathlib import Path

import pytest
from click.testing import CliRunner

import affidavit as public
from affidavit.commands.audit import audit
from affidavit.commands.main import cli
from affidavit.exchange.plain_tables import roles_named
from support.command import affidavit
from support.written_logs import NAME, write_log

COUNTS = {
    "log": NAME,
    "model": "tiny",
    "task": "quiz",
    "outputs": 3,
    "planned": 4,
    "errors": 0,
    "missing": 1,
    "sentinels": 0,
    "no_answer": {"missing": 1},
    "scored_wrong_without_answer": 1,
    "source": {
        "scorer": "exact_match,strict",
        "printed": 0.75,
        "recomputed": 2 / 3,
        "right": 2,
        "verdicts": 3,
    },
    "four_ways": [
        {"source": "right", "contract": "compliant, right", "outputs": 1},
        {"source": "right", "contract": "non-compliant", "outputs": 1},
        {"source": "wrong", "contract": "no output", "outputs": 1},
    ],
    "unread": 0,
    "compliant": 1,
    "answers": 1,
    "right": 1,
    "deviations": {"option_text": 1},
    "compared": 3,
    "moved": 2,
    "moves": {"no output, scored as wrong": 1, "right by the source, non-compliant": 1},
    "not_verbatim": 0,
    "other_texts": 0,
    "graders": [],
    "self_graded": False,
}


@pytest.fixture
def log(tmp_path) -> Path:
    return write_log(tmp_path)


def audited(log: Path, *arguments: str) -> tuple[int, str, str]:
    done = affidavit("audit", log, "--contract", "mcqa", *arguments, cwd=log.parent, COLUMNS="80")
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.slow
def test_counts_for_programs_are_whole_numbers(log):
    code, out, err = audited(log, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {"logs": [COUNTS], "left_out": [], "without_outputs": {}}


@pytest.mark.slow
def test_what_a_score_hides_is_told_before_any_figure(log):
    code, out, _ = audited(log)
    assert code == 0
    words = " ".join(out.split())
    first, figures = words.split("What did the source score", 1)
    assert "1 output without an answer scored as wrong: 1 missing." in first
    assert "by its own account the log has 4 outputs; here are 3." in first
    assert "the source printed 0.75, which may be right over all of them; the rows here give 0.666667." in first
    identity = "3 outputs = 1 compliant, right + 0 compliant, wrong + 0 compliant, right answer not known + 1 non-compliant + 0 unread + 1 no output"
    assert identity in figures
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.slow
def test_the_same_is_written_as_a_page(log):
    code, out, err = audited(log, "--page", "audit.html")
    assert (code, err) == (0, "the page: audit.html\n")
    page = (log.parent / "audit.html").read_text()
    assert "1 output without an answer scored as wrong" in page
    assert "no output, scored as wrong" in page
    assert audited(log)[1] == out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--max-moved", "0.7"], 0, ""),
        (["--max-moved", "0.6"], 3, "2 of 3 outputs that can be compared moved, 66.67%: more than 60.00%"),
        (["--pattern", "B"], 2, "either --contract NAME or --pattern REGEX, found both"),
        (["--scorer", "loose"], 2, "expected a scorer of"),
        (["--source-rule", "inspekt"], 2, "--source-rule: expected one of"),
        (["--answer-pattern", "("], 2, "expected a regular expression"),
        (["--max-moved", "2"], 2, "--max-moved"),
    ],
)
@pytest.mark.slow
def test_ends_and_messages(log, arguments, code, said):
    ended, _, err = audited(log, *arguments)
    assert ended == code
    assert said in err
    assert "Traceback" not in err


def test_python_gives_the_tables_of_the_command(log):
    results = public.audit(log, "mcqa", options="A-D")
    assert list(results) == ["second reading", "no answer", "deviations", "four ways", "moved"]
    (row,) = results["second reading"].to_polars().rows(named=True)
    assert (row["outputs"], row["moved"], row["right by the source"], row["yield"]) == (3, 2, 2 / 3, 0.5)
    assert results["no answer"].to_polars().rows() == [(NAME, "quiz", "tiny", "missing", 1, 1)]
    assert [row[3:] for row in results["four ways"].rows] == [
        ("right", "compliant, right", 1),
        ("right", "non-compliant", 1),
        ("wrong", "no output", 1),
    ]
    assert results["moved"].column("move") == list(COUNTS["moves"])
    assert results["moved"].column("the contract read") == ["–", "option_text"]
    with pytest.raises(public.UsageError, match="source_rule"):
        public.audit([log], "mcqa", source_rule="none")


def test_python_takes_the_options_of_the_command():
    """Where output goes is the shell's; a pattern, and parameters, are in Python a contract made of them.

    Columns of tables are one mapping there, by what they hold.
    """
    of_the_shell = {"as_json", "max_moved", "page_file", "pattern", "parameters"}
    options = {str(each.name) for each in audit.params} - of_the_shell
    columns = {name.removesuffix("_column") for name in options if name.endswith("_column")}
    roles_named({"text" if name == "field" else name: "x" for name in columns - {"answer"}})
    named = {name for name in options if not name.endswith("_column")} | {"answer", "columns"}
    assert named <= set(signature(public.audit).parameters)


@pytest.mark.slow
def test_logs_that_are_left_out_are_told_and_the_exit_code_says_so(log, tmp_path):
    (log.parent / "notes.txt").write_text("hello")
    code, _, err = audited(log.parent)
    assert (code, "--skip-unreadable goes on without logs such as this one" in err) == (2, True)
    code, out, err = audited(log.parent, "--skip-unreadable", "--json", "--page", "page.html")
    assert code == 4, err
    said = json.loads(out)
    assert [each["log"] for each in said["logs"]] == [NAME]
    assert [Path(each["log"]).name for each in said["left_out"]] == ["notes.txt"]
    assert "left out: " in (tmp_path / "page.html").read_text()
    results = public.audit(log.parent, "mcqa", skip_unreadable=True)
    assert results["second reading"].column("outputs") == [3]


def test_the_option_set_beside_a_pattern_is_that_of_the_rule(log):
    order = [str(log), "--pattern", "<answer>(?P<answer>[A-D])</answer>", "--options", "A-E"]
    done = CliRunner().invoke(cli, ["audit", *order, "--source-rule", "lawbench", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["logs"][0]["compliant"] == 1
    done = CliRunner().invoke(cli, ["audit", *order])
    assert (done.exit_code, "expected a contract that shows options" in done.output) == (2, True)


TABLE = "text,gold,ok\n<answer>B</answer>,B,yes\nB,B,yes\n"


@pytest.mark.slow
def test_a_table_is_audited_by_its_columns(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    named = ("--field", "text", "--answer", "gold", "--source-correct", "ok")
    done = affidavit("audit", "t.csv", "--contract", "mcqa", *named, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (said,) = json.loads(done.stdout)["logs"]
    assert said["source"] == {"scorer": "ok", "printed": None, "recomputed": 1.0, "right": 2, "verdicts": 2}
    assert (said["compliant"], said["moved"]) == (1, 1)
    results = public.audit(
        tmp_path / "t.csv", "mcqa", answer="gold", columns={"text": "text", "source_correct": "ok"}
    )
    assert results["moved"].column("place") == ["line 3"]
    with pytest.raises(public.UsageError, match="source_correct: expected a column of"):
        public.audit(tmp_path / "t.csv", "mcqa", columns={"text": "text", "source_correct": "okay"})


def test_a_pattern_reads_a_log_too(log):
    pattern = public.Pattern("dotted", 1, "(?P<answer>[A-D])\\..*", "")
    (row,) = public.audit(log, pattern)["second reading"].to_polars().rows(named=True)
    assert (row["compliance"], row["accuracy over answers"], row["moved"]) == (0.5, 1.0, 2)


@pytest.mark.slow
@pytest.mark.parametrize("command", [("audit", "--contract", "text"), ("import", "-o", "study")])
def test_a_pipe_is_no_log_and_nobody_waits_for_it(tmp_path, command):
    (tmp_path / "logs").mkdir()
    os.mkfifo(tmp_path / "logs" / "pipe")
    name, *options = command
    for given in ("logs", "logs/pipe"):
        done = affidavit(name, given, *options, cwd=tmp_path)
        assert done.returncode == 2
        assert b"found a device or a pipe" in done.stderr


def test_what_counts_forms_is_advised_for_a_file_and_not_for_a_folder(log):
    """`read` takes one file, and pours rows over a terminal unless they have a place."""
    order = f"affidavit read mcqa {log} --lenses -o rows.jsonl"
    for place, is_advised in ((log, True), (log.parent, False)):
        done = CliRunner().invoke(cli, ["audit", str(place)])
        assert done.exit_code == 2
        assert (order in done.stderr) is is_advised


def test_right_answers_with_more_than_the_letter_lead_to_the_option_that_takes_it_out(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"raw_output": "B", "answer": "正确答案：B。"}\n')
    done = CliRunner().invoke(cli, ["audit", str(tmp_path / "t.jsonl"), "--contract", "mcqa"])
    assert 'found "正确答案：B。"' in done.stderr
    assert "`affidavit audit --answer-pattern REGEX`" in done.stderr
