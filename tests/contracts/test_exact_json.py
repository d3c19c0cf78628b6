"""JSON values with exact numbers: equal exactly if they are written alike (rulings O5 and O7)."""

import json
from decimal import Decimal

from hypothesis import example, given
from hypothesis import strategies as st

from affidavit.contracts.exact_json import equal_json, exact_text
from affidavit.contracts.strict_json import decode

numbers = st.one_of(
    st.integers(-(10**25), 10**25),
    st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**6), max_value=10**6),
    st.tuples(st.integers(-(10**9), 10**9), st.integers(-40, 40)).map(
        lambda pair: Decimal(pair[0]).scaleb(pair[1])
    ),
    st.sampled_from([0, 1, Decimal("1.0"), Decimal("-0.0"), Decimal("1E+2"), 100, 10**22, Decimal("1e22")]),
)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.sampled_from(["", "1", "é", "true"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)


@given(values, values)
@example(1, True)
@example(Decimal("1E+30"), 10**30)
@example(Decimal("0.1"), Decimal("0.1000000000000000055"))
@example([0], [False])
def test_equal_values_are_equal_texts(one, other):
    assert equal_json(one, other) == (exact_text(one) == exact_text(other))
    assert equal_json(one, one)


@given(values)
def test_what_is_written_reads_as_it_was(value):
    text = exact_text({"a": value})
    assert text.isascii()
    assert equal_json(decode(text, exact=True), {"a": value})
    assert exact_text(decode(text, exact=True)) == text
    assert json.loads(text).keys() == {"a"}
