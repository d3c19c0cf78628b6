"""What number/1 states of itself: parameters, words, grammar, keys, examples, marks; and what it refuses."""

import json
import random
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit import AnswerKey, Number, number
from affidavit.contracts.contract import label
from affidavit.contracts.notation import Notation, exact_text
from affidavit.contracts.number import FREE_CHARACTERS
from affidavit.contracts.number_deviation import NumberDeviation
from affidavit.contracts.number_parameters import exact_tolerance
from affidavit.contracts.parts import ANSWER, PLACE, Mark
from affidavit.contracts.registry import contract_named
from affidavit.errors import InputError

PARAMETERS = [
    {},
    {"marker": "####"},
    {"marker": 'Say "\\":', "unit": "$"},
    {"decimal": ",", "thousands": "."},
    {"decimal": ",", "thousands": "", "sign": False, "unit": "km/h"},
    {"tolerance": 0.5},
]


# --- parameters ---


def test_a_contract_says_who_it_is():
    assert label(number) == "number/1"
    assert number.params == {
        "marker": "", "thousands": ",", "decimal": ".", "sign": True, "unit": "", "tolerance": "0",
    }  # fmt: skip
    assert number.params.keys() == number.parameters.keys()
    assert number.read(number.passing).protocol_compliant
    assert number.read(number.failing).deviation is NumberDeviation.UNIT_UNKNOWN


@pytest.mark.parametrize("given", PARAMETERS)
def test_parameters_give_the_same_contract_again(given):
    """Ruling C3: as JSON, as a study keeps them."""
    contract = contract_named("number", parameters=given)
    kept = json.loads(json.dumps(contract.params))
    assert contract_named("number", parameters=kept) == contract == Number(**given)


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"marker": 4}, "marker"),
        ({"marker": " ####"}, "marker"),
        ({"marker": "a\nb"}, "marker"),
        ({"marker": "#" * 51}, "marker"),
        ({"marker": "<answer>"}, "marker"),
        ({"marker": "Answer 1"}, "marker"),
        ({"marker": "Answer -"}, "marker"),
        ({"marker": "\ud800"}, "marker"),
        ({"marker": None}, "marker"),
        ({"thousands": ";"}, "thousands"),
        ({"thousands": [","]}, "thousands"),
        ({"thousands": "."}, "thousands"),
        ({"decimal": ","}, "thousands"),
        ({"decimal": ""}, "decimal"),
        ({"decimal": {"a": 1}}, "decimal"),
        ({"sign": "yes"}, "sign"),
        ({"sign": 1}, "sign"),
        ({"unit": "m2"}, "unit"),
        ({"unit": "a-b"}, "unit"),
        ({"unit": "a.b"}, "unit"),
        ({"unit": "a" * 21}, "unit"),
        ({"unit": "<b>"}, "unit"),
        ({"unit": ["$"]}, "unit"),
        # Whatever looks like a sign or a digit, in any script (rulings N3, N5).
        *(({"unit": sign}, "unit") for sign in "−‐‑‒–—―﹘﹣＋－±∓⁻₊˗➖"),
        *(({"unit": f"k{sign}m"}, "unit") for sign in "−–＋"),
        *(({"unit": digit}, "unit") for digit in "７٣७𝟕²½"),
        ({"unit": "m２"}, "unit"),
        ({"unit": "⁻¹"}, "unit"),
        *(({"thousands": "", "unit": point}, "unit") for point in ",."),
        *(({"thousands": " ", "decimal": decimal, "unit": "a.b,c"}, "unit") for decimal in ",."),
        *(({"marker": f"Answer {last}"}, "marker") for last in "−–—－＋７٣⁻"),
        ({"tolerance": -1}, "tolerance"),
        ({"tolerance": "0,5"}, "tolerance"),
        ({"tolerance": "1e-3"}, "tolerance"),
        ({"tolerance": float("nan")}, "tolerance"),
        ({"tolerance": float("inf")}, "tolerance"),
        ({"tolerance": True}, "tolerance"),
        ({"tolerance": None}, "tolerance"),
        ({"tolerance": []}, "tolerance"),
        ({"tolerance": "1" * 1001}, "tolerance"),
        ({"tolerance": 10**5000}, "tolerance"),
    ],
)
def test_a_parameter_that_does_not_fit_is_refused_at_its_name(given, where):
    with pytest.raises(InputError) as caught:
        contract_named("number", parameters=given)
    assert caught.value.where == f"parameters.{where}"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(list(number.parameters)), json_values, max_size=3))
def test_any_value_of_a_parameter_is_taken_or_refused_at_its_name(given):
    contract, refused = number, ""
    try:
        contract = number.with_parameters(given)
    except InputError as error:
        refused = error.where
    assert not refused or refused.removeprefix("parameters.") in number.parameters
    assert number.with_parameters(json.loads(json.dumps(contract.params))) == contract


