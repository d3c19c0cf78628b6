"""A line of batch output is read as a live response is: a completion, or a failure by its reason."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.exchange.batch_answer import LONGEST_DETAIL, answer_in
from affidavit.exchange.batch_line import returned
from affidavit.models.chat_response import read_chat, read_refusal
from affidavit.models.model import Completion, Failure, Reason
from support.batch_service import failed, line
from support.strategies import any_text

CHAT = {
    "id": "chatcmpl-1",
    "model": "m-2026",
    "system_fingerprint": "fp",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Paris"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 1},
}
VLLM = {"object": "error", "message": "maximum context length is 10", "type": "BadRequestError", "code": 400}


def with_message(**message: object) -> dict:
    return CHAT | {"choices": [{"message": message, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("said", "reason", "detail"),
    [
        (failed("k", "gone"), Reason.SERVER_ERROR, "gone"),
        (failed("k", {"code": "batch_expired", "message": "late"}), Reason.TIMEOUT, "batch_expired: late"),
        (failed("k", {"error": {"code": "batch_expired"}}), Reason.TIMEOUT, "batch_expired"),
        (failed("k", {"type": "rate_limit_exceeded"}), Reason.RATE_LIMITED, '{"type": "rate_limit_exceeded"}'),
        (failed("k", {"code": "batch_cancelled"}), Reason.SERVER_ERROR, "batch_cancelled"),
        (failed("k", VLLM), Reason.CONTEXT_OVERFLOW, "HTTP 400: maximum context length is 10"),
        (failed("k", {"error": VLLM | {"message": "bad"}}), Reason.BAD_REQUEST, "HTTP 400: bad"),
        (failed("k", {"code": 503, "message": "busy"}), Reason.SERVER_ERROR, "HTTP 503: busy"),
        (failed("k", {"code": 7, "message": "odd"}), Reason.SERVER_ERROR, "odd"),
        (failed("k", None), Reason.BAD_BODY, "neither a response nor an error"),
        (failed("k", ""), Reason.BAD_BODY, "neither a response nor an error"),
        (line("k", None), Reason.BAD_BODY, "a response without a body"),
        (line("k", {}), Reason.BAD_BODY, "a response without a body"),
        (line("k", None, error="gone"), Reason.SERVER_ERROR, "gone"),
        (line("k", None, status=400, error="no such model"), Reason.BAD_REQUEST, "HTTP 400: no such model"),
        (line("k", None, status=400, error={"error": VLLM}), Reason.CONTEXT_OVERFLOW, "HTTP 400: maximum context"),
        (line("k", {"error": {"message": "slow"}}, status=429), Reason.RATE_LIMITED, "HTTP 429: slow"),
        (line("k", {"error": {"message": "slow"}}), Reason.BAD_BODY, "an error object: slow"),
        (line("k", "<html>", status=502), Reason.SERVER_ERROR, "HTTP 502"),
        (line("k", "<html>"), Reason.BAD_BODY, "the body is not a JSON object in UTF-8"),
        (line("k", {"error": "key"}, status=401), Reason.UNAUTHORISED, "HTTP 401: key"),
        (line("k", None, status=0, error="no route"), Reason.SERVER_ERROR, "no route"),
        (line("k", CHAT, error="and gone"), Reason.BAD_BODY, "an answer and an error in one line: and gone"),
        (line("k", CHAT | {"choices": []}), Reason.NO_CHOICES, "no choice in the body"),
        (line("k", with_message(content=None)), Reason.NO_CONTENT, "a message without content"),
        (line("k", with_message(tool_calls=[{}])), Reason.TOOL_CALL_ONLY, "a tool call and no text"),
        (line("k", CHAT, status="200"), Reason.BAD_BODY, "expected a number in 'status_code', found \"200\""),
        ({"custom_id": "k"}, Reason.BAD_BODY, "expected a 'response' or an 'error', found"),
        ({"custom_id": "k", "response": []}, Reason.BAD_BODY, "expected an object in 'response', found []"),
        ({"custom_id": "k", "error": [1]}, Reason.BAD_BODY, "expected a text or an object in 'error', found [1]"),
        (line("k", [1]), Reason.BAD_BODY, "expected an object in 'body', found [1]"),
    ],
)
def test_what_is_no_answer_is_a_failure_by_its_reason(said, reason, detail):
    """Ruling C1: of the closed list, and never an output."""
    answer = answer_in(json.loads(json.dumps(said)))
    assert isinstance(answer, Failure)
    assert (answer.reason, answer.detail[: len(detail)]) == (reason, detail)


@pytest.mark.parametrize("body", [CHAT, json.dumps(CHAT)], ids=["object", "text"])
def test_an_answer_is_what_it_would_be_live(body):
    assert answer_in(line("k", body)) == read_chat(json.dumps(CHAT).encode())


@pytest.mark.slow
@given(st.recursive(st.none() | st.booleans() | st.integers() | any_text, st.lists, max_leaves=3), any_text)
def test_every_body_is_read_as_a_live_one(value, text):
    choice = {"message": {"content": text, "reasoning": value}, "finish_reason": value}
    body = {"id": value, "choices": [choice], "usage": {"prompt_tokens": value}, "model": value}
    assert answer_in(line("k", body)) == read_chat(json.dumps(body).encode())
    refused = {"error": {"message": text, "code": value}}
    said = answer_in(line("k", refused, status=500))
    assert isinstance(said, Failure)
    assert said.reason == read_refusal(500, json.dumps(refused).encode()).reason


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["response", "error", "status_code", "body", "code", "message", "choices"]), inner
        )
    ),
    max_leaves=10,
)


@pytest.mark.slow
@given(json_values, json_values)
def test_whatever_a_line_says_it_is_one_or_the_other(response, error):
    answer = answer_in({"custom_id": "k", "response": response, "error": error})
    assert isinstance(answer, Completion | Failure)
    if isinstance(answer, Failure):
        assert len(answer.detail) <= LONGEST_DETAIL


def test_the_lines_of_a_real_service_are_answers(public_data):
    lines = (public_data / "logs" / "batch" / "groq_batch_output.jsonl").read_text().splitlines()
    answers = [answer_in(json.loads(each)) for each in lines]
    assert [(type(each), each.finish_reason, each.server_model) for each in answers] == [
        (Completion, "stop", "llama-3.1-8b-instant")
    ] * 3
    assert all(each.usage and each.response_id and each.system_fingerprint for each in answers)


def test_secrets_are_taken_out_of_what_a_line_says_of_its_request():
    def clean(text: str) -> str:
        return text.replace("sk-1", "[secret]")

    answer = answer_in(line("k", CHAT | {"model": "m sk-1"}), clean)
    assert isinstance(answer, Completion)
    assert answer.server_model == "m [secret]"
    refused = answer_in(failed("k", "bad key sk-1"), clean)
    assert isinstance(refused, Failure)
    assert refused.detail == "bad key [secret]"


def test_a_body_that_is_nested_too_deeply_is_a_failure():
    answer = answer_in({"response": {"status_code": 200, "body": "[" * 1_000_000}})
    assert answer == Failure(Reason.BAD_BODY, "the body is not a JSON object in UTF-8")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("gone", "gone"),
        ({"code": "a", "message": "b"}, "a: b"),
        ({"error": {"message": "b"}}, "b"),
        ({"error": "b"}, "b"),
        ({"odd": 1}, '{"odd": 1}'),
        (None, ""),
    ],
)
def test_the_words_of_an_error_are_found_in_every_shape(error, said):
    assert returned(failed("k", error), "out:1").said == said
