"""What is asked again, what a run or a judging leaves open, and what is said of it."""

import json
from collections import Counter
from pathlib import Path

import pytest

from affidavit.archive.disk import Disk
from affidavit.judging.plan import JudgeCell
from affidavit.reading.tally import Tally
from affidavit.running.changed_answers import Flips, Undecidable
from affidavit.running.judging_run import Judged
from affidavit.running.ledger import asks_again
from affidavit.running.run_log import RUN_LOG, RunLog
from affidavit.running.verify import MOST_DIFFERENCES, Verified


@pytest.mark.parametrize(
    ("tally", "again", "with_retries"),
    [
        (Tally(), False, False),
        (Tally(compliant=3, non_compliant=2, unread=1), False, False),
        (Tally(pending=1), True, True),
        (Tally(failed=1, failures=Counter(timeout=1)), True, True),
        (Tally(failed=1, failures=Counter(unauthorised=1)), True, True),
        (Tally(failed=1, failures=Counter(content_filter=1)), False, True),
        (Tally(failed=2, failures=Counter(content_filter=1, bad_body=1)), True, True),
        (Tally(compliant=1, failures=Counter(timeout=0)), False, False),
    ],
)
def test_what_is_pending_or_may_pass_is_asked_again_and_what_failed_for_good_only_when_told(
    tally, again, with_retries
):
    assert asks_again(tally, retry_failed=False) is again
    assert asks_again(tally, retry_failed=True) is with_retries


def test_a_judging_leaves_open_what_failed_and_what_is_pending():
    cells = [JudgeCell(name, "free", "cross_judge") for name in ("a", "b")]
    tallies = {cells[0]: Tally(compliant=5, failed=1), cells[1]: Tally(non_compliant=2, pending=3)}
    assert Judged(Path("out"), None, tallies).open == 4
    assert Judged(Path("out"), None, {}).open == 0


def test_flips_add_up():
    flips = Flips(kept=4, to_right=1, to_wrong=2, to_other=3, undecidable=Counter({Undecidable.CONTROL_TIED: 5}))
    assert (flips.flipped, flips.decidable, flips.n) == (6, 10, 15)
    assert flips.counts() == {
        "kept": 4, "to_right": 1, "to_wrong": 2, "to_other": 3, "undecidable": {"control_tied": 5},
    }  # fmt: skip
    json.dumps(flips.counts())


def test_of_many_differences_all_are_counted_and_the_first_are_told():
    verified = Verified()
    for number in range(MOST_DIFFERENCES + 5):
        verified.differ(f"records:{number}", "it is another")
    assert verified.differing == MOST_DIFFERENCES + 5
    assert len(verified.differences) == MOST_DIFFERENCES
    assert verified.differences[0] == "records:0: it is another"


def test_every_run_has_its_lines_in_the_log_also_after_a_kill(tmp_path):
    first, second = RunLog(tmp_path, Disk()), RunLog(tmp_path, Disk())
    first.began({"questions": 3}, [], {}, {})
    with (tmp_path / RUN_LOG).open("ab") as stream:
        stream.write(b'{"run": "killed whi')
    second.began({"questions": 2}, [], {}, {})
    second.ended({"open": 0})
    lines = (tmp_path / RUN_LOG).read_bytes().splitlines()
    assert lines.pop(1) == b'{"run": "killed whi'
    began, again, ended = map(json.loads, lines)
    assert [each["event"] for each in (began, again, ended)] == ["began", "began", "ended"]
    assert (began["questions"], again["questions"], ended["open"]) == (3, 2, 0)
    assert began["run"] != again["run"] == ended["run"]
    assert {"versions", "git", "machine", "models", "tools"} <= began.keys()
