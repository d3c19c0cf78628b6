"""A model that runs here: llama.cpp in a process of its own, asked over loopback like any other server.

A process of its own, because a fault in it must not take the run's records with it. When it ends by itself it is
started again, at most three times in a row without an answer in between: a question that kills it fails after its
attempts, and the others are answered. After that every question fails as a broken connection, which may pass in
another run. The weights that answer are those that answered first: a file that has changed is not loaded again.
"""

import asyncio
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Self

from affidavit.errors import AffidavitError, InputError, UsageError
from affidavit.json_values import Fields
from affidavit.models.connections import Connections
from affidavit.models.embedded_pace import RATED_BYTES, EmbeddedPace
from affidavit.models.endpoint import Endpoint, refuse_address
from affidavit.models.http_connection import HttpError
from affidavit.models.llama_process import LlamaProcess
from affidavit.models.model import Answer, Completion, Failure, Message, Model, Reason, Request, SetupFault
from affidavit.models.openai_compatible import OpenAICompatible, ServerProvider
from affidavit.models.redaction import Redaction
from affidavit.models.request_body import decoding_in
from affidavit.models.settings import CONTEXT, Limits, ModelTable, Provider, SettingsTable, Uses, check_positive
from affidavit.models.token_estimate import estimated_tokens
from affidavit.models.weights import (
    describe,
    digest_of,
    find,
    not_installed,
    refuse_unknown_name,
    size_of,
    size_of_file,
)

RESTARTS = 3
"""How often the process is started again without an answer in between."""
_ALMOST = 0.95
"""Of the longest time of an attempt: whatever is ended earlier is ended for another reason."""
_FEW = 20
"""Where fewer than one attempt in so many takes too long, nothing is said."""
_PROMPTS = 64
"""Rendered prompts that are kept, so that the samples of one question share one."""
_DEEPEST_GRAMMAR = 4000
"""Parentheses, or rules, of a grammar; llama.cpp reads them by recursion and dies of some ten thousand."""


class EmbeddedProvider(SettingsTable, Provider, frozen=True, kw_only=True):
    """`embedded` or `gguf`: a file of weights that runs here."""

    flavours = ("embedded",)

    embedded: str = ""
    """The name of the weights in `affidavit models`."""
    gguf: str = ""
    """Or the path of their file."""
    slots: int = 8
    """Questions that are answered at once."""
    context: int = CONTEXT
    """Tokens of one question with its answer."""
    threads: int = 1

    @property
    def takes_grammar(self) -> bool:
        """As llama.cpp does."""
        return True

    @property
    def takes_schema(self) -> bool:
        """As llama.cpp does."""
        return True

    @property
    def known_context(self) -> int | None:
        """As it was set."""
        return self.context

    @property
    def own_fields(self) -> Fields:
        """What was asked before must not change an answer, and prompts that are kept do, in the last digits."""
        return {"cache_prompt": False}

    def check(self, *, where: str, place: str) -> None:
        """Refuse numbers that are none, and an address."""
        numbers = {"slots": self.slots, "context": self.context, "threads": self.threads}
        check_positive({f"{place}.{name}": number for name, number in numbers.items()}, where=where)
        hint = "A server is given as base_url."
        expected = "a name that `affidavit models` lists"
        refuse_address(self.embedded, f"{where}: {place}.embedded", expected=expected, hint=hint)
        hint = f"Download the file, and give its path. {hint}"
        refuse_address(self.gguf, f"{where}: {place}.gguf", expected="the path of a file of weights", hint=hint)

    def weights(self, *, beside: Path) -> Path:
        """The file; whatever is no GGUF is refused before its digest is frozen."""
        path = find(self.embedded) if self.embedded else beside / self.gguf
        describe(path)
        return path

    def refuse_unknown_weights(self) -> None:
        """Whoever writes a study may get the file of a known model later; a path is looked at when it is run."""
        if self.embedded:
            refuse_unknown_name(self.embedded)

    def uses(self) -> Uses:
        """The file, by its name or path."""
        return Uses(files=(self.embedded or self.gguf,))

    def pace(self, *, beside: Path) -> EmbeddedPace:
        """By its settings, and by the size of its weights; of weights that are not here, that of small ones."""
        size = size_of(self.embedded) if self.embedded else size_of_file(beside / self.gguf)
        return EmbeddedPace(
            slots=self.slots, threads=self.threads, context=self.context, weight_bytes=size or RATED_BYTES
        )

    def frozen(self) -> Fields:
        """The context too: a longer one gives other answers where a short one overflows."""
        return {**super().frozen(), "context": self.context}

    @classmethod
    def from_frozen(cls, *, flavour: str, context: int) -> Self:
        """Settings of the same context, without a file."""
        return cls(context=context)

    def open(self, name: str, table: ModelTable, limits: Limits, *, beside: Path) -> Model:
        """The model, not yet loaded."""
        return Embedded(
            name,
            self.weights(beside=beside),
            limits,
            slots=self.slots,
            context=self.context,
            threads=self.threads,
            body=table.body,
        )


