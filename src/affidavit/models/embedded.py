"""A model that runs here: llama.cpp in a process of its own, asked over loopback like any other server.

A process of its own, because a fault in it must not take the run's records with it. When it ends by itself it is
started again, at most three times in a row without an answer in between: a question that kills it fails after its
attempts, and the others are answered. After that every question fails as a broken connection, which may pass in
another run. The weights that answer are those that answered first: a file that has changed is not loaded again.
"""

import asyncio
import os
import re
import secrets
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Self

import aiohttp

from affidavit.errors import AffidavitError, InputError, UsageError
from affidavit.json_values import Fields
from affidavit.models.llama_server import KEY
from affidavit.models.model import Answer, Failure, Message, Reason, Request
from affidavit.models.openai_compatible import OpenAICompatible
from affidavit.models.settings import Limits, ModelTable
from affidavit.models.weights import describe, digest_of, not_installed

RESTARTS = 3
"""How often the process is started again without an answer in between."""
_PROGRAM = Path(__file__).with_name("llama_server.py")
_LONGEST_START = 120.0
"""Seconds that loading may take."""
_LAST_WORDS = 8
"""Lines that are kept of what the process says."""
_PROMPTS = 64
"""Rendered prompts that are kept, so that the samples of one question share one."""
_DEEPEST_GRAMMAR = 4000
"""Parentheses, or rules, of a grammar; llama.cpp reads them by recursion and dies of some ten thousand."""


class Embedded:
    """One file of weights, served by a child process while the `async with` lasts."""

    def __init__(  # noqa: PLR0913
        self,
        name: str,
        path: Path,
        limits: Limits,
        *,
        slots: int = 8,
        context: int = 2048,
        threads: int = 1,
        body: Mapping[str, object] | None = None,
    ) -> None:
        for word, number in (("slots", slots), ("context", context), ("threads", threads)):
            if number < 1:
                raise UsageError(f"models.{name}.{word}", expected="a number from 1 on", found=str(number))
        self.name = name
        self.path = path
        self.connections = slots
        self.context = context
        """Tokens of one question with its answer; once the process runs, as many as llama.cpp gives."""
        self.threads = threads
        self._limits = limits
        # What was asked before must not change an answer, and prompts that are kept do, in the last digits.
        self._body = {"cache_prompt": False, **(body or {})}
        self._open = False
        self._sha256: str | None = None
        self._served: _Served | None = None
        self._restarts = 0
        self._turn = asyncio.Lock()
        self._rendering = asyncio.Lock()
        self._prompts: dict[object, str] = {}

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
        self._sha256 = describe(self.path).sha256  # an error of ours says more than llama.cpp's
        if find_spec("xllamacpp") is None:
            raise not_installed("xllamacpp")
        self._turn, self._rendering, self._restarts = asyncio.Lock(), asyncio.Lock(), 0
        self._served = await self._started()
        self._open = True
        return self

    async def __aexit__(self, *error: object) -> None:
        async with self._turn:  # whoever is starting the process again hands it over first
            self._open = False
            served, self._served = self._served, None
            if served is not None:
                await served.end()

    async def reachable(self) -> Failure | None:
        """Whether the process answers."""
        served = await self._alive()
        return served if isinstance(served, Failure) else await served.client.reachable()

    async def complete(self, request: Request) -> Answer:
        """One attempt, with its rendered prompt; a process that has ended is started again first."""
        if fault := _fault_of(request.grammar):
            return Failure(Reason.BAD_REQUEST, fault)
        served = await self._alive()
        if isinstance(served, Failure):
            return served
        # Before the answer is there, so that no answer is lost to a deadline that comes in between.
        prompt = await self._rendered(served, request.messages)
        if served.ended:
            return _ENDED
        answer = await served.client.complete(request)
        if isinstance(answer, Failure):
            return answer
        self._restarts = 0
        return replace(answer, rendered_prompt=None if isinstance(prompt, Failure) else prompt)

    async def render(self, messages: Sequence[Message]) -> str | Failure:
        """The prompt that the model's own template makes of the messages; it may add a system prompt."""
        served = await self._alive()
        return served if isinstance(served, Failure) else await self._rendered(served, messages)

    async def _rendered(self, served: "_Served", messages: Sequence[Message]) -> str | Failure:
        key = tuple(tuple(sorted(message.items())) for message in messages)
        async with self._rendering:  # one after the other, so that equal ones are rendered once
            prompt = self._prompts.pop(key, None) or await served.render(messages)
            if isinstance(prompt, str):
                self._prompts[key] = prompt  # as the newest
                if len(self._prompts) > _PROMPTS:
                    del self._prompts[next(iter(self._prompts))]
            return prompt

    async def _alive(self) -> "_Served | Failure":
        async with self._turn:
            served = self._served
            if not self._open or served is None:
                raise RuntimeError("a model is asked inside `async with`")
            if served.child.runs:
                return served
            if self._restarts >= RESTARTS:
                said = served.child.last_words()
                detail = f"the model's process ended {RESTARTS + 1} times in a row: {said}"
                return Failure(Reason.CONNECTION, detail[:300])
            self._restarts += 1
            await served.end()
            try:
                self._refuse_other_weights()
                self._served = await self._started()
            except AffidavitError as error:
                return Failure(Reason.CONNECTION, " ".join(str(error).split())[:300])
            return self._served

    def _refuse_other_weights(self) -> None:
        if digest_of(self.path) != self._sha256:
            expected, found = f"the weights with sha256 {self._sha256}", "others: the file has changed"
            raise InputError(str(self.path), expected=expected, found=found)

    async def _started(self) -> "_Served":
        numbers = [str(number) for number in (self.connections, self.context, self.threads)]
        key = secrets.token_urlsafe()
        async with AsyncExitStack() as stack:
            child = await _Child.started([str(self.path), *numbers], name=self.name, key=key)
            stack.push_async_callback(child.end)
            address = await child.address()
            headers = {"Authorization": f"Bearer {key}"}
            patience = aiohttp.ClientTimeout(total=self._limits.connect)
            session = aiohttp.ClientSession(address, headers=headers, timeout=patience)
            await stack.enter_async_context(session)
            table = ModelTable(
                base_url=f"{address}/v1",
                flavour="llamacpp",
                connections=self.connections,
                headers=headers,
                body=self._body,
            )
            client = await stack.enter_async_context(OpenAICompatible(self.name, table, self._limits))
            served = _Served(child, session, client, stack)
            self.context = await served.context() or self.context
            return replace(served, held=stack.pop_all())


