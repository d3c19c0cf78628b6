"""`affidavit read` as a person runs it: a process of its own, real files, real pipes."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from affidavit.archive.path_names import decode
from affidavit.contracts.evaluation import NAMES
from affidavit.contracts.registry import BUILT_IN
from support.command import COMMAND, affidavit
from support.read_rows import EVALUATION, META, jsonl, rows
from support.studies import fine

CHOICES = jsonl(
    {"id": 1, "raw_output": "<answer>B</answer>", "answer": "B"},
    {"id": 2, "raw_output": "It is <answer>C</answer>.", "answer": "C"},
    {"id": 3, "raw_output": "B. Paris", "answer": None},
    {"id": 4, "raw_output": None, "answer": "A"},
    {"id": 5, "raw_output": " <answer>D</answer>\n", "answer": "A"},
)


# --- what comes out ---


def test_mcqa_rows(tmp_path):
    (tmp_path / "in.jsonl").write_bytes(CHOICES)
    done = affidavit("read", "mcqa", "in.jsonl", "-o", "out.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    added = ("protocol_compliant", "extracted_answer", "deviation", "correct")
    assert [tuple(row[name] for name in added) for row in rows((tmp_path / "out.jsonl").read_bytes())] == [
        (True, "B", None, True),
        (False, None, "text_around", None),
        (False, None, "option_text", None),
        (None, None, None, None),
        (True, "D", None, False),
    ]
    assert done.stdout.decode() == (
        """\
mcqa/1: 5 rows, 4 outputs

  compliant       2   50.0% [15.0, 85.0] n=4, Wilson 95%
  non-compliant   2
  failed          1   no output arrived (the text is null)

answers
  right           1   50.0% [9.5, 90.5] n=2: accuracy over answers
  right           1   33.3% [6.1, 79.2] n=3: accuracy over all outputs
  accuracy if all missing answers were wrong   25.0% [4.6, 69.9] n=4
  accuracy if all missing answers were right   75.0% [30.1, 95.4] n=4

deviations
  option_text     1   25.0%
  text_around     1   25.0%

5 planned = 2 compliant + 2 non-compliant + 0 unread + 1 failed + 0 pending
"""
    )


def test_the_summary_for_programs():
    done = affidavit("read", "mcqa", "--json", "-", given=CHOICES)
    summary = json.loads(done.stdout)
    parts = ("compliant", "non_compliant", "unread", "failed", "pending")
    assert summary["n"] == sum(summary[part] for part in parts) == 5
    assert summary["compliance"]["n"] == 4
    assert (summary["accuracy_over_compliant"]["n"], summary["yield"]["n"]) == (2, 3)
    assert [each["value"] for each in summary["accuracy_bounds"]] == [1 / 4, 3 / 4]
    assert summary["deviations"] == {"text_around": 1, "option_text": 1}
    assert summary["contract_params"] == {"options": "A-D"}


@pytest.mark.slow
def test_several_rows_of_one_item_are_not_taken_for_independent_without_a_word(tmp_path):
    """Ruling S1."""
    path, answer = tmp_path / "rows.jsonl", {"raw_output": "<answer>B</answer>", "answer": "B"}
    for ids, said in ((("q1", "q2"), False), (("q1", "q2", "q1"), True)):
        path.write_bytes(jsonl(*({"id": name, **answer} for name in ids)))
        done = affidavit("read", "mcqa", path, "--json")
        assert (b"note: several rows have one id" in done.stderr) == said


@pytest.mark.slow
def test_figures_by_model_are_proposed_as_they_can_be_typed(tmp_path):
    """`--by` is refused beside `-o`."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(jsonl({"id": "q1", "model": "m", "raw_output": "<answer>B</answer>", "answer": "B"}))
    assert b"; --by model has them apart" in affidavit("read", "mcqa", path, "--json").stderr
    done = affidavit("read", "mcqa", path, "-o", tmp_path / "read.jsonl")
    assert b"; --by model in place of -o has them apart" in done.stderr


