"""What is asked of a model, and what became of it: a completion, or a failure with its reason.

A failure is not an output (ruling C1): no contract ever sees one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, runtime_checkable

from affidavit.errors import UsageError
from affidavit.json_values import Fields

Message = Mapping[str, str]
"""One turn of a conversation: `role` and `content`."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question, as it is put to a model."""

    body: Mapping[str, Any]
    """All of what is sent, merged before it was hashed into the key (ruling C9); see `request_body`."""
    sample: int = 0
    """Which of several answers to the same question this is."""
    grammar: str | None = None
    """The GBNF grammar that the output must fit, by the contract; the body has it as the server takes it."""
    schema: Mapping[str, object] | None = None
    """The JSON schema that the output must fit, likewise."""
    encoded: bytes | None = None
    """The body as JSON, where it was made for the key already: what is sent is what was hashed, to the byte."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation."""
        messages: tuple[Message, ...] = self.body["messages"]
        return messages


@dataclass(frozen=True, slots=True)
class Completion:
    """A text that arrived."""

    text: str
    finish_reason: str | None = None
    reasoning: str | None = None
    """Thinking that the server returned apart from the text (ruling C7)."""
    usage: Mapping[str, int | str] | None = None
    """What the server counted; what is no sensible count is kept as a text."""
    rendered_prompt: str | None = None
    """The prompt as the model's own template made it, where that is known."""
    server_model: str | None = None
    """What the server says that it is, which may be another name than it was asked for by (ruling C9)."""
    system_fingerprint: str | None = None
    response_id: str | None = None


class Reason(StrEnum):
    """Why no output arrived; the closed list of ruling C1."""

    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    CONNECTION = "connection"
    BAD_BODY = "bad_body"
    NO_CHOICES = "no_choices"
    NO_CONTENT = "no_content"
    CONTENT_FILTER = "content_filter"
    TOOL_CALL_ONLY = "tool_call_only"
    TOO_LARGE = "too_large"
    BAD_REQUEST = "bad_request"
    UNAUTHORISED = "unauthorised"
    CONTEXT_OVERFLOW = "context_overflow"
    STRAY_RESPONSE = "stray_response"


PERMANENT = frozenset(
    {
        Reason.BAD_REQUEST,
        Reason.CONTEXT_OVERFLOW,
        Reason.CONTENT_FILTER,
        Reason.TOOL_CALL_ONLY,
        Reason.TOO_LARGE,
    }
)
"""What asking again in the same words cannot mend."""


@dataclass(frozen=True, slots=True)
class Failure:
    """No output arrived."""

    reason: Reason
    detail: str = ""
    """A few words for people, free of secrets."""
    retry_after: float | None = None
    """Seconds that the server asked to wait."""
    slow_down: bool = False
    """The server has more to do than it can: ask it less at once."""
    response_id: str | None = None
    """Of a body that holds no answer."""
    status: int | None = field(default=None, compare=False)
    """With which a server refused; None if it did not come to that."""

    @property
    def may_pass(self) -> bool:
        """Whether asking again in this run could help. Credentials are mended between runs, not within one."""
        return self.reason not in PERMANENT and self.reason is not Reason.UNAUTHORISED


Answer = Completion | Failure


class SetupFault(NamedTuple):
    """What is wrong with the setup of a model."""

    where: str
    """Its table, and the address that was asked."""
    expected: str
    found: str
    hint: str

    def error(self, *, more: str = "") -> UsageError:
        """The error that ends a run; `more` is what else is to be said."""
        hint = "\n".join(part for part in (self.hint, more) if part)
        return UsageError(self.where, expected=self.expected, found=self.found, hint=hint)


@runtime_checkable
class TellsSlowness(Protocol):
    """A model that notices when its own settings make attempts take too long."""

    def slowness(self) -> str | None:
        """That they do, and which settings would do; None if they do not."""


class Model(Protocol):
    """Whatever answers requests, one attempt at a time. Asking again is the runner's business."""

    @property
    def name(self) -> str:
        """Its name in the study."""

    @property
    def connections(self) -> int:
        """How many requests it takes at once, at most."""

    def facts(self) -> Fields:
        """What the run log says of it beyond its name and flavour, such as the digest of its weights."""

    def notes(self) -> list[str]:
        """What is to be said of it once a run has ended, each thing once."""

    async def __aenter__(self) -> "Model":
        """Get ready."""

    async def __aexit__(self, *error: object) -> None:
        """Let go of connections."""

    async def reachable(self) -> Failure | None:
        """Whether there is anybody to ask, found out before the first request."""

    async def complete(self, request: Request) -> Answer:
        """One attempt; never raises for what the world does."""

    async def setup_fault(self, failure: Failure) -> SetupFault | None:
        """The mistake of the setup that a failure comes from, looked into; None if it comes from none."""


class Server(NamedTuple):
    """One of the servers at which a model is asked."""

    address: str
    """Without any secret; empty where there is but one."""
    model: Model
    """The model as this server has it."""


@runtime_checkable
class Spread(Protocol):
    """A model that several servers have; whoever asks it chooses one for each attempt."""

    @property
    def servers(self) -> Sequence[Server]:
        """All of them, in the order of the study's file."""


def servers_of(model: Model) -> Sequence[Server]:
    """Where a model can be asked: at its servers, or as it is."""
    return model.servers if isinstance(model, Spread) else (Server("", model),)
