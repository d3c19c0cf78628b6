"""Connections: what is left on one after a response never answers another question (ruling C9)."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Callable
from time import sleep

import pytest

from affidavit.models.connections import Connections
from affidavit.models.endpoint import Endpoint
from affidavit.models.model import Completion, Failure, Reason, Request
from affidavit.models.openai_compatible import OpenAICompatible, ServerProvider
from affidavit.models.redaction import Redaction
from affidavit.models.response_ids import FIRST_ANSWERS
from affidavit.models.settings import Limits
from support.fault_server import LONGEST, RIGHT, Call, FaultServer, Planned, chat, response

PLANTED = response(chat({"content": "planted"}))
LEFT = {
    "a whole response": PLANTED,
    "two of them": PLANTED * 2,
    "the beginning of one": PLANTED[:12],
    "its head": PLANTED[: PLANTED.index(b"{")],
    "a byte": b"H",
}


def request(number: int) -> Request:
    turn = {"role": "user", "content": f"[q{number}] Which one?"}
    return Request({"model": "m", "messages": (turn,), "seed": number})


class Watched:
    """A server that notes over which connection each question came."""

    def __init__(
        self, said: Callable[[str, int], dict] = lambda question, attempt: {}, extra: bytes = b""
    ) -> None:
        self.calls: list[Call] = []
        self._said, self._extra = said, extra
        self.server = FaultServer(self)

    def get(self, question: str) -> Planned:
        return Planned(self.answer, 1_000_000)

    async def answer(self, call: Call) -> None:
        self.calls.append(call)
        said = self._said(call.asked.question, call.asked.attempt)
        await call.send(response(chat({"content": f"{RIGHT} {call.asked.question}"}, **said)) + self._extra)

    @property
    def ports(self) -> list[int]:
        return [call.writer.get_extra_info("peername")[1] for call in self.calls]

    def send_late(self, content: bytes) -> None:
        """Bytes on the last connection; they are on the client's side when this returns, and unread."""
        call = self.calls[-1]
        asyncio.run_coroutine_threadsafe(call.send(content), self.server._loop).result(LONGEST)
        while not call.arrived():
            sleep(0.001)

    def asked(self, do) -> OpenAICompatible:
        """The model, after `do` has asked it."""

        async def go() -> None:
            async with model:
                await do(model)

        with self.server as server:
            provider = ServerProvider(base_url=server.url, connections=2)
            model = OpenAICompatible("m", provider, Limits(connect=600.0))
            asyncio.run(go())
        return model


async def answered(model: OpenAICompatible, number: int) -> bool:
    answer = await model.complete(request(number))
    return isinstance(answer, Completion) and answer.text == f"{RIGHT} q{number}"


def test_a_connection_with_nothing_left_on_it_is_used_again():
    watched = Watched()

    async def three(model) -> None:
        assert [await answered(model, number) for number in range(3)] == [True] * 3

    watched.asked(three)
    assert len(set(watched.ports)) == 1


@pytest.mark.parametrize("extra", LEFT.values(), ids=LEFT)
def test_what_comes_with_a_response_answers_nothing_else(extra):
    watched = Watched(extra=extra)

    async def three(model) -> None:
        assert [await answered(model, number) for number in range(3)] == [True] * 3

    watched.asked(three)
    assert len(set(watched.ports)) == 3


@pytest.mark.parametrize("read", [True, False], ids=["read", "unread"])
@pytest.mark.parametrize("extra", [*LEFT.values(), b"220 mail.example\r\n"], ids=[*LEFT, "no HTTP"])
def test_what_comes_while_nobody_asks_answers_nothing(extra, read):
    watched = Watched()

    async def two(model) -> None:
        assert await answered(model, 1)
        # The loop waits here, so what has come is unread until it goes on.
        watched.send_late(extra)
        for _ in range(10 * read):
            await asyncio.sleep(0)
        assert await answered(model, 2)

    watched.asked(two)
    assert len(set(watched.ports)) == 2


def test_a_connection_that_is_wanted_anew_is_used_for_nothing_else():
    watched = Watched()

    async def ask(model) -> None:
        asked = model._endpoint.post("chat/completions", json.dumps(request(1).body).encode())
        for anew in (False, True, False, True):
            assert (await model._exchange(asked, anew=anew)).status == 200

    watched.asked(ask)
    kept, once, kept_again, once_again = watched.ports
    assert kept == kept_again
    assert len({kept, once, once_again}) == 3


def test_connections_that_nobody_uses_give_way_to_those_of_another_server():
    """However many servers are asked, there are no more connections than were given."""

    async def go() -> int:
        connections = Connections(limit=3, connect_seconds=LONGEST, most_bytes=10_000)
        endpoints = [Endpoint(server.url, Redaction()) for server in (one, other)]
        for endpoint in (*endpoints, *endpoints):
            exchanges = (connections.exchange(endpoint.origin, endpoint.get("models")) for _ in range(3))
            assert [each.status for each in await asyncio.gather(*exchanges)] == [200] * 3
        held = len(connections._open)
        await connections.close()
        return held

    with FaultServer() as one, FaultServer() as other:
        assert asyncio.run(go()) == 3


