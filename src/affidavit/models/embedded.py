"""A model that runs here: llama.cpp in a process of its own, asked over loopback like any other server.

A process of its own, because a fault in it must not take the run's records with it. When it ends by itself it is
started again, at most three times in a row without an answer in between: a question that kills it fails after its
attempts, and the others are answered. After that every question fails as a broken connection, which may pass in
another run.
"""

import asyncio
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Self

import aiohttp

from affidavit.contract import Fields
from affidavit.errors import AffidavitError, UsageError
from affidavit.model import Answer, Completion, Failure, Message, Reason, Request
from affidavit.models.openai_compatible import OpenAICompatible
from affidavit.study import Limits, ModelTable
from affidavit.weights import describe, not_installed

RESTARTS = 3
"""How often the process is started again without an answer in between."""
_LONGEST_START = 120.0
"""Seconds that loading may take."""
_LAST_WORDS = 8
"""Lines that are kept of what the process says."""


class Embedded:
    """One file of weights, served by a child process while the `async with` lasts."""

    def __init__(  # noqa: PLR0913
        self, name: str, path: Path, limits: Limits, *, slots: int = 8, context: int = 2048, threads: int = 1
    ) -> None:
        self.name = name
        self.path = path
        self.connections = slots
        self.context = context
        """Tokens of one question with its answer."""
        self.threads = threads
        self._limits = limits
        self._served: _Served | None = None
        self._restarts = 0
        self._turn = asyncio.Lock()

    def facts(self) -> Fields:
        """What the run log says of the model."""
        found = describe(self.path)
        return {
            "file": found.path.name,
            "bytes": found.size,
            "sha256": found.sha256,
            "quantisation": found.quantisation,
            "quantised_twice_from": found.quantised_twice_from,
            "licence": found.licence,
            "slots": self.connections,
            "context": self.context,
            "threads": self.threads,
        }

    async def __aenter__(self) -> Self:
        describe(self.path)  # an error of ours says more than llama.cpp's
        if find_spec("xllamacpp") is None:
            raise not_installed("xllamacpp")
        self._turn, self._restarts = asyncio.Lock(), 0
        self._served = await self._started()
        return self

    async def __aexit__(self, *error: object) -> None:
        served, self._served = self._served, None
        if served is not None:
            await served.end()

    async def reachable(self) -> Failure | None:
        """Whether the process answers."""
        served = await self._alive()
        return served if isinstance(served, Failure) else await served.client.reachable()

    async def complete(self, request: Request) -> Answer:
        """One attempt; a process that has ended is started again first."""
        served = await self._alive()
        if isinstance(served, Failure):
            return served
        answer = await served.client.complete(request)
        if isinstance(answer, Completion):
            self._restarts = 0
        return answer

    async def render(self, messages: Sequence[Message]) -> str | Failure:
        """The prompt that the model's own template makes of the messages; it may add a system prompt."""
        served = await self._alive()
        if isinstance(served, Failure):
            return served
        try:
            async with (
                asyncio.timeout(self._limits.attempt),
                aiohttp.ClientSession() as session,
                session.post(f"{served.address}/apply-template", json={"messages": list(messages)}) as response,
            ):
                if response.status != 200:
                    said = (await response.text(errors="replace"))[:300]
                    return Failure(Reason.BAD_REQUEST, f"HTTP {response.status}: {said}")
                content = await response.json(content_type=None)
        except TimeoutError:
            return Failure(Reason.TIMEOUT, f"no prompt within {self._limits.attempt:g} s")
        except (aiohttp.ClientError, OSError):
            return Failure(Reason.CONNECTION, "the connection broke")
        except ValueError:
            return Failure(Reason.BAD_BODY, "the body is not JSON")
        prompt = content.get("prompt") if isinstance(content, dict) else None
        return prompt if isinstance(prompt, str) else Failure(Reason.BAD_BODY, "no prompt in the body")

    async def _alive(self) -> "_Served | Failure":
        async with self._turn:
            served = self._served
            if served is not None and served.child.runs:
                return served
            if self._restarts >= RESTARTS:
                said = served.child.last_words() if served is not None else ""
                detail = f"the model's process ended {RESTARTS + 1} times in a row: {said}"
                return Failure(Reason.CONNECTION, detail[:300])
            self._restarts += 1
            if served is not None:
                await served.end()
            try:
                self._served = await self._started()
            except AffidavitError as error:
                return Failure(Reason.CONNECTION, " ".join(str(error).split())[:300])
            return self._served

    async def _started(self) -> "_Served":
        child = await _Child.started(
            [str(self.path), str(self.connections), str(self.context), str(self.threads)], name=self.name
        )
        try:
            address = await child.address()
            table = ModelTable(base_url=f"{address}/v1", flavour="llamacpp", connections=self.connections)
            client = await OpenAICompatible(self.name, table, self._limits).__aenter__()
        except BaseException:
            await child.end()
            raise
        return _Served(child, address, client)


class _Served:
    """A child that listens, and the client that asks it."""

    def __init__(self, child: "_Child", address: str, client: OpenAICompatible) -> None:
        self.child = child
        self.address = address
        self.client = client

    async def end(self) -> None:
        """Let go of both."""
        self.child.kill()
        await self.client.__aexit__()
        await self.child.end()


class _Child:
    """The process that runs llama.cpp, and the last of what it said."""

    def __init__(self, process: Process, name: str) -> None:
        self._process = process
        self._name = name
        self._words: deque[str] = deque(maxlen=_LAST_WORDS)
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def started(cls, arguments: Sequence[str], *, name: str) -> Self:
        """A new process; in a session of its own, so that a signal from the terminal lets open requests end."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "affidavit.models.llama_server",
            *arguments,
            stdin=PIPE,  # never written to: its end tells the child that we are gone
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
        return cls(process, name)

    @property
    def runs(self) -> bool:
        """Whether it has not ended."""
        return self._process.returncode is None

    async def _listen(self) -> None:
        """Read all that it says, so that it never waits for us, and keep the last of it."""
        if self._process.stderr is not None:
            while piece := await self._process.stderr.read(65_536):
                for line in piece.decode(errors="replace").splitlines():
                    self._words.append(re.sub(r"^[\d.]+ [A-Z] ", "", line)[:200])

    def last_words(self) -> str:
        """The last lines it said, in one."""
        return "; ".join(self._words) or "it said nothing"

    async def address(self) -> str:
        """Where it listens, once the model is loaded."""
        line, found = b"", "a process that ended"
        try:
            async with asyncio.timeout(_LONGEST_START):
                if self._process.stdout is not None:
                    line = await self._process.stdout.readline()
        except TimeoutError:
            found = f"nothing within {_LONGEST_START:g} s"
        if line.startswith(b"http://127.0.0.1:"):
            return line.decode("ascii").strip()
        await self.end()
        raise UsageError(
            f"the embedded model {self._name}",
            expected="llama.cpp to load it and listen",
            found=f"{found}: {self.last_words()}",
        )

    def kill(self) -> None:
        """End it now; it has nothing to lose."""
        with suppress(ProcessLookupError):
            self._process.kill()

    async def end(self) -> None:
        """Make sure that it has ended."""
        self.kill()
        await self._process.wait()
        await self._listening
