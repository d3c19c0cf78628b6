"""A model that several servers have, such as a vLLM on each node: one to the study, and each server asked apart.

Which server answered decides nothing: all are sent the same request, and no key, record or root digest knows of
addresses. Who chooses among them by what they have to do is the runner; asked as a whole, the model takes the one
with the fewest open requests.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Self

from affidavit.json_values import Fields
from affidavit.models.model import Answer, Failure, Request, Server, SetupFault


class SeveralServers:
    """One model at several servers."""

    def __init__(self, name: str, servers: Sequence[Server]) -> None:
        self.name = name
        self.servers = tuple(servers)
        self.connections = sum(server.model.connections for server in self.servers)
        self._open = [0] * len(self.servers)
        self._failed_at = self.servers[0]
        """Where the last failure came from."""
        self._stack = AsyncExitStack()

    def facts(self) -> Fields:
        """What the first of them says: they are one model."""
        return self.servers[0].model.facts()

    def notes(self) -> list[str]:
        """Those of all servers; each says which it is."""
        return list(dict.fromkeys(note for server in self.servers for note in server.model.notes()))

    async def __aenter__(self) -> Self:
        for server in self.servers:
            await self._stack.enter_async_context(server.model)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def reachable(self) -> Failure | None:
        """None as long as one of them can be asked; otherwise what the first one failed with."""
        failures = await asyncio.gather(*(server.model.reachable() for server in self.servers))
        return None if None in failures else failures[0]

    async def complete(self, request: Request) -> Answer:
        """One attempt, at the server with the fewest open requests."""
        number = min(range(len(self.servers)), key=self._open.__getitem__)
        self._open[number] += 1
        try:
            answer = await self.servers[number].model.complete(request)
        finally:
            self._open[number] -= 1
        if isinstance(answer, Failure):
            self._failed_at = self.servers[number]
        return answer

    async def setup_fault(self, failure: Failure) -> SetupFault | None:
        """The mistake of the server that failed last."""
        return await self._failed_at.model.setup_fault(failure)
