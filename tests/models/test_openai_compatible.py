"""What is sent to a server: the body by its flavour, the key and the password in headers, never in words."""

import asyncio
import json

import pytest

from affidavit.errors import UsageError
from affidavit.models.model import Reason, Request
from affidavit.models.openai_compatible import OpenAICompatible, ServerProvider
from affidavit.models.registry import read_model_tables
from affidavit.models.request_body import SharedRequest, schema_fields
from affidavit.models.settings import Limits
from support.fault_server import LONGEST, FaultServer, every, status

GRAMMAR = 'root ::= "a"'
TURN = {"role": "user", "content": "[q1] Which one?"}
DECODING = {"temperature": 0.5, "max_tokens": 9}
QUESTION = Request({"model": "its-name", "messages": [TURN], **DECODING, "seed": 7})


def ask(provider, request=QUESTION):
    """One attempt at a model of this provider."""

    async def go():
        model = OpenAICompatible("m", provider, Limits(connect=LONGEST))
        async with model:
            assert await model.reachable() is None
            assert model.facts() == {}
            return await model.complete(request)

    return asyncio.run(go())


def sent(flavour, constraint, **settings):
    """The body that a server got, and the one that was merged for it."""
    with FaultServer() as server:
        table = {"base_url": server.url, "flavour": flavour, "model": "its-name", **settings}
        model = read_model_tables({"m": table}, where="s")["m"]
        shared = SharedRequest(model.request(DECODING))
        body = shared.body((TURN,), seed=7, constraint=constraint(model.provider))
        answer = ask(model.provider, Request(body))
        assert (answer.text, answer.finish_reason) == ("<answer>B</answer>", "stop")
        return server.log[0].body, body


PLAIN = {"model": "its-name", "messages": [TURN], **DECODING, "seed": 7}
CONSTRAINTS = {
    "none": (lambda provider: {}, ServerProvider.flavours, {}, {}),
    "further keys": (lambda provider: {}, ServerProvider.flavours, {"body": {"top_k": 3}}, {"top_k": 3}),
    "tools": (lambda provider: {}, ("openai",), {"tools": [{"type": "function"}]}, {"tools": [{"type": "function"}]}),
    "a grammar": (lambda provider: provider.grammar_fields(GRAMMAR), ("llamacpp",), {}, {"grammar": GRAMMAR}),
    "a grammar for vLLM": (
        lambda provider: provider.grammar_fields(GRAMMAR), ("vllm",), {}, {"structured_outputs": {"grammar": GRAMMAR}}
    ),
    "a schema": (
        lambda provider: schema_fields({"type": "object"}), ServerProvider.flavours, {},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": {"type": "object"}}}},
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "flavour"), [(name, flavour) for name, case in CONSTRAINTS.items() for flavour in case[1]]
)
def test_what_was_merged_is_sent_and_nothing_else(name, flavour):
    """Ruling C9."""
    constraint, _, settings, added = CONSTRAINTS[name]
    got, merged = sent(flavour, constraint, **settings)
    assert got == json.loads(json.dumps(merged)) == {**PLAIN, **added}


def test_a_key_is_sent_to_the_server_and_repeated_to_nobody(monkeypatch):
    monkeypatch.setenv("A_KEY", "sk-very-secret")
    with FaultServer({"q1": every(status(400, "no such key: sk-very-secret"))}) as server:
        failure = ask(ServerProvider(base_url=server.url, key_env="A_KEY"))
        assert server.log[0].headers["Authorization"] == "Bearer sk-very-secret"
    assert (failure.reason, failure.detail) == (Reason.BAD_REQUEST, "HTTP 400: no such key: [secret]")


def test_no_key_where_one_is_named_says_what_to_do(monkeypatch):
    monkeypatch.delenv("A_KEY", raising=False)
    with pytest.raises(UsageError, match=r"(?s)a value in the environment variable A_KEY.*export A_KEY=…"):
        ask(ServerProvider(base_url="http://127.0.0.1:1/v1", key_env="A_KEY"))