@pytest.mark.slow
def test_lenses_stand_in_a_block_of_their_own():
    """Ruling M5."""
    plain = affidavit("read", "mcqa", given=CHOICES)
    assert b"other_readings" not in plain.stdout
    done = affidavit("read", "mcqa", "--lenses", given=CHOICES)
    assert [row["other_readings"] and row["other_readings"]["mcqa-last-tag/1"] for row in rows(done.stdout)] == [
        "B", "C", None, None, "D",
    ]  # fmt: skip
    said = done.stderr.decode()
    assert (
        """
lenient readings: other readings, not the protocol
  reading                            answer found     accuracy over all outputs
  mcqa-after-think/1                 2 of 4  50.0%    33.3% [6.1, 79.2] n=3
  mcqa-last-tag/1                    3 of 4  75.0%    66.7% [20.8, 93.9] n=3
"""
        in said
    )
    assert "\n  lm-eval-flexible-0.4.13/1          not read: needs option texts in `options`\n" in said


def test_accuracy_by_lenient_readings_is_the_same_for_programs():
    """Right of the outputs whose right answer is known: one more by the last tag than by the contract."""
    said = json.loads(affidavit("read", "mcqa", "--lenses", "--json", given=CHOICES).stdout)
    found, right = said["other_readings"], said["other_readings_yield"]
    assert (said["yield"]["value"], said["yield"]["n"]) == (1 / 3, 3)
    assert {name: (found[name]["n"], right[name]["value"], right[name]["n"]) for name in list(found)[:2]} == {
        "mcqa-after-think/1": (4, 1 / 3, 3),
        "mcqa-last-tag/1": (4, 2 / 3, 3),
    }
    assert found["lm-eval-flexible-0.4.13/1"] is right["lm-eval-flexible-0.4.13/1"] is None


def test_without_right_answers_lenient_readings_have_a_heading_and_no_accuracy():
    given = jsonl({"raw_output": "<answer>B</answer>"}, {"raw_output": "It is <answer>C</answer>."})
    said = affidavit("read", "mcqa", "--lenses", given=given).stderr.decode()
    assert "\n  reading                            answer found\n" in said
    assert "\n  mcqa-last-tag/1                    2 of 2         100.0% [34.2, 100.0] n=2, Wilson 95%\n" in said
    assert "accuracy" not in said


@pytest.mark.slow
def test_a_column_that_may_hold_the_options_is_proposed(tmp_path):
    (tmp_path / "in.jsonl").write_bytes(jsonl({"raw_output": "B", "choices": ["a", "b", "c", "d"]}))
    done = affidavit("read", "mcqa", "in.jsonl", "-o", "out.jsonl", "--lenses", cwd=tmp_path)
    assert done.stderr.decode().splitlines() == [
        "note: a column `choices` may hold the options' texts, which lm-eval-flexible-0.4.13/1 needs: call it `options`"
    ]
    assert affidavit("read", "mcqa", "in.jsonl", "-o", "out.jsonl", cwd=tmp_path).stderr == b""


def test_a_reading_that_needs_the_options_reads_rows_that_have_them():
    """Ruling M24: it is left out of the others, and its n is its own."""
    options, lens = ["Rome", "Paris", "Oslo", "Bern"], "lm-eval-flexible-0.4.13/1"
    given = jsonl(
        {"raw_output": "It is Paris.", "options": options}, {"raw_output": "It is Paris.", "options": options[::-1]},
        {"raw_output": "It is Paris."}, {"raw_output": "no", "options": options},
    )  # fmt: skip
    done = affidavit("read", "mcqa", "--lenses", given=given)
    readings = [row["other_readings"] for row in rows(done.stdout)]
    assert [each.get(lens, "not read") for each in readings] == ["B", "C", "not read", None]
    assert f"{lens}          2 of 3         66.7% [20.8, 93.9] n=3, Wilson 95%" in done.stderr.decode()


def test_another_option_set():
    given = jsonl({"raw_output": "<answer>E</answer>", "answer": "E"})
    assert rows(affidavit("read", "mcqa", "--options", "A-E", given=given).stdout)[0]["correct"] is True


