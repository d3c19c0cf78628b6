"""Members of an object as they were written: their texts are those that a reader of JSON would read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.errors import InputError
from affidavit.exchange.raw_object import RawObject
from support.strategies import any_text

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(any_text, values, max_size=4), st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_every_value_is_found_where_it_stands(fields, ascii_alone, indent):
    """Whatever stands in texts and keys: brackets, quotes, backslashes."""
    read = RawObject(json.dumps(fields, ensure_ascii=ascii_alone, indent=indent), where="x")
    for name, value in fields.items():
        assert name in read
        assert json.dumps(json.loads(read.text(name))) == json.dumps(value)
        assert json.dumps(read.value(name)) == json.dumps(value)
    assert "no such key".join(fields) in fields or read.text("no such key".join(fields)) is None


@pytest.mark.parametrize(
    "text",
    ["", " ", "[]", "7", '"a"', "{", "}", '{"a"}', '{"a":}', '{"a" 1}', '{"a": 1} 2', '{"a": "b', '{"a": [1', "{'a': 1}",
     '{"a": 1 "b": 2}', "{1: 2}", '{"a": {"b": "}"}', '{"a": 1,}', "{,}", '{"\\x": 1}', '{"a": ]}'],
)  # fmt: skip
def test_what_is_no_object_is_refused_with_its_place(text):
    with pytest.raises(InputError, match="out:3"):
        RawObject(text, where="out:3")


def test_a_key_that_comes_twice_is_refused_when_it_is_asked_for():
    read = RawObject('{"a": 1, "b": 2, "\\u0061": 1}', where="out:3")
    assert read.value("b") == 2
    with pytest.raises(InputError, match="expected the key 'a' once, found it 2 times"):
        read.value("a")


@pytest.mark.parametrize("value", ["[tru]", "[1 2]", "-", "[" * 100_000 + "]" * 100_000])
def test_a_value_that_is_no_json_is_refused_when_it_is_read_and_not_before(value):
    read = RawObject(f'{{"id": "k", "body": {value}}}', where="out:3")
    assert (read.value("id"), read.text("body")) == ("k", value)
    with pytest.raises(InputError, match="expected JSON in 'body'"):
        read.value("body")
