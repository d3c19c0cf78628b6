"""One HTTP/1.1 connection: a request goes out, and one whole response comes back or it is said why none did.

The bytes are parsed by llhttp, the parser of Node.js, through `httptools`. What a client of one interface does not
need is not here: no redirections, cookies, proxies or compression. A response is taken whole or not at all, within
a stated number of bytes, and whatever arrives beyond it spoils the connection (ruling C9).
"""

import asyncio
import select
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

_MOST_FRAMING = 65_536
"""Bytes of a response beside its body (head, lengths of chunks, trailers), and eight more for each byte of it."""


class HttpError(Exception):
    """What arrived is no whole response."""


class NotHttpError(HttpError):
    """Something else arrived."""


class EndedEarlyError(HttpError):
    """The connection ended within a body."""


class TooLargeError(HttpError):
    """More bytes than were allowed."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A whole response."""

    status: int
    headers: Mapping[bytes, bytes]
    """By their names in small letters."""
    body: bytes

    def header(self, name: str) -> str | None:
        """The value of a header, if there is one."""
        value = self.headers.get(name.lower().encode())
        return None if value is None else value.decode("latin-1")


class HttpConnection(asyncio.Protocol):
    """A connection, used for one exchange after the other."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._parser = HttpResponseParser(self)
        self._transport: asyncio.Transport | None = None
        self._socket: asyncio.Transport | None = None
        """What bytes really leave by; an encrypted transport does not say what is still to be sent."""
        self._arrived = select.poll()
        self._waiting: asyncio.Future[HttpResponse] | None = None
        self._spoilt = False
        self._begin()

    def _begin(self) -> None:
        """Nothing of a response has arrived."""
        self._headers: dict[bytes, bytes] = {}
        self._body = bytearray()
        self._received = 0
        self._has_head = False
        self._interim = False

    async def exchange(self, request: bytes) -> HttpResponse:
        """The response to a request; whoever gives up waiting for it gives up the connection."""
        if self._transport is None:
            raise RuntimeError("a connection is used once it is made")
        self._begin()
        self._waiting = asyncio.get_running_loop().create_future()
        self._spoilt = True  # until the response is whole
        self._transport.write(request)
        try:
            return await self._waiting
        finally:
            self._waiting = None

    @property
    def is_open(self) -> bool:
        """Whether another exchange may follow, by all that was read so far."""
        return not self._spoilt and self._transport is not None and not self._transport.is_closing()

    @property
    def is_silent(self) -> bool:
        """Whether it is open, and nothing has arrived since the last response: also nothing that is unread."""
        return self.is_open and not self._arrived.poll(0)

    def close(self) -> None:
        """Let go of it at once."""
        self._spoilt = True
        if self._transport is not None:
            self._transport.abort()

    async def encrypt(self, context: ssl.SSLContext, host: str) -> None:
        """Go on encrypted, with the host that has a certificate for this name."""
        if self._socket is None:
            raise RuntimeError("a connection is used once it is made")
        loop = asyncio.get_running_loop()
        self._transport = await loop.start_tls(self._socket, self, context, server_hostname=host)

    # --- what asyncio calls ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is there."""
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a connection is a stream")
        self._transport = self._socket = transport
        self._arrived.register(transport.get_extra_info("socket"), select.POLLIN)

    def data_received(self, data: bytes) -> None:
        """Bytes of a response; of none, if nobody waits for one."""
        if self._waiting is None or self._waiting.done():
            self.close()
            return
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            self._fail(NotHttpError("the response is not HTTP"))
        if self._received > _MOST_FRAMING + 9 * len(self._body):
            self._fail(TooLargeError("too many bytes around a body"))

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone: a body that had no length is whole now, anything else is not."""
        self._spoilt = True
        if self._has_head and exc is None and self._ends_with_the_connection():
            self._take()
        elif self._has_head:
            self._fail(EndedEarlyError("the body ended early"))
        else:
            self._fail(exc or ConnectionError("the connection broke"))

    def _ends_with_the_connection(self) -> bool:
        return b"content-length" not in self._headers and b"transfer-encoding" not in self._headers

    # --- what the parser calls ---

    def on_message_begin(self) -> None:
        """A response begins; a second one belongs to nobody."""
        if self._waiting is None or self._waiting.done():
            self._spoilt = True

    def on_header(self, name: bytes, value: bytes) -> None:
        """A line of the head; one of a trailer says nothing."""
        if not self._has_head:
            self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        """The head is whole; that of an interim response is passed over."""
        if self._waiting is None or self._waiting.done():
            return
        status = self._parser.get_status_code()
        if status < 200:
            self._interim = True
            if status < 100:
                self._fail(NotHttpError("the status is none"))
            return
        self._has_head = True
        if int(self._headers.get(b"content-length", 0)) > self._most_bytes:
            self._fail(TooLargeError("a large body"))

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        if self._waiting is None or self._waiting.done():
            return
        if self._interim:
            self._fail(NotHttpError("an interim response has no body"))
            return
        self._body += body
        if len(self._body) > self._most_bytes:
            self._fail(TooLargeError("a large body"))

    def on_message_complete(self) -> None:
        """The response is whole."""
        if self._interim:
            self._interim = False
            self._headers = {}
        elif self._has_head and self._waiting is not None and not self._waiting.done():
            written = self._socket is not None and not self._socket.get_write_buffer_size()
            self._spoilt = not (written and self._parser.should_keep_alive())
            self._take()

    def _take(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            response = HttpResponse(self._parser.get_status_code(), self._headers, bytes(self._body))
            self._waiting.set_result(response)

    def _fail(self, error: Exception) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(error)
            self.close()
