"""Why a model cannot be asked, where that is a mistake of the setup: what to change, in words.

A failure of one request says little: HTTP 404 may be a wrong address, a missing `/v1` or a wrong name. What the
server says when it is asked for its models tells them apart. All of it is found out before the first question is
kept, so that whatever is wrong can be mended.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from affidavit.errors import did_you_mean
from affidavit.json_values import shown
from affidavit.models.model import Failure, Reason, SetupFault


@dataclass(frozen=True, kw_only=True)
class AskedServer:
    """What is known of a server once it was asked: everything that a fault is found by."""

    name: str
    """The model's, in the study."""
    address: str
    """Without any secret."""
    model: str
    """As the server is asked for it."""
    key_env: str | None = None
    flavour: str = "openai"
    listed: Sequence[str] | None = None
    """The models that it lists; None if it lists none."""
    elsewhere: str | None = None
    """Another address of the same server at which it lists models, if this one is wrong."""
    status: int | None = None
    """With which it refused to list its models; None if it was not asked, or answered."""

    @property
    def where(self) -> str:
        """The table and the address."""
        return f"models.{self.name} at {self.address}"


def fault_of(failure: Failure, server: AskedServer) -> SetupFault | None:
    """The mistake behind a failure; None if it may be a matter of this one request, or of the day.

    >>> server = AskedServer(name="m", address="http://h:8000", model="qwen", elsewhere="http://h:8000/v1")
    >>> fault_of(Failure(Reason.BAD_REQUEST, "HTTP 404", status=404), server).hint
    'Its models are listed at http://h:8000/v1: write base_url = "http://h:8000/v1" in [models.m].'
    >>> fault_of(Failure(Reason.SERVER_ERROR, "HTTP 503", status=503), server) is None
    True
    """
    match failure.reason:
        case Reason.CONNECTION:
            return _nobody_there(failure, server)
        case Reason.TIMEOUT if NO_CONNECTION in failure.detail:  # an answer that takes long is no mistake
            return _nobody_there(failure, server)
        case Reason.UNAUTHORISED:
            return _refused_key(failure, server)
        case Reason.BAD_BODY | Reason.NO_CHOICES if server.listed is None:
            return _another_service(failure, server)
        case Reason.BAD_REQUEST:
            return _refused_request(failure, server)
        case Reason.SERVER_ERROR if failure.status == server.status == 500 and server.key_env is None:
            return _fails_without_key(failure, server)
    return None


NO_CONNECTION = "no connection"
"""Words of a failure in which nobody was reached."""


def _nobody_there(failure: Failure, server: AskedServer) -> SetupFault:
    hint = "Is it running, and is this its address? Start it, or mend base_url."
    if "no address" in failure.detail:
        hint = "No name server knows this host. Is it spelt right in base_url?"
    elif "reset" in failure.detail or "broke" in failure.detail:
        hint = "Something is there and hangs up. Is it https:// in place of http://?"
    elif "certificate" in failure.detail:
        hint = "Its certificate is not one that this machine trusts: SSL_CERT_FILE names a file of more of them."
    elif "encrypted" in failure.detail:
        hint = "It does not speak TLS there. Is it http:// in place of https://?"
    return SetupFault(server.where, "a server that answers", failure.detail, hint)


def _refused_key(failure: Failure, server: AskedServer) -> SetupFault:
    hint = f"Set the variable {server.key_env} to a key that this server takes."
    if server.key_env is None:
        hint = _name_the_key(server)
    return SetupFault(server.where, "a server that takes our credentials", failure.detail, hint)


def _name_the_key(server: AskedServer) -> str:
    return f'Name the variable of the environment that holds the key: key_env = "NAME" in [models.{server.name}].'


def _fails_without_key(failure: Failure, server: AskedServer) -> SetupFault:
    """A server that breaks at its list of models too, as LiteLLM's proxy does without database and key."""
    hint = f"Its list of models fails alike, and its log says why. Does it want a key? {_name_the_key(server)}"
    return SetupFault(server.where, "a server that answers", failure.detail, hint)


def _another_service(failure: Failure, server: AskedServer) -> SetupFault | None:
    """Something answers, and neither a list of models nor a chat is there."""
    if server.elsewhere is not None:
        return _other_address(failure, server)
    if "not HTTP" in failure.detail:
        hint = "Is it https:// in place of http://?"
        return SetupFault(server.where, "a server that speaks HTTP", failure.detail, hint)
    if server.status is None:  # it may be a fault of the day
        return None
    hint = "Is another service at this address? base_url ends in /v1 with most servers."
    return SetupFault(server.where, "the OpenAI chat interface", failure.detail, hint)


