"""One strict JSON object, or every reason why a text is none: codes, places and what was found there."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.contracts.strict_json import DEEPEST, LARGEST, Refused, decode

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.slow
@given(
    st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), values),
    st.sampled_from(["", " ", "\r\n\t"]),
)
def test_any_object_comes_back_with_json_s_own_blanks_around_it(value, blank):
    assert decode(f"{blank}{json.dumps(value)}{blank}") == value


REFUSED = {
    "nothing": ("", [("json_syntax", "$", "Expecting value at line 1, column 1"), ("no_json", "$", '""')]),
    "prose": ("I would rather not.", [("json_syntax", "$", None), ("no_json", "$", '"I would rather not."')]),
    "a list": ("[1]", [("no_json", "$", '"[1]"'), ("not_an_object", "$", None)]),
    "a list of objects": ('[{"a": 1}]', [("not_an_object", "$", None)]),
    "prose before": ('So: {"a": 1}', [("json_syntax", "$", None), ("text_around_json", "$", '"So:"')]),
    "prose after": ('{"a": 1} Done.', [("json_syntax", "$", None), ("text_around_json", "$", '"Done."')]),
    "another blank": ('\ufeff{"a": 1}', [("json_syntax", "$", None), ("text_around_json", "$", '"\\ufeff"')]),
    "cut": ('{"a": [1, 2', [("json_syntax", "$", "Expecting ',' delimiter at line 1, column 12")]),
    "single quotes": ("{'a': 1}", [("json_syntax", "$", None)]),
    "a key twice": ('{"a": 1, "b": {"c": 1, "c": 2}}', [("duplicate_key", "$.b.c", None)]),
    "no number": ('{"a": NaN, "b": [1e999]}', [("not_finite", "$.a", None), ("not_finite", "$.b[0]", None)]),
    "half a character": ('{"a": "\\ud800"}', [("bad_text", "$.a", None)]),
    "too deep": ('{"a": ' + "[" * DEEPEST + "]" * DEEPEST + "}", [("too_deep", "$", f"{DEEPEST + 1} deep")]),
    "too large": ('{"a": "' + "é" * (LARGEST // 2) + '"}', [("too_large", "$", None)]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_one_strict_object_is_refused_with_every_reason(name):
    """Rulings J1 and J4: what does not parse as a whole is broken syntax, whatever else is told beside it."""
    text, reasons = REFUSED[name]
    refused = decode(text)
    assert isinstance(refused, Refused)
    assert [(each.code.value, each.path) for each in refused.findings.kept] == [reason[:2] for reason in reasons]
    for finding, (_, _, found) in zip(refused.findings.kept, reasons, strict=True):
        assert finding.expected
        assert finding.found if found is None else finding.found == found


def test_brackets_in_strings_are_no_depth():
    text = json.dumps({"a": "[" * 10_000 + '\\"{'})
    assert decode(text) == json.loads(text)
