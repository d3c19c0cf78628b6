"""One line of batch output as the answer to a request of ours: a completion or a failure, never anything between.

A body is read by the reader of live responses, from the same bytes, so that the record of an answer is the same
whichever way it came (rulings C1 and C10). What has no body is a failure by its code; one that says nothing more
may pass, and is asked again live. A line that cannot be read is a failure too: `bad_body`, as it would be over the
wire.

    >>> answer_in(RawObject('{"response": null, "error": {"code": "batch_expired"}}', where="out:1")).reason.value
    'timeout'
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from affidavit.errors import InputError
from affidavit.exchange.batch_line import Returned, judged, returned
from affidavit.exchange.raw_object import RawObject
from affidavit.json_values import Fields
from affidavit.models.chat_response import Clean, read_refusal, read_response
from affidavit.models.model import Answer, Completion, Failure, Reason
from affidavit.models.settings import Limits

LONGEST_DETAIL = 300
_EMPTY = re.compile(rb"[ \t\r\n]*+(?:null|\{[ \t\r\n]*+\})?[ \t\r\n]*+")
"""Bodies that say nothing: an error beside one is what the line says."""
_OF_CODES: Mapping[str, Reason] = {
    "batch_expired": Reason.TIMEOUT,
    "request_timeout": Reason.TIMEOUT,
    "timeout": Reason.TIMEOUT,
    "rate_limit_exceeded": Reason.RATE_LIMITED,
    "context_length_exceeded": Reason.CONTEXT_OVERFLOW,
    "content_filter": Reason.CONTENT_FILTER,
}
"""What the code of an error means that came without a response; every other one may pass."""


def answer_in(line: RawObject, clean: Clean = str, *, most_megabytes: float = Limits().body_megabytes) -> Answer:
    """What a line says in answer to its request; `clean` takes secrets out of what it says about the request."""
    try:
        came, body = _came(line)
        answer = _answer(came, body, clean, most_megabytes)
    except InputError as error:
        answer = Failure(Reason.BAD_BODY, f"expected {error.expected}, found {error.found}")
    if isinstance(answer, Failure):
        return replace(answer, detail=clean(answer.detail)[:LONGEST_DETAIL])
    return answer


def _came(line: RawObject) -> tuple[Returned, bytes]:
    """What a line says, and beside it the body as it was written, or as it stands in a text."""
    fields: Fields = {name: line.value(name) for name in ("error",) if name in line}
    body, response = b"", line.text("response")
    if response is not None and response.startswith("{"):
        inner = RawObject(response, where="the line")
        fields["response"] = {"status_code": inner.value("status_code")}
        body = _bytes_of(inner)
    elif response is not None:
        fields["response"] = line.value("response")
    return returned(fields, "the line"), body


def _bytes_of(response: RawObject) -> bytes:
    written = response.text("body") or ""
    text = response.value("body") if written.startswith('"') else written
    return str(text).encode("utf-8", "surrogatepass")


def _answer(came: Returned, body: bytes, clean: Clean, most_megabytes: float) -> Answer:
    status, is_empty = came.status, _EMPTY.fullmatch(body)
    if status is None or not 100 <= status < 600:
        return _without_response(came)
    if is_empty and came.error is not None:
        if status == 200:
            return _without_response(came)
        return judged(partial(read_refusal, status), came.error, "the line")
    if is_empty and status == 200 and b"{" not in body:
        return Failure(Reason.BAD_BODY, "a response without a body")
    answer = read_response(status, body, clean, most_megabytes=most_megabytes)
    if status == 200 and came.error is not None and isinstance(answer, Completion):
        return Failure(Reason.BAD_BODY, f"an answer and an error in one line: {came.said}")
    return answer


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
