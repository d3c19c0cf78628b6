"""One model at several servers: each is asked apart, says its own notes, and knows the secrets of all."""

import asyncio

from affidavit.models.model import Completion, Failure, Reason, Request, servers_of
from affidavit.models.registry import open_model, read_model_tables
from affidavit.models.settings import Limits
from affidavit.models.several_servers import SeveralServers
from support.fault_server import LONGEST, FaultServer, dead_address, every, status

TURN = {"role": "user", "content": "[q1] Which one?"}
QUESTION = Request({"model": "m", "messages": (TURN,), "seed": 1})


def opened(tmp_path, urls, **settings) -> SeveralServers:
    table = read_model_tables({"m": {"base_url": urls, **settings}}, where="s")["m"]
    return open_model("m", table, Limits(connect=LONGEST), beside=tmp_path)


def test_each_server_has_connections_of_its_own_and_an_address_without_secrets(tmp_path):
    model = opened(tmp_path, ["http://me:word@a:1/v1", "http://b:2/v1?key=hidden"], connections=5)
    assert [server.address for server in model.servers] == ["http://a:1/v1", "http://b:2/v1?key=…"]
    assert (model.connections, [server.model.connections for server in model.servers]) == (10, [5, 5])
    assert servers_of(model) == model.servers
    assert model.facts() == {}


def test_one_address_is_no_several_servers(tmp_path):
    for url in ("http://a/v1", ["http://a/v1"]):
        model = opened(tmp_path, url)
        assert [(server.address, server.model) for server in servers_of(model)] == [("", model)]


def test_asked_as_a_whole_it_spreads_its_requests(tmp_path):
    async def ask(urls) -> list:
        async with opened(tmp_path, urls) as model:
            assert await model.reachable() is None
            return await asyncio.gather(*(model.complete(QUESTION) for _ in range(4)))

    with FaultServer() as one, FaultServer() as other:
        answers = asyncio.run(ask([one.url, other.url]))
        assert all(isinstance(answer, Completion) for answer in answers)
        assert (len(one.log), len(other.log)) == (2, 2)


def test_it_is_there_as_long_as_one_of_them_is_and_what_is_wrong_names_the_one_that_failed(tmp_path):
    async def ask(urls) -> tuple:
        async with opened(tmp_path, urls) as model:
            there = await model.reachable()
            failure = await model.complete(QUESTION)
            return there, failure, await model.setup_fault(failure)

    with dead_address() as dead, FaultServer() as server:
        there, failure, fault = asyncio.run(ask([f"http://{dead}/v1", server.url]))
        assert there is None
        assert (failure.reason, fault.where) == (Reason.CONNECTION, f"models.m at http://{dead}/v1")
    with dead_address() as one, dead_address() as other:
        there, *_ = asyncio.run(ask([f"http://{one}/v1", f"http://{other}/v1"]))
        assert isinstance(there, Failure)


def test_a_secret_of_one_server_is_taken_out_of_the_words_of_another(tmp_path):
    async def ask(urls) -> list:
        async with opened(tmp_path, urls) as model:
            return [await server.model.complete(QUESTION) for server in model.servers]

    with FaultServer() as one, FaultServer({"q1": every(status(500, "no pass-phrase-1 here"))}) as other:
        _, failure = asyncio.run(ask([one.url.replace("//", "//me:pass-phrase-1@"), other.url]))
    assert failure.detail == "HTTP 500: no [secret] here"


def test_notes_say_which_server_they_are_about(tmp_path, monkeypatch):
    monkeypatch.setenv("A_KEY", "sk-very-secret")

    async def ask(urls) -> list[str]:
        async with opened(tmp_path, urls, key_env="A_KEY") as model:
            await asyncio.gather(*(model.complete(QUESTION) for _ in range(2)))
            return model.notes()

    with FaultServer(answer=lambda asked: "sk-very-secret") as one, FaultServer() as other:
        (note,) = asyncio.run(ask([one.url, other.url]))
        assert note.startswith(f"WARNING: 1 outputs of m at {one.address} hold a secret")
