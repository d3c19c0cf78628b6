"""What a model can do is found out by asking it: servers that behave as people's do, and llama.cpp itself."""

import asyncio
import re
from pathlib import Path

import pytest

from affidavit.models.ability import WORDS, CheckedModel, Lacks, Untold, Works
from affidavit.models.ability_trials import GRAMMAR, SCHEMA, TOKENS, NamedModel, checked_model
from affidavit.models.registry import read_model_tables
from affidavit.models.settings import Limits
from support.fault_server import FaultServer, dead_address
from support.pages import ROOT
from support.pretend_servers import (
    NO_GRAMMAR,
    NO_SEED,
    OLLAMA,
    OPENAI_LIMIT,
    OPENAI_UNKNOWN,
    Able,
    pretending,
)
from support.studies import fine, run, write_study
from support.weight_files import ready_to_run

PATIENT = Limits(connect=600.0, attempt=600.0)


def named(table: dict, **more: object) -> NamedModel:
    read = read_model_tables({"m": table}, where="a test")["m"]
    return NamedModel(**{"name": "m", "table": read, "limits": PATIENT, "beside": Path(), **more})


def checked(server: Able, table: dict | None = None, *, above: str = "/v1", **more: object) -> CheckedModel:
    with pretending(server) as url:
        fields = {"base_url": url + above, "model": server.models[0], **(table or {})}
        return asyncio.run(checked_model(named(fields, **more)))


def words(found: CheckedModel) -> dict[str, str]:
    return {name: WORDS[type(each)] for name, each in found.abilities.items()}


ALL = {
    "max_tokens": "yes",
    "max_completion_tokens": "yes",
    "seed": "yes",
    "grammar": "yes",
    "JSON schema": "yes",
    "reasoning": "cannot be told",
    "logprobs": "yes",
}
VLLM = {"grammar_key": "structured_outputs", "schema": True, "logprobs": True}


@pytest.mark.parametrize(
    ("server", "table", "expected"),
    [
        (Able(**VLLM), {"flavour": "vllm"}, {}),
        (Able(**VLLM, reasoning="reasoning_content"), {"flavour": "vllm"}, {"reasoning": "yes"}),
        (Able(**VLLM), {"flavour": "llamacpp"}, {"grammar": "no"}),
        (Able(**VLLM), {"flavour": "openai"}, {"grammar": "yes"}),
        (
            Able(**OLLAMA, schema=True, reasoning="reasoning"),
            {"flavour": "ollama"},
            {"grammar": "no", "reasoning": "yes", "logprobs": "no"},
        ),
        (
            Able(schema=True, follows_seed=False, refused=OPENAI_LIMIT),
            {"token_limit": "max_completion_tokens"},
            {"max_tokens": "no", "seed": "no", "grammar": "no", "logprobs": "no"},
        ),
        (Able(**VLLM, refused=NO_SEED), {"flavour": "vllm", "seed": False}, {"seed": "no"}),
        (
            Able(refused=NO_GRAMMAR),
            {"flavour": "llamacpp"},
            {"grammar": "no", "JSON schema": "no", "logprobs": "no"},
        ),
        (Able(**VLLM, thinks_aloud=True), {"flavour": "vllm"}, {"reasoning": "no"}),
        (
            Able(**VLLM, tokens=TOKENS + 1),
            {"flavour": "vllm"},
            {"max_tokens": "no", "max_completion_tokens": "no"},
        ),
    ],
)
def test_every_ability_is_what_the_server_does(server, table, expected):
    found = checked(server, table)
    assert found.fault is None
    assert words(found) == {**ALL, **expected}
    assert found.listed == list(server.models)


def test_what_is_found_is_told_in_words():
    openai = checked(Able(**VLLM)).abilities
    assert openai["grammar"] == Works('not by its flavour; as with flavour = "vllm"')
    assert openai["seed"] == Works("the same text for one seed twice, another for another seed")
    ollama = checked(Able(**OLLAMA), {"flavour": "ollama"}).abilities
    assert ollama["JSON schema"] == Lacks('taken and ignored: "Animal 7 sleeps."')
    assert ollama["logprobs"] == Lacks("taken and ignored: none came")
    refused = checked(Able(refused=NO_GRAMMAR), {"flavour": "llamacpp"}).abilities["grammar"]
    assert refused == Lacks("HTTP 400: Unrecognized request argument supplied: grammar")


def test_a_text_that_is_the_same_for_every_seed_tells_nothing():
    class Monotone(Able):
        def _text(self, body: dict) -> str:
            return "An owl."

    assert isinstance(checked(Monotone()).abilities["seed"], Untold)


