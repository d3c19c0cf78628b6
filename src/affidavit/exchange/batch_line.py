"""One line of batch output: what came back for one request, and the error in its place, in all their shapes.

    {"id", "custom_id", "response": {"status_code", "request_id", "body"}, "error"}

A body may be a text with an object in it; an error a text, an object, or an object in an object.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass

from affidavit.errors import InputError
from affidavit.exchange.json_documents import object_in, refuse
from affidavit.exchange.repeated_names import refuse_repeated_names
from affidavit.json_values import Fields, kept_as_shown
from affidavit.models.model import Answer
from affidavit.reading.row_lines import decode_row


@dataclass(frozen=True, slots=True)
class Returned:
    """What stands in a line beside its id."""

    status: int | None
    """None: there is no response."""
    body: Fields | str | None
    error: Fields | None
    """What went wrong, as an object that says so under `error`; None if nothing did."""

    @property
    def said(self) -> str:
        """The words of the error: its code and its message."""
        inner = None if self.error is None else self.error["error"]
        if not isinstance(inner, dict):
            return "" if inner is None else inner if isinstance(inner, str) else kept_as_shown(inner)
        said = [each for name in ("code", "message") if isinstance(each := inner.get(name), str) and each]
        return ": ".join(said) or kept_as_shown(inner)


def returned(fields: Fields, where: str) -> Returned:
    """What a line says; one that says nothing of a response, or what none can say, is refused with its place.

    >>> returned({"response": None, "error": {"code": "batch_expired", "message": "too late"}}, "out:1").said
    'batch_expired: too late'
    """
    error, response = _error_in(fields, where), response_in(fields, where)
    if response is None:
        return Returned(None, None, error)
    return Returned(_status_in(response, where), body_in(response, where), error)


def response_in(fields: Fields, where: str) -> Fields | None:
    """The response of a line; None where there is none."""
    if fields.get("response") is None:
        if not fields.keys() & {"response", "error"}:
            refuse(where, expected="a 'response' or an 'error'", found=fields)
        return None
    return object_in(fields, "response", where=where)


def _error_in(fields: Fields, where: str) -> Fields | None:
    error = fields.get("error")
    if error is None or error in ("", {}):
        return None
    if isinstance(error, str):
        return {"error": error}
    if not isinstance(error, dict):
        refuse(where, expected="a text or an object in 'error'", found=error)
    return error if error.get("error") else {"error": error}


def _status_in(response: Fields, where: str) -> int:
    status = response.get("status_code")
    if not isinstance(status, int) or isinstance(status, bool):
        refuse(where, expected="a number in 'status_code'", found=status)
    return status


def body_in(response: Fields, where: str) -> Fields | str | None:
    """The body, taken out of a text where it is in one; a text that holds no object stays one."""
    body = response.get("body")
    if isinstance(body, str) and body:
        try:
            inner = decode_row(body, where=where)
        except InputError:
            return body
        refuse_repeated_names(body, inner, where=f"{where}, body")
        return inner
    if body is not None and not isinstance(body, dict | str):
        refuse(where, expected="an object in 'body'", found=body)
    return body


def judged(rule: Callable[[bytes], Answer], body: object, where: str) -> Answer:
    """What the rule for live responses says of a body, as it may have come over the wire."""
    try:
        content = body if isinstance(body, str) else json.dumps(body)
        return rule(content.encode("utf-8", "surrogatepass"))
    except RecursionError as error:
        raise InputError(where, expected="a body", found="one nested too deeply") from error
