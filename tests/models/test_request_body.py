"""The request that is really sent: merged in one place, in one form, whatever is encoded beforehand (ruling C9)."""

import json
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.errors import InputError
from affidavit.json_values import canonical, digest
from affidavit.models.request_body import (
    BELONGS_ELSEWHERE,
    SharedRequest,
    decoding_in,
    refuse_replaced,
    schema_fields,
    shared_fields,
)

NAMES = st.text('abmrsz~_"\\é', min_size=1, max_size=4).filter(lambda name: name not in ("messages", "seed"))
VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=3), each, max_size=3), max_leaves=6)  # fmt: skip
TURNS = st.lists(st.fixed_dictionaries({"role": st.just("user"), "content": st.text(max_size=20)}), max_size=3)


@pytest.mark.slow
@given(
    st.dictionaries(NAMES, VALUES, max_size=8), st.dictionaries(NAMES, VALUES, max_size=2), TURNS, st.integers(0)
)
def test_the_pieces_around_the_seed_are_the_canonical_request(fields, constraint, turns, seed):
    shared = SharedRequest(fields)
    before, after = shared.around_seed(canonical(turns), constraint)
    body = shared.body(turns, seed=seed, constraint=constraint)
    assert before + str(seed).encode() + after == canonical(body)
    assert sha256(before + b"%d" % seed + after).hexdigest() == digest(json.loads(json.dumps(body)))


def test_a_request_says_everything_that_was_said_somewhere():
    tools = [{"type": "function"}]
    fields = shared_fields(
        "its-name",
        {"temperature": 0.0, "max_tokens": 9, "top_p": 0.5},
        limit_name="max_completion_tokens",
        own={"cache_prompt": False},
        tools=tools,
        body={"top_k": 1},
    )
    assert fields == {
        "model": "its-name", "temperature": 0.0, "max_completion_tokens": 9, "top_p": 0.5, "cache_prompt": False,
        "tools": tools, "top_k": 1,
    }  # fmt: skip
    assert decoding_in(fields) == {"temperature": 0.0, "max_tokens": 9, "top_p": 0.5}
    assert "tools" not in shared_fields("m", {})
    assert schema_fields(None) == {}


def test_what_a_provider_adds_may_be_set_otherwise():
    assert shared_fields("m", {}, own={"cache_prompt": False}, body={"cache_prompt": True})["cache_prompt"] is True


@pytest.mark.parametrize("key", BELONGS_ELSEWHERE)
def test_no_further_key_replaces_what_stands_elsewhere(key):
    refuse_replaced({"top_k": 1, "logit_bias": {key: 1}}, where="s", place="models.m")
    with pytest.raises(
        InputError, match=rf"(?s)^s: expected only further keys in models\.m\.body, found '{key}'\nIt belongs"
    ):
        refuse_replaced({"top_k": 1, key: 1}, where="s", place="models.m")
