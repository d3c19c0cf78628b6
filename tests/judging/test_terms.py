"""The terms of a judging: what is frozen, and what follows from it (rulings J7, J14 and J16)."""

from dataclasses import replace
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from affidavit.contracts.rubric import DEFAULT
from affidavit.judging.terms import Terms, aliases_of

KEYS = st.sets(st.text(st.sampled_from("01"), min_size=14, max_size=14).map(lambda end: f"{end:a<64}"), min_size=1)


def terms(keys: set[str]) -> Terms:
    return Terms(DEFAULT, "2026-01-05", tuple(sorted(keys)))


@given(KEYS)
def test_an_output_gets_the_shortest_head_of_its_key_that_no_other_has(keys):
    """Ruling J14."""
    short = terms(keys).short_ids
    assert short.keys() == keys
    for key, head in short.items():
        others = keys - {key}
        assert key.startswith(head)
        assert len(head) >= 8
        assert not any(other.startswith(head) for other in others)
        assert len(head) == 8 or any(other.startswith(head[:-1]) for other in others), "no shorter one would do"


def test_ids_of_an_ordinary_set_have_eight_digits():
    keys = {f"{one}{other}" * 32 for one, other in product("0123456789abcdef", repeat=2)}
    assert {len(head) for head in terms(keys).short_ids.values()} == {8}
    assert len(set(terms(keys).short_ids.values())) == 256


def test_what_was_frozen_comes_back():
    before = terms({"a" * 64, "b" * 64})
    assert Terms.of(before.facts(), before.outputs) == before
    assert Terms.of(before.facts(), before.outputs).digest == before.digest


def test_aliases_are_of_the_set_and_tell_no_name():
    """Ruling J16."""
    names = ["gpt", "qwen", "gpt "]
    aliases = aliases_of(names, ["a" * 64])
    assert aliases == aliases_of(reversed(names), ["a" * 64])
    assert sorted(aliases) == sorted(names)
    assert len(set(aliases.values())) == len(names)
    assert not any(name.strip() in alias for name in names for alias in aliases.values())
    assert not set(aliases.values()) & set(aliases_of(names, ["b" * 64]).values()), "another set, other aliases"


def test_blind_terms_are_others_and_know_one_prompt():
    open_ones = terms({"a" * 64})
    blind = replace(open_ones, aliases=aliases_of(["gpt"], open_ones.outputs))
    assert (open_ones.blind, blind.blind) == (False, True)
    assert blind.digest != open_ones.digest
    assert list(blind.facts()["prompts"]) == ["JP-001"]
    assert Terms.of(blind.facts(), blind.outputs) == blind
