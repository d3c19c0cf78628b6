"""One connection: a response is taken whole or not at all, and what is left over spoils the connection (ruling C9)."""

import asyncio
import gc
import socket
import ssl
import sys
import tracemalloc
import warnings
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import trustme

from affidavit.models import connections as connections_module
from affidavit.models.connections import Connections, Origin, _encryption
from affidavit.models.http_connection import (
    EndedEarlyError,
    HttpConnection,
    HttpError,
    HttpResponse,
    NotHttpError,
    TooLargeError,
)
from affidavit.models.model import Completion, Failure, Reason, Request
from affidavit.models.openai_compatible import OpenAICompatible, ServerProvider
from affidavit.models.settings import Limits
from support.fault_server import LONGEST, RIGHT, chat, response

ASK = b"GET /v1/models HTTP/1.1\r\nHost: h\r\n\r\n"
MOST = 1000
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def sends(*pieces: bytes, then: str = "waits") -> Serve:
    """Answer a request with these pieces, each in a segment of its own; afterwards wait, or close."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        if then == "waits":
            await reader.read()

    return serve


@asynccontextmanager
async def server(serve: Serve, **listening):
    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(one, "127.0.0.1", 0, **listening) as listener:
        yield listener.sockets[0].getsockname()[1]


def exchanged(serve: Serve) -> tuple[HttpResponse | Exception, bool]:
    """What became of one request, and whether the connection may be used again."""

    async def go() -> tuple[HttpResponse | Exception, bool]:
        async with server(serve) as port:
            loop = asyncio.get_running_loop()
            _, connection = await loop.create_connection(lambda: HttpConnection(MOST), "127.0.0.1", port)
            try:
                async with asyncio.timeout(LONGEST):
                    found: HttpResponse | Exception = await connection.exchange(ASK)
            except (HttpError, OSError) as error:
                found = error
            open_still = connection.is_open
            connection.close()
            return found, open_still

    return asyncio.run(go())


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
WHOLE = {
    "a length": ((OK + b"Content-Length: 2\r\n\r\nhi",), True),
    "byte by byte": (tuple(bytes([byte]) for byte in OK + b"Content-Length: 2\r\n\r\nhi"), True),
    "chunks": ((CHUNKED + b"1\r\nh\r\n1;a=b\r\ni\r\n0\r\n\r\n",), True),
    "a trailer": ((CHUNKED + b"2\r\nhi\r\n0\r\nDigest: x\r\n\r\n",), True),
    "interim responses": ((b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n", OK + b"Content-Length: 2\r\n\r\nhi"), True),
    "names in capitals": ((OK + b"CONTENT-LENGTH: 2\r\n\r\nhi",), True),
    "to be closed": ((OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nhi",), False),
    "an old version": ((b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi",), False),
    "a second response behind it": ((OK + b"Content-Length: 2\r\n\r\nhi" + OK,), False),
    "bytes behind it": ((OK + b"Content-Length: 2\r\n\r\nhi\x00",), False),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_response(name):
    pieces, reusable = WHOLE[name]
    found, open_still = exchanged(sends(*pieces))
    assert isinstance(found, HttpResponse), found
    assert (found.status, found.body, open_still) == (200, b"hi", reusable)


def test_a_body_without_a_length_ends_with_the_connection():
    found, open_still = exchanged(sends(OK + b"\r\nh", b"i", then="closes"))
    assert (found.status, found.body, open_still) == (200, b"hi", False)


def test_headers_are_found_in_any_spelling():
    found, _ = exchanged(sends(b"HTTP/1.1 429 No\r\nRETRY-after: 3\r\nContent-Length: 0\r\n\r\n"))
    assert (found.status, found.header("Retry-After"), found.header("Other"), found.body) == (429, "3", None, b"")


BROKEN = {
    "nothing": (b"", ConnectionError),
    "half a head": (OK + b"Content-Le", ConnectionError),
    "less than its length": (OK + b"Content-Length: 3\r\n\r\nhi", EndedEarlyError),
    "chunks without an end": (CHUNKED + b"2\r\nhi\r\n", EndedEarlyError),
    "another protocol": (b"220 mail.example ESMTP\r\n\r\n", NotHttpError),
    "an offer to go on otherwise": (b"HTTP/1.1 101 Up\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", NotHttpError),
    "two lengths": (OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi", NotHttpError),
    "a length and chunks": (OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nhi", NotHttpError),
    "a length that is none": (OK + b"Content-Length: -2\r\n\r\nhi", NotHttpError),
    "an interim response with a body": (b"HTTP/1.1 104 X\r\nContent-Length: 4\r\n\r\nEVIL" + OK + b"Content-Length: 2\r\n\r\nhi", NotHttpError),
    "one in chunks": (b"HTTP/1.1 199 X\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n" + OK, NotHttpError),
    "a status that is none": (b"HTTP/1.1 099 X\r\nContent-Length: 2\r\n\r\nhi", NotHttpError),
    "a long body": (OK + b"Content-Length: 1001\r\n\r\n", TooLargeError),
    "a long body in chunks": (CHUNKED + b"3e9\r\n" + b"x" * 1001, TooLargeError),
    "a long body without a length": (OK + b"\r\n" + b"x" * 1001, TooLargeError),
    "a long head": (OK + b"X: " + b"x" * 70_000, TooLargeError),
    "a long trailer": (CHUNKED + b"2\r\nhi\r\n0\r\nX: " + b"x" * 70_000, TooLargeError),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_whole_response_is_none(name):
    content, kind = BROKEN[name]
    ends = kind in (ConnectionError, EndedEarlyError)
    found, open_still = exchanged(sends(content, then="closes" if ends else "waits"))
    assert isinstance(found, kind), found
    assert not open_still


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", [b"x" * 4096, b"0" * 4096, b"1;" + b"x" * 4096], ids=["head", "size", "extension"]
)
def test_a_stream_without_an_end_takes_little_memory(unit):
    """A server may send for ever; what is kept of it is bounded."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK + b"X: " if unit.startswith(b"x") else CHUNKED)
        while not writer.is_closing():
            writer.write(unit)
            await writer.drain()

    tracemalloc.start()
    found, _ = exchanged(serve)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(found, TooLargeError | NotHttpError)
    assert peak < 3_000_000


