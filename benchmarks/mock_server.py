"""A server that gives the same answer to everything, as fast as one process can; runner.py asks it.

It speaks as much of the OpenAI chat interface as a client needs: `GET /v1/models` and `POST /v1/chat/completions`,
over connections that stay open. It prints its port and ends when its standard input does.
"""

import argparse
import asyncio
import json
import re
import socket
import sys
from functools import partial

ANSWER = "<answer>B</answer>"
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_END_OF_HEAD = b"\r\n\r\n"


def _response(status: str, content: object) -> bytes:
    body = json.dumps(content).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


_CHOICE = {"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}
_USAGE = {"prompt_tokens": 90, "completion_tokens": 7, "total_tokens": 97}
_CHAT: dict[str, object] = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "mock"}
_RESPONSES = {
    (b"POST", b"/v1/chat/completions"): _response("200 OK", _CHAT | {"choices": [_CHOICE], "usage": _USAGE}),
    (b"GET", b"/v1/models"): _response("200 OK", {"object": "list", "data": [{"id": "mock", "object": "model"}]}),
}
_NOT_FOUND = _response("404 Not Found", {"error": {"message": "not found"}})


class Connection(asyncio.Protocol):
    """One client: its requests are cut from the stream as they become whole."""

    def __init__(self, latency: float) -> None:
        self._latency = latency
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while self._cut_request():
            pass

    def _cut_request(self) -> bool:
        end = self._received.find(_END_OF_HEAD)
        if end < 0:
            return False
        head = self._received[:end]
        length = _LENGTH.search(head)
        whole = end + len(_END_OF_HEAD) + (int(length[1]) if length else 0)
        if len(self._received) < whole:
            return False
        self._received = self._received[whole:]
        method, path, _ = head.split(b" ", 2)
        self._answer(_RESPONSES.get((method, path), _NOT_FOUND))
        return True

    def _answer(self, response: bytes) -> None:
        if self._latency:
            asyncio.get_running_loop().call_later(self._latency, self._send, response)
        else:
            self._send(response)

    def _send(self, response: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(response)


async def serve(latency: float) -> None:
    loop = asyncio.get_running_loop()
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    server = await loop.create_server(partial(Connection, latency), sock=listening)
    print(listening.getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="An OpenAI-compatible server that always says the same.")
    parser.add_argument("--latency-ms", type=float, default=0.0, help="wait this long before every answer")
    asyncio.run(serve(parser.parse_args().latency_ms / 1000))


if __name__ == "__main__":
    main()
