"""The right answer taken out of a longer text: alone in its column, and as it stood beside it."""

import pytest

from affidavit.errors import InputError, UsageError
from affidavit.exchange.right_answers import AnswerPattern

PATTERN = AnswerPattern("The answer is (?P<answer>[A-D])\\.")


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ({"answer": "The answer is B."}, {"answer": "B", "source_right_answer": "The answer is B."}),
        ({"answer": None}, {"answer": None}),
        ({}, {}),
    ],
)
def test_the_answer_alone_is_in_its_column(row, found):
    assert PATTERN.of(row, where="row 1") == found


def test_an_answer_that_is_it_already_is_kept_once():
    assert AnswerPattern("[A-D]").of({"answer": "B"}, where="row 1") == {"answer": "B"}


def test_answers_may_stand_in_another_column():
    row = {"answer": "x", "metadata": 1, "gold": "The answer is C."}
    assert AnswerPattern(PATTERN.pattern, "gold").of(row, where="row 1")["gold"] == "C"


@pytest.mark.parametrize("said", ["B", "The answer is E.", 3, ""])
def test_what_does_not_match_is_refused_with_its_place(said):
    with pytest.raises(InputError, match="row 7: expected a right answer that --answer-pattern The answer is"):
        PATTERN.of({"answer": said}, where="row 7")


def test_what_is_no_pattern_is_refused_at_once():
    with pytest.raises(UsageError, match="a regular expression"):
        AnswerPattern("(")
