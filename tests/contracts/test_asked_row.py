"""What a row says that a judge was asked: in `asked`, in fields of its own, or in both if they agree (ruling J9)."""

import pytest

from affidavit.contracts.asked_row import asked_row
from affidavit.contracts.evaluation import NAMES
from affidavit.contracts.judge import judge
from affidavit.errors import InputError

GIVEN = dict(zip(NAMES, ("J", "Q1", "A", "T", "o1"), strict=True))
TAKEN = {
    "from asked": ({"asked": GIVEN}, GIVEN, None),
    "from fields of their own": (GIVEN, GIVEN, None),
    "some here, some there": (
        {"asked": {"judge_model": "J", "question_id": "Q1"}, **{name: GIVEN[name] for name in NAMES[2:]}}, GIVEN, None,
    ),
    "both, and they agree": ({"asked": GIVEN, **GIVEN, "repeat": 2}, GIVEN, "2"),
    "numbers": ({"question_id": 3, "asked": {"repeat": 1}}, {"question_id": "3"}, "1"),
    "a number and its text": ({"question_id": 3, "asked": {"question_id": "3"}}, {"question_id": "3"}, None),
    "nulls and blanks say nothing": ({"asked": {"question_id": None}, "output_id": " "}, {}, None),
    "a null gives way": ({"asked": {"question_id": None}, "question_id": "Q1"}, {"question_id": "Q1"}, None),
    "the method of asked alone": ({"asked": {"method": "cross_judge"}, "method": "x"}, {"method": "cross_judge"}, None),
    "nothing": ({}, {}, None),
}  # fmt: skip


@pytest.mark.parametrize(("row", "meta", "repeat"), TAKEN.values(), ids=TAKEN)
def test_names_are_taken_from_where_they_stand(row, meta, repeat):
    asked = asked_row(row, where="here")
    assert (asked.meta, asked.repeat) == (meta, repeat)
    assert judge.item(row, where="here") == asked


REFUSED = {
    "a contradiction": (
        {"asked": {"question_id": "Q1"}, "question_id": "Q2"}, "\"Q1\" in 'question_id', as 'asked' says", '"Q2"',
    ),
    "a repeat that is another": (
        {"asked": {"repeat": 1}, "repeat": 2}, "\"1\" in 'repeat', as 'asked' says", '"2"',
    ),
    "a list as a name": ({"target_model": ["T"]}, "a text in 'target_model'", '["T"]'),
    "true as a name": ({"asked": {"output_id": True}}, "a text in 'asked.output_id'", "true"),
    "a list as asked": ({"asked": [1]}, "an object in 'asked'", "[1]"),
    "a number as the judged text": ({"judged_output": 1}, "a text in 'judged_output'", "1"),
}  # fmt: skip


@pytest.mark.parametrize(("row", "expected", "found"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused_with_its_place(row, expected, found):
    with pytest.raises(InputError) as caught:
        asked_row(row, where="rows.jsonl:7")
    assert (caught.value.where, caught.value.expected, caught.value.found) == ("rows.jsonl:7", expected, found)


@pytest.mark.parametrize("left_out", [None, *NAMES])
def test_identifiers_are_checked_where_all_that_name_an_output_are_given(left_out):
    given = {name: value for name, value in GIVEN.items() if name != left_out}
    expected = left_out in (None, "judge_model")
    for raw in ("{}", "not JSON"):
        assert judge.read(raw, asked_row(given, where="")).fields()["identifiers_checked"] is expected
    assert judge.read("{}").identifiers_checked is False
