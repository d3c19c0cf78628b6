"""The request that is really sent, merged in this one place (ruling C9).

What decides an answer comes from many places: the words from task and condition, the decoding from the study, the
model's name at its server, its tools and its further keys from its table, the grammar from the contract, and what
a provider adds by itself. The merged request is what is sent, hashed into the key, logged and shown.

    >>> shared = SharedRequest(shared_fields("its-name", {"max_tokens": 9}, body={"top_k": 3}))
    >>> shared.body(({"role": "user", "content": "Hi"},), seed=7)
    {'messages': ({'role': 'user', 'content': 'Hi'},), 'model': 'its-name', 'max_tokens': 9, 'top_k': 3, 'seed': 7}
"""

from bisect import bisect
from collections.abc import Mapping, Sequence
from typing import Literal

from affidavit.errors import InputError
from affidavit.json_values import Fields, canonical
from affidavit.models.model import Message

TokenLimit = Literal["max_tokens", "max_completion_tokens"]
"""By which name a server takes the most tokens of an answer."""

_DECODING = "decoding.{key}, or judging.{key} for a judge"
_CONSTRAINED = "constrained = true in a condition"
BELONGS_ELSEWHERE: Mapping[str, str] = {
    "messages": "the tasks and conditions of the study",
    "model": "{place}.model",
    "stream": "nowhere: an answer is taken as a whole",
    "n": "decoding.samples",
    "seed": "study.seed",
    "temperature": _DECODING,
    "top_p": _DECODING,
    "max_tokens": _DECODING,
    "max_completion_tokens": 'decoding.max_tokens, with token_limit = "max_completion_tokens" in {place}',
    "grammar": _CONSTRAINED,
    "structured_outputs": _CONSTRAINED,
    "response_format": 'conditions = ["schema"] in [judging]',
    "tools": "{place}.tools",
}
"""The keys that a model's `body` may not replace, and where each belongs."""


def refuse_replaced(body: Mapping[str, object], *, where: str, place: str) -> None:
    """Refuse further keys that would replace what the study says elsewhere.

    >>> refuse_replaced({"temperature": 1}, where="study.toml", place="models.m")
    Traceback (most recent call last):
    affidavit.errors.InputError: study.toml: expected only further keys in models.m.body, found 'temperature'
    It belongs in decoding.temperature, or judging.temperature for a judge.
    """
    for key, belongs in BELONGS_ELSEWHERE.items():
        if key in body:
            hint = f"It belongs in {belongs.format(key=key, place=place)}."
            if belongs.startswith("nowhere"):
                hint = f"It belongs {belongs}."
            raise InputError(where, expected=f"only further keys in {place}.body", found=repr(key), hint=hint)


def shared_fields(  # noqa: PLR0913 - as many as there are places
    model: str,
    decoding: Mapping[str, object],
    *,
    limit_name: TokenLimit = "max_tokens",
    own: Mapping[str, object] | None = None,
    tools: Sequence[Mapping[str, object]] = (),
    body: Mapping[str, object] | None = None,
    seeded: bool = True,
) -> Fields:
    """What all requests to a model share: all but messages, seed and constraint; `own` is its provider's.

    A server that takes no seed gets none: then `seed` is here, and null.
    """
    named = {limit_name if name == "max_tokens" else name: value for name, value in decoding.items()}
    given: Fields = {"tools": list(tools)} if tools else {}
    return {"model": model, **named, **(own or {}), **given, **(body or {}), **({} if seeded else {"seed": None})}


def decoding_in(request: Mapping[str, object]) -> Fields:
    """The decoding that was merged into a request, by the names of a study file.

    >>> decoding_in(shared_fields("m", {"max_tokens": 9}, limit_name="max_completion_tokens"))
    {'max_tokens': 9}
    """
    names = {"temperature": "temperature", "max_tokens": "max_tokens"}
    names |= {"max_completion_tokens": "max_tokens", "top_p": "top_p"}
    return {own: request[name] for name, own in names.items() if name in request}


def schema_fields(schema: Mapping[str, object] | None) -> Fields:
    """How a JSON schema is sent: alike to all servers."""
    if schema is None:
        return {}
    named = {"name": "answer", "strict": True, "schema": dict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


class SharedRequest:
    """What all requests to a model share, and each of them made of it."""

    def __init__(self, fields: Mapping[str, object]) -> None:
        self.seeded = "seed" not in fields
        """Whether requests carry a seed."""
        self.fields = {name: value for name, value in fields.items() if name != "seed"}
        self._encoded = _encoded(self.fields)
        self._pieces = self._split(self._encoded)

    def body(
        self, messages: Sequence[Message], *, seed: int, constraint: Mapping[str, object] | None = None
    ) -> Fields:
        """One request: all of its body, in the order in which it is sent."""
        fields = self.without_seed(messages, constraint or {})
        return {**fields, "seed": seed} if self.seeded else fields

    def without_seed(self, messages: Sequence[Message], constraint: Mapping[str, object]) -> Fields:
        """What the samples of one question share."""
        return {"messages": messages, **self.fields, **constraint}

    def around_seed(self, messages: bytes, constraint: Mapping[str, object]) -> tuple[bytes, bytes]:
        """The canonical JSON of a request up to its seed, and from there on; `messages` are canonical JSON too.

        Keys are made of it for every question, so what requests share is encoded, sorted and joined once.
        """
        pieces = self._split({**self._encoded, **_encoded(constraint)}) if constraint else self._pieces
        to_messages, to_seed, from_seed = pieces
        return b'%b"messages":%b%b' % (to_messages, messages, to_seed), from_seed

    def _split(self, encoded: Mapping[str, bytes]) -> tuple[bytes, bytes, bytes]:
        """The members of an object with sorted names, cut where its messages and where its seed come."""
        names = sorted(encoded)
        first, second = bisect(names, "messages"), bisect(names, "seed")
        to_messages = b"{" + b"".join([encoded[name] + b"," for name in names[:first]])
        to_seed = b"".join([b"," + encoded[name] for name in names[first:second]])
        to_seed += b',"seed":' if self.seeded else b""
        return to_messages, to_seed, b"".join([b"," + encoded[name] for name in names[second:]]) + b"}"


def _encoded(fields: Mapping[str, object]) -> dict[str, bytes]:
    return {name: canonical(name) + b":" + canonical(value) for name, value in fields.items()}
