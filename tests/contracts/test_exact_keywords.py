"""Conditions on numbers and on equal items, held against exact fractions."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from affidavit import JsonObject
from affidavit.contracts.exact_keywords import EXACT_KEYWORDS

MEANT = {
    "minimum": lambda number, own: number >= own,
    "maximum": lambda number, own: number <= own,
    "exclusiveMinimum": lambda number, own: number > own,
    "exclusiveMaximum": lambda number, own: number < own,
    "multipleOf": lambda number, own: (number / own).denominator == 1,
    "const": lambda number, own: number == own,
}
DRAFT_4 = "http://json-schema.org/draft-04/schema#"

digits = st.text("0123456789", min_size=1, max_size=40).map(lambda text: text.lstrip("0") or "0")
numbers = st.builds(
    lambda sign, whole, fraction, power: f"{sign}{whole}{fraction}{power}",
    st.sampled_from(["", "-"]),
    digits,
    st.one_of(st.just(""), st.text("0059", min_size=1, max_size=30).map(lambda text: f".{text}")),
    st.sampled_from(["", "e0", "e5", "e-5", "E+20", "e-250"]),
)
bounds = st.one_of(st.integers(1, 10**30), st.floats(1e-20, 1e20).map(abs))


def fits(keyword: str, own: float, text: str) -> bool:
    return JsonObject({"properties": {"a": {keyword: own}}}).read(f'{{"a": {text}}}').protocol_compliant


@pytest.mark.slow
@given(st.sampled_from(sorted(MEANT)), bounds, numbers)
@example("maximum", 2.0, "2.0000000000000000001")
@example("minimum", 10**20, "99999999999999999999.5")
@example("exclusiveMinimum", 10**30, "1000000000000000000000000000000.001")
@example("multipleOf", 1, "1.0000000000000000001")
@example("multipleOf", 0.1, "0.30000000000000004")
@example("multipleOf", 0.01, "19.99")
def test_numbers_are_compared_as_they_are_written(keyword, own, text):
    """Ruling O5."""
    exact = Fraction(Decimal(repr(own)))
    assert fits(keyword, own, text) == MEANT[keyword](Fraction(Decimal(text)), exact)


@pytest.mark.slow
@given(st.sampled_from(sorted(MEANT)), bounds, st.sampled_from(["", "0", "000000000000000000001"]))
def test_numbers_near_a_bound_are_told_from_it(keyword, own, more):
    text = format(Decimal(repr(own)), "f")
    near = f"{text}{'' if '.' in text else '.0'}{more}"
    assert fits(keyword, own, near) == MEANT[keyword](Fraction(near), Fraction(Decimal(repr(own))))


def test_in_draft_4_a_bound_may_be_left_out():
    for own, text, fitting in (("exclusiveMinimum", "3.0", False), ("exclusiveMaximum", "3.0", False)):
        bound = own.removeprefix("exclusive").lower()
        for excluded in (True, False):
            part = {bound: 3, own: excluded}
            contract = JsonObject({"$schema": DRAFT_4, "properties": {"a": part}})
            assert contract.read(f'{{"a": {text}}}').protocol_compliant == (fitting or not excluded)


def test_every_keyword_that_is_decided_here_is_meant_here():
    assert EXACT_KEYWORDS.keys() == MEANT.keys() - {"const"} | {"uniqueItems"}


def test_only_numbers_have_bounds():
    part = {"minimum": 5, "multipleOf": 7, "uniqueItems": True}
    contract = JsonObject({"additionalProperties": part})
    assert contract.read('{"a": "1", "b": true, "c": null, "d": [1, 2], "e": {"f": 1}}').protocol_compliant


@pytest.mark.parametrize(
    ("items", "unique"),
    [
        ("1, 1.0", False),
        ("1, true", True),
        ("1, 1.00000000000000000000000000000001", True),
        ('{"a": 1, "b": 2}, {"b": 2.0, "a": 1e0}', False),
        ("[1, 2], [2, 1]", True),
        ('"a", "\\u0061"', False),
        ("0, -0.0", False),
    ],
)
def test_equal_items_are_found(items, unique):
    contract = JsonObject({"properties": {"a": {"uniqueItems": True}}})
    assert contract.read(f'{{"a": [{items}]}}').protocol_compliant == unique


@pytest.mark.slow
@pytest.mark.parametrize("number", [lambda n: 10**25 + n, lambda n: f"1.000000000000000000{n:06}"])
def test_many_items_that_are_one_double_are_told_apart(number):
    """Ruling C4: compared each with each, they took a minute; as texts, less than the blink of an eye."""
    items = ",".join(str(number(n)) for n in range(8_000))
    contract = JsonObject({"properties": {"a": {"uniqueItems": True}}})
    assert contract.read(f'{{"a": [{items}]}}').protocol_compliant
    assert not contract.read(f'{{"a": [{items},{number(0)}]}}').protocol_compliant