def test_another_field_is_also_written_as_raw_output():
    given = jsonl({"answer": "<answer>A</answer>", "raw_output": "old"})
    done = affidavit("read", "mcqa", "--field", "answer", given=given)
    row = rows(done.stdout)[0]
    assert (row["raw_output"], row["extracted_answer"]) == ("<answer>A</answer>", "A")
    assert "correct" not in row
    assert b"note: fields that were there already were replaced: raw_output" in done.stderr


def test_game24_rows():
    given = jsonl(
        {"raw_output": "<answer>(13-9)*(10-4)</answer>", "numbers": [4, 9, 10, 13]},
        {"raw_output": "Output: 4+9+10+13 = 36", "numbers": "4 9 10 13", "target": 36},
        {"raw_output": "so:\n(8-5)*(11-2)", "numbers": [8, 5, 11, 2]},
        {"raw_output": "1+1"},
    )
    done = affidavit("read", "game24", given=given)
    added = (
        "protocol_compliant",
        "candidate",
        "extraction_method",
        "candidate_start",
        "candidate_end",
        "correct",
        "reason",
    )
    assert [tuple(row[name] for name in added) for row in rows(done.stdout)] == [
        (True, "(13-9)*(10-4)", "answer_block", 8, 21, True, "ok"),
        (True, "4+9+10+13", "output_line", 8, 17, True, "ok"),
        (False, "(8-5)*(11-2)", "fallback_bottom_scan", 4, 16, False, "wrong_value"),
        (False, "1+1", "fallback_bottom_scan", 0, 3, None, None),
    ]
    assert b"1 of 4 rows have no 'numbers'" in done.stderr


JUDGEMENTS = jsonl(
    {"raw_output": json.dumps(EVALUATION), "asked": META, "judged_output": "Here is a fine answer."},
    {"raw_output": json.dumps(EVALUATION), "asked": {**META, "output_id": "out-2"}, "judged_output": "Nothing."},
    {"raw_output": "I cannot judge this.", "asked": META},
    {"raw_output": "Nor this."},
    {"raw_output": "Nor that."},
)


def test_judge_rows_and_trees(tmp_path):
    (tmp_path / "in.jsonl").write_bytes(JUDGEMENTS)
    done = affidavit("read", "judge", "in.jsonl", "--archive", "judged", "-o", "out.jsonl", cwd=tmp_path)
    assert done.returncode == 0
    assert b"note: 3 of 5 rows have no 'judged_output': quotes could not be checked" in done.stderr
    assert done.stderr.count(b"note:") == 1
    assert b"5 planned = 1 valid + 4 invalid + 0 failed + 0 pending" in done.stdout
    first, second, third, *_ = rows((tmp_path / "out.jsonl").read_bytes())
    assert (first["valid"], first["verdict"], first["evidence_checked"]) == (True, "PASS", True)
    assert first["evidence"][0] == {
        "dimension": "FORMAT_COMPLIANCE", "quote": "a fine answer", "kind": "exact", "start": 8, "end": 21,
    }  # fmt: skip
    assert second["flags"] == ["PROTOCOL_VIOLATION", "INCOMPLETE_COVERAGE"]
    assert second["findings"][0] == {
        "code": "identifier_mismatch", "path": "$.meta.output_id", "expected": '"out-2"', "found": '"out-1"',
    }  # fmt: skip
    assert third["flags"] == ["UNPARSABLE_OUTPUT", "JUDGE_REFUSAL_OR_EVASION"]
    assert third["evidence_checked"] is False
    check_trees(tmp_path / "judged")


