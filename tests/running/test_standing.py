"""Whether one of several servers is asked: left out after failures in a row, tried again, and then asked as before."""

import pytest

from affidavit.models.model import Failure, Reason
from affidavit.running.standing import FAILURES, FIRST_REST, LONGEST_REST, Standing

GONE = Failure(Reason.CONNECTION, "the connection was refused")


def fail(standing: Standing, failure: Failure = GONE, *, now: float = 0.0, times: int = 1) -> list[float | None]:
    return [standing.failed(failure, now=now, longest_wait=120.0) for _ in range(times)]


@pytest.mark.parametrize(
    "reason", [Reason.CONNECTION, Reason.TIMEOUT, Reason.SERVER_ERROR, Reason.RATE_LIMITED, Reason.BAD_BODY]
)
def test_failures_in_a_row_leave_a_server_out_and_those_that_were_open_say_nothing_new(reason):
    standing = Standing()
    said = fail(standing, Failure(reason, "so"), times=FAILURES + 20)
    assert said == [None] * (FAILURES - 1) + [FIRST_REST] + [None] * 20
    assert (standing.left_out, standing.times, standing.why) == (True, 1, f"{reason}: so")


@pytest.mark.parametrize(
    "reason", [Reason.BAD_REQUEST, Reason.CONTENT_FILTER, Reason.NO_CONTENT, Reason.TOO_LARGE]
)
def test_what_is_about_the_question_says_nothing_of_the_server(reason):
    standing = Standing()
    assert fail(standing, Failure(reason), times=100) == [None] * 100
    assert standing.serves(0.0)


def test_an_answer_in_between_begins_the_count_anew():
    standing = Standing()
    for _ in range(10):
        fail(standing, times=FAILURES - 1)
        standing.answered()
    assert standing.serves(0.0)
    assert standing.times == 0


def test_each_trial_in_vain_doubles_the_rest_up_to_a_minute_and_an_answer_ends_it():
    standing, now, rests = Standing(), 0.0, []
    fail(standing, times=FAILURES - 1)
    for _ in range(9):
        assert not standing.is_due(now - 0.01)
        (rest,) = fail(standing, now=now)
        rests.append(rest)
        now += rest
        assert standing.is_due(now)
        assert not standing.serves(now)
    assert rests == [1, 2, 4, 8, 16, 32, LONGEST_REST, LONGEST_REST, LONGEST_REST]
    standing.answered()
    assert standing.serves(now)
    assert standing.times == 1
    assert fail(standing, now=now, times=FAILURES)[-1] == FIRST_REST
    assert standing.times == 2


def test_one_question_at_a_time_tries_it():
    standing = Standing()
    fail(standing, times=FAILURES)
    standing.tried = True
    assert not standing.is_due(5.0)


def test_a_wait_that_a_server_asks_for_is_kept_up_to_the_limit_and_is_no_leaving_out():
    standing = Standing()
    limited = Failure(Reason.RATE_LIMITED, retry_after=500.0, slow_down=True)
    assert fail(standing, limited, times=30) == [120.0] + [None] * 29
    assert [standing.serves(now) for now in (119.0, 120.0)] == [False, True]
    assert (standing.left_out, standing.times) == (False, 0)
    standing.answered()
    assert not standing.serves(119.0), "what was open before it asked for a wait may still be answered"


def test_an_answer_that_was_open_when_it_was_left_out_brings_it_back():
    standing = Standing()
    fail(standing, times=FAILURES)
    standing.answered()
    assert standing.serves(0.1)


def test_a_wait_that_is_asked_for_is_kept_also_by_a_server_that_is_left_out():
    standing, busy = Standing(), Failure(Reason.RATE_LIMITED, "so", retry_after=6.0)
    rests, now = [], 0.0
    for _ in range(FAILURES + 3):
        rests.append(standing.failed(busy, now=now, longest_wait=120.0))
        now += rests[-1]
    assert rests == [6.0] * (FAILURES + 2) + [8.0], "then its own rest is longer"
    assert standing.failed(Failure(Reason.RATE_LIMITED, retry_after=999.0), now=now, longest_wait=20.0) == 20.0


def test_what_another_server_answers_counts_against_the_one_that_refused_it():
    standing, refusal = Standing(), Failure(Reason.BAD_REQUEST, "no such model")
    said = [standing.contradicted(refusal, now=0.0) for _ in range(FAILURES)]
    assert said == [None] * (FAILURES - 1) + [FIRST_REST]
    assert not standing.serves(0.0)
    assert standing.is_due(FIRST_REST)
    assert fail(standing, refusal, now=FIRST_REST) == [2 * FIRST_REST], "tried again, it still does not serve"
