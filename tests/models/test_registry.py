"""Model tables as they stand in a file: who answers, which keys belong together, and what of it is frozen."""

import re

import pytest

from affidavit.errors import InputError
from affidavit.models.embedded import EmbeddedProvider
from affidavit.models.openai_compatible import ServerProvider
from affidavit.models.registry import PROVIDERS, model_from_frozen, read_model_tables, weights_of
from affidavit.models.replay import ReplayProvider
from affidavit.models.settings import Limits
from support.weight_files import gguf_bytes

SERVER = {"base_url": "http://127.0.0.1:1/v1"}


def read(table):
    return read_model_tables({"m": table}, where="study.toml")["m"]


@pytest.mark.parametrize(
    ("table", "provider", "flavour"),
    [
        (SERVER, ServerProvider, "openai"),
        ({"base_url": ["http://127.0.0.1:1/v1", "https://127.0.0.1:2"]}, ServerProvider, "openai"),
        ({**SERVER, "flavour": "vllm", "key_env": "KEY", "headers": {"a": "b"}}, ServerProvider, "vllm"),
        ({"embedded": "smollm2", "slots": 2}, EmbeddedProvider, "embedded"),
        ({"gguf": "m.gguf", "threads": 2}, EmbeddedProvider, "embedded"),
        ({"replay": "../other"}, ReplayProvider, "replay"),
    ],
)
def test_one_key_says_who_answers(table, provider, flavour):
    model = read(table)
    assert type(model.provider) is provider
    assert model.provider.flavour == flavour
    assert (model.model, model.identity, model.body) == ("m", "m", {})


@pytest.mark.parametrize("flavour", ServerProvider.flavours)
def test_a_grammar_is_taken_by_flavour_and_a_schema_by_all(flavour):
    provider = read({**SERVER, "flavour": flavour}).provider
    assert provider.takes_grammar == (flavour in ("llamacpp", "vllm"))
    assert provider.takes_schema


@pytest.mark.parametrize("table", [{"embedded": "smollm2"}, {"replay": "x"}])
def test_weights_and_archives_take_both(table):
    assert read(table).provider.takes_grammar
    assert read(table).provider.takes_schema


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({}, "exactly one of base_url, embedded, gguf, replay in models.m, found none"),
        ({"base_url": ""}, "exactly one of base_url, embedded, gguf, replay in models.m, found none"),
        ({"base_url": []}, "exactly one of base_url, embedded, gguf, replay in models.m, found none"),
        ({"embedded": "a", "gguf": "b"}, "exactly one of base_url, embedded, gguf, replay in models.m, found embedded and gguf"),
        ({**SERVER, "slots": 4}, "no slots in models.m: it has no meaning beside base_url, found slots given"),
        ({"gguf": "m.gguf", "key_env": "KEY"}, "no key_env in models.m: it has no meaning beside gguf"),
        ({"replay": "x", "connections": 3}, "no connections in models.m: it has no meaning beside replay"),
        ({"replay": "x", "threads": 3}, "no threads in models.m: it has no meaning beside replay"),
        ({**SERVER, "conections": 3}, "known keys in models.m, found 'conections'\nDid you mean connections?"),
        ({**SERVER, "provider": {}}, "known keys in models.m, found 'provider'"),
        ({**SERVER, "flavour": "embedded"}, 'models.m.flavour: expected "openai", "llamacpp", "vllm", "ollama" or "openrouter", found "embedded"'),
        ({**SERVER, "connections": "9"}, 'models.m.connections: expected a whole number, found "9"'),
        ({**SERVER, "price": {"input": 1.0}}, "a key output in models.m.price, found none"),
        ({**SERVER, "price": {"input": -1.0, "output": 1.0}}, "finite prices from 0 in models.m.price"),
        ({**SERVER, "connections": 0}, "a positive, finite models.m.connections, found 0"),
        ({"embedded": "a", "context": 10**9}, "a positive, finite models.m.context, found 1000000000"),
        ({"base_url": "127.0.0.1:8000/v1"}, "an http:// or https:// address in models.m.base_url, found something else"),
        ({"base_url": ["http://127.0.0.1:1", "http://me:secret@"]}, "address in models.m.base_url[1], found something else"),
        ({"base_url": ["http://me:secret@a", "http://b", "http://me:secret@a"]}, "each server once in models.m.base_url, found [0] and [2] alike"),
        ({**SERVER, "headers": {"a b": "c"}}, "names of headers in models.m.headers, none of connection, content-length, host, transfer-encoding, found 'a b'"),
        ({**SERVER, "headers": {"a:\r\nb": "c"}}, "names of headers in models.m.headers"),
        ({**SERVER, "headers": {"": "c"}}, "names of headers in models.m.headers"),
        ({**SERVER, "headers": {"Content-LENGTH": "3"}}, "transfer-encoding, found 'Content-LENGTH'"),
        (3, "a table [models.m], found a whole number"),
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_asked_is_refused_with_its_place(table, why):
    with pytest.raises(InputError, match=r"^study\.toml: (expected )?.*" + re.escape(why)):
        read(table)


