"""Names that two values of one object have are refused, wherever they stand, and texts that look like them are not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.errors import InputError
from affidavit.exchange.json_documents import document, lines, row_in, row_of
from affidavit.exchange.repeated_names import refuse_repeated_names

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.sampled_from('a":\\ {},')),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.sampled_from('a":\\ '), max_size=3), inner)
    ),
    max_leaves=12,
)


@given(VALUES, st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]), st.sampled_from([None, 2]))
def test_what_has_every_name_once_is_never_refused(value, separators, indent):
    text = json.dumps(value, separators=separators, indent=indent)
    refuse_repeated_names(text, value, where="here")
    refuse_repeated_names(text.encode(), value, where="here")


@given(VALUES, st.sampled_from([(",", ":"), (", ", ": ")]))
def test_a_name_that_is_there_twice_is_found_among_any_values(value, separators):
    one, two = (json.dumps(each, separators=separators) for each in (value, [value]))
    text = f'[{one}, {{"in": {{"x": {one}, "x": {two}}}}}]'
    with pytest.raises(InputError, match=r'found "x" twice'):
        refuse_repeated_names(text, json.loads(text), where="here")


def test_blanks_before_colons_hide_nothing():
    text = '{"a" : 1, "b" :\n2, "a"\t: 3}'
    refuse_repeated_names(text.replace('"a"', '"c"', 1), {"c": 1, "b": 2, "a": 3}, where="here")
    with pytest.raises(InputError, match='found "a" twice: 1 and 3'):
        refuse_repeated_names(text, json.loads(text), where="here")


def test_a_name_behind_an_escape_is_the_same_name():
    text = '{"a": 1, "\\u0061": 2}'
    with pytest.raises(InputError, match="twice: 1 and 2"):
        refuse_repeated_names(text, json.loads(text), where="here")


def test_documents_and_lines_are_refused_with_their_place(tmp_path):
    text = '{"a": {"prediction": "A", "prediction": "B"}}'
    (tmp_path / "log.json").write_text(text)
    (tmp_path / "log.jsonl").write_text(f'{{"a": 1}}\n{text}\n')
    with pytest.raises(InputError, match=r'log.json: .* found "prediction" twice: "A" and "B"'):
        document(tmp_path / "log.json", what="a log")
    assert document(tmp_path / "log.json", what="a log", may_repeat=True) == {"a": {"prediction": "B"}}
    with pytest.raises(InputError, match=r"log.jsonl:2: .* twice"):
        list(lines(tmp_path / "log.jsonl"))
    for read, line in ((row_of, text), (row_in, text.encode())):
        with pytest.raises(InputError, match=r"x:1: .* twice"):
            read(line, where="x:1")