def test_whoever_gives_up_waiting_gives_up_the_connection():
    async def go() -> tuple[int, bool]:
        arrived = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            arrived.set()
            assert await reader.read() == b"", "nothing follows"
            arrived.clear()

        async with server(serve) as port:
            connections = Connections(limit=1, connect_seconds=LONGEST, most_bytes=MOST)
            asking = asyncio.create_task(connections.exchange(Origin("127.0.0.1", port, encrypted=False), ASK))
            await arrived.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            while arrived.is_set():
                await asyncio.sleep(0.001)
            held = len(connections._open)
            await connections.close()
            return held, arrived.is_set()

    assert asyncio.run(go()) == (0, False)


def test_a_response_before_the_request_was_sent_is_taken_and_spoils_the_connection():
    """A server that refuses a large request does not read all of it."""

    async def go() -> tuple[int, bool]:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 413 Large\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            await over.wait()

        over = asyncio.Event()
        async with server(serve) as port:
            loop = asyncio.get_running_loop()
            _, connection = await loop.create_connection(lambda: HttpConnection(MOST), "127.0.0.1", port)
            found = await connection.exchange(ASK + bytes(30_000_000))
            over.set()
            state = connection.is_open
            connection.close()
            return found.status, state

    assert asyncio.run(go()) == (413, False)


