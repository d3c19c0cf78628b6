"""Names in messages: those of people are repeated, and of what may be a key less than half."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.models.secret_pieces import TELLING
from affidavit.models.shown_names import LONGEST_WORD, quoted_name, shown_name, shown_variable, without_long_names

KEYS = st.text("abcdefXYZ0123456789-", min_size=LONGEST_WORD + 1).map(lambda text: f"sk-{text}")


@given(KEYS)
def test_of_a_long_name_so_little_is_told_that_it_is_no_piece_of_a_secret(key):
    for said in (
        shown_name(key),
        quoted_name(key, ["temperature"]),
        without_long_names(f"Cannot overwrite {key!r}"),
    ):
        assert key[:TELLING] not in said
        assert key[:3] in said, "enough to find it"


@given(st.text(max_size=LONGEST_WORD))
def test_a_short_name_is_told_as_it_is(name):
    assert (shown_name(name), quoted_name(name)) == (name, repr(name))


@pytest.mark.parametrize(
    "key",
    [
        "hf_AbCdEfGhIjKlMnOpQr2StUvWxYz",
        "gsk_0123456789abcdefghijABCDEFGHIJ",
        "AIzaSyA0123456789abcdefghijklmnopqrstuv",
        "0123456789abcdef0123456789abcdef",
    ],
)
def test_a_key_is_not_taken_for_a_variable(key):
    assert shown_variable(key) == shown_name(key) != key


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "THE_KEY_OF_OUR_VERY_OWN_SERVER_2", "AZURE_OPENAI_KEY_EU_WEST_1"]
)
def test_a_variable_is_told_by_its_name(name):
    assert shown_variable(name) == name


def test_what_a_library_says_beside_long_names_stays():
    assert without_long_names("Invalid value (at line 3, column 9)") == "Invalid value (at line 3, column 9)"