def test_each_ability_takes_few_small_requests():
    server = Able(**VLLM)
    checked(server, {"flavour": "vllm"})
    assert len(server.asked) == 8
    assert {body.get("max_tokens", body.get("max_completion_tokens")) for body in server.asked} == {TOKENS}
    assert [body["structured_outputs"] for body in server.asked if "structured_outputs" in body] == [
        {"grammar": GRAMMAR}
    ]
    schemas = [body["response_format"]["json_schema"] for body in server.asked if "response_format" in body]
    assert [each["schema"] for each in schemas] == [SCHEMA]


@pytest.mark.parametrize(
    ("server", "table", "above", "fault"),
    [
        (Able(**OLLAMA), {}, "", "Its models are listed at http://127.0.0.1:"),
        (Able(unknown_model=OPENAI_UNKNOWN), {"model": "qwen2.5-7b"}, "/v1", "Did you mean qwen2.5-7b-instruct?"),
        (Able(key="right"), {"key_env": "DOCTOR_KEY"}, "/v1", "Set the variable DOCTOR_KEY to a key"),
        (Able(refused=OPENAI_LIMIT), {}, "/v1", 'Write token_limit = "max_completion_tokens"'),
        (Able(), {"key_env": "NO_SUCH_KEY"}, "/v1", "export NO_SUCH_KEY=…"),
    ],
)
def test_a_model_that_cannot_be_asked_says_what_to_change(monkeypatch, server, table, above, fault):
    monkeypatch.setenv("DOCTOR_KEY", "sk-wrong-and-secret")
    found = checked(server, table, above=above)
    assert not found.usable
    assert fault in found.fault
    assert found.abilities == {}
    assert "sk-wrong-and-secret" not in str(found.as_json())


def test_nobody_at_the_address_is_told():
    with dead_address() as place:
        found = asyncio.run(checked_model(named({"base_url": f"http://{place}/v1"})))
    assert "Is it running" in found.fault


def test_what_a_server_repeats_of_a_secret_is_not_shown(monkeypatch):
    monkeypatch.setenv("DOCTOR_KEY", "sk-right-and-secret")
    server = Able(models=("model-of-sk-right-and-secret",), key="sk-right-and-secret")
    server.refused = ("logprobs", 400, {"error": {"message": "no logprobs for sk-right-and-secret"}})
    found = checked(server, {"key_env": "DOCTOR_KEY"})
    assert isinstance(found.abilities["logprobs"], Lacks)
    assert "sk-right-and-secret" not in str(found.as_json()["abilities"]) + str(found.listed)


def test_several_addresses_are_asked_one_by_one():
    urls = ["http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"]
    apart = named({"base_url": urls}).apart()
    assert [each.table.provider.base_url for each in apart] == urls
    assert named({"embedded": "smollm2"}).apart() == [named({"embedded": "smollm2"})]


def test_of_an_address_alone_the_first_model_is_asked():
    server = Able(models=("one", "two"))
    found = checked(server, {"model": "server"}, first_listed=True)
    assert found.asked_as == "one"
    assert {body["model"] for body in server.asked} == {"one"}


@pytest.mark.parametrize(
    ("flavour", "constrained", "usable"),
    [("llamacpp", True, False), ("llamacpp", False, True), ("openai", True, True)],
)
def test_a_study_that_constrains_decoding_needs_a_grammar_that_holds(flavour, constrained, usable):
    found = checked(Able(), {"flavour": flavour}, constrained=constrained)
    assert found.usable is usable
    assert words(found)["grammar"] == "no"


@pytest.mark.slow
def test_answers_of_another_study_have_no_abilities(tmp_path):
    with FaultServer() as server:
        assert fine(run(write_study(tmp_path, server.url, count=2).parent), 0)
    there = asyncio.run(checked_model(named({"replay": "out", "model": "m"}, beside=tmp_path)))
    assert (there.usable, there.where, there.abilities, there.listed) == (True, "out", {}, None)
    found = asyncio.run(checked_model(named({"replay": "nowhere"}, beside=tmp_path)))
    assert "nowhere" in found.fault


@pytest.mark.slow
def test_llama_cpp_itself_can_do_all_of_it():
    ready_to_run()
    found = asyncio.run(
        checked_model(named({"embedded": "smollm2", "slots": 1, "context": 512}, constrained=True))
    )
    assert found.fault is None
    assert words(found) == ALL
    assert found.listed is None


def test_the_page_of_studies_shows_what_is_found():
    """The lines of docs/studies.md, of a server that behaves as the page says."""
    found = checked(Able(**OLLAMA, schema=True), {"flavour": "ollama", "model": "qwen2.5:7b"})
    shown = re.search(r"^```\nserver at .*?\n(.*?)^```$", (ROOT / "docs/studies.md").read_text(), re.M | re.S)[1]
    lines = [f"  lists {', '.join(found.listed)}", f"  answers as {found.asked_as}"]
    for name, each in found.abilities.items():
        lines.append(f"  {name:<21}  {WORDS[type(each)]}" + (f": {each.detail}" if each.detail else ""))
    assert shown.splitlines() == lines
