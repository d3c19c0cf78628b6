"""What is sent to a server: the body by its flavour, the key and the password in headers, never in words."""

import asyncio

import pytest

from affidavit.errors import UsageError
from affidavit.models.model import Completion, Reason, Request
from affidavit.models.openai_compatible import OpenAICompatible, ServerProvider
from affidavit.models.settings import Limits
from support.fault_server import LONGEST, FaultServer, every, status

GRAMMAR = 'root ::= "a"'
TURN = {"role": "user", "content": "[q1] Which one?"}
QUESTION = Request((TURN,), {"temperature": 0.5, "max_tokens": 9}, seed=7)


def ask(provider, request=QUESTION, *, body=None):
    """One attempt at a model of this provider."""

    async def go():
        model = OpenAICompatible("m", provider, Limits(connect=LONGEST), model="its-name", body=body or {})
        async with model:
            assert await model.reachable() is None
            assert model.facts() == {}
            return await model.complete(request)

    return asyncio.run(go())


def sent(flavour, request=QUESTION, *, body=None):
    with FaultServer() as server:
        answer = ask(ServerProvider(base_url=server.url, flavour=flavour), request, body=body)
        assert answer == Completion("<answer>B</answer>", "stop", usage=answer.usage)
        return server.log[0].body


@pytest.mark.parametrize("flavour", ServerProvider.flavours)
def test_every_flavour_gets_the_same_question(flavour):
    assert sent(flavour, body={"top_k": 3}) == {
        "model": "its-name", "messages": [TURN], "temperature": 0.5, "max_tokens": 9, "seed": 7, "top_k": 3
    }  # fmt: skip


@pytest.mark.parametrize(
    ("flavour", "field"),
    [("llamacpp", {"grammar": GRAMMAR}), ("vllm", {"structured_outputs": {"grammar": GRAMMAR}})],
)
def test_a_grammar_is_sent_as_the_flavour_takes_it(flavour, field):
    body = sent(flavour, Request((TURN,), {}, grammar=GRAMMAR))
    assert body == {"model": "its-name", "messages": [TURN], **field}


@pytest.mark.parametrize("flavour", ServerProvider.flavours)
def test_a_schema_is_sent_alike_to_all(flavour):
    body = sent(flavour, Request((TURN,), {}, schema={"type": "object"}))
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": {"type": "object"}},
    }


def test_a_key_is_sent_to_the_server_and_repeated_to_nobody(monkeypatch):
    monkeypatch.setenv("A_KEY", "sk-very-secret")
    with FaultServer({"q1": every(status(400, "no such key: sk-very-secret"))}) as server:
        failure = ask(ServerProvider(base_url=server.url, key_env="A_KEY"))
        assert server.log[0].headers["Authorization"] == "Bearer sk-very-secret"
    assert (failure.reason, failure.detail) == (Reason.BAD_REQUEST, "HTTP 400: no such key: [secret]")


def test_no_key_where_one_is_named_says_what_to_do(monkeypatch):
    monkeypatch.delenv("A_KEY", raising=False)
    with pytest.raises(UsageError, match=r"(?s)a key in the environment variable A_KEY.*export A_KEY=…"):
        ask(ServerProvider(base_url="http://127.0.0.1:1/v1", key_env="A_KEY"))
