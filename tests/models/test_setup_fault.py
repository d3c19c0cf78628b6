"""Which mistake of the setup a failure comes from; those of a day, or of one request, come from none."""

import pytest

from affidavit.models.model import Failure, Reason
from affidavit.models.setup_fault import AskedServer, fault_of, ignored_grammar

SERVER = AskedServer(name="m", address="http://h/v1", model="qwen")


def failed(reason: Reason, detail: str, status: int | None = None) -> Failure:
    return Failure(reason, detail, status=status)


@pytest.mark.parametrize(
    "failure",
    [
        failed(Reason.RATE_LIMITED, "HTTP 429", 429),
        failed(Reason.SERVER_ERROR, "HTTP 500: seed of the problem", 500),
        failed(Reason.TIMEOUT, "HTTP 504", 504),
        failed(Reason.TIMEOUT, "no answer within 3 s"),
        failed(Reason.CONTENT_FILTER, "the server's filter left no text"),
        failed(Reason.CONTEXT_OVERFLOW, "HTTP 400: maximum context", 400),
        failed(Reason.TOO_LARGE, "a body of more than 8 MB"),
        failed(Reason.NO_CONTENT, "a message without content"),
        failed(Reason.BAD_REQUEST, "HTTP 400: this very question is not allowed", 400),
        failed(Reason.BAD_BODY, "the body ended early"),
        failed(Reason.STRAY_RESPONSE, "the response has the id of a response to another request"),
    ],
    ids=lambda failure: f"{failure.reason}",
)
def test_a_failure_of_the_day_or_of_one_request_is_no_mistake(failure):
    assert fault_of(failure, SERVER) is None


@pytest.mark.parametrize(
    ("failure", "known", "says"),
    [
        (failed(Reason.CONNECTION, "the connection was refused"), {}, "Is it running"),
        (failed(Reason.CONNECTION, "the host has no address"), {}, "spelt right"),
        (failed(Reason.CONNECTION, "Connection reset by peer"), {}, "https:// in place of http://"),
        (failed(Reason.TIMEOUT, "no connection within 10 s"), {}, "Is it running"),
        (failed(Reason.UNAUTHORISED, "HTTP 401", 401), {}, 'key_env = "NAME"'),
        (failed(Reason.UNAUTHORISED, "HTTP 403", 403), {"key_env": "K"}, "Set the variable K"),
        (failed(Reason.BAD_REQUEST, "HTTP 400: No connected db.", 400), {"key_env": "K"}, "Set the variable K"),
        (failed(Reason.SERVER_ERROR, "HTTP 500", 500), {"status": 500}, "Does it want a key? Name the variable"),
        (failed(Reason.BAD_REQUEST, "HTTP 404", 404), {}, "never in /chat/completions"),
        (failed(Reason.BAD_REQUEST, "HTTP 405", 405), {"elsewhere": "http://h/api/v1"}, "http://h/api/v1"),
        (failed(Reason.BAD_REQUEST, "HTTP 404", 404), {"listed": ["qwen2"]}, "Did you mean qwen2?"),
        (failed(Reason.BAD_REQUEST, "HTTP 404: model 'qwen' not found", 404), {}, "as the server knows it"),
        (failed(Reason.BAD_REQUEST, "HTTP 400: no chat template", 400), {}, "instruction-tuned"),
        (failed(Reason.BAD_REQUEST, "HTTP 400: response_format", 400), {}, '["free"]'),
        (failed(Reason.BAD_REQUEST, "HTTP 400: top_p", 400), {}, "top_p in [decoding]"),
        (failed(Reason.NO_CHOICES, "no choice in the body"), {"status": 200}, "another service"),
    ],
)
def test_a_mistake_is_told_with_what_to_do(failure, known, says):
    fault = fault_of(failure, AskedServer(**{**vars(SERVER), **known}))
    assert fault.where == "models.m at http://h/v1"
    assert says in fault.hint


def test_of_many_models_some_are_named():
    fault = fault_of(
        failed(Reason.BAD_REQUEST, "HTTP 404: The model does not exist", 404),
        AskedServer(**{**vars(SERVER), "listed": [f"model-{number}" for number in range(11)]}),
    )
    assert fault.expected.endswith("model-7 and 3 more")


def test_a_grammar_that_nobody_heeded():
    error = ignored_grammar("m", "Well, B.").error(more="Nothing was written.")
    assert str(error).startswith(
        'models.m: expected an answer that fits the grammar that was sent, found "Well, B."'
    )
    assert str(error).endswith("\nNothing was written.")
