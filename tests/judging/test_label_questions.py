"""What people can be asked, what they may answer, and what is refused by name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.contracts.labels import LabelSet
from affidavit.contracts.mcqa import MultipleChoice, mcqa
from affidavit.contracts.number import number
from affidavit.contracts.rubric import DEFAULT
from affidavit.contracts.text import text
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
        ("verdict", "pa\u00df"),
        ("verdict", "part\u0131al"),
        ("tone", "0_1"),
        ("tone", "\uff11"),
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
        ("=a", None, ENDS, "--what"),
        (" a", None, ENDS, "--what"),
        ("Verdict", None, ENDS, "Did you mean verdict"),
        ("Score:tone", None, ENDS, "Did you mean score:DIMENSION"),
        ("completeness", DEFAULT, ENDS, "Did you mean score:COMPLETENESS"),
        ("score:overall_score", DEFAULT, None, "the sum of its dimensions"),
    ],
)
def test_a_question_that_nobody_can_be_asked_is_refused(about, rubric, scale, why):
    with pytest.raises(UsageError, match=why):
        label_question(about, rubric, scale)


@pytest.mark.parametrize("text", ["", "1", "1,1", "2,1", "a,b", "0,inf", "nan,1", "0,1e180", "0,1,2"])
def test_no_scale_is_made_of_other_texts(text):
    with pytest.raises(AffidavitError, match="two numbers"):
        parse_scale(text)


def test_the_form_says_what_scores_mean_and_what_a_verdict_follows_from():
    assert len(scale_words("score:COMPLETENESS", DEFAULT)) == 3
    assert scale_words("verdict", None) == scale_words("correct", DEFAULT) == []
    said = "\n".join(scale_words("verdict", DEFAULT))
    assert all(f"{each.id} ({each.title}): {each.words}" in said for each in DEFAULT.dimensions)
    assert "FAIL: the sum is 3 or less\nPASS: it is 7 or more, and none of FORMAT_COMPLIANCE" in said


# --- answers, as their contract knows them ---


def asked(contract, options=()):
    return label_question("answer", None, None).read_by(contract, contract.params, options)


@pytest.mark.parametrize("typed", ["48", "B. 64", "Z", "E", "A, B"])
def test_of_multiple_choice_no_other_text_is_an_answer(typed):
    with pytest.raises(InputError, match=r"^a.csv:2: expected A, B, C, D, none in 'value'"):
        asked(mcqa).value(typed, where="a.csv:2")


@pytest.mark.parametrize(
    ("contract", "typed", "value"),
    [
        (mcqa, "b", "B"), (mcqa, "(B)", "B"), (mcqa, "NONE", "none"), (MultipleChoice("A-E"), "e", "E"),
        (number, "1,201", "1201"), (LabelSet(["x", "y"]), "y,x", "x, y"), (text, "as it is", "as it is"),
        (LabelSet(["IT", "it"], single=True), "it", "it"),
    ],
)  # fmt: skip
def test_an_answer_is_kept_as_its_contract_compares_it(contract, typed, value):
    assert asked(contract).value(typed, where="a.csv:2") == value


def test_an_answer_that_cannot_be_compared_is_refused_with_what_it_is():
    with pytest.raises(InputError, match="a number, as an output would write it, or none in 'value'"):
        asked(number).value("a dozen", where="a.csv:2")
    with pytest.raises(InputError, match="in 'value'"):
        asked(LabelSet(["IT", "it"], single=True)).value("It", where="a.csv:2")


def test_options_stand_beside_their_letters_where_there_are_as_many():
    assert asked(mcqa, ["1", "2", "3", "4"]).choices[1] == ("B", "2")
    assert asked(mcqa, ["1"]).choices == [(each, "") for each in ("A", "B", "C", "D", "none")]
    assert asked(number).choices == []