def test_requests_over_connections_of_their_own_leave_no_more_of_them_open():
    async def go() -> int:
        connections = Connections(limit=2, connect_seconds=LONGEST, most_bytes=10_000)
        endpoint = Endpoint(server.url, Redaction())
        most = 0
        for anew in (False, True):
            exchanges = (
                connections.exchange(endpoint.origin, endpoint.get("models"), anew=anew) for _ in range(2)
            )
            asking = [asyncio.ensure_future(each) for each in exchanges]
            while not all(each.done() for each in asking):
                most = max(most, len(connections._open) + connections._connecting)
                await asyncio.sleep(0)
        await connections.close()
        return most

    with FaultServer() as server:
        assert asyncio.run(go()) == 2


def test_an_idle_connection_is_not_kept_for_ever(monkeypatch):
    monkeypatch.setattr("affidavit.models.connections._KEPT_OPEN", 0.0)
    watched = Watched()

    async def two(model) -> None:
        assert [await answered(model, number) for number in range(2)] == [True] * 2

    watched.asked(two)
    assert len(set(watched.ports)) == 2


# --- ids ---


def ids(*repeated: int, every_attempt: bool = False) -> Callable[[str, int], dict]:
    """Ids of their own, but for some questions, which get that of the first one at their first attempt."""

    def said(question: str, attempt: int) -> dict:
        number = int(re.sub(r"\D", "", question))
        return {"id": "id-0" if number in repeated and (attempt == 1 or every_attempt) else f"id-{number}"}

    return said


LATER = FIRST_ANSWERS + 5


def test_a_stray_response_is_asked_for_again_over_a_new_connection():
    """Ruling C9."""
    watched = Watched(ids(LATER))

    async def ask(model) -> None:
        for number in range(LATER):
            assert await answered(model, number)
        stray = await model.complete(request(LATER))
        assert isinstance(stray, Failure)
        assert (stray.reason, stray.response_id, stray.may_pass) == (Reason.STRAY_RESPONSE, "id-0", True)
        assert await answered(model, LATER)
        assert await answered(model, LATER + 1)

    model = watched.asked(ask)
    first, *others, again, last = watched.ports
    assert set(others) == {first} == {last}
    assert again != first
    (note,) = model.notes()
    assert note.startswith("m: 1 responses had the id of a response to another request")


def test_a_server_that_always_repeats_its_ids_is_told_of_once_and_believed():
    watched = Watched(ids(*range(100)))

    async def ask(model) -> None:
        assert [await answered(model, number) for number in range(30)] == [True] * 30

    (note,) = watched.asked(ask).notes()
    assert re.fullmatch(
        r"m: the server at 127\.0\.0\.1:\d+ repeats the ids of its responses; they prove nothing", note
    )


def test_a_server_that_begins_to_repeat_them_costs_one_more_request():
    watched = Watched(ids(*range(LATER, 100), every_attempt=True))

    async def ask(model) -> None:
        for number in range(LATER):
            assert await answered(model, number)
        assert (await model.complete(request(LATER))).reason is Reason.STRAY_RESPONSE
        assert [await answered(model, number) for number in range(LATER, 60)] == [True] * (60 - LATER)

    assert len(watched.asked(ask).notes()) == 2


def test_an_ollama_server_is_known_to_repeat_them_and_nothing_is_said_that_was_not_seen():
    model = OpenAICompatible("m", ServerProvider(base_url="http://h/v1", flavour="ollama"), Limits())
    assert model._endpoint.ids.prove_nothing
    assert model.notes() == []


# --- open files ---

ASK = """
import resource, sys
from affidavit.errors import UsageError
from affidavit.models.connections import allow_open_files

soft, hard, *connections = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
try:
    allow_open_files(dict(zip("mno", connections)))
except UsageError as error:
    print(error)
else:
    print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("soft", "hard", "connections", "said"),
    [
        (200, 200, [100], "200"),
        (64, 200, [100], "148"),
        (64, 200, [50, 50], "148"),
        (64, 200, [152], "200"),
        (64, 200, [100, 53], "connections of all models: expected at most 152: this process may have 200 files open (ulimit -n), found 153"),
        (64, 200, [153], "models.m.connections: expected at most 152: this process may have 200 files open (ulimit -n), found 153"),
        (40, 40, [1], "models.m.connections: expected at most 0: this process may have 40 files open (ulimit -n), found 1"),
    ],
)  # fmt: skip
def test_connections_get_the_files_that_they_need_or_the_limit_is_said(soft, hard, connections, said):
    numbers = map(str, (soft, hard, *connections))
    done = subprocess.run([sys.executable, "-c", ASK, *numbers], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == said


@pytest.mark.parametrize("host", ["a" * 64, "a..b"])
def test_a_host_that_no_name_server_could_be_asked_for_is_no_connection(host):
    async def ask() -> tuple[Failure, Failure]:
        model = OpenAICompatible("m", ServerProvider(base_url=f"http://{host}/v1"), Limits(connect=600.0))
        async with model:
            return await model.reachable(), await model.complete(request(1))

    assert {failure.reason for failure in asyncio.run(ask())} == {Reason.CONNECTION}
