"""What people can be asked, what they may answer, and what is refused by name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.contracts.rubric import DEFAULT
from affidavit.errors import AffidavitError, InputError, UsageError
from affidavit.judging.label_questions import label_question, parse_scale, scale_words
from support.strategies import any_text

ENDS = (0.0, 1.0)


@pytest.mark.parametrize(
    ("about", "given_", "value"),
    [
        ("verdict", "PASS", "PASS"),
        ("verdict", " partial ", "PARTIAL"),
        ("score:COMPLETENESS", "2", 2),
        ("score:COMPLETENESS", 0, 0),
        ("correct", "yes", True),
        ("correct", "No", False),
        ("correct", True, True),
        ("correct", 0, False),
        ("answer", "B", "B"),
        ("answer", "None", "none"),
        ("answer", " 42 apples ", "42 apples"),
        ("tone", "0.25", 0.25),
        ("tone", 1, 1.0),
    ],
)
def test_what_is_on_the_scale_is_taken(about, given_, value):
    found = label_question(about, DEFAULT, ENDS if about == "tone" else None).value(given_, where="a.csv:2")
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    ("about", "given_"),
    [
        ("verdict", "GOOD"),
        ("verdict", 1),
        ("score:COMPLETENESS", "3"),
        ("score:COMPLETENESS", "1.0"),
        ("score:COMPLETENESS", True),
        ("correct", "maybe"),
        ("answer", "x" * 201),
        ("answer", "a\x00b"),
        ("tone", "nan"),
        ("tone", "1.01"),
        ("tone", "-1"),
        ("tone", None),
        ("verdict", ["PASS"]),
    ],
)
def test_what_is_off_the_scale_is_refused_with_the_scale(about, given_):
    question = label_question(about, DEFAULT, ENDS if about == "tone" else None)
    with pytest.raises(InputError, match=r"^a.csv:2: expected .* in 'value'"):
        question.value(given_, where="a.csv:2")


@pytest.mark.slow
@given(st.sampled_from(["verdict", "score:COMPLETENESS", "correct", "answer", "tone"]), any_text | st.floats())
def test_whatever_is_typed_is_on_the_scale_or_refused(about, typed):
    question = label_question(about, DEFAULT, ENDS if about == "tone" else None)
    try:
        found = question.value(typed, where="a.csv:2")
    except InputError:
        return
    assert question.value(str(found), where="a.csv:2") == found


@pytest.mark.parametrize(
    ("about", "rubric", "scale", "why"),
    [
        ("score:COMPLETENESS", None, None, "a study with a rubric"),
        ("score:COMPLETENES", DEFAULT, None, "Did you mean COMPLETENESS"),
        ("tone", None, None, "LOW,HIGH"),
        ("correct", None, ENDS, "none for correct"),
        ("", None, ENDS, "--what"),
        ("a\nb", None, ENDS, "--what"),
    ],
)
def test_a_question_that_nobody_can_be_asked_is_refused(about, rubric, scale, why):
    with pytest.raises(UsageError, match=why):
        label_question(about, rubric, scale)


@pytest.mark.parametrize("text", ["", "1", "1,1", "2,1", "a,b", "0,inf", "nan,1", "0,1,2"])
def test_no_scale_is_made_of_other_texts(text):
    with pytest.raises(AffidavitError, match="two numbers"):
        parse_scale(text)


def test_the_form_says_what_scores_mean():
    assert len(scale_words("score:COMPLETENESS", DEFAULT)) == 3
    assert scale_words("verdict", None) == scale_words("correct", DEFAULT) == []