def _other_address(failure: Failure, server: AskedServer) -> SetupFault:
    table = f"[models.{server.name}]"
    hint = f'Its models are listed at {server.elsewhere}: write base_url = "{server.elsewhere}" in {table}.'
    return SetupFault(server.where, "the OpenAI chat interface", failure.detail, hint)


def _refused_request(failure: Failure, server: AskedServer) -> SetupFault | None:
    said = failure.detail.lower()
    if "no connected db" in said:  # LiteLLM's proxy, in whose words a key that is not its own is one to look up
        return _refused_key(failure, server)
    if _is_unknown_model(said, failure.status):
        return _unknown_model(failure, server)
    if failure.status in (404, 405) or (failure.status is not None and 300 <= failure.status < 400):
        return _wrong_address(failure, server)
    for words, expected, hint in _UNKNOWN_PARAMETERS:
        if re.search(words, said):
            place = f"[models.{server.name}]"
            return SetupFault(server.where, expected, failure.detail, hint.format(place=place))
    return None


def _is_unknown_model(said: str, status: int | None) -> bool:
    # Said by Ollama, vLLM, LiteLLM and OpenAI, each in its way; all of them name the model's kind of thing.
    words = (
        "not found",
        "does not exist",
        "not exist",
        "unknown",
        "invalid model",
        "no such",
        "not a valid model",
    )
    return status in (400, 404, 422) and "model" in said and any(each in said for each in words)


def _unknown_model(failure: Failure, server: AskedServer) -> SetupFault:
    if not server.listed:
        hint = f'Name the model as the server knows it: model = "…" in [models.{server.name}].'
        return SetupFault(server.where, f"a model that the server has, not {server.model!r}", failure.detail, hint)
    nearest = did_you_mean(server.model, server.listed)
    hint = f'{nearest} Write its name as model = "…" in [models.{server.name}].'.strip()
    return SetupFault(server.where, f"one of its models: {_some(server.listed)}", repr(server.model), hint)


def _some(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _wrong_address(failure: Failure, server: AskedServer) -> SetupFault:
    if server.elsewhere is not None:
        return _other_address(failure, server)
    if server.listed is not None and server.model not in server.listed:
        return _unknown_model(failure, server)
    hint = "Mend base_url: with most servers it ends in /v1, and never in /chat/completions."
    if failure.status is not None and 300 <= failure.status < 400:
        hint = "It leads elsewhere, and we follow nowhere: write the address that it leads to as base_url."
    return SetupFault(server.where, "the OpenAI chat interface", failure.detail, hint)


_UNKNOWN_PARAMETERS = (
    (
        r"max_completion_tokens",
        "a server that takes max_tokens",
        'Write token_limit = "max_completion_tokens" in {place}.',
    ),
    (
        r"\bseed\b",
        "a server that takes a seed",
        "Write seed = false in {place}: then no seed is sent, and samples differ by chance alone.",
    ),
    (
        r"grammar|structured_outputs|guided",
        "a server that takes a grammar",
        'Does its flavour fit ("llamacpp", "vllm")? Otherwise leave out conditions with constrained = true.',
    ),
    (
        r"response_format|json_schema",
        "a server that takes a JSON schema",
        'Judge without it: conditions = ["free"] in [judging], or no --condition schema.',
    ),
    (
        r"\btemperature\b",
        "a server that takes this temperature",
        "Write one that it takes as temperature in [decoding].",
    ),
    (
        r"\btop_p\b",
        "a server that takes this top_p",
        "Write one that it takes as top_p in [decoding], or leave it out.",
    ),
    (
        r"chat.?template",
        "a model for conversations",
        "This one has no chat template. Ask its instruction-tuned form.",
    ),
)
"""What servers say of parameters that they do not take: words of it, what was expected, and what to do."""


def ignored_grammar(name: str, said: str) -> SetupFault:
    """A server that took a grammar and answered as if there were none."""
    hint = (
        'Does its flavour fit ("llamacpp", "vllm"), and is it new enough? Otherwise leave out conditions with '
        "constrained = true."
    )
    return SetupFault(f"models.{name}", "an answer that fits the grammar that was sent", shown(said), hint)
