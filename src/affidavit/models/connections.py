"""Connections to servers, kept open between requests as long as nothing is left on them (ruling C9).

A server that sends more than it was asked for would answer the next question with the rest of it. Whatever has
arrived since the last response was taken is a reason to close the connection: a whole message, the beginning of
one, or bytes that nobody has read yet.
"""

import asyncio
import resource
import socket
import ssl
from collections.abc import Mapping
from functools import cache
from time import monotonic
from typing import Any, NamedTuple

from affidavit.errors import UsageError
from affidavit.models.http_connection import HttpConnection, HttpResponse

_KEPT_OPEN = 30.0
"""Seconds that an idle connection is kept."""
MOST_CONNECTIONS = 50_000
"""To one model: beyond that a machine has no ports left."""
_OTHER_FILES = 48
"""Files that a run has open beside its connections."""


def allow_open_files(connections: Mapping[str, int]) -> None:
    """See to it that the connections of all models can be open at once, or say why they cannot."""
    wanted = sum(connections.values())
    needed = wanted + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or needed <= soft:
        return
    if hard == resource.RLIM_INFINITY or needed <= hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
        return
    raise UsageError(
        f"models.{next(iter(connections))}.connections" if len(connections) == 1 else "connections of all models",
        expected=f"at most {max(hard - _OTHER_FILES, 0):,}: this process may have {hard:,} files open (ulimit -n)",
        found=f"{wanted:,}",
        hint="Ask for fewer connections, or raise the limit of open files.",
    )


class Origin(NamedTuple):
    """Where a server listens."""

    host: str
    port: int
    encrypted: bool


class _Address(NamedTuple):
    """One of the addresses that a host has."""

    family: int
    place: tuple[Any, ...]


async def _socket_at(address: _Address) -> socket.socket:
    """A socket that is connected; none is left open if it cannot be, or nobody waits for it any more."""
    reached = socket.socket(address.family, socket.SOCK_STREAM)
    try:
        reached.setblocking(False)  # noqa: FBT003 - the call has no name for it
        await asyncio.get_running_loop().sock_connect(reached, address.place)
    except BaseException:
        reached.close()
        raise
    return reached


class _Idle(NamedTuple):
    connection: HttpConnection
    since: float


class Connections:
    """Connections to the servers of one model: as many as there are open requests, and no more than `limit`."""

    def __init__(self, *, limit: int, connect_seconds: float, most_bytes: int) -> None:
        self._limit = limit
        self._connect_seconds = connect_seconds
        self._most_bytes = most_bytes
        self._idle: dict[Origin, list[_Idle]] = {}
        self._open: set[HttpConnection] = set()
        self._connecting = 0
        self._reached: dict[Origin, _Address] = {}
        """The address of a host that answered last: it is tried first."""

    async def exchange(self, origin: Origin, request: bytes, *, anew: bool = False) -> HttpResponse:
        """The response to a request; `anew`: over a connection that is used for nothing else."""
        connection = None if anew else self._kept(origin)
        if connection is None:
            self._make_room()
            connection = await self._connected(origin)
        try:
            return await connection.exchange(request)
        finally:
            if connection.is_open and not anew:
                self._idle.setdefault(origin, []).append(_Idle(connection, monotonic()))
            else:
                self._close(connection)

    def _kept(self, origin: Origin) -> HttpConnection | None:
        """The connection that was used last, if it can be used again."""
        idle = self._idle.get(origin)
        while idle:
            connection, since = idle.pop()
            if monotonic() - since < _KEPT_OPEN and connection.is_silent:
                return connection
            self._close(connection)
        return None

    async def _connected(self, origin: Origin) -> HttpConnection:
        self._connecting += 1
        try:
            async with asyncio.timeout(self._connect_seconds):
                connection = await self._reach(origin)
        finally:
            self._connecting -= 1
        self._open.add(connection)
        return connection

    async def _reach(self, origin: Origin) -> HttpConnection:
        """A connection to the first address of a host that answers; one after the other, so that one is open."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(_Address(family, address) for family, _, _, _, address in found))
        addresses.sort(key=lambda address: address != self._reached.get(origin))
        seconds, failures = self._connect_seconds / len(addresses), list[OSError]()
        for address in addresses:
            try:
                async with asyncio.timeout(seconds):
                    reached = await _socket_at(address)
            except OSError as error:
                failures.append(error)
                continue
            self._reached[origin] = address
            _, connection = await loop.create_connection(lambda: HttpConnection(self._most_bytes), sock=reached)
            if origin.encrypted:
                await connection.encrypt(_encryption(), origin.host)
            return connection
        raise failures[0]

    def _make_room(self) -> None:
        """Idle connections to one server give way to a new one to another."""
        for idle in self._idle.values():
            while idle and len(self._open) + self._connecting >= self._limit:
                self._close(idle.pop(0).connection)

    def _close(self, connection: HttpConnection) -> None:
        connection.close()
        self._open.discard(connection)

    async def close(self) -> None:
        """Let go of all."""
        for connection in [*self._open]:
            self._close(connection)
        self._idle.clear()
        await asyncio.sleep(0)  # the system's sockets are closed in the loop's next turn


@cache
def _encryption() -> ssl.SSLContext:
    """The certificates that this system trusts; SSL_CERT_FILE names others."""
    return ssl.create_default_context()
