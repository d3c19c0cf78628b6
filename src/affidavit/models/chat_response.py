"""The body of a chat completion, read without trust: a completion, or the reason why there is none (ruling C1).

Lone surrogates are kept as they were sent (ruling C2).

    >>> read_chat(b'{"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}').text
    'Hi'
    >>> read_chat(b'{"choices": []}').reason.value
    'no_choices'
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from affidavit.archive.json_bytes import loads
from affidavit.models.model import Answer, Completion, Failure, Reason

LONGEST = 200
"""Characters of what a server says of itself and of a response."""
LARGEST_COUNT = 2**53
"""Up to here every reader of JSON agrees what a number is."""
Clean = Callable[[str], str]
_TOO_LONG = ("context_length", "context length", "context size", "maximum context", "exceed_context_size")


def read_response(status: int, body: bytes, clean: Clean = str, *, most_megabytes: float) -> Answer:
    """What a response says that has arrived, over a connection or in a file of answers.

    >>> read_response(200, b"{}" + b" " * 1000, most_megabytes=0.001).reason.value
    'too_large'
    """
    if len(body) > most_bytes(most_megabytes):
        return too_large(most_megabytes)
    try:
        return read_chat(body, clean) if status == 200 else replace(read_refusal(status, body), status=status)
    except RecursionError:
        return Failure(Reason.BAD_BODY, "the body is nested too deeply")


def most_bytes(megabytes: float) -> int:
    """So many may a body have under a limit."""
    return int(megabytes * 1e6)


def too_large(megabytes: float) -> Failure:
    """What a longer body is."""
    return Failure(Reason.TOO_LARGE, f"a body of more than {megabytes:g} MB")


def read_chat(body: bytes, clean: Clean = str) -> Answer:
    """What a response with status 200 says; `clean` takes secrets out of what it says about the request.

    The model's own text and reasoning are kept as they are (ruling C2).
    """
    content = _decoded(body)
    if content is None:
        return Failure(Reason.BAD_BODY, "the body is not a JSON object in UTF-8")
    if content.get("error"):
        return Failure(Reason.BAD_BODY, f"an error object: {_message(content)}")
    choices = content.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return Failure(Reason.NO_CHOICES, "no choice in the body")
    return _read_choice(choices[0], content, clean)


def _read_choice(choice: Mapping[str, object], content: Mapping[str, object], clean: Clean) -> Answer:
    message, finish_reason = choice.get("message"), _short(choice.get("finish_reason"), clean)
    response_id = _short(content.get("id"), clean)
    if not isinstance(message, dict):
        return Failure(Reason.NO_CHOICES, "a choice without a message", response_id=response_id)
    reasoning = _first_text(message, "reasoning_content", "reasoning")
    text = _first_text(message, "content") or _first_text(message, "refusal")
    if text is None and isinstance(message.get("content"), str):
        text = ""  # an empty text is a text
    if not text and finish_reason == "content_filter":
        return Failure(Reason.CONTENT_FILTER, "the server's filter left no text", response_id=response_id)
    if not text and message.get("tool_calls"):
        return Failure(Reason.TOOL_CALL_ONLY, "a tool call and no text", response_id=response_id)
    if text is None:
        # A thinking model that ran out of tokens has answered nothing, and that is its own doing.
        if not reasoning and finish_reason != "length":
            return Failure(Reason.NO_CONTENT, "a message without content", response_id=response_id)
        text = ""
    usage, model = _counts(content.get("usage"), clean), _short(content.get("model"), clean)
    fingerprint = _short(content.get("system_fingerprint"), clean)
    return Completion(text, finish_reason, reasoning, usage, None, model, fingerprint, response_id)


def _first_text(message: Mapping[str, object], *names: str) -> str | None:
    for name in names:
        if isinstance(value := message.get(name), str) and value:
            return value
    return None


def _short(value: object, clean: Clean) -> str | None:
    """What a server says in a word or two, however long it is; cut only once it is clean."""
    return clean(value)[:LONGEST] if isinstance(value, str) else None


def _counts(usage: object, clean: Clean) -> dict[str, int | str] | None:
    """Tokens; what cannot be a count is kept as a text, which nobody adds up."""
    if not isinstance(usage, dict):
        return None
    counts: dict[str, int | str] = {}
    for name in ("prompt_tokens", "completion_tokens"):
        value = usage.get(name)
        if type(value) is int and 0 <= value <= LARGEST_COUNT:
            counts[name] = value
        elif value is not None:
            counts[name] = clean(value if isinstance(value, str) else json.dumps(value))[:LONGEST]
    return counts or None


def read_refusal(status: int, body: bytes) -> Failure:
    """What a response with another status says.

    >>> read_refusal(429, b"").reason.value, read_refusal(503, b"<html>").reason.value
    ('rate_limited', 'server_error')
    """
    content = _decoded(body) or {}
    said = _message(content)
    detail = f"HTTP {status}: {said}" if said else f"HTTP {status}"
    match status:
        case 401 | 403 | 407:
            return Failure(Reason.UNAUTHORISED, detail)
        case 408 | 504:
            return Failure(Reason.TIMEOUT, detail)
        case 429:
            return Failure(Reason.RATE_LIMITED, detail, slow_down=True)
        case 413:
            return Failure(Reason.CONTEXT_OVERFLOW, detail)
        case 425 | 409:
            return Failure(Reason.SERVER_ERROR, detail)
        case _ if status >= 500:
            if _too_long(content):  # llama.cpp says so with 500
                return Failure(Reason.CONTEXT_OVERFLOW, detail)
            return Failure(Reason.SERVER_ERROR, detail, slow_down=status == 503)
        case _ if 300 <= status < 400:
            return Failure(Reason.BAD_REQUEST, f"{detail}: redirections are not followed")
        case _ if _too_long(content):
            return Failure(Reason.CONTEXT_OVERFLOW, detail)
    return Failure(Reason.BAD_REQUEST, detail)


def listed_models(body: bytes) -> list[str] | None:
    """The names in a list of models; None if the body is none.

    >>> listed_models(b'{"object": "list", "data": [{"id": "qwen"}, {"id": 3}]}'), listed_models(b"<html>")
    (['qwen'], None)
    """
    data = (_decoded(body) or {}).get("data")
    if not isinstance(data, list):
        return None
    names = [each.get("id") for each in data[:MOST_MODELS] if isinstance(each, dict)]
    return [name for name in names if isinstance(name, str) and len(name) <= LONGEST]


MOST_MODELS = 2000
"""Of a list, so many are looked at."""


def _decoded(body: bytes) -> dict[str, object] | None:
    try:
        content = loads(body)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _message(content: Mapping[str, object]) -> str:
    """What an error object says, in one line."""
    error = content.get("error")
    if isinstance(error, dict):
        error = error.get("message") or error.get("type") or error.get("code")
    # vLLM and FastAPI say it without an object around it.
    error = error or content.get("message") or content.get("detail")
    return " ".join(str(error).split()) if error else ""


def _too_long(content: Mapping[str, object]) -> bool:
    error = content.get("error")
    said = json.dumps(error).lower() if error else ""
    return any(words in said for words in _TOO_LONG)
