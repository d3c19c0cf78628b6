"""Deadlines, waits and turns, by a clock that the test holds: exact, and the same on a slow machine and a quick one."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path

import pytest

from affidavit.models.model import Answer, Completion, Failure, Reason
from affidavit.running.runner import DRAIN
from affidavit.running.study_run import Ended, Options, run_study
from affidavit.study.files import load
from support.studies import write_study
from support.virtual_time import Asked, Course, Script, after, always, first, hangs, virtual_time
from support.written_study import NOBODY, Hasty

LIMITS = {"attempt": 1.0, "connect": 1.0, "sample": 10.0, "run": 600.0, "attempts": 2, "retry_after": 0.3}
LOOK = 0.1
"""Seconds between two looks of a run at its own deadline."""
FIRST_WAIT = (0.25, 0.5)
"""Bounds of the wait before the second attempt, where no server asks for more."""


def run(
    folder: Path, script: Script, *, count: int = 20, connections: int = 8, **limits: float
) -> tuple[Ended, Course]:
    """How a run with a scripted model ended, and its course."""
    write_study(folder, NOBODY, count=count, changed={"limits": {**LIMITS, **limits}})
    files = load(folder / "study.toml")
    with virtual_time(script, connections=connections) as course:
        ended = run_study(files, Options(folder / "out", disk=Hasty()))
    return ended, course


def figures(ended: Ended) -> tuple[int, int, int]:
    """Compliant, failed and pending."""
    (tally,) = ended.tallies.values()
    assert tally.n == tally.compliant + tally.failed + tally.pending
    return tally.compliant, tally.failed, tally.pending


def failures(ended: Ended) -> dict[str, int]:
    (tally,) = ended.tallies.values()
    return dict(tally.failures)


def attempts_at(course: Course, name: str) -> list[Asked]:
    return [each for each in course.asked if each.question == name]


def waits(course: Course, name: str) -> list[float]:
    """Seconds between the end of an attempt and the beginning of the next."""
    made = attempts_at(course, name)
    return [two.began - one.ended for one, two in pairwise(made)]


def limited(seconds: float | None) -> Failure:
    return Failure(Reason.RATE_LIMITED, "slow down", seconds, slow_down=True)


# --- an attempt ---


@pytest.mark.slow
def test_an_attempt_is_cut_at_its_deadline_and_the_sample_fails_alone(tmp_path):
    ended, course = run(tmp_path, {"q3": hangs, "q7": hangs})
    assert figures(ended) == (18, 2, 0)
    assert failures(ended) == {"timeout": 2}
    for name in ("q3", "q7"):
        assert [each.ended - each.began for each in attempts_at(course, name)] == pytest.approx([1.0, 1.0])
    assert len(course.asked) == 20 + 2


def test_an_answer_at_the_second_attempt_leaves_no_trace(tmp_path):
    async def once(attempt: int) -> Answer:
        return await hangs(attempt) if attempt == 1 else Completion("<answer>B</answer>", "stop")

    ended, course = run(tmp_path, {"q3": once})
    assert figures(ended) == (20, 0, 0)
    assert len(course.asked) == 21
    (wait,) = waits(course, "q3")
    assert FIRST_WAIT[0] <= wait <= FIRST_WAIT[1]


def test_an_answer_just_before_the_deadline_counts_and_one_just_after_does_not(tmp_path):
    ended, _ = run(tmp_path, {"q3": after(0.999), "q7": after(1.001)}, attempts=1)
    assert figures(ended) == (19, 1, 0)
    assert failures(ended) == {"timeout": 1}


# --- waiting as long as was asked, and no longer ---


@pytest.mark.parametrize("seconds", [1.5, 0.6])
def test_a_server_that_says_when_to_come_back_is_obeyed(tmp_path, seconds):
    ended, course = run(tmp_path, {"q1": first(limited(seconds))}, retry_after=10.0)
    assert figures(ended) == (20, 0, 0)
    (wait,) = waits(course, "q1")
    assert seconds <= wait <= 1.1 * seconds


@pytest.mark.parametrize("seconds", [0.0, 0.1, None])
def test_a_server_that_asks_for_less_is_not_asked_again_at_once(tmp_path, seconds):
    ended, course = run(tmp_path, {"q1": first(limited(seconds))}, retry_after=10.0)
    assert figures(ended) == (20, 0, 0)
    (wait,) = waits(course, "q1")
    assert FIRST_WAIT[0] <= wait <= FIRST_WAIT[1]


@pytest.mark.parametrize("seconds", [1e9, 2.5])
def test_no_server_can_ask_for_more_than_the_longest_wait(tmp_path, seconds):
    ended, course = run(tmp_path, {"q1": first(limited(seconds))}, retry_after=1.5)
    assert figures(ended) == (20, 0, 0)
    (wait,) = waits(course, "q1")
    assert 1.5 <= wait <= 1.5 * 1.1


@pytest.mark.slow
def test_waits_double_from_attempt_to_attempt(tmp_path):
    broken = Failure(Reason.SERVER_ERROR, "not now")
    ended, course = run(tmp_path, {"q1": always(broken)}, attempts=9, sample=1000.0)
    assert failures(ended) == {"server_error": 1}
    found = waits(course, "q1")
    assert len(found) == 8
    for number, wait in enumerate(found):
        longest = min(30.0, 0.5 * 2**number)
        assert longest / 2 <= wait <= longest


# --- a sample, a run ---


@pytest.mark.parametrize("fault", [Failure(Reason.SERVER_ERROR, "not now"), limited(0.2)], ids=["500", "429"])
def test_a_sample_ends_with_its_time_however_many_attempts_it_has(tmp_path, fault):
    ended, course = run(tmp_path, {"q1": always(fault)}, attempts=1000, sample=3.0)
    assert figures(ended) == (19, 1, 0)
    made = attempts_at(course, "q1")
    assert 2 <= len(made) < 15
    assert made[-1].ended <= 3.0


def test_the_last_attempt_of_a_sample_is_cut_with_it(tmp_path):
    ended, course = run(tmp_path, {"q1": hangs}, attempts=1000, attempt=2.0, sample=5.0)
    assert failures(ended) == {"timeout": 1}
    made = attempts_at(course, "q1")
    assert made[0].ended == pytest.approx(2.0)
    assert made[-1].ended <= 5.0 + 1e-9


@pytest.mark.slow
def test_a_run_ends_with_its_time(tmp_path):
    script = {f"q{n}": hangs for n in range(50, 100)}
    ended, course = run(tmp_path, script, count=100, attempt=30.0, sample=60.0, run=1.5)
    assert figures(ended) == (50, 0, 50)
    assert ended.stopped == "the run's 1.5 s are over"
    assert 1.5 + DRAIN <= course.seconds <= 1.5 + DRAIN + 3 * LOOK
    again, rest = run(tmp_path, {}, count=100)
    assert figures(again) == (100, 0, 0)
    assert len(rest.asked) == 50


def test_open_requests_that_end_within_the_time_after_a_stop_are_kept(tmp_path):
    script = {f"q{n}": after(1.5 + DRAIN - 0.5) for n in range(1, 9)}
    ended, course = run(tmp_path, script, attempt=30.0, sample=60.0, run=1.5)
    assert figures(ended) == (9, 0, 11)
    assert len(course.asked) == 9, "nothing more is asked than the question of the trial and these"


def test_the_trial_is_part_of_the_runs_time(tmp_path):
    ended, course = run(tmp_path, {"q0": hangs}, connect=60.0, attempt=90.0, run=1.5)
    assert figures(ended) == (0, 0, 20)
    assert ended.stopped == "the run's 1.5 s are over"
    assert course.seconds <= 1.5 + 2 * LOOK
    assert not ended.directory.exists()


# --- signals ---


def signalling(number: signal.Signals, *, then: Callable[[int], Awaitable[Answer]]) -> Callable:
    """A question during which the run gets a signal, two seconds after it was asked."""

    async def meet(attempt: int) -> Answer:
        await asyncio.sleep(2.0)
        os.kill(os.getpid(), number)
        return await then(attempt)

    return meet


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_five_seconds_for_a_server_that_hangs_and_no_longer(tmp_path, number):
    script = {f"q{n}": hangs for n in range(11, 20)} | {"q10": signalling(number, then=hangs)}
    ended, course = run(tmp_path, script, attempt=60.0, sample=60.0)
    assert (ended.signal, ended.stopped) == (number, f"stopped by {number.name}")
    assert figures(ended) == (10, 0, 10)
    assert 2.0 + DRAIN <= course.seconds <= 2.0 + DRAIN + 3 * LOOK


def test_a_signal_ends_the_waiting_for_a_next_attempt(tmp_path):
    script = {"q0": always(limited(5000.0)), "q1": signalling(signal.SIGTERM, then=after(0.0))}
    ended, course = run(tmp_path, script, count=3, retry_after=6000.0, sample=60_000.0, attempt=60.0)
    assert figures(ended) == (2, 0, 1)
    assert len(course.asked) == 4, "the first question twice: a model is tried with it once"
    assert ended.signal == signal.SIGTERM
    assert course.seconds <= 2.0 + 5 * LOOK


# --- how many at once ---


@pytest.mark.slow
def test_more_are_asked_at_once_while_the_server_keeps_up(tmp_path):
    script = {f"q{n}": after(0.2) for n in range(400)}
    ended, course = run(tmp_path, script, count=400, connections=64)
    assert figures(ended) == (400, 0, 0)
    by_round = [sum(round(each.began / 0.2) == number for each in course.asked) for number in range(4)]
    assert by_round == [1, 16, 32, 64], "first a trial"


@pytest.mark.slow
def test_a_server_that_pushes_back_is_asked_less_at_once(tmp_path):
    async def pushes_back(attempt: int) -> Answer:
        await asyncio.sleep(0.2)
        return limited(0.3) if attempt == 1 else Completion("<answer>B</answer>", "stop")

    script = {f"q{n}": pushes_back if n < 16 else after(0.2) for n in range(100)}
    ended, course = run(tmp_path, script, count=100, connections=64, attempts=5)
    assert figures(ended) == (100, 0, 0)
    assert len(course.asked) == 116
    rounds = [sum(begin <= each.began < begin + 0.2 for each in course.asked) for begin in (0.2, 0.4)]
    assert rounds == [16, 8], "after the trial, half as many once it has pushed back"