@pytest.mark.slow
def test_judge_rows_may_name_what_was_asked_in_fields_of_their_own(tmp_path):
    """Ruling J9: they are compared, filed and covered like those in `asked`, in every kind of file."""
    names = {name: value for name, value in META.items() if name not in ("method", "timestamp")}
    own = {"raw_output": json.dumps(EVALUATION), "judged_output": "Here is a fine answer.", **names}
    other = {**own, "question_id": "Q2"}
    lines = jsonl(own, own, other, {**own, "prompt_variant": "B"})
    done = affidavit("read", "judge", "--json", given=lines)
    figures = json.loads(done.stdout)
    assert figures["findings"] == {"identifier_mismatch": 2}
    assert figures["coverage"] == {
        "evaluations": 4, "unidentified": 0, "planned": 4, "missing": 1, "double": 1,
        "missing_listed": [
            {"judge_model": "J", "question_id": "Q2", "prompt_variant": "B", "target_model": "T/1"}
        ],
        "double_listed": [{**{name: META[name] for name in NAMES}, "times": 2}],
    }  # fmt: skip
    read = affidavit("read", "judge", given=lines)
    assert [row["identifiers_checked"] for row in rows(read.stdout)] == [True] * 4
    assert b"coverage: 4 of 4 evaluations say which output they are about\n  double: 1\n" in read.stderr
    frame = pl.read_ndjson(lines)
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    for file in ("rows.csv", "rows.parquet"):
        same = affidavit("read", "judge", file, "--json", cwd=tmp_path)
        assert json.loads(same.stdout)["coverage"] == figures["coverage"]


def check_trees(judged: Path) -> None:
    files = sorted(path.relative_to(judged) for path in judged.rglob("*.json"))
    assert [(path.parts[0], decode(path.parts[1:-1]), path.name) for path in files] == [
        ("invalid_evaluations", ["cross_judge", "J", "T/1", "Q1", "A", "out-1"], "2.json"),
        ("invalid_evaluations", ["cross_judge", "J", "T/1", "Q1", "A", "out-2"], "1.json"),
        ("invalid_evaluations", ["", "", "", "", "", ""], "1.json"),
        ("invalid_evaluations", ["", "", "", "", "", ""], "2.json"),
        ("valid_evaluations", ["cross_judge", "J", "T/1", "Q1", "A", "out-1"], "1.json"),
    ]
    valid, invalid = json.loads((judged / files[-1]).read_text()), json.loads((judged / files[0]).read_text())
    assert (valid["contract"], valid["evaluation"], valid["source"]) == ("judge/1", EVALUATION, "in.jsonl:1")
    assert invalid["raw_output"] == "I cannot judge this."
    assert [finding["code"] for finding in invalid["findings"]] == ["json_syntax", "no_json"]
    readme = (judged / "invalid_evaluations" / "README.md").read_text()
    assert "5 planned = 1 valid + 4 invalid + 0 failed + 0 pending" in readme
    assert "| `PROTOCOL_VIOLATION` |" in readme
    assert "`evidence_not_located` | 1 |" in readme
    assert readme.count("\n| `") == 5
    assert {path.name for path in judged.iterdir()} == {"valid_evaluations", "invalid_evaluations"}


def test_rows_keep_their_bytes():
    line = b'{"x":1.0, "raw_output":"\\ud800<answer>A</answer>","x":1, "big":' + b"9" * 5000 + b" }\t\r\n"
    done = affidavit("read", "mcqa", given=line)
    assert done.stdout == line.replace(
        b" }", b' , "protocol_compliant": false, "extracted_answer": null, "deviation": "text_around"}'
    )


def test_several_files_and_standard_input_in_order(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + jsonl({"id": name, "raw_output": ""}))
    done = affidavit("read", "text", "a", "-", "b", cwd=tmp_path, given=b'\n{"id": "-", "raw_output": "x"}')
    assert [row["id"] for row in rows(done.stdout)] == ["a", "-", "b"]


# --- contracts of one's own ---

OWN = """
from affidavit import AnswerReading, Pattern, Validation
from affidavit.contracts.choice_readings import LastTag
from affidavit.contracts.mcqa import MultipleChoice

class LastWord:
    name, version, params = "last-word", 3, {"letters": 1}
    def instruction(self, item=None): return "End with the answer."
    def read(self, raw, item=None):
        return AnswerReading(raw.split()[-1])
    def validate(self, reading, item):
        return Validation(reading.extracted_answer == item["key"], "compared")
    def grammar(self, item=None): return None

class Sloppy(LastWord):
    def read(self, raw, item=None): return raw

class Overbold(LastWord):
    def validate(self, reading, item): return "sure"

last_word, sloppy, overbold = LastWord(), Sloppy(), Overbold()
number = Pattern(name="n", version=1, pattern=r"(?s).*#### ([0-9,.]+)", words="...", compare="number")
last_tag = LastTag(MultipleChoice("A-E"))
not_one = 7
"""