class Embedded:
    """One file of weights, served by a child process while the `async with` lasts."""

    def __init__(  # noqa: PLR0913
        self,
        name: str,
        path: Path,
        limits: Limits,
        *,
        slots: int = 8,
        context: int = CONTEXT,
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
        self._body = body
        self._open = False
        self._sha256: str | None = None
        self._served: _Served | None = None
        self._restarts = 0
        self._noted: list[str] = []
        self._turn = asyncio.Lock()
        self._rendering = asyncio.Lock()
        self._prompts: dict[object, str] = {}
        self._answered = self._failed = self._too_slow = 0
        """Attempts of this run."""
        self._longest_estimate = 0.0
        """Seconds, of attempts that took too long."""

    def facts(self) -> Fields:
        """What the run log says of the model."""
        weights = describe(self.path)
        return {
            "file": weights.path.name,
            "bytes": weights.size,
            "sha256": weights.sha256,
            "quantisation": weights.quantisation,
            "quantised_twice_from": weights.quantised_twice_from,
            "licence": weights.licence,
            "slots": self.connections,
            "context": self.context,
            "threads": self.threads,
        }

    def notes(self) -> list[str]:
        """What was noted of the process, or of those before it, and whether it is too slow for its limits."""
        slow = self.slowness()
        return [*dict.fromkeys(self._noted), *([] if slow is None else [slow])]

    def slowness(self) -> str | None:
        """That attempts take too long, with settings that would do, where most that fails fails so; else None."""
        attempts = self._answered + self._failed + self._too_slow
        if self._too_slow <= self._failed or self._too_slow * _FEW < attempts:
            return None
        count = "1 attempt was" if self._too_slow == 1 else f"{self._too_slow:,} attempts were"
        return (
            f"{self.name}: {count} not answered within the {self._limits.attempt:g} s of attempt in [limits], "
            f"{self._answered:,} {'was' if self._answered == 1 else 'were'}: {self._pace.shared}. "
            + self._pace.advice(
                self.name, self._longest_estimate, attempt=self._limits.attempt, sample=self._limits.sample
            )
        )

    @property
    def _pace(self) -> EmbeddedPace:
        size = size_of_file(self.path) or RATED_BYTES
        return EmbeddedPace(slots=self.connections, threads=self.threads, context=self.context, weight_bytes=size)

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
                self._noted += served.client.notes()
                await served.end()

    async def reachable(self) -> Failure | None:
        """Whether the process answers."""
        served = await self._alive()
        return served if isinstance(served, Failure) else await served.client.reachable()

    async def complete(self, request: Request) -> Answer:
        """One attempt, with its rendered prompt; a process that has ended is started again first."""
        began = monotonic()
        try:
            answer = await self._complete(request)
        except asyncio.CancelledError:
            if monotonic() - began >= _ALMOST * self._limits.attempt:
                self._count_too_slow(request)
            raise
        self._answered += isinstance(answer, Completion)
        self._failed += isinstance(answer, Failure)
        return answer

    def _count_too_slow(self, request: Request) -> None:
        longest = decoding_in(request.body).get("max_tokens")
        answer = longest if isinstance(longest, int) else self.context
        estimate = self._pace.seconds(estimated_tokens(request.messages), answer)
        self._too_slow += 1
        self._longest_estimate = max(self._longest_estimate, estimate, self._limits.attempt)

    async def _complete(self, request: Request) -> Answer:
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

    def clean(self, text: str) -> str:
        """The text: its process has no secret but one that ends with it."""
        return text

    async def resource(self, path: str, fields: Mapping[str, object] | None = None) -> bytes | Failure:
        """What a resource of its OpenAI interface answers."""
        served = await self._alive()
        return served if isinstance(served, Failure) else await served.client.resource(path, fields)

    async def setup_fault(self, failure: Failure) -> SetupFault | None:
        """A process that does not stay; whatever else fails is a matter of its request."""
        if failure.reason is not Reason.CONNECTION:
            return None
        hint = "Is the file whole, and made for this llama.cpp? `affidavit models` lists what is at hand."
        return SetupFault(f"models.{self.name}: {self.path}", "weights that llama.cpp runs", failure.detail, hint)

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
            self._noted += served.client.notes()
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
            child = await LlamaProcess.started([str(self.path), *numbers], name=self.name, key=key)
            stack.push_async_callback(child.end)
            address = await child.address()
            headers: dict[str, str | dict[str, str]] = {"Authorization": f"Bearer {key}"}
            own = _OwnInterface(address, key, self._limits.connect)
            stack.push_async_callback(own.connections.close)
            server = ServerProvider(
                base_url=f"{address}/v1", flavour="llamacpp", connections=self.connections, headers=headers
            )
            client = OpenAICompatible(self.name, server, self._limits, body=self._body)
            await stack.enter_async_context(client)
            served = _Served(child, own, client, stack)
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


_LARGEST_PROMPT = 64_000_000
"""Bytes of a rendered prompt."""


class _OwnInterface:
    """What llama.cpp is asked apart from the OpenAI interface."""

    def __init__(self, address: str, key: str, seconds: float) -> None:
        self._endpoint = Endpoint(address, Redaction(), {"Authorization": f"Bearer {key}"})
        self._seconds = seconds
        self.connections = Connections(limit=1, connect_seconds=seconds, most_bytes=_LARGEST_PROMPT)

    async def ask(self, path: str, body: Fields | None) -> Fields | Failure:
        """The object that one of its resources answers with."""
        ask = self._endpoint
        request = ask.get(path) if body is None else ask.post(path, json.dumps(body).encode())
        try:
            async with asyncio.timeout(self._seconds):
                response = await self.connections.exchange(ask.origin, request)
        except TimeoutError:
            return Failure(Reason.TIMEOUT, "no answer in time")
        except (HttpError, OSError):
            return Failure(Reason.CONNECTION, "the connection broke")
        if response.status != 200:
            said = response.body.decode(errors="replace")[:300]
            return Failure(Reason.BAD_REQUEST, f"HTTP {response.status}: {said}")
        try:
            content = json.loads(response.body)
        except ValueError:
            return Failure(Reason.BAD_BODY, "the body is not JSON")
        return content if isinstance(content, dict) else Failure(Reason.BAD_BODY, "the body is not an object")


@dataclass(slots=True)
class _Served:
    """A child that listens, and whatever asks it."""

    child: LlamaProcess
    own: _OwnInterface
    client: OpenAICompatible
    held: AsyncExitStack
    ended: bool = False
    """Nobody can be asked any more; whoever waited in between looks here first."""

    async def render(self, messages: Sequence[Message]) -> str | Failure:
        """The prompt that the model's template makes of the messages."""
        content = await self._ask_llama("apply-template", {"messages": list(messages)})
        if isinstance(content, Failure):
            return content
        prompt = content.get("prompt")
        return prompt if isinstance(prompt, str) else Failure(Reason.BAD_BODY, "no prompt in the body")

    async def _ask_llama(self, path: str, body: Fields | None = None) -> Fields | Failure:
        return _ENDED if self.ended else await self.own.ask(path, body)

    async def context(self) -> int | None:
        """The tokens of a slot: llama.cpp rounds them up, and gives no more than the model was trained for."""
        content = await self._ask_llama("props")
        settings = {} if isinstance(content, Failure) else content.get("default_generation_settings")
        number = settings.get("n_ctx") if isinstance(settings, dict) else None
        return number if isinstance(number, int) else None

    async def end(self) -> None:
        """Let go of all."""
        self.ended = True
        self.child.kill()
        await self.held.aclose()
