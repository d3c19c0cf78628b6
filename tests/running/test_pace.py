"""How many requests are open at once: doubled while a server keeps up, halved when it says that it does not."""

import pytest

from affidavit.running.pace import Pace


def after(pace: Pace, answers: int) -> int:
    for _ in range(answers):
        pace.kept_up()
    return pace.limit


@pytest.mark.parametrize(("most", "first"), [(1, 1), (8, 8), (16, 16), (1000, 16)])
def test_it_begins_small_and_never_goes_beyond_what_the_study_allows(most, first):
    pace = Pace(most)
    assert pace.limit == first
    assert after(pace, 5000) == most


def test_it_doubles_with_every_round_until_the_server_pushes_back():
    pace = Pace(1000)
    assert [after(pace, answers) for answers in (16, 32, 64)] == [32, 64, 128]
    pace.pushed_back(now=10.0)
    assert pace.limit == 64
    assert after(pace, 65) == 65, "and then by one a round"


def test_a_crowd_of_refusals_counts_as_one_and_something_is_always_asked():
    pace = Pace(1000)
    for moment in (10.0, 10.1, 10.99):
        pace.pushed_back(now=moment)
    assert pace.limit == 8
    for moment in range(11, 40):
        pace.pushed_back(now=float(moment))
    assert pace.limit == 1