@pytest.fixture
def own(tmp_path):
    (tmp_path / "mine.py").write_text(OWN)
    return tmp_path


def test_a_contract_of_ones_own_gets_the_row_as_its_item(own):
    given = jsonl({"raw_output": "it is 7", "key": "7"}, {"raw_output": "8", "key": "7"})
    done = affidavit("read", "mine.py:last_word", given=given, cwd=own)
    assert done.returncode == 0
    assert [(row["extracted_answer"], row["correct"], row["reason"]) for row in rows(done.stdout)] == [
        ("7", True, "compared"),
        ("8", False, "compared"),
    ]
    assert b"last-word/3, letters 1: 2 outputs" in done.stderr


@pytest.mark.parametrize("name", ["last_word", "sloppy", "overbold"])
def test_an_output_on_which_it_fails_is_unread_and_the_others_are_read(own, name):
    """Ruling C8: exit code 4, and nothing is lost."""
    given = jsonl({"raw_output": "7", "key": "7"}, {"raw_output": " ", "key": "7"})
    done = affidavit("read", f"mine.py:{name}", given=given, cwd=own)
    read = rows(done.stdout)
    assert done.returncode == 4
    assert read[1]["protocol_compliant"] is None
    assert "Error: " in read[1]["unread"]
    assert read[1]["raw_output"] == " "
    assert read[0].get("correct") == (True if name == "last_word" else None)
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
def test_ready_made_contracts_can_be_named_in_a_file(own):
    given = jsonl({"raw_output": "so #### 1,000.0", "answer": 1000}, {"raw_output": "#### 1,00", "answer": 100})
    done = affidavit("read", "mine.py:number", given=given, cwd=own)
    assert [row["correct"] for row in rows(done.stdout)] == [True, False]
    given = jsonl({"raw_output": "<answer>E</answer>!", "answer": "E"})
    assert rows(affidavit("read", "mine.py:last_tag", given=given, cwd=own).stdout)[0]["correct"] is True


# --- what can go wrong ---

