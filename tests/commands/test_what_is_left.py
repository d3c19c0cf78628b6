"""What is left when a command ends, and what to type for it."""

from collections import Counter

import pytest

from affidavit.commands.what_is_left import what_is_left
from affidavit.reading.tally import Tally

PENDING = Tally(pending=2)
MAY_PASS = Tally(failed=3, failures=Counter(timeout=2, server_error=1))
PERMANENT = Tally(failed=4, failures=Counter(bad_request=3, context_overflow=1))


@pytest.mark.parametrize(
    ("tallies", "said"),
    [
        pytest.param([Tally(compliant=9)], None, id="nothing"),
        pytest.param([PENDING, MAY_PASS], "5 without an answer; to continue: TYPE", id="all of it is asked again"),
        pytest.param(
            [PERMANENT],
            "4 without an answer, failed permanently; to ask them again: TYPE --retry-failed",
            id="nothing of it is asked again",
        ),
        pytest.param(
            [PENDING, PERMANENT],
            "6 without an answer; to continue: TYPE (4 failed permanently: --retry-failed asks them again too)",
            id="some of it",
        ),
    ],
)
def test_what_is_typed_asks_what_it_is_said_to_ask(tallies: list[Tally], said: str | None) -> None:
    assert what_is_left(tallies, "TYPE", lacking="an answer") == said
