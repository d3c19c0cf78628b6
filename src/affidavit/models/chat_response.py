"""The body of a chat completion, read without trust: a completion, or the reason why there is none (ruling C1).

Lone surrogates are kept as they were sent (ruling C2).

    >>> read_chat(b'{"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}').text
    'Hi'
    >>> read_chat(b'{"choices": []}').reason.value
    'no_choices'
"""

import json
from collections.abc import Mapping

from affidavit.archive.json_bytes import loads
from affidavit.models.model import Answer, Completion, Failure, Reason

_TOO_LONG = ("context_length", "context length", "context size", "maximum context", "exceed_context_size")


def read_chat(body: bytes) -> Answer:
    """What a response with status 200 says."""
    content = _decoded(body)
    if content is None:
        return Failure(Reason.BAD_BODY, "the body is not a JSON object in UTF-8")
    if content.get("error"):
        return Failure(Reason.BAD_BODY, f"an error object: {_message(content)}")
    choices = content.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return Failure(Reason.NO_CHOICES, "no choice in the body")
    return _read_choice(choices[0], content.get("usage"))


def _read_choice(choice: Mapping[str, object], usage: object) -> Answer:
    message, finish = choice.get("message"), choice.get("finish_reason")
    if not isinstance(message, dict):
        return Failure(Reason.NO_CHOICES, "a choice without a message")
    finish_reason = finish if isinstance(finish, str) else None
    reasoning = _first_text(message, "reasoning_content", "reasoning")
    text = _first_text(message, "content") or _first_text(message, "refusal")
    if text is None and isinstance(message.get("content"), str):
        text = ""  # an empty text is a text
    if not text and finish_reason == "content_filter":
        return Failure(Reason.CONTENT_FILTER, "the server's filter left no text")
    if not text and message.get("tool_calls"):
        return Failure(Reason.TOOL_CALL_ONLY, "a tool call and no text")
    if text is None:
        # A thinking model that ran out of tokens has answered nothing, and that is its own doing.
        if not reasoning and finish_reason != "length":
            return Failure(Reason.NO_CONTENT, "a message without content")
        text = ""
    return Completion(text, finish_reason, reasoning, _counts(usage))


def _first_text(message: Mapping[str, object], *names: str) -> str | None:
    return next((value for name in names if isinstance(value := message.get(name), str) and value), None)


def _counts(usage: object) -> dict[str, int] | None:
    if not isinstance(usage, dict):
        return None
    names = ("prompt_tokens", "completion_tokens")
    counts = {name: usage[name] for name in names if type(usage.get(name)) is int}
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
    return " ".join(str(error).split()) if error else ""


def _too_long(content: Mapping[str, object]) -> bool:
    error = content.get("error")
    said = json.dumps(error).lower() if error else ""
    return any(words in said for words in _TOO_LONG)
