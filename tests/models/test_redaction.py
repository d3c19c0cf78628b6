"""No secret is written or printed, in whatever spelling it comes back."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from affidavit.models.redaction import Redaction

SECRET = "sk-12ab'34"  # noqa: S105 - nobody's
NOT_KEPT = "(not kept: it repeats a [secret])"


def redacted(text, *secrets):
    redaction = Redaction()
    for secret in secrets:
        redaction.add(secret)
    return redaction.redacted(text)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("nothing of it", "nothing of it"),
        (f"key {SECRET}, twice {SECRET}", "key [secret], twice [secret]"),
        ("key sk-12ab\\'34", NOT_KEPT),
        ("key sk-12 ab'34", NOT_KEPT),
        ('key "sk-12ab34"', NOT_KEPT),
    ],
)
def test_a_secret_is_taken_out_or_the_text_is_not_kept(text, kept):
    assert redacted(text, SECRET) == kept


def test_a_part_of_a_header_is_a_secret_too():
    assert redacted("it was abcdefgh", "Token abcdefgh") == NOT_KEPT


def test_longer_secrets_go_first_and_short_words_stay():
    assert redacted("a key: abcd-efgh", "abcd", "abcd-efgh", "a") == "a key: [secret]"


@given(st.text(), st.text(st.characters(exclude_categories=["Cs"]), min_size=4), st.text())
def test_no_secret_is_left(before, secret, after):
    assume(secret not in NOT_KEPT)
    assert secret not in redacted(before + secret + after, secret)