@pytest.mark.parametrize("unit", ["m²", "s⁻¹", "°C", "km/h", "$", "%", "'", "m s", "万"])
def test_a_unit_may_hold_exponents_and_any_letters(unit):
    contract = Number(unit=unit)  # ruling N5
    assert contract.read(f"<answer>-72 {unit}</answer>").value == "-72"


def test_a_tolerance_is_kept_exactly():
    assert [exact_tolerance(given) for given in (1, "1.50", 1e-7, "0.000")] == ["1", "1.5", "0.0000001", "0"]


# --- words and grammar ---


def test_the_instruction_says_where_and_how():
    """Ruling N9: no number stands in it, for small models copy what they are shown."""
    assert (
        number.instruction()
        == number.instruction(AnswerKey("72"))
        == (
            "You may show intermediate steps. Put the final number, and nothing else, between <answer> and </answer>."
        )
    )
    assert Number(marker="####").instruction() == (
        "You may show intermediate steps. End with a line that holds #### and the final number, and nothing else."
    )
    said = Number(decimal=",", thousands="", sign=False, unit="km").instruction()
    assert said.endswith(
        "Write decimals with a comma. Write the number without a sign. Its unit, km, may be added or left out."
    )
    assert not any(re.search("[0-9]", Number(**parameters).instruction()) for parameters in PARAMETERS)


def drawn(grammar: str, chance: random.Random) -> str:
    """A text that a grammar of ours gives: its free part is made of what could do harm, everything is as long as it may."""
    harm = ["#", "\n", "####", "answer>", "/think>", "Answer:", "7", "-", "\r", "\ud800", "\0", "é", " "]
    free = "".join(chance.choice(harm) for _ in range(chance.randint(0, FREE_CHARACTERS)))[:FREE_CHARACTERS]
    rules = dict(line.split(" ::= ") for line in grammar.splitlines())
    assert rules["free"] == f"[^<]{{0,{FREE_CHARACTERS}}}"
    assert rules["whole"] == '"0" | [1-9] [0-9]{0,14}'
    assert rules["decimals"] == "[0-9]{1,6}"
    whole = chance.choice(["0", "7", "1" + "0" * 14])
    sign, separator = re.fullmatch(r'(?:("-")\? )?whole \("(.)" decimals\)\?', rules["number"]).groups()
    written = chance.choice(["", "-"] if sign else [""]) + whole
    written += chance.choice(["", f"{separator}0", f"{separator}123456"])
    if rules["root"] == 'root ::= free "<answer>" number "</answer>"'.removeprefix("root ::= "):
        return f"{free}<answer>{written}</answer>"
    literal = re.fullmatch(r'\(free "\\n"\)\? "((?:[^"\\]|\\.)*)" number', rules["root"])[1]
    marker = re.sub(r"\\(.)", r"\1", literal)
    return chance.choice([f"{free}\n", ""]) + marker + written


@pytest.mark.parametrize("given", PARAMETERS)
def test_whatever_a_grammar_gives_is_compliant(given):
    """Ruling N9."""
    contract, chance = Number(**given), random.Random(9)  # noqa: S311
    for _ in range(500):
        text = drawn(contract.grammar(), chance)
        assert contract.read(text).deviation is None, text


# --- right answers ---


@pytest.mark.parametrize(
    "key",
    ["", "unknown", "1,07", "1e5", True, [72], {}, float("nan"), float("inf"), "1" * 1001, 10**1000, 10**5000],
    ids=lambda key: type(key).__name__,
)
def test_a_key_that_no_output_could_give_is_refused(key):
    with pytest.raises(InputError, match="items:1: expected a number, as an output would write it"):
        number.item({"answer": key}, where="items:1")


def test_a_key_depends_on_the_notation():
    """Ruling N7: a text is read as an output is, so a sign that outputs may not have is in no key."""
    with pytest.raises(InputError):
        Number(sign=False).item({"answer": -1}, where="items:1")
    with pytest.raises(InputError):
        Number(decimal=",", thousands=".").item({"answer": "1.5"}, where="items:1")
    assert Number(decimal=",", thousands=".").item({"answer": 1.5}, where="items:1") == AnswerKey("1,5")
    assert number.item({"answer": Decimal("1.50")}, where="items:1") == AnswerKey("1.50")
    assert number.item({"answer": None}, where="items:1") == number.item({}, where="items:1") == AnswerKey(None)


def test_nothing_is_compared_without_an_answer_or_a_key():
    """Ruling N8, as M6 has it."""
    assert number.validate(number.read("72"), AnswerKey("72")) is None
    assert number.validate(number.read("<answer>72</answer>"), AnswerKey(None)) is None
    with pytest.raises(InputError, match="a number to compare with"):
        number.validate(number.read("<answer>72</answer>"), AnswerKey("B"))


@pytest.mark.parametrize(("contract", "answer"), [(number, "0.1"), (Number(decimal=",", thousands=""), "0,1")])
def test_a_key_in_python_may_be_a_number(contract, answer):
    reading = contract.read(f"<answer>{answer}</answer>")
    for key in (0.1, Decimal("0.10")):
        assert contract.validate(reading, AnswerKey(key)).correct  # ruling N7
    assert not contract.validate(reading, AnswerKey(1)).correct


