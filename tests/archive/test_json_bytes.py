"""The quick reader of JSON reads as Python's own: the same value, or the same refusal."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from affidavit.archive.json_bytes import indented, loads

FRAGMENTS = st.sampled_from(
    [
        "{", "}", "[", "]", ",", ":", '"', "\\", "\\ud800", "\\ud83d\\ude00", "\\u0000", '"a"', "null", "true", "NaN",
        "-Infinity", "0", "-0", "-0.0", "1e400", "1e-400", "12345678901234567890123", "0.1", "01", "1.", ".5", "+1",
        " ", "\n", "\t", "\x00", "\ufeff", "é", "\u2028", "{}", "[]", '{"a":1,"a":2}', "// x", "'a'",
    ]
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=())), inner),
)


def outcome(read, content: bytes) -> str:
    """The value with its types, or what kind of refusal it was."""
    try:
        return repr(read(content))
    except ValueError as error:
        return "UnicodeDecodeError" if isinstance(error, UnicodeDecodeError) else "ValueError"
    except RecursionError:
        return "RecursionError"


def same(content: bytes) -> None:
    assert outcome(loads, content) == outcome(lambda given: json.loads(given.decode("utf-8")), content)


@given(st.lists(FRAGMENTS).map("".join))
def test_pieces_of_json(text):
    same(text.encode())


@pytest.mark.slow
@given(VALUES, st.booleans())
def test_whatever_python_writes(value, ascii_only):
    same(json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass"))


@pytest.mark.slow
@given(VALUES)
@example({"": [], "a": {}, "b": [[], {}, [{}]], "c": '\x00\u2028\\"/', "d": "\ud800", "e": -0.0, "f": 10**40})
def test_an_indent_is_python_s_own(value):
    assert indented(value) == json.dumps(value, indent=2)


@given(st.binary())
@example(b'"\xff"')
@example(b'{"a": "\xc3\x28"}')
@example(b'"\xed\xa0\x80"')
@example(b"\xef\xbb\xbf{}")
@example('{"a": 1}'.encode("utf-16"))
@example(b"")
def test_any_bytes(content):
    same(content)


@pytest.mark.parametrize("depth", [100, 100_000])
def test_nesting(depth):
    same(b"[" * depth + b"]" * depth)
