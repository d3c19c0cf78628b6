"""Pieces of a secret are taken out, each once, whatever they stand beside."""

from hypothesis import given
from hypothesis import strategies as st

from affidavit.models.secret_pieces import SECRET, halves, without_pieces

KEY = "0123456789abcdefghij"


def test_every_piece_goes():
    text = f"{KEY[:12]} {KEY[8:]} {KEY[:10]}{KEY[9:]} {KEY[:9]}"
    assert without_pieces(text, KEY) == f"{SECRET} {SECRET} {SECRET}{SECRET} {SECRET}"


@given(st.text(f"{KEY} ", max_size=80), st.lists(st.sampled_from([KEY, KEY[:13], KEY[9:], KEY[:8]]), max_size=4))
def test_no_half_is_left_and_none_at_the_end(text, pieces):
    said = without_pieces(text + " ".join(pieces), KEY)
    assert not any(half in said for half in halves(KEY))
    assert not said.endswith(KEY[:8])


@given(st.text("s[ecrt]", min_size=1, max_size=40), st.text("s[ecrt]", max_size=80))
def test_what_stands_in_its_place_may_look_like_a_piece(secret, text):
    assert len(without_pieces(text, secret)) <= len(text), "it ends, and no text grows"
