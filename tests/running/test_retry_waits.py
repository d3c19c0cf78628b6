"""How long a question waits before it is asked again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.models.model import Failure, Reason
from affidavit.models.settings import Limits
from affidavit.running.retry_waits import FIRST, LONGEST, RetryWaits

SEEDS = st.integers(0, 2**32)


def failure(reason: Reason = Reason.SERVER_ERROR, *, retry_after: float | None = None) -> Failure:
    return Failure(reason, "busy", retry_after=retry_after)


@given(number=st.integers(1, 400), seed=SEEDS)
def test_a_wait_doubles_with_every_attempt_up_to_the_longest(number: int, seed: int) -> None:
    wait = RetryWaits(Limits(attempts=1000), seed=seed).before_next(failure(), number)
    full = min(LONGEST, FIRST * 2 ** min(number - 1, 10))
    assert wait is not None
    assert full / 2 <= wait <= full


@given(asked=st.floats(0, 1e9), seed=SEEDS)
def test_a_server_gets_the_time_it_asked_for_up_to_the_limit(asked: float, seed: int) -> None:
    limits = Limits(attempts=2, retry_after=60.0)
    wait = RetryWaits(limits, seed=seed).before_next(failure(retry_after=asked), 1)
    assert wait is not None
    assert min(asked, 60.0) <= wait <= max(FIRST, 1.1 * min(asked, 60.0))


@pytest.mark.parametrize(
    ("reason", "number"),
    [
        pytest.param(Reason.SERVER_ERROR, 3, id="the last attempt was made"),
        pytest.param(Reason.UNAUTHORISED, 1, id="what cannot pass is not tried again"),
    ],
)
def test_there_is_no_wait_where_there_is_no_next_attempt(reason: Reason, number: int) -> None:
    assert RetryWaits(Limits(attempts=3), seed=0).before_next(failure(reason), number) is None
