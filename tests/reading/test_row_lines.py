"""Rows keep their bytes."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.errors import InputError
from affidavit.reading.row_lines import decode_line, decode_row, splice
from affidavit.reading.utf8 import decoded

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("{}", '{"new": 1}'),
        ("{ }", '{ "new": 1}'),
        ('{"a":1.0}', '{"a":1.0, "new": 1}'),
        ('{"a": 1 }  \r', '{"a": 1 , "new": 1}  \r'),
        ('{"a":"\\ud800","a":"2"}', '{"a":"\\ud800","a":"2", "new": 1}'),
        ('{"a":' + "9" * 5000 + "}", '{"a":' + "9" * 5000 + ', "new": 1}'),
        ('{"a":NaN, "b":1e999}', '{"a":NaN, "b":1e999, "new": 1}'),
        ('{"s":"}"}', '{"s":"}", "new": 1}'),
        ('{"new":0,"a":1}', '{"a":1, "new": 1}'),
        ('{"a":1 , "new" : [1,{"new":2}],"b":"x"}\r', '{"a":1, "b":"x", "new": 1}\r'),
        ('{"n\\u0065w":0, "new":0, "z":1.50}', '{"z":1.50, "new": 1}'),
        ('{"new":0}', '{"new": 1}'),
    ],
)
def test_only_the_new_field_is_new(line, expected):
    assert splice(line, decode_row(line, where="x:1"), {"new": 1}) == expected


@pytest.mark.slow
@given(
    st.dictionaries(st.text(st.characters()), values, max_size=5), st.dictionaries(st.text(), values, max_size=3)
)
def test_a_spliced_row_is_the_row_with_its_fields(row, added):
    line = json.dumps(row)
    spliced = splice(line, decode_row(line, where="x:1"), added)
    expected = {**{key: value for key, value in row.items() if key not in added}, **added}
    # Compared as text, because NaN is not equal to itself.
    assert json.dumps(json.loads(spliced)) == json.dumps(expected)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("", "an end that comes too early, at column 1"),
        ("[1]", "[1]"),
        ("1", "1"),
        ("null", "null"),
        ('"x"', '"x"'),
        ("{", "an end that comes too early, at column 2"),
        ('{"a":}', "no JSON at column 6: '}'"),
        ("{'a': 1}", "a single quote, where JSON has a double quote, at column 2"),
        ('{"a":1} {"b":2}', "more than one value, at column 9"),
        ('{"a": [1, 2, ], "b": 1}', "a comma before ] at column 12: ', ], \"b\": 1}'"),
        ('{"a": 1, }', "a comma before } at column 8: ', }'"),
        ('{"a": "b, "c": 1}', "no JSON at column 12"),
        ('{"a": "b"  "c": 1}', "no comma at column 12"),
        ('{"a": "b', "a text that does not end, at column 7: '\"b'"),
        ("[" * 100_000, "one nested too deeply"),
    ],
)
def test_what_is_no_object_is_refused_with_its_place_and_why(line, found):
    with pytest.raises(InputError, match=re.escape(f"x:7: expected a JSON object, found {found}")):
        decode_row(line, where="x:7")


def outcome(read, line: bytes) -> str:
    """The fields with their types, or the words of the refusal."""
    try:
        return repr(read(line))
    except InputError as error:
        return str(error)


def told_twice(line: bytes) -> tuple[str, str]:
    """What the quick reader says of a line, and what the other says of its text."""
    quick = outcome(lambda given: decode_line(given, where="x:7"), line)
    return quick, outcome(lambda given: decode_row(decoded(given, where="x:7"), where="x:7"), line)


@pytest.mark.parametrize(
    "line",
    [
        b'{"a": 1, "a": [2.5, "\xc3\xa9"]}\r\n',
        b' {"a": -0, "b": -0.0, "c": 1e-7, "d": 123456789012345678901234567890}',
        b'{"a": NaN, "b": Infinity, "c": 1e400}',
        b'{"a": "\\ud800", "b": "\x01\t"}',
        b'{"a": ' + b"1" * 3999 + b"}",
        b'{"a": ' + b"1" * 4000 + b', "b": -' + b"1" * 4200 + b"}",
        b'{"a": ' + b"1" * 5000 + b"}",
        b'{"a": "' + b"1" * 5000 + b'"}',
        b'{"a": "\xff"}',
        b'\xef\xbb\xbf{"a": 1}',
        b'{"a": ' + b"[" * 100_000,
        b"[1]",
        b'{"a": 1} {"b": 2}',
        b"{'a': 1}",
        b"",
    ],
)
def test_a_line_is_what_its_text_is(line):
    quick, usual = told_twice(line)
    assert quick == usual


@given(
    st.dictionaries(st.text(), st.recursive(st.none() | st.floats() | st.integers() | st.text(), st.lists)),
    st.booleans(),
)
def test_any_line_is_what_its_text_is(row, ascii_only):
    quick, usual = told_twice(json.dumps(row, ensure_ascii=ascii_only).encode())
    assert quick == usual