@pytest.mark.parametrize("key", [True, ["0.1"], {}, float("nan"), 10**2000, object(), -1])
def test_a_key_in_python_that_is_no_number_is_refused(key):
    contract = Number(sign=False)
    with pytest.raises(InputError, match=r"^answer: expected a number to compare with, found "):
        contract.validate(contract.read("<answer>0.1</answer>"), AnswerKey(key))


def test_numbers_are_exact_texts():
    assert [exact_text(each) for each in (0.1, 1e22, -5, 10**1000, "1", None)] == [
        "0.1", "10000000000000000000000", "-5", None, None, None,
    ]  # fmt: skip
    assert Notation(decimal=",", thousands="").written("0.5") == "0,5"


# --- examples, marks, columns of results ---


@pytest.mark.parametrize("given", PARAMETERS)
def test_an_example_is_right_and_compliant(given):
    contract, row = Number(**given), {"question": "?", "answer": 1072.5}
    reading = contract.read(contract.example(row, where="items:1"))
    assert contract.validate(reading, contract.item(row, where="items:1")).correct
    assert contract.example({"question": "?"}, where="items:1") is None


def test_the_number_is_marked_or_what_stands_in_its_place():
    raw = "So <answer> 72 </answer>"
    assert list(number.marks(raw, number.read(raw).fields())) == [Mark(12, 14, ANSWER)]
    raw = "So <answer> 72 clips </answer>"
    assert list(number.marks(raw, number.read(raw).fields())) == [Mark(12, 20, PLACE)]
    for raw in ("72", "<answer> </answer>"):
        assert list(number.marks(raw, number.read(raw).fields())) == []


@pytest.mark.parametrize(
    ("raw", "marker"),
    [
        ("#### 72", "####"),
        ("So\r  ####72", "####"),
        ("Answer: 7\n#### 72", "####"),
        ("Answer: 7", "Answer:"),
        ("answer: 7", None),
        ("The Answer: 7", None),
        ("#### 7</think>It is 7.", None),
        ("<answer>7</answer>\n#### 7", None),
        ("<answer>7 clips</answer>\n#### 7", None),
        ("", None),
    ],
)
def test_a_marker_is_proposed_where_it_would_be_read(raw, marker):
    """A block counts before every marker line (ruling N2): where there is one, a marker changes nothing."""
    advice = number.advice(raw, number.read(raw).fields())
    assert (None if advice is None else advice.value) == marker
    if marker is not None:
        assert Number(marker=marker).read(raw).extraction_method == "marker_line"
    assert Number(marker="Result:").advice(raw, Number(marker="Result:").read(raw).fields()) is None


def test_equal_numbers_are_equal_answers():
    """Ruling N8: a majority is over values."""
    answers = [
        number.result_columns(number.read(f"<answer>{text}</answer>").fields(), {})["answer"]
        for text in ("1,072", "1072.0", "x")
    ]
    assert answers == ["1072", "1072", None]


@pytest.mark.parametrize(
    ("key", "right"),
    [
        ("24 + 48 = 72\n#### 72", "72"),
        ("#### 1,072.50", "1072.5"),
        ("1,072", "1072"),
        (72, "72"),
        (72.0, "72"),
        (None, None),
        (True, None),
        (["72"], None),
        ({}, None),
        ("\ud800", None),
        ("many", None),
        (10**4000, None),
    ],
)
def test_results_have_the_right_number_whatever_the_key_looks_like(key, right):
    """Ruling N7. A record may hold anything: what is no key is none."""
    assert number.result_columns({"right_answer": key}, {}) == {"answer": None, "right_letter": right}
    assert number.result_columns({}, {})["right_letter"] is None


def test_the_right_number_is_written_as_outputs_are():
    german = Number(decimal=",", thousands=".")
    assert german.result_columns({"right_answer": 0.5}, {})["right_letter"] == "0,5"


@pytest.mark.parametrize(
    ("given", "raw", "unit"),
    [
        ({}, "<answer>$42</answer>", "$"),
        ({}, "<answer>42€</answer>", "€"),
        ({"marker": "####"}, "#### $1,042.50", "$"),
        ({"marker": "####"}, "#### 42 clips", None),
        ({"marker": "####"}, "#### 42", None),
        ({"unit": "€"}, "<answer>$42</answer>", None),
        ({}, "<answer>about $42</answer>", None),
    ],
)
def test_a_sign_of_money_is_proposed_as_the_unit_that_would_have_it_read(given, raw, unit):
    contract = Number(**given)
    advice = contract.advice(raw, contract.read(raw).fields())
    assert (None if advice is None else (advice.parameter, advice.value)) == (unit and ("unit", unit))
    if unit:
        assert Number(**given, unit=unit).read(raw).protocol_compliant
