"""One line of batch output as the answer to a request of ours: a completion or a failure, never anything between.

A body is read by the rule for live responses, so that the record of an answer is the same whichever way it came
(rulings C1 and C10). What has no body is a failure by its code; one that says nothing more may pass, and is asked
again live. A line that cannot be read is a failure too: `bad_body`, as it would be over the wire.

    >>> answer_in({"response": None, "error": {"code": "batch_expired"}}).reason.value
    'timeout'
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from affidavit.errors import InputError
from affidavit.exchange.batch_line import Returned, judged, returned
from affidavit.json_values import Fields
from affidavit.models.chat_response import Clean, read_chat, read_refusal
from affidavit.models.model import Answer, Failure, Reason

LONGEST_DETAIL = 300
_OF_CODES: Mapping[str, Reason] = {
    "batch_expired": Reason.TIMEOUT,
    "request_timeout": Reason.TIMEOUT,
    "timeout": Reason.TIMEOUT,
    "rate_limit_exceeded": Reason.RATE_LIMITED,
    "context_length_exceeded": Reason.CONTEXT_OVERFLOW,
    "content_filter": Reason.CONTENT_FILTER,
}
"""What the code of an error means that came without a response; every other one may pass."""


def answer_in(fields: Fields, clean: Clean = str) -> Answer:
    """What a line says in answer to its request; `clean` takes secrets out of what it says about the request."""
    try:
        answer = _answer(returned(fields, "the line"), clean)
    except InputError as error:
        answer = Failure(Reason.BAD_BODY, f"expected {error.expected}, found {error.found}")
    if isinstance(answer, Failure):
        return replace(answer, detail=clean(answer.detail)[:LONGEST_DETAIL])
    return answer


def _answer(came: Returned, clean: Clean) -> Answer:
    status, body = came.status, came.body
    if status is None or not 100 <= status < 600:
        return _without_response(came)
    if status != 200:
        return judged(partial(read_refusal, status), body or came.error, "the line")
    if not body:
        return _without_response(came) if came.error else Failure(Reason.BAD_BODY, "a response without a body")
    if came.error is not None and not (isinstance(body, dict) and body.get("error")):
        return Failure(Reason.BAD_BODY, f"an answer and an error in one line: {came.said}")
    return judged(partial(read_chat, clean=clean), body, "the line")


def _without_response(came: Returned) -> Failure:
    """The failure that an error stands for; it says so in a text, by a code, or by a status within it."""
    if came.error is None:
        return Failure(Reason.BAD_BODY, "neither a response nor an error")
    inner = came.error["error"]
    if isinstance(inner, dict):
        code = inner.get("code")
        if type(code) is int and 300 <= code < 600:
            answer = judged(partial(read_refusal, code), came.error, "the line")
            assert isinstance(answer, Failure)  # noqa: S101 - a refusal is one
            return answer
        for name in ("code", "type"):
            if isinstance(said := inner.get(name), str) and said in _OF_CODES:
                return Failure(_OF_CODES[said], came.said)
    return Failure(Reason.SERVER_ERROR, came.said)
