"""The optional parts of a contract: its own, else the defaults; what its code raises is told with the item's place."""

import json

import pytest

from affidavit.contracts.count_table import CountTable
from affidavit.contracts.declaration import DeclaredParts, declaration_of
from affidavit.contracts.game24 import game24
from affidavit.contracts.labels import LabelSet
from affidavit.contracts.mcqa import mcqa
from affidavit.contracts.number import number
from affidavit.contracts.parts import Mark, Parts, is_ours, number_text, parts_of
from affidavit.errors import InputError


class Own:
    """A contract that has but its core."""

    name, version, params = "own", 1, {}


class Generous(Own):
    """One that has parts of its own."""

    mark_fields = (("from", "to"),)
    tables = (CountTable(name="words", question="How many words?", fields=("words",), share="arrived"),)

    def problem(self, row):
        return f"Solve {row['id']}."

    def check(self, row, *, where):
        if row["id"] == "bad":
            raise KeyError("no such id")


class Wordless(Own):
    def problem(self, row):
        return 7


def test_a_contract_of_ours_is_its_own_parts_and_another_is_completed():
    assert parts_of(mcqa) is mcqa
    assert is_ours(game24)
    assert not is_ours(Own())
    assert isinstance(parts_of(Own()), Parts)
    assert parts_of(Own()).counted == Parts.counted


def test_a_contract_gets_a_copy_of_the_row_unless_it_says_otherwise():
    row = {"id": "q1", "nested": [1]}
    item = parts_of(Own()).item(row, where="x:1")
    item["nested"].append(2)
    assert row == {"id": "q1", "nested": [1]}


@pytest.mark.parametrize(
    ("item", "known"), [({"answer": "B"}, True), ({"answer": None}, None), ({}, None), ("x", None)]
)
def test_the_right_answer_is_known_where_the_item_has_one_and_else_only_a_validation_tells(item, known):
    assert parts_of(Own()).right_answer_known(item) is known


def test_parts_of_ones_own_are_asked_and_what_they_raise_is_told_with_the_place():
    parts = parts_of(Generous())
    assert parts.problem({"id": "q1"}) == "Solve q1."
    assert list(parts.marks("so B", {"from": 3, "to": 4})) == [Mark(3, 4, "answer")]
    parts.check({"id": "q1"}, where="items:1")
    with pytest.raises(
        InputError, match=r"^items:2: expected check\(\) of the contract to take this item, found KeyError"
    ):
        parts.check({"id": "bad"}, where="items:2")
    with pytest.raises(InputError, match=r"^the contract's problem\(\): expected a text, found 7"):
        parts_of(Wordless()).problem({})


def test_what_a_study_freezes_of_a_contract_gives_its_tables_and_marks_back():
    frozen = json.loads(json.dumps(declaration_of(Generous())))
    parts = DeclaredParts(frozen)
    assert parts.tables == Generous.tables
    assert parts.mark_fields == Generous.mark_fields
    assert declaration_of(Own()) == {}
    assert DeclaredParts({}).tables == Parts.tables


@pytest.mark.parametrize(
    ("value", "text"),
    [(4, "4"), (0.5, "0.5"), (1e20, "100000000000000000000"), ("4", "4"), (True, True), (None, None)],
)
def test_a_number_is_compared_by_its_text(value, text):
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("answer", "row", "advised"),
    [
        ("E", {}, 'options = "A-E" in a study, `affidavit read mcqa --options A-E`'),
        ("E", {"options": list("vwxyz")}, 'options = "A-E" in a study, `affidavit read mcqa --options A-E`'),
        ("E", {"options": list("wxyz")}, ""),
        ("paris", {}, ""),
        ("e", {}, ""),
        (2, {}, ""),
    ],
)
def test_a_larger_option_set_is_advised_only_where_the_item_may_have_more_options(answer, row, advised):
    hint = mcqa.answer_hint(answer, row)
    assert hint.startswith("A right answer is the letter of an option")
    assert hint.endswith("Unknown: leave it null.")
    assert (advised in hint) if advised else ("options =" not in hint)


@pytest.mark.parametrize(
    ("contract", "raw", "expected"),
    [
        (mcqa, "<answer>B</answer>", True),
        (mcqa, "B. Paris", False),
        (game24, "<answer>(1+2+3)*4</answer>", True),
        (game24, "So it must be\n(1+2+3)*4", True),
        (game24, "I give up.", False),
    ],
)
def test_which_outputs_hold_an_answer(contract, raw, expected):
    """Ruling M6: compliant ones; ruling G12: of hands, whatever holds a candidate, by marker or not."""
    reading = contract.read(raw, None)
    fields = {"protocol_compliant": reading.protocol_compliant, **reading.fields()}
    assert parts_of(contract).holds_answer(fields) is expected


# --- what people say that an output means (ruling S10) ---


@pytest.mark.parametrize(
    ("contract", "typed", "meant"),
    [
        (mcqa, "b", "B"), (mcqa, "B.", "B"), (mcqa, "(B)", "B"), (mcqa, "48", None), (mcqa, "B. 64", None), (mcqa, "", None),
        (number, "1,201", "1201"), (number, "1201.0", "1201"), (number, "a dozen", None),
        (LabelSet(["blue", "red"]), "red, blue", "blue, red"), (LabelSet(["blue", "red"]), "green", None),
        (game24, "8 / (3 - 8/3)", "8 / (3 - 8/3)"),
    ],
)  # fmt: skip
def test_what_a_person_means_is_written_as_right_answers_are(contract, typed, meant):
    assert parts_of(contract).meant(typed) == meant


def test_answers_that_are_few_can_be_chosen_from():
    assert mcqa.meanings({"options": "A-C"}) == ("A", "B", "C")
    assert mcqa.meanings({"options": "auto"}) == number.meanings({}) == LabelSet(["a", "b"]).meanings({}) == ()
    assert LabelSet(["a", "b"], single=True).meanings({}) == ("a", "b")


@pytest.mark.parametrize(
    ("contract", "right_answer"), [(mcqa, "B"), (number, "1,201"), (LabelSet(["blue", "red"]), "red, blue")]
)
def test_what_can_be_compared_is_compared_with_the_right_answer_as_tables_have_it(contract, right_answer):
    columns = contract.result_columns({"right_answer": right_answer}, contract.params)
    assert parts_of(contract).meaning_compared
    assert contract.meant(right_answer) == columns["right_letter"]


def test_a_contract_without_a_right_text_compares_nothing():
    assert not any(parts_of(each).meaning_compared for each in (game24, Own()))
