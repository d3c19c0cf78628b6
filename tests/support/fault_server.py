"""A server that speaks the OpenAI chat interface and breaks it on request, down to the single byte.

    with FaultServer({"q3": first(status(500)), "q7": every(hang)}) as server:
        ...  # ask server.url, then look into server.log

It runs in a thread of its own on a loopback port, over plain sockets. A question is known by the first name in
square brackets in its prompt, `[q17]`; whatever the script does not name is answered with `<answer>B</answer>`.

Whoever must catch a run in the middle lets the server hold its answers (`hang`, `held`, `Turnstile`): then the run
waits, however slow or quick the machine is.
"""

import asyncio
import fcntl
import gzip
import json
import re
import socket
import struct
import termios
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cache
from secrets import token_hex
from time import monotonic, sleep, time
from typing import Self

RIGHT = "<answer>B</answer>"
ESCAPES = "\x1b[2J\x1b]0;title\x07 \x9b31m \u202e \r \x7f"
"""What commands a terminal."""
LONGEST = 120.0
"""Seconds that anything here may take; more means that it hangs."""


@dataclass
class Asked:
    """One request, as the server saw it."""

    question: str
    attempt: int
    """Counted from 1 over requests of the same body."""
    began: float
    """By the monotonic clock, like all times here."""
    headers: Mapping[str, str]
    body: Mapping[str, object]
    answered: float | None = None
    not_before: float | None = None
    """When the server, having said Retry-After, expects the next attempt."""

    @property
    def prompt(self) -> str:
        """All words of the conversation."""
        return "\n".join(message["content"] for message in self.body.get("messages", ()))


@dataclass
class Call:
    """One request and the connection that waits for its response."""

    asked: Asked
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, content: bytes) -> None:
        """Bytes as they are."""
        self.writer.write(content)
        with suppress(ConnectionError):
            await self.writer.drain()

    async def wait(self, until: Callable[[], bool]) -> None:
        """Until something is so; whoever asked may go away before, and then there is nobody to answer."""
        while not until():
            if self.reader.at_eof() or self.writer.is_closing():
                raise ConnectionResetError("the client has gone")
            await asyncio.sleep(0.005)

    def arrived(self) -> bool:
        """Whether all that was sent is on the client's side."""
        waiting = fcntl.ioctl(self.writer.get_extra_info("socket"), termios.TIOCOUTQ, bytes(4))
        return not int.from_bytes(waiting, "little")

    def close(self) -> None:
        """End the connection in good order."""
        self.writer.close()

    def reset(self) -> None:
        """End the connection so that the other side gets an error."""
        now = struct.pack("ii", 1, 0)
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, now)
        self.writer.transport.abort()


Fault = Callable[[Call], Awaitable[None]]


@dataclass(frozen=True)
class Planned:
    """A fault, and the attempts that meet it."""

    fault: Fault
    attempts: int

    def meets(self, attempt: int) -> bool:
        return attempt <= self.attempts


def first(fault: Fault) -> Planned:
    """The first attempt meets it; the second is answered."""
    return Planned(fault, 1)


def every(fault: Fault) -> Planned:
    """All attempts meet it."""
    return Planned(fault, 1_000_000)