def test_a_body_in_tiny_chunks_takes_little_more_than_its_bytes():
    size = 300_000

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(CHUNKED + b"2\r\nxx\r\n" * (size // 2) + b"0\r\n\r\n")
        await writer.drain()
        await reader.read()

    async def go() -> int:
        async with server(serve) as port:
            loop = asyncio.get_running_loop()
            _, connection = await loop.create_connection(lambda: HttpConnection(size), "127.0.0.1", port)
            response = await connection.exchange(ASK)
            assert len(response.body) == size
            held = sum(sys.getsizeof(value) for value in vars(connection).values())
            connection.close()
            return held

    assert asyncio.run(go()) < 3 * size


# --- where it leads ---


def test_the_next_address_of_a_host_is_tried_and_the_one_that_answered_is_tried_first(monkeypatch):
    """One after the other: a host with a dead address needs no second socket."""
    tried: list[str] = []
    reach = connections_module._socket_at

    async def seen(address):
        tried.append(address.place[0])
        return await reach(address)

    async def two(self, host, port, **options):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in ("127.0.0.9", "127.0.0.1")]

    monkeypatch.setattr(connections_module, "_socket_at", seen)
    monkeypatch.setattr(asyncio.base_events.BaseEventLoop, "getaddrinfo", two)

    async def go() -> None:
        closing = OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nhi"
        async with server(sends(closing)) as port:
            origin = Origin("h.example", port, encrypted=False)
            connections = Connections(limit=1, connect_seconds=LONGEST, most_bytes=MOST)
            for _ in range(2):
                assert (await connections.exchange(origin, ASK)).body == b"hi"
            await connections.close()

    asyncio.run(go())
    assert tried == ["127.0.0.9", "127.0.0.1", "127.0.0.1"]


@pytest.mark.slow
def test_whoever_gives_up_while_connecting_leaves_no_socket_open():
    async def go() -> None:
        async with server(right) as port:
            connections = Connections(limit=50, connect_seconds=LONGEST, most_bytes=MOST)
            origin = Origin("127.0.0.1", port, encrypted=False)
            asking = [asyncio.create_task(connections.exchange(origin, ASK)) for _ in range(30)]
            for number, task in enumerate(asking):
                for _ in range(number % 6):
                    await asyncio.sleep(0)
                task.cancel()
            await asyncio.gather(*asking, return_exceptions=True)
            assert (connections._connecting, len(connections._open)) == (0, len(connections._idle.get(origin, ())))
            await connections.close()

    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        asyncio.run(go())
        gc.collect()


# --- encrypted ---

TURN = {"role": "user", "content": "[q1] Which one?"}


async def right(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer every request."""
    while True:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next((line.split()[1] for line in head.splitlines() if line.startswith(b"Content-Length")), b"0")
        await reader.readexactly(int(length))
        writer.write(response(chat({"content": RIGHT})))


async def too_early(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Refuse a request before it was sent, and read no more of it."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(response(b"{}", code=503))
    await writer.drain()
    await asyncio.sleep(LONGEST)


@pytest.mark.slow
@pytest.mark.parametrize("encrypted", [False, True])
def test_a_connection_on_which_a_request_is_still_to_be_sent_is_not_used_again(encrypted, monkeypatch, tmp_path):
    context = trusted_context(("127.0.0.1",), monkeypatch, tmp_path) if encrypted else None

    async def go() -> int:
        async with server(too_early, ssl=context) as port:
            connections = Connections(limit=2, connect_seconds=LONGEST, most_bytes=MOST)
            origin = Origin("127.0.0.1", port, encrypted=encrypted)
            assert (await connections.exchange(origin, ASK + bytes(30_000_000))).status == 503
            kept = len(connections._open)
            await connections.close()
            return kept

    try:
        assert asyncio.run(go()) == 0
    finally:
        _encryption.cache_clear()


def trusted_context(names: tuple[str, ...], monkeypatch, tmp_path, *, trusted: bool = True) -> ssl.SSLContext:
    """What a server needs that has a certificate for these names; its authority is trusted here or not."""
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(*names).configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    _encryption.cache_clear()
    return context


def asked_encrypted(host: str, names: tuple[str, ...], *, trusted: bool, monkeypatch, tmp_path):
    """Two answers over an encrypted connection to a server that has a certificate for these names."""
    context = trusted_context(names, monkeypatch, tmp_path, trusted=trusted)

    async def go() -> list[Completion | Failure]:
        async with server(right, ssl=context) as port:
            provider = ServerProvider(base_url=f"https://{host}:{port}/v1", connections=1)
            async with OpenAICompatible("m", provider, Limits(connect=LONGEST)) as model:
                asked = [Request({"model": "m", "messages": (TURN,), "seed": seed}) for seed in (1, 2)]
                return [await model.complete(request) for request in asked]

    try:
        return asyncio.run(go())
    finally:
        _encryption.cache_clear()


def test_an_encrypted_server_that_is_trusted_is_asked(monkeypatch, tmp_path):
    found = asked_encrypted("127.0.0.1", ("127.0.0.1",), trusted=True, monkeypatch=monkeypatch, tmp_path=tmp_path)
    assert [answer.text for answer in found] == [RIGHT, RIGHT]


@pytest.mark.parametrize(("names", "trusted"), [(("127.0.0.1",), False), (("other.example",), True)])
def test_one_that_nobody_vouches_for_or_that_is_another_is_not(names, trusted, monkeypatch, tmp_path):
    found = asked_encrypted("127.0.0.1", names, trusted=trusted, monkeypatch=monkeypatch, tmp_path=tmp_path)
    assert [answer.reason for answer in found] == [Reason.CONNECTION] * 2
    assert all("certificate" in answer.detail for answer in found), found
