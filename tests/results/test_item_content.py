"""What two sides may say of one item, and when that is a difference."""

import pytest

from affidavit import game24, mcqa
from affidavit.contracts.parts import Parts
from affidavit.results.item_content import RIGHT, content_of, content_of_frozen, differing, together

HERE = ("quiz", "q1")
ASKED = {"question": "Which?", "options": ["x", "y"], "answer": "B"}


def different(one, other, parts=mcqa, *names):
    return HERE in differing({HERE: content_of(one, parts)}, {HERE: content_of(other, parts)}, *names)


@pytest.mark.parametrize(
    ("changed", "differs"),
    [
        ({"answer": "A"}, True),
        ({"question": "What?"}, True),
        ({"options": ["y", "x"]}, True),
        ({"seconds": 3, "metadata": {"level": 1}}, False),
        ({"answer": None}, False),
        ({"answer": "no letter"}, False),
        ({"question": None}, False),
    ],
)
def test_what_both_sides_know_is_compared_and_nothing_else(changed, differs):
    assert different(ASKED, {**ASKED, **changed}) is differs
    assert different({**ASKED, **changed}, ASKED) is differs


def test_of_another_text_the_right_answer_is_the_same():
    assert not different(ASKED, {**ASKED, "question": "What?"}, mcqa, RIGHT)


def test_of_a_hand_its_numbers_and_target_are_what_is_right():
    hand = {"numbers": [4, 9, 10, 13]}
    assert not different(hand, {"numbers": "4 9 10 13", "target": 24}, game24)
    assert different(hand, {**hand, "target": 25}, game24)
    assert not different(hand, {}, game24), "nobody knows"


def test_of_a_contract_from_a_file_the_answer_is_what_is_right():
    assert different({"answer": {"grams": 3}}, {"answer": {"grams": 4}}, Parts())
    assert not different({"answer": 3}, {"grams": 3}, Parts())


def test_rows_that_contradict_each_other_differ_from_those_that_agree():
    rows = [(HERE, content_of({"answer": key}, mcqa)) for key in "AB"]
    assert differing(together(rows), together(rows[:1])) == {HERE}
    assert differing(together(rows), together(rows[::-1])) == set()


def test_of_frozen_items_every_field_but_the_metadata_is_compared():
    kept = content_of_frozen({**ASKED, "metadata": {"level": 1}}, mcqa)
    assert not differing({HERE: kept}, {HERE: content_of_frozen({**ASKED, "metadata": {}}, mcqa)})
    assert differing({HERE: kept}, {HERE: content_of_frozen({**ASKED, "hint": "no"}, mcqa)})
    assert not differing({HERE: kept}, {HERE: content_of({**ASKED, "hint": "no"}, mcqa)}), (
        "of a row from elsewhere"
    )
