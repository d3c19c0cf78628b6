"""Finds out what a model can do, by asking it: a small request for each ability, one after the other.

Nothing is taken from a table of products: two versions of one server differ, and so do two models of one server.
What a server says is looked at as it came, since an answer has no room for all of it.
"""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

from affidavit.archive.json_bytes import loads
from affidavit.errors import AffidavitError
from affidavit.json_values import Fields, shown
from affidavit.models.ability import CheckedModel, Lacks, Outcome, Untold, Works
from affidavit.models.chat_response import listed_models, read_chat
from affidavit.models.model import PERMANENT, Completion, Failure, Model, Reason, SetupFault
from affidavit.models.openai_compatible import GRAMMAR_IN_BODY, OpenAICompatible, ServerProvider
from affidavit.models.registry import open_model
from affidavit.models.request_body import SharedRequest, TokenLimit, schema_fields
from affidavit.models.settings import Limits, ModelTable

GRAMMAR = 'root ::= "<answer>" [A-D] "</answer>"'
SCHEMA: Fields = {
    "type": "object",
    "properties": {"letter": {"type": "string", "enum": ["A", "B", "C", "D"]}},
    "required": ["letter"],
    "additionalProperties": False,
}
TOKENS = 24
"""Of an answer, at most."""
_SEED, _OTHER_SEED = 7, 11
_QUESTION = ({"role": "user", "content": "Write one sentence about an animal of your choice."},)
_CHOICE = ({"role": "user", "content": "Choose one of the letters A, B, C and D, and say why in two sentences."},)
"""A question that nobody would answer in the constrained form by chance."""


@runtime_checkable
class Inspected(Protocol):
    """A model whose server can be asked for more than an answer."""

    async def resource(self, path: str, fields: Mapping[str, object] | None = None) -> bytes | Failure:
        """What one of its resources answers; with fields they are sent along."""

    def clean(self, text: str) -> str:
        """A text of the server without any secret of ours."""


@dataclass(frozen=True, kw_only=True)
class NamedModel:
    """A model that somebody wants to know about."""

    name: str
    table: ModelTable
    limits: Limits
    beside: Path
    constrained: bool = False
    """Whether decoding is to be constrained: then a model that is said to take a grammar must take one."""
    first_listed: bool = False
    """Nobody has said which model of the server is meant: it is the first that it lists."""
    addresses: tuple[str, ...] = ()
    """Of all its servers, where it has several: what one says may hold what is secret with another."""

    def apart(self) -> "list[NamedModel]":
        """The same model, once for each of its addresses."""
        provider = self.table.provider
        if not isinstance(provider, ServerProvider):
            return [self]
        tables = [msgspec.structs.replace(self.table, provider=each) for each in provider.apart()]
        return [replace(self, table=table, addresses=tuple(provider.addresses)) for table in tables]


async def checked_model(wanted: NamedModel) -> CheckedModel:
    """What a model can do at its address, or why it cannot be asked there."""
    table, uses = wanted.table, wanted.table.uses()
    found = CheckedModel(
        name=wanted.name,
        where=", ".join(uses.addresses or uses.files),
        flavour=table.provider.flavour,
        asked_as=table.model,
    )
    try:
        async with open_model(wanted.name, table, wanted.limits, beside=wanted.beside) as model:
            if isinstance(model, OpenAICompatible):
                model.clean_of(wanted.addresses)
            found = await _looked_into(found, model, wanted)
    except AffidavitError as error:
        return replace(found, fault=str(error))
    ignored = isinstance(found.abilities.get("grammar"), Lacks)
    if wanted.constrained and table.provider.takes_grammar and ignored:
        hint = "Mend flavour, or leave out conditions with constrained = true."
        return replace(found, fault=f"Decoding is to be constrained, and no grammar holds here. {hint}")
    return found


async def _looked_into(found: CheckedModel, model: Model, wanted: NamedModel) -> CheckedModel:
    if (failure := await model.reachable()) is not None:
        return replace(found, fault=await _words_of(model, failure))
    if not isinstance(model, Inspected):  # it repeats what is on the record
        return found
    trials = _Trials(model, wanted.table, wanted.limits.attempt)
    if isinstance(wanted.table.provider, ServerProvider):  # what runs here is one file, and lists its path
        found = replace(found, listed=await trials.listed())
    if wanted.first_listed and found.listed:
        found = replace(found, asked_as=found.listed[0])
        trials = replace(trials, table=msgspec.structs.replace(wanted.table, model=found.asked_as))
    answer = await trials.ask(trials.plain())
    if isinstance(answer, Failure):
        return replace(found, fault=await _words_of(model, answer))
    return replace(found, abilities=await trials.abilities(answer))


async def _words_of(model: Model, failure: Failure) -> str:
    """Why it cannot be asked: the mistake of the setup, if it is one."""
    fault: SetupFault | None = await model.setup_fault(failure)
    if fault is not None:
        return str(fault.error())
    said = f"{failure.reason}: {failure.detail}"
    return model.clean(said) if isinstance(model, Inspected) else said


@dataclass(frozen=True)
class _Said:
    """An answer, with the body that it came in."""

    completion: Completion
    body: Mapping[str, object]

    @property
    def choice(self) -> Mapping[str, object]:
        """The first choice of the body, as it came."""
        choices = self.body["choices"]
        assert isinstance(choices, list)  # noqa: S101 - there is a completion
        choice: Mapping[str, object] = choices[0]
        return choice


