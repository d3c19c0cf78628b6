"""`affidavit read` where things go wrong: contracts that misbehave, outputs that attack, signals, odd names."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import pytest
from scipy.stats import binomtest

from affidavit import Pattern, game24, locate
from affidavit.archive.path_names import decode, encode
from affidavit.contracts.expression import solve
from affidavit.contracts.game24 import Hand
from affidavit.contracts.quotes import _cuts_beyond_bmp, _cuts_for, _cuts_within_bmp
from affidavit.errors import UsageError
from affidavit.statistics.shares import wilson
from support.command import COMMAND, affidavit
from support.fault_server import LONGEST
from support.kills import send, wait
from support.read_rows import EVALUATION, META, jsonl, rows

OWN = """
from __future__ import annotations
import sys
from dataclasses import dataclass
from affidavit import AnswerReading, MultipleChoice, Validation
from beside import NAME

@dataclass
class Plain:
    name: str = NAME
    version: int = 1
    def __post_init__(self): self.params = {}
    def instruction(self, item=None): return ""
    def read(self, raw, item=None): return AnswerReading(raw)
    def validate(self, reading, item): return Validation(reading.extracted_answer == item.get("key"), "compared")
    def grammar(self, item=None): return None

class Clears(Plain):
    def read(self, raw, item=None): item.clear(); return AnswerReading(raw)
class Exits(Plain):
    def read(self, raw, item=None): sys.exit(0)
class Stops(Plain):
    def read(self, raw, item=None): raise GeneratorExit
class Mute(Exception):
    def __str__(self): raise ValueError
class Speechless(Plain):
    def read(self, raw, item=None): raise Mute
class Subclass(MultipleChoice):
    def read(self, raw, item=None): raise KeyError(raw)
class OddReason(Plain):
    def validate(self, reading, item): return Validation(True, object())
class Odd:
    protocol_compliant = True
    def __init__(self, fields): self._fields = fields
    def fields(self): return self._fields
class IntKeys(Plain):
    def read(self, raw, item=None): return Odd({1: 2})
class Reserved(Plain):
    def read(self, raw, item=None): return Odd({"other_readings": {"x": 1}})
class NaN(Plain):
    def read(self, raw, item=None): return Odd({"x": float("nan")})
class Once(Odd):
    calls = 0
    def fields(self):
        self.calls += 1
        if self.calls > 1: raise RuntimeError("asked twice")
        return {"x": self.calls}
class AskedOnce(Plain):
    def read(self, raw, item=None): return Once({})
    def validate(self, reading, item): return None
class Prints(Plain):
    def read(self, raw, item=None): print("debug"); return AnswerReading(raw)