USUAL = {"tools": [], "token_limit": "max_tokens", "body": {}}


@pytest.mark.parametrize(
    ("table", "frozen"),
    [
        (
            {**SERVER, "flavour": "vllm", "connections": 3, "price": {"input": 1.0, "output": 2.0}},
            {"model": "m", "identity": "m", **USUAL, "flavour": "vllm", "context": 2048},
        ),
        (
            {"embedded": "smollm2", "context": 512, "slots": 3, "identity": "i", "body": {"a": 1}},
            {"model": "m", "identity": "i", **USUAL, "body": {"a": 1}, "flavour": "embedded", "context": 512},
        ),
        (
            {**SERVER, "tools": [{"type": "function"}], "token_limit": "max_completion_tokens"},
            {
                "model": "m",
                "identity": "m",
                "tools": [{"type": "function"}],
                "token_limit": "max_completion_tokens",
                "body": {},
                "flavour": "openai",
                "context": 2048,
            },
        ),
        (
            {"replay": "x", "model": "n"},
            {"model": "n", "identity": "m", **USUAL, "flavour": "replay", "context": 2048},
        ),
    ],
)
def test_what_is_frozen_stays_what_it_was_and_comes_back(table, frozen):
    """Studies that were begun are compared with these fields, key by key."""
    assert read(table).frozen() == frozen
    assert model_from_frozen("m", frozen).frozen() == frozen


def test_a_flavour_that_nobody_has_is_refused():
    frozen = {"model": "m", "identity": "m", "body": {}, "flavour": "telex", "context": 2048}
    frozen |= {"tools": [], "token_limit": "max_tokens"}
    with pytest.raises(
        InputError, match="openai, llamacpp, vllm, ollama, openrouter, embedded, replay, found 'telex'"
    ):
        model_from_frozen("m", frozen)


def test_only_weights_have_a_file(tmp_path):
    (tmp_path / "m.gguf").write_bytes(gguf_bytes([3], {}))
    tables = {"server": SERVER, "here": {"gguf": "m.gguf"}, "old": {"replay": "x"}}
    models = read_model_tables(tables, where="study.toml")
    assert weights_of(models, beside=tmp_path, where="study.toml") == {"here": tmp_path / "m.gguf"}
    (tmp_path / "m.gguf").write_bytes(b"no weights")
    with pytest.raises(InputError, match="expected a GGUF file"):
        weights_of(models, beside=tmp_path, where="study.toml")


def test_no_two_providers_share_a_flavour_or_hide_a_common_key():
    providers = list(dict.fromkeys(PROVIDERS.values()))
    flavours = [flavour for provider in providers for flavour in provider.flavours]
    assert len(flavours) == len(set(flavours))
    for key, provider in PROVIDERS.items():
        assert key in provider.__struct_fields__
        assert {"model", "identity", "body", "price", "provider"}.isdisjoint(provider.__struct_fields__)


@pytest.mark.parametrize("name", Limits.__struct_fields__)
def test_limits_are_positive(name):
    with pytest.raises(InputError, match=f"a positive, finite limits.{name}, found 0"):
        Limits(**{name: 0}).check(where="study.toml")