@dataclass(frozen=True)
class _Trials:
    """The requests to one model, and what is read from what comes back."""

    model: Inspected
    table: ModelTable
    seconds: float

    async def listed(self) -> list[str] | None:
        """The models that its server lists."""
        body = await self._in_time("models", None)
        names = None if isinstance(body, Failure) else listed_models(body)
        return None if names is None else [self.model.clean(name) for name in names]

    async def ask(self, fields: Fields) -> _Said | Failure:
        """One answer."""
        body = await self._in_time("chat/completions", fields)
        if isinstance(body, Failure):
            return body
        try:
            answer = read_chat(body, self.model.clean)
        except RecursionError:
            return Failure(Reason.BAD_BODY, "the body is nested too deeply")
        if isinstance(answer, Failure):
            return replace(answer, detail=self.model.clean(answer.detail))
        return _Said(answer, loads(body))

    async def _in_time(self, path: str, fields: Fields | None) -> bytes | Failure:
        try:
            async with asyncio.timeout(self.seconds):
                return await self.model.resource(path, fields)
        except TimeoutError:
            return Failure(Reason.TIMEOUT, f"no answer within {self.seconds:g} s")

    def plain(self, **more: object) -> Fields:
        """A request as a run would send it, with further keys."""
        return {**self._shared().body(_QUESTION, seed=_SEED), **more}

    def _held(self, constraint: Mapping[str, object]) -> Fields:
        return self._shared().body(_CHOICE, seed=_SEED, constraint=constraint)

    def _shared(self) -> SharedRequest:
        # A temperature of 1 is one that every server takes, and lets texts differ if seeds do.
        return SharedRequest(self.table.request({"temperature": 1.0, "max_tokens": TOKENS}))

    async def abilities(self, first: _Said) -> dict[str, Outcome]:
        """Everything that can be tried, once a plain request was answered."""
        own = self.table.token_limit
        other: TokenLimit = "max_completion_tokens" if own == "max_tokens" else "max_tokens"
        limits = {own: self._limited(first), other: await self._takes_limit(own, other)}
        return {
            "max_tokens": limits["max_tokens"],
            "max_completion_tokens": limits["max_completion_tokens"],
            "seed": await self._seed(),
            "grammar": await self._grammar(),
            "JSON schema": await self._schema(),
            "reasoning": self._reasoning(first),
            "logprobs": await self._logprobs(),
        }

    def _limited(self, said: _Said) -> Outcome:
        count = (said.completion.usage or {}).get("completion_tokens")
        if isinstance(count, int) and count > TOKENS:
            return Lacks(f"taken and ignored: {count:,} tokens came, {TOKENS} were allowed")
        return Works()

    async def _takes_limit(self, own: str, other: str) -> Outcome:
        fields = self.plain()
        fields[other] = fields.pop(own)
        said = await self.ask(fields)
        return _refused(said) if isinstance(said, Failure) else self._limited(said)

    async def _seed(self) -> Outcome:
        texts = []
        for seed in (_SEED, _SEED, _OTHER_SEED):
            said = await self.ask(self.plain(seed=seed))
            if isinstance(said, Failure):
                return _refused(said)
            texts.append((said.completion.text, said.completion.reasoning))
        first, second, other = texts
        if first != second:
            return Lacks("the same seed gave two texts")
        if first == other:
            return Untold("the same text for one seed twice, and for another seed too")
        return Works("the same text for one seed twice, another for another seed")

    async def _grammar(self) -> Outcome:
        provider = self.table.provider
        if provider.takes_grammar:
            return await self._held_to_grammar(provider.grammar_fields(GRAMMAR))
        for flavour, fields in GRAMMAR_IN_BODY.items():
            found = await self._held_to_grammar(fields(GRAMMAR))
            if isinstance(found, Works):
                return Works(f'not by its flavour; as with flavour = "{flavour}"')
        return Lacks(f"by its flavour none is sent, and none is taken as with {' or '.join(GRAMMAR_IN_BODY)}")

    async def _held_to_grammar(self, fields: Fields) -> Outcome:
        said = await self.ask(self._held(fields))
        return _fits(said, lambda text: re.fullmatch("<answer>[A-D]</answer>", text) is not None)

    async def _schema(self) -> Outcome:
        return _fits(await self.ask(self._held(schema_fields(SCHEMA))), _is_choice)

    def _reasoning(self, said: _Said) -> Outcome:
        message = said.choice.get("message")
        names = [
            name for name in ("reasoning_content", "reasoning") if isinstance(message, dict) and message.get(name)
        ]
        if names:
            return Works(f"apart from the text, as {names[0]}")
        if "<think>" in said.completion.text:
            return Lacks("in the text itself, after <think>: contracts read it as part of the answer")
        return Untold("none came")

    async def _logprobs(self) -> Outcome:
        said = await self.ask(self.plain(logprobs=True, top_logprobs=1))
        if isinstance(said, Failure):
            return _refused(said)
        return Works() if said.choice.get("logprobs") else Lacks("taken and ignored: none came")


def _refused(failure: Failure) -> Outcome:
    """What a failure says of an ability: nothing, if it may pass."""
    words = failure.detail or failure.reason.value
    return Lacks(words) if failure.reason in PERMANENT else Untold(words)


def _fits(said: _Said | Failure, fits: Callable[[str], bool]) -> Outcome:
    """Whether a constrained answer is as it must be."""
    if isinstance(said, Failure):
        return _refused(said)
    text = said.completion.text.strip()
    if fits(text):
        return Works()
    if not text and said.completion.reasoning:
        return Untold("all tokens went into reasoning")
    return Lacks(f"taken and ignored: {shown(text)}")


def _is_choice(text: str) -> bool:
    """Whether a text fits the schema.

    >>> _is_choice('{"letter": "B"}'), _is_choice('{"letter": "E"}'), _is_choice("B")
    (True, False, False)
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.keys() == {"letter"} and value["letter"] in ("A", "B", "C", "D")
