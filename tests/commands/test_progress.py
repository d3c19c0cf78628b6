"""When a long job says how far it is: not within two seconds, then at its pace, by a clock that the test holds."""

import io
import re
from collections import Counter
from itertools import pairwise

import pytest

from affidavit.commands import progress, run_display
from affidavit.commands.progress import Progress, StatusLine
from affidavit.commands.run_line import judge_line, run_line
from affidavit.commands.run_progress import RunProgress
from affidavit.judging.plan import JudgeCell
from affidavit.reading.tally import Tally
from affidavit.running.asked_now import AskedNow
from affidavit.study.crossing import Cell

CELL = Cell("quiz", "m", "free")


class Stream(io.StringIO):
    """A file, or a terminal."""

    def __init__(self, *, terminal: bool = False) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


class Clock:
    now = 50.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    held = Clock()
    for module in (progress, run_display):
        monkeypatch.setattr(module, "monotonic", held)
    return held


def shown_at(clock: Clock, status: StatusLine, moments: list[float]) -> list[str]:
    """The moments, in seconds since the beginning, at which a line was asked for and written."""
    for moment in moments:
        clock.now = 50.0 + moment
        status.show(lambda seconds: f"after {seconds:g}")
    return moments


def test_in_a_file_the_first_line_comes_after_two_seconds_and_then_one_every_ten(clock):
    stream = Stream()
    with StatusLine(stream) as status:
        shown_at(clock, status, [0, 1, 1.99, 2, 2.1, 11.9, 12, 12.5, 22, 100, 105])
    assert stream.getvalue().splitlines() == ["after 2", "after 12", "after 22", "after 100"]


def test_on_a_terminal_the_line_is_written_over_and_wiped_at_the_end(clock):
    stream = Stream(terminal=True)
    with StatusLine(stream) as status:
        shown_at(clock, status, [1, 2, 2.1, 2.25, 10])
    assert stream.getvalue() == "\rafter 2\rafter 2.25\rafter 10  \r          \r"


@pytest.mark.parametrize("terminal", [True, False])
def test_a_job_that_ends_within_two_seconds_says_nothing(clock, terminal):
    stream = Stream(terminal=terminal)
    with Progress(stream, 100) as reading:
        clock.now += 1.9
        reading.tell(Tally(compliant=3), 50)
    with RunProgress(stream) as running:
        running.tell(AskedNow({CELL: Tally(pending=4)}, {CELL: 4}))
    assert stream.getvalue() == ""


def test_a_reading_says_rows_rate_and_what_is_left(clock):
    stream = Stream()
    with Progress(stream, 200) as reading:
        clock.now += 1
        reading.tell(Tally(compliant=100), 50)
        clock.now += 1
        reading.tell(Tally(compliant=300, non_compliant=100), 50)
    assert stream.getvalue() == "400 rows  200/s  75.0% compliant  2 s to go\n"


def test_a_run_is_told_by_what_it_has_done_itself(clock):
    stream = Stream()
    with RunProgress(stream) as running:
        running.tell(AskedNow({CELL: Tally(compliant=10, pending=10)}, {CELL: 10}))
        clock.now += 4
        running.tell(AskedNow({CELL: Tally(compliant=18, pending=2)}, {CELL: 10}, Counter({CELL: 8})))
    assert stream.getvalue() == "8 of 10 done  2.0/s  100.0% compliant  1 s to go\n"


def test_a_judging_is_told_by_its_flags(clock):
    stream = Stream()
    with RunProgress(stream) as running:
        cell = JudgeCell("j", "free", "cross_judge")
        running.tell_judging(AskedNow({cell: Tally(pending=20)}, {cell: 20}))
        clock.now += 4
        flags = {"flags": Counter(UNPARSABLE_OUTPUT=2)}
        tally = Tally(compliant=6, non_compliant=2, pending=12, breakdowns=flags)
        running.tell_judging(AskedNow({cell: tally}, {cell: 20}, Counter({cell: 8})))
    assert stream.getvalue() == "8 of 20 judged  2.0/s  75.0% valid  2 UNPARSABLE_OUTPUT  6 s to go\n"


def test_on_a_terminal_a_run_has_a_line_for_each_cell_at_most_five_times_a_second(clock, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Stream(terminal=True)
    with RunProgress(stream) as running:
        lengths = []
        for moment in (0, 1.9, 2, 2.1, 2.2, 2.3, 2.5):
            clock.now = 50.0 + moment
            running.tell(AskedNow({CELL: Tally(compliant=1, pending=3)}, {CELL: 4}, Counter({CELL: 1})))
            lengths.append(len(stream.getvalue()))
    grew = [later > earlier for earlier, later in pairwise(lengths)]
    assert grew == [False, True, False, True, False, True]
    assert re.search(r"m +free +.*1 of 4 +100\.0% compliant", stream.getvalue())


@pytest.mark.parametrize(("line", "cell"), [(run_line, CELL), (judge_line, JudgeCell("j", "free", "cross_judge"))])
def test_a_line_without_an_answer_says_no_share_and_no_time_to_go(line, cell):
    """Nobody can tell either of them yet."""
    nothing = AskedNow({cell: Tally(pending=4)}, {cell: 4})
    assert line(nothing, 4.0).startswith("0 of 4 ")
    assert line(nothing, 4.0).endswith("  0/s")
    failed = AskedNow(
        {cell: Tally(failed=1, pending=3, failures=Counter(timeout=1))}, {cell: 4}, Counter({cell: 1})
    )
    assert "failed: 1 timeout" in line(failed, 4.0)
