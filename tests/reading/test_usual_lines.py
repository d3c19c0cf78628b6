"""However lines are decoded, what is usual is the same, and so are texts and their JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.reading.usual_lines import UsualLines

FIRST = {"id": "q", "raw_output": None, "more": "m"}
text = st.text(st.sampled_from('aB"\\\n\t /<>{}:,1é\x00\x7f\x1f\u2028😀'), max_size=6)
row = st.fixed_dictionaries({"id": text, "raw_output": st.none() | text, "more": text})
lines = UsualLines(FIRST, frozenset({"raw_output"}))
STYLES = [{}, {"separators": (",", ":")}, {"ensure_ascii": False}, {"separators": (" ,", " : ")}]


def found(content: bytes):
    usual = lines.of(content)
    if usual is None:
        return None
    return [{name: column.to_list() for name, column in columns.items()} for columns in usual]


@pytest.mark.slow
@given(st.lists(st.tuples(row, st.sampled_from(STYLES)), min_size=1), st.booleans(), st.booleans())
def test_texts_are_those_that_were_written_in_any_style(written, one_style, at_end):
    styles = [written[0][1] if one_style else style for _, style in written]
    content = "\n".join(json.dumps(each, **style) for (each, _), style in zip(written, styles, strict=True))
    values = {name: [each[name] for each, _ in written] for name in FIRST}
    escaped = {
        name: [None if each is None else json.dumps(each)[1:-1] for each in texts]
        for name, texts in values.items()
    }
    assert found((content + "\n" * at_end).encode()) == [values, escaped]


@pytest.mark.parametrize(
    "line",
    [
        '{"id": "q", "raw_output": "x", "more": null}',
        '{"id": "q", "raw_output": "x", "more": 5}',
        '{"id": "q", "raw_output": "x"}',
        '{"id": "q", "raw_output": "x", "more": "m", "extra": "e"}',
        '{"id": "q", "raw_output": "x", "more": "m", "extra": 5}',
        '{"id": "q", "raw_output": "\\ud800", "more": "m"}',
        '{"id": "q", "raw_output": "x", "more": "m"} {"id": "q", "raw_output": "x", "more": "m"}',
        '{"id": "q", "raw_output": ["x"], "more": "m"}',
        '{"id": "q", "raw_output": "x", "more": "m"',
        "",
        "null",
    ],
)
def test_one_line_that_is_not_usual_leaves_none(line):
    usual = '{"id": "q", "raw_output": "x", "more": "m"}'
    for content in (f"{usual}\n{line}\n{usual}\n", f"{line}\n{usual}"):
        assert found(content.encode()) is None
    assert found(f"{usual}\n".encode() + b'{"id": "q", "raw_output": "\xff", "more": "m"}\n') is None


def test_fields_may_stand_in_another_order():
    content = '{"more": "m", "id": "q", "raw_output": null}\n'
    assert found(content.encode()) == [
        {"id": ["q"], "raw_output": [None], "more": ["m"]},
        {"id": ["q"], "raw_output": [None], "more": ["m"]},
    ]


def test_rows_of_other_values_have_no_usual_lines():
    for first in ({}, {"id": 5}, {"id": None}, {'a"': "x"}):
        assert not UsualLines(first, frozenset()).possible
