"""Connections that are used again only if nothing is left on them (ruling C9).

A server that sends more than it was asked for would answer the next question with the rest of it. Whatever has
arrived since the last response was taken is a reason to close the connection: a whole message, the beginning of
one, or bytes that nobody has read yet.
"""

import resource
import select
from collections.abc import Mapping

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

from affidavit.errors import UsageError

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


class Connections(aiohttp.TCPConnector):
    """Connections to servers: kept open between requests, unless each is wanted anew."""

    def __init__(self, *, limit: int, each_anew: bool = False) -> None:
        if each_anew:
            super().__init__(limit=limit, force_close=True)
        else:
            super().__init__(limit=limit, keepalive_timeout=_KEPT_OPEN)

    async def _get(self, key: ConnectionKey, traces: list[Trace]) -> Connection | None:
        """The next connection that can be used again; aiohttp asks here, and looks only whether it is open."""
        while (connection := await super()._get(key, traces)) is not None:
            if connection.protocol is not None and _is_silent(connection.protocol):
                return connection
            connection.close()
        return None


def _is_silent(protocol: ResponseHandler) -> bool:
    """Whether nothing has arrived since the last response was taken."""
    if protocol.should_close or _has_begun_a_message(protocol) or protocol.transport is None:
        return False
    arrived = select.poll()
    arrived.register(protocol.transport.get_extra_info("socket"), select.POLLIN)
    return not arrived.poll(0)


def _has_begun_a_message(protocol: ResponseHandler) -> bool:
    """Whether the parser holds a part of a message; it is thrown away with the connection's next request."""
    parser = protocol._parser  # nothing else tells
    try:
        return parser is not None and parser.feed_eof() is not None
    except Exception:  # noqa: BLE001 - what it cannot make sense of is no silence
        return True
