"""A contract with its parameters in words: the one place for headings, notes and moved readings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit import LabelSet, MultipleChoice, mcqa
from affidavit.contracts.number import Number
from affidavit.contracts.parts import parts_of
from affidavit.contracts.read_by import ReadBy
from affidavit.contracts.registry import BUILT_IN, contract_named


@pytest.mark.parametrize("contract", BUILT_IN.values(), ids=list(BUILT_IN))
def test_a_contract_as_it_is_named_has_no_parameters_in_its_words_but_required_ones(contract):
    required = parts_of(contract).required_parameters
    words = str(ReadBy.of(contract))
    assert words.startswith(f"{contract.name}/{contract.version}")
    assert (words == f"{contract.name}/{contract.version}") == (not required)


@pytest.mark.parametrize(
    ("contract", "words"),
    [
        (Number(marker="####", unit="km"), "number/1, marker ####, unit km"),
        (Number(sign=False), "number/1, sign no"),
        (Number(thousands=" "), 'number/1, thousands " "'),
        (Number(thousands=".", decimal=","), 'number/1, thousands ., decimal ","'),
        (Number(thousands=""), "number/1, thousands none"),
        (MultipleChoice("A-E"), "mcqa/1, options A-E"),
        (mcqa.with_options("auto"), "mcqa/1, options auto"),
        (contract_named("mcqa-reasoned", "auto"), "mcqa-reasoned/1, options auto"),
        (LabelSet(["a", "b"], none="none"), "labels/1, labels [a, b], none none"),
    ],
    ids=str,
)
def test_parameters_that_are_not_the_defaults_follow_the_label(contract, words):
    assert str(ReadBy.of(contract)) == words


def test_of_a_contract_that_is_not_ours_all_parameters_are_said():
    described = {"contract": "mine/3", "params": {"deep": {"x": 1}, "off": None}}
    assert str(ReadBy.frozen(described)) == "mine/3, deep {…}, off none"


def test_what_differs_is_told_apart_however_long_it_is():
    first, second = (ReadBy("x/1", {"labels": ["label"] * many}) for many in (50, 51))
    ((_, one, two),) = first.differing(second)
    assert one != two
    assert max(len(one), len(two)) < 100
    assert first.differing(first) == []


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.dictionaries(st.text(), VALUES, max_size=3), st.dictionaries(st.text(), VALUES, max_size=3))
def test_whatever_a_directory_says_has_words(first, second):
    one, two = (ReadBy.frozen({"contract": "x/1", "params": params}) for params in (first, second))
    assert str(one).startswith("x/1")
    assert (one.differing(two) == []) == all(first.get(name) == second.get(name) for name in {*first, *second})
    assert all(each.first != each.second for each in one.differing(two))


@pytest.mark.parametrize("described", [{}, {"contract": "x/1"}, {"contract": "x/1", "params": [1]}])
def test_a_description_without_parameters_has_words_too(described):
    assert ReadBy.frozen(described).params == {}


def test_what_is_required_is_always_said():
    """The example of the list of contracts has labels of its own, which are nobody's default."""
    assert str(ReadBy.of(BUILT_IN["labels"])).startswith("labels/1, labels [economy, politics, sport]")