MISTAKES = {
    "no such contract": (["mcq"], b"", f"CONTRACT: expected {', '.join(BUILT_IN)} or my_file.py:name, found 'mcq'\nDid you mean mcqa?"),
    "no such file": (["mcqa", "nope.jsonl"], b"", "nope.jsonl: expected a file to read, found No such file or directory"),
    "a directory": (["mcqa", "."], b"", ".: expected a file to read, found a directory\nName the files in it"),
    "no text field": (["mcqa"], b'{"text": "x"}', "standard input:1: expected a field 'raw_output', found the fields 'text'\nA column `text` may hold the models' texts: name it with --field text."),
    "an empty row": (["mcqa"], b"{}", "standard input:1: expected a field 'raw_output', found no field at all"),
    "text is a number": (["mcqa"], b'{"raw_output": 7}', "standard input:1: expected a text in 'raw_output', found 7"),
    "not an object": (["mcqa"], b'{"raw_output": "x"}\n[1, 2]', "standard input:2: expected a JSON object, found [1, 2]"),
    "not JSON": (["text"], b'\n{"raw_output": "x"', "standard input:2: expected a JSON object, found an end that comes too early, at column 19"),
    "not UTF-8": (["text"], b'{"raw_output": "caf\xe9"}', "standard input:1: expected text in UTF-8, found byte 0xe9 at byte 20 of the line"),
    "a Git LFS pointer": (["text"], b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "standard input: expected rows as JSON Lines, CSV or Parquet, found a Git LFS pointer"),
    "options that cannot be": (["mcqa", "--options", "A-Z"], b"", "options: expected a run of 2 to 23 letters from A"),
    "options of another contract": (["game24", "--options", "A-E"], b"", "--options: expected a contract that shows options: mcqa or mcqa-reasoned, found game24"),
    "a key outside the options": (["mcqa"], b'{"raw_output": "x", "answer": "E"}', "standard input:1: expected a letter from A to D in 'answer', found \"E\"\nA right answer is the letter of an option"),
    "a hand that is none": (["game24"], b'{"raw_output": "x", "numbers": "4 9 x"}', "standard input:1: expected a hand in 'numbers' and 'target': whole numbers from 0"),
    "a hand of floats": (["game24"], b'{"raw_output": "x", "numbers": [4.0]}', "found 4.0 in numbers [4.0] and target null"),
    "a target that is none": (["game24"], b'{"raw_output": "x", "numbers": [4], "target": "24"}', "found '24' in numbers [4]"),
    "a number beyond use": (["game24"], b'{"raw_output": "x", "numbers": "1 ' + b"9" * 501 + b'"}', "whole numbers from 0 of at most 500 digits"),
    "asked is no object": (["judge"], b'{"raw_output": "x", "asked": "Q1"}', "standard input:1: expected an object in 'asked', found \"Q1\""),
    "asked says otherwise": (["judge"], b'{"raw_output": "x", "output_id": "o1", "asked": {"output_id": "o2"}}', "standard input:1: expected \"o2\" in 'output_id', as 'asked' says, found \"o1\""),
    "asked holds a number": (["judge"], b'{"raw_output": "x", "asked": {"method": 5}}', "expected a text in 'asked.method', found 5"),
    "judged is no text": (["judge"], b'{"raw_output": "x", "judged_output": 1}', "expected a text in 'judged_output', found 1"),
    "lenses of another contract": (["text", "--lenses"], b"", "--lenses: expected a contract that has lenient readings: mcqa or mcqa-reasoned, found text"),
    "trees of another contract": (["mcqa", "--archive", "trees"], b"", "--archive: expected the contract judge, found mcqa"),
    "out is a directory": (["text", "-o", "."], b"", "-o: expected a file for the rows, found the directory ."),
    "out is nowhere": (["text", "-o", "no/where.jsonl"], b"", "no/where.jsonl: expected the name of a file to write, found no directory 'no'"),
    "no such Python file": (["mine_too.py:x"], b"", "mine_too.py:x: expected a Python file before the colon"),
    "no such name in it": (["mine.py:nothing"], b"", "mine.py:nothing: expected a name 'nothing' in the file"),
    "no contract in it": (["mine.py:not_one"], b"", "mine.py:not_one: expected a contract, with a text in 'name', found"),
    "a file that fails": (["broken.py:x"], b"", "broken.py: expected a file that Python can run, found ZeroDivisionError"),
    "an escape sequence": (["text", "\x1b[31m.jsonl"], b"", "\\u001b[31m.jsonl: expected a file to read"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_in_one_message_and_leaves_nothing_behind(own, mistake):
    arguments, given, message = MISTAKES[mistake]
    (own / "broken.py").write_text("1 / 0")
    before = sorted(own.iterdir())
    extra = [] if "-o" in arguments else ["-o", "out.jsonl"]
    done = affidavit("read", *arguments, *extra, given=given, cwd=own)
    assert message in done.stderr.decode()
    assert done.returncode == 2
    assert done.stderr.startswith(b"affidavit: ")
    assert b"Traceback" not in done.stderr
    assert [path for path in sorted(own.iterdir()) if path.name != "__pycache__"] == before


def test_an_output_file_survives_a_failed_run(tmp_path):
    (tmp_path / "out.jsonl").write_text("old")
    assert affidavit("read", "text", "-o", "out.jsonl", given=b"[]", cwd=tmp_path).returncode == 2
    assert (tmp_path / "out.jsonl").read_text() == "old"
    assert list(tmp_path.iterdir()) == [tmp_path / "out.jsonl"]


@pytest.mark.slow
def test_old_trees_are_never_overwritten(tmp_path):
    assert affidavit("read", "judge", "--archive", "x", given=JUDGEMENTS, cwd=tmp_path).returncode == 0
    done = affidavit("read", "judge", "--archive", "x", given=JUDGEMENTS, cwd=tmp_path)
    assert done.returncode == 2
    assert b"expected a name that is free" in done.stderr


@pytest.mark.slow
def test_a_journal_is_read_with_its_failures(tmp_path):
    """A line that tells why no output arrived is a row without an output (ruling C1)."""
    failure = {"kind": "failure", "key": "0" * 64, "reason": "timeout", "item_id": "q1"}
    given = jsonl(failure, {"kind": "response", "key": "1" * 64, "raw_output": "<answer>A</answer>"})
    for options in ((), ("--lenses",), ("--archive", "trees")):
        contract = "judge" if "--archive" in options else "mcqa"
        done = affidavit("read", contract, "--json", "-o", "out.jsonl", *options, given=given, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert (json.loads(done.stdout)["n"], json.loads(done.stdout)["failed"]) == (2, 1)
    other = affidavit("read", "mcqa", given=jsonl({"kind": "failure"}))
    assert (other.returncode, b"expected a field 'raw_output'" in other.stderr) == (2, True)


def test_empty_cells_are_told(tmp_path):
    done = affidavit(
        "read", "mcqa", "-o", "out.csv", given=b"raw_output,id\n,1\n<answer>A</answer>,2\n", cwd=tmp_path
    )
    assert done.returncode == 0
    assert (
        b"note: 1 cells without a text were read as empty outputs: CSV cannot say that none arrived" in done.stderr
    )


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("own.py", "Name it after a colon: own.py:NAME"),
        ("pattern", "the answer as the group named `answer`"),
        ("mqca", "mean mcqa?"),
    ],
)
def test_a_contract_that_is_not_there_is_told_with_what_to_type(name, hint):
    done = affidavit("read", name, given=b"")
    assert (done.returncode, hint in done.stderr.decode()) == (2, True)


@pytest.mark.slow
def test_a_full_disk_is_exit_code_5(tmp_path):
    given = jsonl({"raw_output": "x"})
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    done = affidavit("read", "text", "-o", full, given=given)
    assert (done.returncode, b"No space left on device" in done.stderr) == (5, True)
    with Path("/dev/full").open("wb") as device:
        piped = subprocess.run(
            [COMMAND, "read", "text"], input=given, stdout=device, stderr=subprocess.PIPE, check=False
        )
    assert (piped.returncode, b"standard input or output: No space left" in piped.stderr) == (5, True)


@pytest.mark.slow
def test_a_reader_that_leaves_early_is_no_failure():
    given = jsonl(*[{"raw_output": "x" * 1000}] * 2000)
    command = f"{COMMAND} read text | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], input=given, capture_output=True, check=False)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1)
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
def test_help_says_what_it_does_by_example():
    assert b"LLM evaluation on the record" in affidavit("--help").stdout
    bare = affidavit("read")
    for text in (affidavit("read", "--help").stdout, bare.stdout + bare.stderr):
        assert b"affidavit read mcqa outputs.jsonl -o read.jsonl" in text
    assert affidavit("--version").stdout == b"affidavit, version 0.1.0\n"
    assert subprocess.run([sys.executable, "-m", "affidavit", "--help"], check=True, capture_output=True).stdout


def test_new_cells_of_csv_hold_nothing_unseen_and_old_ones_are_as_they_were(tmp_path):
    """What is new could command a terminal; what was there must be read again as it was."""
    (tmp_path / "own.py").write_text(
        "from affidavit import Pattern\nown = Pattern('own', 1, r'<(?P<answer>(?s:.)*)>', '')\n"
    )
    rows = "id,raw_output\n\x1b[31m,<a\x1b[2J\u202eb>\n"
    done = affidavit("read", "own.py:own", "-o", "out.csv", given=rows.encode(), cwd=tmp_path)
    assert fine(done, 0)
    _, (name, raw, *new) = csv.reader((tmp_path / "out.csv").read_text().splitlines())
    assert (name, raw) == ("\x1b[31m", "<a\x1b[2J\u202eb>")
    assert "a\\u001b[2J\\u202eb" in new
    assert all(cell.isprintable() for cell in new)