def _fault_of(grammar: str | None) -> str:
    """What llama.cpp would take for no grammar at all, or would not survive."""
    if grammar is None:
        return ""
    if not re.search(r"^\s*root\s*::=", grammar, re.MULTILINE):
        return "a grammar without a rule named root"
    if max(grammar.count("("), grammar.count("::=")) > _DEEPEST_GRAMMAR:
        return f"a grammar with more than {_DEEPEST_GRAMMAR:,} parentheses or rules"
    return ""


_ENDED = Failure(Reason.CONNECTION, "the model's process ended")


@dataclass(slots=True)
class _Served:
    """A child that listens, and whatever asks it."""

    child: "_Child"
    session: aiohttp.ClientSession
    client: OpenAICompatible
    held: AsyncExitStack
    ended: bool = False
    """Nobody can be asked any more; whoever waited in between looks here first."""

    async def render(self, messages: Sequence[Message]) -> str | Failure:
        """The prompt that the model's template makes of the messages."""
        said = await self._told("POST", "/apply-template", {"messages": list(messages)})
        if isinstance(said, Failure):
            return said
        prompt = said.get("prompt")
        return prompt if isinstance(prompt, str) else Failure(Reason.BAD_BODY, "no prompt in the body")

    async def _told(self, method: str, path: str, content: Fields | None = None) -> Fields | Failure:
        """What llama.cpp itself says, apart from the OpenAI interface."""
        if self.ended:
            return _ENDED
        try:
            async with self.session.request(method, path, json=content) as response:
                if response.status != 200:
                    said = (await response.text(errors="replace"))[:300]
                    return Failure(Reason.BAD_REQUEST, f"HTTP {response.status}: {said}")
                found = await response.json(content_type=None)
        except TimeoutError:
            return Failure(Reason.TIMEOUT, "no answer in time")
        except (aiohttp.ClientError, OSError):
            return Failure(Reason.CONNECTION, "the connection broke")
        except ValueError:
            return Failure(Reason.BAD_BODY, "the body is not JSON")
        return found if isinstance(found, dict) else Failure(Reason.BAD_BODY, "the body is not an object")

    async def context(self) -> int | None:
        """The tokens of a slot: llama.cpp rounds them up, and gives no more than the model was trained for."""
        said = await self._told("GET", "/props")
        settings = {} if isinstance(said, Failure) else said.get("default_generation_settings")
        number = settings.get("n_ctx") if isinstance(settings, dict) else None
        return number if isinstance(number, int) else None

    async def end(self) -> None:
        """Let go of all."""
        self.ended = True
        self.child.kill()
        await self.held.aclose()


class _Child:
    """The process that runs llama.cpp, and the last of what it said."""

    def __init__(self, process: Process, name: str) -> None:
        self._process = process
        self._name = name
        self._words: deque[str] = deque(maxlen=_LAST_WORDS)
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def started(cls, arguments: Sequence[str], *, name: str, key: str) -> Self:
        """A new process; in a session of its own, so that a signal from the terminal lets open requests end."""
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                str(_PROGRAM),
                *arguments,
                stdin=PIPE,  # never written to: its end tells the child that we are gone
                stdout=PIPE,
                stderr=PIPE,
                env={**os.environ, KEY: key},
                start_new_session=True,
            )
        except OSError as error:
            found = error.strerror or type(error).__name__
            raise UsageError(f"the embedded model {name}", expected="a process for it", found=found) from error
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
