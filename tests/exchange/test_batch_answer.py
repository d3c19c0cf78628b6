"""A line of batch output is read as a live response is: a completion, or a failure by its reason."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.exchange.batch_answer import LONGEST_DETAIL, answer_in
from affidavit.exchange.batch_line import returned
from affidavit.exchange.raw_object import RawObject
from affidavit.models.chat_response import Clean, read_chat, read_refusal, read_response
from affidavit.models.model import Answer, Completion, Failure, Reason
from support.batch_service import failed, line
from support.strategies import any_text

CHAT = {
    "id": "chatcmpl-1",
    "model": "m-2026",
    "system_fingerprint": "fp",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Paris"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 1},
}


def read(said: dict, *clean: Clean, **limit: float) -> Answer:
    """What a line says that a service writes."""
    return answer_in(RawObject(json.dumps(said), where="out:1"), *clean, **limit)


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
        (line("k", {}), Reason.NO_CHOICES, "no choice in the body"),
        (line("k", {}, error="gone"), Reason.SERVER_ERROR, "gone"),
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
        (line("k", [1]), Reason.BAD_BODY, "the body is not a JSON object in UTF-8"),
    ],
)
def test_what_is_no_answer_is_a_failure_by_its_reason(said, reason, detail):
    """Ruling C1: of the closed list, and never an output."""
    answer = read(said)
    assert isinstance(answer, Failure)
    assert (answer.reason, answer.detail[: len(detail)]) == (reason, detail)


@pytest.mark.parametrize("body", [CHAT, json.dumps(CHAT)], ids=["object", "text"])
def test_an_answer_is_what_it_would_be_live(body):
    assert read(line("k", body)) == read_chat(json.dumps(CHAT).encode())


@pytest.mark.slow
@given(st.recursive(st.none() | st.booleans() | st.integers() | any_text, st.lists, max_leaves=3), any_text)
def test_every_body_is_read_as_a_live_one(value, text):
    choice = {"message": {"content": text, "reasoning": value}, "finish_reason": value}
    body = {"id": value, "choices": [choice], "usage": {"prompt_tokens": value}, "model": value}
    assert read(line("k", body)) == read_chat(json.dumps(body).encode())
    refused = {"error": {"message": text, "code": value}}
    said = read(line("k", refused, status=500))
    assert isinstance(said, Failure)
    assert said.reason == read_refusal(500, json.dumps(refused).encode()).reason


MESSAGE = b'{"choices": [{"message": {"content": %b}, "finish_reason": "stop"}]}'
TOO_LARGE = 100_000
BODIES = {
    "an answer": MESSAGE % b'"Paris"',
    "no blanks, other order": b'{"model":"m","choices":[{"finish_reason":"stop","message":{"content":"Paris"}}]}',
    "a control character in a text": MESSAGE % b'"a\x01b"',
    "a tab in a text": MESSAGE % b'"a\tb"',
    "a carriage return between values": b'{"choices":\r[{"message": {"content": "Paris"}}]}',
    "a number of 5,000 digits": b'{"created": %b, "choices": [{"message": {"content": "A"}}]}' % (b"7" * 5000),
    "a number of 4,200 digits": b'{"created": %b, "choices": [{"message": {"content": "A"}}]}' % (b"7" * 4200),
    "numbers as no reader likes them": b'{"created": 1e999, "choices": [{"message": {"content": "A"}}]}',
    "NaN": b'{"created": NaN, "choices": [{"message": {"content": "A"}}]}',
    "half a character": MESSAGE % b'"half \\ud800"',
    "a bad escape": MESSAGE % b'"\\x41"',
    "a text that is none": MESSAGE % b"Paris",
    "an answer twice": MESSAGE % b'"A", "content": "B"',
    "choices twice": b'{"choices": [], "choices": [{"message": {"content": "B"}}]}',
    "an error twice": b'{"error": "no", "error": null, "choices": [{"message": {"content": "B"}}]}',
    "a comma too many": b'{"choices": [{"message": {"content": "B"}}],}',
    "two objects in one": b'{"choices": []} {"choices": [{"message": {"content": "B"}}]}',
    "a bracket of another kind": b'{"choices": [{"message": {"content": "B"}}}]',
    "nothing in it": b"{}",
    "nothing in it, with blanks": b"{ \t }",
    "null": b"null",
    "a list": b"[1]",
    "a number": b"7",
    "a list of objects": b'[{"message": {"content": "B"}}]',
    "not text": b"<html>",
    "nested too deeply": MESSAGE % (b"[" * 100_000 + b"]" * 100_000),
    "nested deeply": MESSAGE % (b"[" * 900 + b"]" * 900),
    "as long as it may be": MESSAGE % b'"%b"' % (b"x" * (TOO_LARGE - len(MESSAGE))),
    "a byte longer": MESSAGE % b'"%b"' % (b"x" * (TOO_LARGE - len(MESSAGE) + 1)),
    "only blanks are too many": MESSAGE % b'"B"' + b" " * TOO_LARGE,
    "letters of other scripts": MESSAGE % '"日本 \u2028 é"'.encode(),
    "no content": MESSAGE % b"null",
    "an error object": b'{"error": {"message": "slow"}}',
    "too long a context": b'{"error": {"message": "maximum context length"}}',
}
"""Whatever a server may send, as it stands in a line of its own, without a line feed."""
# A body of a line ends where its value does: what stands behind it is no part of it.
_NOT_IN_A_LINE = ("two objects in one", "only blanks are too many", "a bracket of another kind")
IN_LINES = {name: body for name, body in BODIES.items() if name not in _NOT_IN_A_LINE}


def outcome(answer: Answer) -> object:
    """What is kept of it."""
    return answer.reason if isinstance(answer, Failure) else answer


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("name", BODIES)
def test_the_same_body_has_one_meaning_over_a_connection_and_in_a_file(name, status):
    """Rulings C1 and C10: an object in the line, or a text with the body in it."""
    body, limit = BODIES[name], {"most_megabytes": TOO_LARGE / 1e6}
    live = read_response(status, body, **limit)
    assert outcome(read(line("k", body.decode(), status=status), **limit)) == outcome(live)
    if name in IN_LINES:
        written = f'{{"custom_id": "k", "response": {{"body": {body.decode()}, "status_code": {status}}}}}'
        assert outcome(answer_in(RawObject(written, where="out:1"), **limit)) == outcome(live)


@pytest.mark.parametrize("twice", ["response", "error"])
@pytest.mark.parametrize("other", ["null", '{"status_code": 200, "body": {}}'])
def test_a_line_that_says_a_thing_twice_says_nothing(twice, other):
    """Readers of JSON differ in which of them they take: neither is guessed."""
    said = json.dumps(line("k", CHAT))[:-1] + f', "{twice}": {other}}}'
    answer = answer_in(RawObject(said, where="out:1"))
    assert answer == Failure(Reason.BAD_BODY, f"expected the key '{twice}' once, found it 2 times")
    inner = said.replace('"status_code": 200', '"status_code": 200, "status_code": 200', 1)
    assert outcome(answer_in(RawObject(inner, where="out:1"))) == Reason.BAD_BODY


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
    answer = read({"custom_id": "k", "response": response, "error": error})
    assert isinstance(answer, Completion | Failure)
    if isinstance(answer, Failure):
        assert len(answer.detail) <= LONGEST_DETAIL


def test_the_lines_of_a_real_service_are_answers(public_data):
    lines = (public_data / "logs" / "batch" / "groq_batch_output.jsonl").read_text().splitlines()
    answers = [answer_in(RawObject(each, where="out:1")) for each in lines]
    assert [(type(each), each.finish_reason, each.server_model) for each in answers] == [
        (Completion, "stop", "llama-3.1-8b-instant")
    ] * 3
    assert all(each.usage and each.response_id and each.system_fingerprint for each in answers)


def test_secrets_are_taken_out_of_what_a_line_says_of_its_request():
    def clean(text: str) -> str:
        return text.replace("sk-1", "[secret]")

    answer = read(line("k", CHAT | {"model": "m sk-1"}), clean)
    assert isinstance(answer, Completion)
    assert answer.server_model == "m [secret]"
    refused = read(failed("k", "bad key sk-1"), clean)
    assert isinstance(refused, Failure)
    assert refused.detail == "bad key [secret]"


def test_a_body_that_is_nested_too_deeply_is_a_failure():
    answer = read({"response": {"status_code": 200, "body": "[" * 1_000_000}})
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