def response(content: bytes, *, code: int = 200, headers: Mapping[str, str] | None = None) -> bytes:
    """A response in good order."""
    lines = {"Content-Type": "application/json", "Content-Length": str(len(content)), **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {code} Told\r\n{head}\r\n".encode("latin-1") + content


def chat(message: Mapping[str, object], finish: str | None = "stop", **said: object) -> bytes:
    """The body of a chat completion; `said` is what the server says besides, such as its id."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return json.dumps({"object": "chat.completion", "choices": [choice], "usage": usage, **said}).encode()


def error_body(message: object, kind: str = "some_error") -> bytes:
    """The body of an error, as OpenAI words it."""
    return json.dumps({"error": {"message": message, "type": kind, "code": kind}}).encode()


# --- responses that are whole, whatever they say ---


def body(content: bytes, *, code: int = 200, headers: Mapping[str, str] | None = None) -> Fault:
    """These bytes."""
    return lambda call: call.send(response(content, code=code, headers=headers))


def says(text: str, finish: str = "stop") -> Fault:
    """This text."""
    return body(chat({"content": text}, finish))


def status(code: int, message: object = "not now") -> Fault:
    """An error with this status."""
    return body(error_body(message), code=code)


def message(finish: str | None = "stop", **fields: object) -> Fault:
    """A completion whose message has these fields."""
    return body(chat(fields, finish))


def packed(content: bytes, *, cut: int = 0) -> Fault:
    """These bytes as gzip, without its last ones: eight of them are the checksum and the length."""
    return body(gzip.compress(content)[: -cut or None], headers={"Content-Encoding": "gzip"})


def limited(retry_after: str) -> Fault:
    """429 with these words in Retry-After."""

    async def fault(call: Call) -> None:
        with suppress(ValueError):
            call.asked.not_before = monotonic() + max(0.0, float(retry_after))
        await call.send(response(error_body("slow down"), code=429, headers={"Retry-After": retry_after}))

    return fault


def limited_until(seconds: float) -> Fault:
    """429 with a date in Retry-After, which has no parts of seconds."""

    async def fault(call: Call) -> None:
        date = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=seconds)
        call.asked.not_before = monotonic() + date.timestamp() - time()
        headers = {"Retry-After": format_datetime(date, usegmt=True)}
        await call.send(response(error_body("slow down"), code=429, headers=headers))

    return fault


def echo(code: int, *, shape: str = "text") -> Fault:
    """An error that repeats all headers of the request: as a text, as a JSON value, or the last words alone."""

    async def fault(call: Call) -> None:
        headers = dict(call.asked.headers)
        told = {
            "text": "\n".join(f"{name}: {value}" for name, value in headers.items()),
            "value": headers,
            "last words": ", ".join(value.split()[-1] for value in headers.values()),
        }
        await call.send(response(error_body(told[shape]), code=code))

    return fault


model_list = body(b'{"object": "list", "data": [{"id": "m", "object": "model"}]}')
unauthorised = status(401, "bad key")
bad_request = status(400, "no such parameter")
unavailable = body(b"<html><body>" + b"503 " * 1000, code=503, headers={"Content-Type": "text/html"})
context_overflow = body(
    error_body("This model's maximum context length is 8", "context_length_exceeded"), code=400
)
escaping_error = status(400, f"told {ESCAPES} so")
error_object = body(error_body("upstream fell over"))
no_choices = body(b'{"choices": []}')
not_json = body(b"<answer>B</answer>")
not_utf8 = body(chat({"content": RIGHT}).replace(b"B", b"\xff\xfe"))
null_content = message(content=None)
content_filter = message("content_filter", content=None)
tool_call = message("tool_calls", content=None, tool_calls=[{"id": "1", "function": {"name": "f"}}])
ran_out = message("length", content=None)
thought_only = message("stop", content=None, reasoning_content="B, surely")
thought_and_said = message("stop", content=RIGHT, reasoning_content="<answer>A</answer>")
refusal = message("stop", content=None, refusal="I would rather not.")
cut_at_the_limit = says(RIGHT, "length")


async def too_long(call: Call) -> None:
    """10 MB of text."""
    await call.send(response(chat({"content": RIGHT + " " * 10_000_000})))


@cache
def _bomb() -> bytes:
    return gzip.compress(bytes(100_000_000), 1)


async def gzip_bomb(call: Call) -> None:
    """A small body that unpacks to 100 MB."""
    await call.send(response(_bomb(), headers={"Content-Encoding": "gzip"}))


# --- responses that break off ---


async def reset(call: Call) -> None:
    """No response: the connection is reset."""
    call.reset()


async def closed(call: Call) -> None:
    """No response: the connection is closed."""
    call.close()


async def cut_json(call: Call) -> None:
    """A Content-Length that is right, of a text that was cut before."""
    await call.send(response(chat({"content": RIGHT})[:-40]))


async def cut_length(call: Call) -> None:
    """Less than Content-Length says, and a JSON text that would be whole."""
    content = chat({"content": RIGHT})
    await call.send(response(content, headers={"Content-Length": str(len(content) + 10)}))
    call.close()


async def cut_chunked(call: Call) -> None:
    """Chunks without the last one, and a JSON text that would be whole."""
    content = chat({"content": RIGHT})
    head = b"HTTP/1.1 200 Told\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    await call.send(head + f"{len(content):x}\r\n".encode() + content + b"\r\n")
    call.close()


async def reset_in_body(call: Call) -> None:
    """Half a body, then a reset."""
    content = response(chat({"content": RIGHT}))
    await call.send(content[:-20])
    await call.wait(call.arrived)
    call.reset()


async def not_http(call: Call) -> None:
    """Something else altogether."""
    await call.send(b"220 mail.example ESMTP\r\n\r\n")
    call.close()


async def hang(call: Call) -> None:
    """Nothing, for ever."""
    await call.wait(lambda: False)


def held(over: threading.Event) -> Fault:
    """The right answer, once an event has come."""
    return held_until(over.is_set)


def held_until(so: Callable[[], bool]) -> Fault:
    """The right answer, once something is so."""

    async def fault(call: Call) -> None:
        await call.wait(so)
        await call.send(response(chat({"content": RIGHT})))

    return fault


class Turnstile:
    """A fault that answers as many requests as it is told to, in the order in which they come, and holds the rest."""

    def __init__(self, answer: Fault) -> None:
        self._answer = answer
        self._came = 0
        self._pass = 0.0

    async def __call__(self, call: Call) -> None:
        self._came += 1
        number = self._came
        await call.wait(lambda: number <= self._pass)
        await self._answer(call)

    def let_pass(self, count: float) -> None:
        """So many of those who come from now on; whoever came before and was held has gone or may pass, too."""
        self._pass = self._came + count

    def open(self) -> None:
        """All may pass."""
        self.let_pass(float("inf"))


async def drip(call: Call) -> None:
    """The response, a byte a second."""
    for byte in response(chat({"content": RIGHT})):
        await call.send(bytes([byte]))
        await asyncio.sleep(1.0)


# --- the server ---


@dataclass
class FaultServer:
    """The server, while its block runs."""

    script: Mapping[str, Planned] = field(default_factory=dict)
    answer: Callable[[Asked], str] = lambda asked: RIGHT
    """What is said where the script says nothing."""
    latency: Callable[[], float] = lambda: 0.0
    """Seconds before each answer."""
    models: Fault = model_list
    """What GET /v1/models meets."""
    said: Callable[[Asked], Mapping[str, object]] = lambda asked: {"id": f"chat-{token_hex(8)}"}
    """What it says of itself and of the response, where the script says nothing."""
    log: list[Asked] = field(default_factory=list)
    looked_up: int = 0
    """Times that GET /v1/models was asked."""
    most_open: int = 0
    """Requests that waited for an answer at once, at most."""

    def __enter__(self) -> Self:
        _bomb()  # made here once: while the server makes it, it answers nobody
        self._attempts: Counter[bytes] = Counter()
        self._open = 0
        self._connections: set[asyncio.Task] = set()
        self._listening: asyncio.Server | None = None
        # Bound and never listening: while the server is away nobody else can take its port.
        self._place = socket.socket()
        self._place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._place.bind(("127.0.0.1", 0))
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)), daemon=True)
        self._thread.start()
        assert ready.wait(LONGEST)
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(LONGEST)
        assert not self._thread.is_alive()
        self._place.close()

    @property
    def address(self) -> str:
        """Host and port."""
        return "{}:{}".format(*self._place.getsockname())

    @property
    def url(self) -> str:
        """The base address of the interface."""
        return f"http://{self.address}/v1"

    def questions(self) -> Counter[str]:
        """How often each question was asked."""
        return Counter(asked.question for asked in self.log)

    def gone(self, seconds: float) -> Fault:
        """The server goes away with all its connections; until it is back, new ones are refused."""

        async def fault(call: Call) -> None:
            await self._no_more()
            self._listening.close()
            for connection in self._connections - {asyncio.current_task()}:
                connection.cancel()
            call.close()
            if seconds < float("inf"):
                await asyncio.sleep(seconds)
                await self._listen()

        return fault

    def quiet(self) -> None:
        """Wait until everything that clients sent before they went is in the log; all of them must have gone."""
        with socket.create_connection(self._place.getsockname(), timeout=LONGEST) as last:
            last.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert last.recv(1), "those who connected before were let in before"
        end = monotonic() + LONGEST
        while self._connections:
            assert monotonic() < end
            sleep(0.002)

    async def _serve(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()
        await self._listen()
        ready.set()
        await self._over.wait()
        self._listening.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _listen(self) -> None:
        self._listening = await asyncio.start_server(
            self._connected, *self._place.getsockname(), backlog=1000, reuse_port=True, limit=1 << 24
        )

    async def _no_more(self) -> None:
        """Let nobody in any more; whoever just was is known by then.

        Python's own server leaves those open whom it let in as it was closed: nobody answers them, and nobody hangs up.
        """
        for place in self._listening.sockets:
            self._loop.remove_reader(place)
        for _ in range(3):  # their connection is made, they are told of it, and begin
            await asyncio.sleep(0)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(asyncio.current_task())
        try:
            while await self._one_request(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client has gone, or the server goes
        finally:
            self._connections.discard(asyncio.current_task())
            writer.close()

    async def _one_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Take one request and answer it; False once the connection is over."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.split(": ", 1) for line in head[1:] if line)
        content = await reader.readexactly(int(headers.get("Content-Length", 0)))
        if head[0].startswith("GET /v1/models"):
            self.looked_up += 1
            await self.models(Call(Asked("", 1, monotonic(), headers, {}), reader, writer))
        elif head[0].startswith("POST /v1/chat/completions"):
            self._attempts[content] += 1
            asked = Asked("", self._attempts[content], monotonic(), headers, json.loads(content))
            await self._asked(asked, Call(asked, reader, writer))
        else:
            await Call(Asked("", 1, monotonic(), headers, {}), reader, writer).send(response(b"{}", code=404))
        return not writer.is_closing()

    async def _asked(self, asked: Asked, call: Call) -> None:
        named = re.search(r"\[(\w+)\]", asked.prompt)
        asked.question = named[1] if named else ""
        self.log.append(asked)
        self._open += 1
        self.most_open = max(self.most_open, self._open)
        try:
            planned = self.script.get(asked.question)
            if planned is not None and planned.meets(asked.attempt):
                await planned.fault(call)
            else:
                await asyncio.sleep(self.latency())
                await call.send(response(chat({"content": self.answer(asked)}, **self.said(asked))))
            asked.answered = monotonic()
        finally:
            self._open -= 1


@contextmanager
def dead_address() -> Iterator[str]:
    """Host and port where nobody listens, nor can begin to before the block ends."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield "{}:{}".format(*taken.getsockname())