plain, clears, exits, stops, speechless, asked_once = Plain(), Clears(), Exits(), Stops(), Speechless(), AskedOnce()
odd_reason, int_keys, reserved, nan, prints, subclass = OddReason(), IntKeys(), Reserved(), NaN(), Prints(), Subclass()
print("loaded")
"""


@pytest.fixture
def own(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "beside.py").write_text("NAME = 'plain'\n")
    return tmp_path


@pytest.mark.parametrize(
    "name", ["exits", "stops", "speechless", "subclass", "odd_reason", "int_keys", "reserved", "nan"]
)
def test_whatever_a_users_contract_does_is_told_in_its_row(own, name):
    """Ruling C8."""
    given = jsonl({"raw_output": "a", "key": "a"}, {"raw_output": "b"})
    done = affidavit("read", f"own.py:{name}", given=given, cwd=own)
    read = rows(done.stdout)
    assert done.returncode == 4
    assert [row["raw_output"] for row in read] == ["a", "b"]
    assert all(row["protocol_compliant"] is None and row["unread"] for row in read)
    assert b"Traceback" not in done.stderr


def test_a_contract_that_changes_its_item_changes_nothing_else(own):
    given = b'{"raw_output":"1","nested":{"a":[1]}}\n'
    done = affidavit("read", "own.py:clears", given=given, cwd=own)
    assert rows(done.stdout)[0]["nested"] == {"a": [1]}


def test_a_reading_is_asked_once_and_what_is_printed_is_no_row(own):
    assert (
        rows(affidavit("read", "own.py:asked_once", given=jsonl({"raw_output": "1"}), cwd=own).stdout)[0]["x"] == 1
    )
    done = affidavit("read", "own.py:prints", given=jsonl({"raw_output": "1"}), cwd=own)
    assert len(rows(done.stdout)) == 1
    assert b"debug" in done.stderr
    assert b"loaded" in done.stderr


@pytest.mark.slow
def test_reading_again_leaves_nothing_stale(own):
    once = affidavit("read", "own.py:exits", given=jsonl({"raw_output": "a", "key": "a"}), cwd=own).stdout
    again = affidavit("read", "own.py:plain", given=once, cwd=own).stdout
    assert {"unread": None, "correct": True}.items() <= rows(again)[0].items()
    lenses = affidavit("read", "mcqa", "--lenses", given=jsonl({"raw_output": "x"})).stdout
    assert rows(affidavit("read", "mcqa", given=lenses).stdout)[0]["other_readings"] is None


# --- summaries ---


@pytest.mark.slow
def test_yield_and_bounds_are_there_even_if_nothing_complies():
    """Ruling M6."""
    given = jsonl(*[{"raw_output": "B. Paris", "answer": "B"}] * 2)
    summary = json.loads(affidavit("read", "mcqa", "--json", given=given).stdout)
    assert (summary["yield"]["value"], summary["yield"]["n"]) == (0.0, 2)
    assert [each["value"] for each in summary["accuracy_bounds"]] == [0.0, 1.0]
    assert summary["accuracy_over_compliant"] is None
    assert b"no output holds an answer" in affidavit("read", "mcqa", given=given).stderr


def test_judgements_with_and_without_the_evidence_clause_and_declared_ones_by_score():
    """Rulings J5, J6."""
    declared = {**EVALUATION, "flags": ["PROTOCOL_VIOLATION", "odd\n  valid   999"]}
    given = jsonl(
        {"raw_output": json.dumps(EVALUATION), "judged_output": "a fine answer"},
        {"raw_output": json.dumps(EVALUATION), "judged_output": "nothing of the kind"},
        {"raw_output": json.dumps(declared), "judged_output": "a fine answer"},
    )
    done = affidavit("read", "judge", given=given)
    assert re.search(rb"  valid if quotes are ignored +2   66.7%", done.stderr)
    assert b"declared by the judge, by overall score\n  8" in done.stderr
    assert b"odd\\u000a  valid   999" in done.stderr
    summary = json.loads(affidavit("read", "judge", "--json", given=given).stdout)
    assert summary["valid_without_the_evidence_not_located_clause"]["value"] == 2 / 3
    assert summary["findings"]["quote_not_found"] == 1


# --- names, files, signals ---


def test_a_name_longer_than_any_path_is_filed_away(tmp_path):
    """Ruling J12."""
    name = "q" * 5000
    given = jsonl({"raw_output": json.dumps({**EVALUATION, "meta": {**META, "question_id": name}})})
    done = affidavit("read", "judge", "--archive", "trees", given=given, cwd=tmp_path)
    assert done.returncode == 0
    assert decode(encode(name)) == [name]
    found = subprocess.run(
        ["find", "trees", "-name", "1.json"], cwd=tmp_path, capture_output=True, check=True
    ).stdout
    assert found.count(b"q") == 5000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("out", "code"), [("x" * 300, 2), ("漢" * 80, 0), ("loop", 2), ("plain.jsonl/below", 2), ("link.jsonl", 0)]
)
def test_odd_names_for_the_output(tmp_path, out, code):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "plain.jsonl").write_text("")
    (tmp_path / "link.jsonl").symlink_to("plain.jsonl")
    done = affidavit("read", "text", "-o", out, given=jsonl({"raw_output": "x"}), cwd=tmp_path)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    assert not list(tmp_path.glob("*.partial")) + list(tmp_path.glob(".*.partial"))
    if out == "link.jsonl":
        assert (tmp_path / out).is_symlink()
        assert rows((tmp_path / "plain.jsonl").read_bytes())


def test_a_private_file_stays_private(tmp_path):
    out = tmp_path / "out.jsonl"
    out.touch(0o600)
    affidavit("read", "text", "-o", out, given=jsonl({"raw_output": "x"}))
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_the_input_may_be_the_output(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(jsonl({"raw_output": "x"}))
    assert affidavit("read", "text", "a.jsonl", "-o", "a.jsonl", cwd=tmp_path).returncode == 0
    assert rows((tmp_path / "a.jsonl").read_bytes())[0]["protocol_compliant"] is True


@pytest.mark.slow
def test_more_files_than_can_be_open_at_once(tmp_path):
    for number in range(100):
        (tmp_path / f"{number:03}.jsonl").write_bytes(jsonl({"raw_output": str(number)}))
    done = subprocess.run(
        ["bash", "-c", f"ulimit -n 40; {COMMAND} read text *.jsonl"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert [int(row["raw_output"]) for row in rows(done.stdout)] == list(range(100))


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_the_run_and_leave_nothing_half_done(tmp_path, sent, code):
    command = [COMMAND, "read", "mcqa", "-", "-o", "out.jsonl"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as process:
        try:
            process.stdin.write(jsonl(*[{"raw_output": "x" * 1000}] * 2000))
            process.stdin.flush()
            wait(process, lambda: list(tmp_path.iterdir()))
            send(process, sent)  # its input has not ended, so it cannot have, either
            process.stdin.close()  # a read that had begun when the signal came waits for more
            assert process.wait(timeout=LONGEST) == code
        finally:
            process.kill()
    assert list(tmp_path.iterdir()) == []


def test_a_row_nested_beyond_measure_is_told(tmp_path):
    done = affidavit("read", "text", given=b"[" * 900 + b"]" * 900)
    assert (done.returncode, b"Traceback" in done.stderr) == (2, False)


@pytest.mark.slow
def test_closed_streams_are_no_traceback():
    for redirected in ("<&-", ">&-"):
        command = f'echo \'{{"raw_output": "x"}}\' | {COMMAND} read text {redirected}'
        done = subprocess.run(["bash", "-c", command], capture_output=True, check=False)
        assert b"Traceback" not in done.stderr


# --- smaller things that were once wrong ---


def reachable(numbers: tuple[int, ...]) -> set[Fraction]:
    """Every value that the numbers can make, by brute force over unary minus too."""
    if len(numbers) == 1:
        return {Fraction(numbers[0]), Fraction(-numbers[0])}
    found = set()
    for order in permutations(numbers):
        for cut in range(1, len(order)):
            for left, right in product(reachable(order[:cut]), reachable(order[cut:])):
                found |= {left + right, left - right, left * right}
                found |= {left / right} if right else set()
    return found | {-value for value in found}


@pytest.mark.parametrize("numbers", [(24,), (4, 6), (1, 2), (0, 5), (2, 3, 7), (1, 1, 1)])
def test_the_solver_finds_exactly_what_can_be_made(numbers):
    values = reachable(numbers)
    for target in range(-40, 41):
        solution = solve(numbers, target)
        assert (solution is not None) == (Fraction(target) in values), (numbers, target)
        if solution is not None:
            hand = Hand(numbers, target)
            assert game24.validate(game24.read(f"<answer>{solution}</answer>", hand), hand).reason == "ok"


def test_wilson_is_wilson():
    for n in (1, 2, 10, 30, 1000):
        for successes in {0, 1, n // 3, n // 2, n - 1, n}:
            interval = binomtest(successes, n).proportion_ci(method="wilson")
            ours = wilson(successes, n)
            assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high), abs=1e-12)
    with pytest.raises(ValueError, match="no share"):
        wilson(0, 0)


def test_a_pattern_cannot_leave_its_anchors():
    with pytest.raises(UsageError, match=r"(?s)^pattern 'p': expected a regular expression .*unopened group"):
        Pattern(name="p", version=1, pattern="a)|(b", words="")
    with pytest.raises(UsageError, match=r"^pattern 'p': expected compare='text' or 'number', found 'nubmer'"):
        Pattern(name="p", version=1, pattern="a", words="", compare="nubmer")
    assert Pattern(name="p", version=1, pattern="a", words="").read("\u2003a\x1c").extracted_answer == "a"


@pytest.mark.slow
def test_one_mathematical_letter_does_not_slow_a_text_down():
    """It is cut by the expressions that are quick; only a mark beyond U+FFFF needs the slow ones."""
    assert _cuts_for("𝐱 próse") is _cuts_for("x próse") is _cuts_within_bmp()
    assert _cuts_for("𝐱 próse \U0001d165") is _cuts_beyond_bmp()
    text = "𝐱 " + "plain próse, " * 80_000 + "the end"
    assert locate("the end …", text) == locate("the end …", text.replace("𝐱", "x"))


def test_the_process_of_these_tests_is_not_the_command():
    assert Path(sys.executable).with_name("affidavit") == COMMAND
    assert os.access(COMMAND, os.X_OK)
