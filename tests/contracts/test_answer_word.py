"""Patterns that begin with `answer` match where a search through the whole text finds them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.contracts.answer_word import matches_at_answer
from affidavit.contracts.harness_readings import _IN_PARENTHESES, _without_parentheses
from support.harness_texts import PARTS
from support.strategies import any_text, made_of

FORMS = [
    re.compile(pattern, flags)
    for pattern, flags in (
        (r"(?i)answer\s*:\s*([A-D])", 0),
        (r"^ANSWER\s*:\s*(\w*)", re.IGNORECASE | re.MULTILINE),
        (r"ANSWER\s*:(?:\s*([A-Za-z\d ,]+)(?!\w)|(?= ))", re.IGNORECASE),
        (r"answer(?:answer)?", re.IGNORECASE),
    )
]
texts = made_of(
    "answer", "ANSWER", "anſwer", "Answer: ", ": ", "B", "b,", " ", "\n", "\r", "İ", "ß", "ans", "wer", "é"
)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.pattern)
@given(text=any_text | texts | made_of(*PARTS))
def test_matches_are_those_of_a_search_through_the_text(form, text):
    expected = [(match.span(), match.groups()) for match in form.finditer(text)]
    assert [(match.span(), match.groups()) for match in matches_at_answer(form, text)] == expected


@given(st.text("(A)1b:, .\n\u2003ſé$") | any_text | made_of(*PARTS))
def test_parentheses_go_where_the_pattern_of_inspect_takes_them_away(text):
    """Ruling M25."""
    whole = re.compile(rf"(^|[:,])(\s*){_IN_PARENTHESES.pattern}", re.IGNORECASE)
    assert _without_parentheses(text) == whole.sub(r"\1\2\3", text)
