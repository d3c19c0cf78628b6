"""What a server's body says, by ruling C1: an output, or a failure with a reason from the closed list."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.models.chat_response import read_chat, read_refusal
from affidavit.models.model import PERMANENT, Completion, Failure, Reason


def body(message: object, finish_reason: str | None = "stop", **others: object) -> bytes:
    return json.dumps({"choices": [{"message": message, "finish_reason": finish_reason}], **others}).encode()


OUTPUTS = {
    "a text": (body({"content": "Hi"}), "Hi", None),
    "an empty text": (body({"content": ""}), "", None),
    "blanks alone": (body({"content": " \n"}), " \n", None),
    "cut at the limit": (body({"content": "Hi"}, "length"), "Hi", None),
    "nothing, cut at the limit": (body({"content": None}, "length"), "", None),
    "nothing but reasoning": (body({"content": None, "reasoning_content": "Hm."}), "", "Hm."),
    "reasoning under its other name": (body({"content": "A", "reasoning": "Hm."}), "A", "Hm."),
    "a refusal": (body({"content": None, "refusal": "I will not."}), "I will not.", None),
    "text beside a tool call": (body({"content": "Hi", "tool_calls": [{}]}), "Hi", None),
    "filtered, but with text": (body({"content": "Hi"}, "content_filter"), "Hi", None),
    "lone surrogates, NUL": (body({"content": "\ud800\0\u2028"}), "\ud800\0\u2028", None),
    "a BOM inside": (body({"content": "\ufeff"}), "\ufeff", None),
}
FAILURES = {
    "no JSON": (b"<html>", Reason.BAD_BODY),
    "nothing": (b"", Reason.BAD_BODY),
    "cut JSON": (body({"content": "Hi"})[:-3], Reason.BAD_BODY),
    "not UTF-8": (b'{"choices": [{"message": {"content": "\xff"}}]}', Reason.BAD_BODY),
    "not an object": (b"[]", Reason.BAD_BODY),
    "too deep": (b"[" * 100_000, Reason.BAD_BODY),
    "an error object": (b'{"error": {"message": "no"}}', Reason.BAD_BODY),
    "an error text": (b'{"error": "no"}', Reason.BAD_BODY),
    "no choices": (b"{}", Reason.NO_CHOICES),
    "an empty list": (b'{"choices": []}', Reason.NO_CHOICES),
    "null choices": (b'{"choices": null}', Reason.NO_CHOICES),
    "a choice that is none": (b'{"choices": [1]}', Reason.NO_CHOICES),
    "no message": (b'{"choices": [{}]}', Reason.NO_CHOICES),
    "null content": (body({"content": None}), Reason.NO_CONTENT),
    "no content": (body({}), Reason.NO_CONTENT),
    "content of another type": (body({"content": 1}), Reason.NO_CONTENT),
    "a tool call": (body({"content": None, "tool_calls": [{}]}, "tool_calls"), Reason.TOOL_CALL_ONLY),
    "a tool call and an empty text": (body({"content": "", "tool_calls": [{}]}), Reason.TOOL_CALL_ONLY),
    "filtered": (body({"content": None}, "content_filter"), Reason.CONTENT_FILTER),
    "filtered to nothing": (body({"content": ""}, "content_filter"), Reason.CONTENT_FILTER),
}
REFUSALS = {
    (400, b""): Reason.BAD_REQUEST,
    (400, b'{"error": {"code": "context_length_exceeded"}}'): Reason.CONTEXT_OVERFLOW,
    (400, b'{"error": {"message": "This model\'s maximum context length is 4096"}}'): Reason.CONTEXT_OVERFLOW,
    (500, b'{"error": {"type": "exceed_context_size_error"}}'): Reason.CONTEXT_OVERFLOW,
    (401, b""): Reason.UNAUTHORISED,
    (403, b""): Reason.UNAUTHORISED,
    (404, b"<html>"): Reason.BAD_REQUEST,
    (408, b""): Reason.TIMEOUT,
    (413, b""): Reason.CONTEXT_OVERFLOW,
    (422, b""): Reason.BAD_REQUEST,
    (429, b""): Reason.RATE_LIMITED,
    (500, b"\xff"): Reason.SERVER_ERROR,
    (502, b"<html>"): Reason.SERVER_ERROR,
    (503, b"<html>"): Reason.SERVER_ERROR,
    (504, b""): Reason.TIMEOUT,
    (302, b""): Reason.BAD_REQUEST,
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs(name):
    content, text, reasoning = OUTPUTS[name]
    found = read_chat(content)
    assert isinstance(found, Completion)
    assert (found.text, found.reasoning) == (text, reasoning)


@pytest.mark.parametrize("name", FAILURES)
def test_failures(name):
    content, reason = FAILURES[name]
    found = read_chat(content)
    assert isinstance(found, Failure)
    assert found.reason is reason


@pytest.mark.parametrize(("response", "reason"), REFUSALS.items(), ids=str)
def test_refusals(response, reason):
    assert read_refusal(*response).reason is reason


def test_only_what_may_pass_is_tried_again():
    """The list of the design: whatever else asking again could mend."""
    assert {reason.value for reason in PERMANENT} == {
        "bad_request", "context_overflow", "content_filter", "tool_call_only", "too_large",
    }  # fmt: skip
    assert len(Reason) == 14


@pytest.mark.slow
@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: body({"content": text}, "stop")))
def test_any_body_gives_a_value(content):
    assert isinstance(read_chat(content), Completion | Failure)


@given(st.text(st.characters()))
def test_any_text_comes_through(text):
    """Ruling C2: every code point, lone surrogates included."""
    assert read_chat(body({"content": text})) == Completion(text, "stop")


@given(st.integers(1, 200))
def test_a_cut_body_is_never_an_output(cut):
    whole = body({"content": "<answer>B</answer>"}, usage={"prompt_tokens": 1})
    assert not isinstance(read_chat(whole[:-cut]), Completion)


USAGE = {
    "counts": (
        {"prompt_tokens": 3, "completion_tokens": 0, "cost": "1"},
        {"prompt_tokens": 3, "completion_tokens": 0},
    ),
    "the largest count": ({"prompt_tokens": 2**53}, {"prompt_tokens": 2**53}),
    "beyond it": ({"prompt_tokens": 2**53 + 1}, {"prompt_tokens": "9007199254740993"}),
    "below nothing": ({"prompt_tokens": -1}, {"prompt_tokens": "-1"}),
    "parts": ({"prompt_tokens": 1.0}, {"prompt_tokens": "1.0"}),
    "true": ({"prompt_tokens": True}, {"prompt_tokens": "true"}),
    "words": ({"prompt_tokens": "many " * 100}, {"prompt_tokens": ("many " * 100)[:200]}),
    "a list": ({"prompt_tokens": [1]}, {"prompt_tokens": "[1]"}),
    "null": ({"prompt_tokens": None}, None),
    "no object": ([3], None),
    "nothing": ({}, None),
}


@pytest.mark.parametrize("name", USAGE)
def test_usage_is_counts_or_short_texts(name):
    """Ruling C9: what a server says is kept, and added up only where it is a count."""
    told, kept = USAGE[name]
    assert read_chat(body({"content": ""}, usage=told)).usage == kept


def test_what_a_server_says_of_itself_is_kept_and_bounded():
    """Ruling C9."""
    said = read_chat(body({"content": "Hi"}, model="m-1", system_fingerprint="fp", id="chat-1"))
    assert (said.server_model, said.system_fingerprint, said.response_id) == ("m-1", "fp", "chat-1")
    long = "x" * 1000
    said = read_chat(body({"content": "Hi"}, long, model=long, system_fingerprint=long, id=long))
    assert {said.server_model, said.system_fingerprint, said.response_id, said.finish_reason} == {"x" * 200}
    odd = read_chat(body({"content": "Hi"}, model=1, system_fingerprint=["fp"], id=None))
    assert (odd.server_model, odd.system_fingerprint, odd.response_id) == (None, None, None)
    assert read_chat(body({"content": None}, id="chat-2")).response_id == "chat-2"


def test_what_is_said_about_a_request_is_cleaned_before_it_is_cut_and_the_text_is_not():
    secret = "x" * 150 + "secret"
    told = {"model": secret * 2, "system_fingerprint": secret, "id": secret, "usage": {"prompt_tokens": secret}}
    said = read_chat(
        body({"content": "secret", "reasoning": "secret"}, secret, **told),
        lambda text: text.replace("secret", "-"),
    )
    clean = "x" * 150 + "-"
    assert (said.text, said.reasoning) == ("secret", "secret")
    assert (said.server_model, said.usage) == ((clean * 2)[:200], {"prompt_tokens": clean})
    assert said.system_fingerprint == said.response_id == said.finish_reason == clean
