"""Lines of batch output become outputs by the rule for live responses; requests are found beside them, or not at all."""

import copy
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from affidavit.errors import InputError
from affidavit.exchange.batch_output import BATCH, first_keys
from affidavit.exchange.log import HEAD, Log
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer
from support.log_mutations import KINDS, mutations, read_or_refused

DEEP = "[" * 1_000_000


def chat(text: object, *, model: object = "tiny-2026", finish: str = "stop", **more) -> dict:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    return {"id": "c-1", "object": "chat.completion", "model": model, "choices": [choice], "usage": usage, **more}


def line(custom_id: str, body: object, *, status: object = 200, error: object = None) -> dict:
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": f"b-{custom_id}", "custom_id": custom_id, "response": response, "error": error}


def request(custom_id: str, words: object, *, model: str = "tiny", **more) -> dict:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": words}]
    body = {"model": model, "messages": messages, **more}
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}


def written(folder: Path, name: str, rows: Iterable[object], end: str = "\n") -> Path:
    path = folder / name
    path.write_bytes("".join(json.dumps(each) + end for each in rows).encode())
    return path


def opened(folder: Path, *rows: object) -> Log:
    return BATCH.opened(written(folder, "out.jsonl", rows))


def outputs(folder: Path, *rows: object) -> list[LoggedOutput]:
    return list(opened(folder, *rows).outputs())


def refusal(folder: Path, *rows: object) -> InputError:
    with pytest.raises(InputError) as refused:
        outputs(folder, *rows)
    return refused.value


# --- answers ---


def part(text: str, kind: str = "text") -> dict:
    return {"type": kind, kind: text}


@pytest.mark.parametrize(
    ("content", "text", "verbatim"),
    [
        ([part("Paris.\n")], "Paris.\n", True),
        ([part("Par"), part("is.")], "Paris.", False),
        ([part("hm", "thinking"), part("B")], "B", True),
        ([part("No.", "refusal")], "No.", True),
        ([part("")], "", True),
    ],
)
def test_content_in_parts_is_their_texts_and_not_verbatim_where_there_are_several(
    tmp_path, content, text, verbatim
):
    first, second = outputs(tmp_path, line("q1", chat(content)), line("q2", chat("x")))
    assert (first.raw_output, first.verbatim, first.no_answer) == (text, verbatim, None)
    assert (second.raw_output, second.verbatim) == ("x", True)


@pytest.mark.parametrize("content", [[], [part("data:,", "image_url")]])
def test_content_without_a_text_is_a_failure_that_is_counted(tmp_path, content):
    (found,) = outputs(tmp_path, line("q1", chat(content)))
    assert (found.raw_output, found.no_answer) == (None, NoAnswer.ERROR)
    assert found.error == "no_content: a message without content"


@pytest.mark.parametrize(
    ("files", "planned"),
    [
        ({"out": "ab", "wrong": "c"}, {"out": 3, "wrong": 1}),
        ({"out": "abcd"}, {"out": 4}),
        ({"out": "ab"}, {"out": 4}),
        ({"out": "ab", "wrong": "cd"}, {"out": 2, "wrong": 2}),
        ({"first": "ab", "second": "abc"}, {"first": 4, "second": 4}),  # two runs of one batch
        ({"out": "ab", "other": "cx"}, {"out": 4, "other": None}),
    ],
)
def test_files_that_share_their_requests_have_each_its_own_and_what_is_missing_once(tmp_path, files, planned):
    written(tmp_path, "requests.jsonl", [request(name, "?") for name in "abcd"])
    for file, ids in files.items():
        written(tmp_path, f"{file}.jsonl", [line(name, chat("x")) for name in ids])
    logs = {file: BATCH.opened(tmp_path / f"{file}.jsonl") for file in files}
    assert {file: log.planned for file, log in logs.items()} == planned
    shares = [file for file, log in logs.items() if any("are answered in" in note for note in log.notes)]
    assert shares == (list(files) if "wrong" in files else [])
    alone = [file for file, log in logs.items() if any("no requests are read" in note for note in log.notes)]
    assert alone == [file for file in files if planned[file] is None]


def test_an_answer_is_kept_as_it_came(tmp_path):
    (found,) = outputs(tmp_path, line("q1", chat("Paris.\r\n\ud800", finish="length")))
    assert (found.item_id, found.raw_output, found.model, found.finish_reason, found.place) == (
        "q1",
        "Paris.\r\n\ud800",
        "tiny-2026",
        "length",
        "line 1",
    )
    assert found.verbatim
    assert found.words == ()
    assert found.more == {"request_id": "r", "usage": {"prompt_tokens": 5, "completion_tokens": 2}}


def test_further_choices_are_samples_by_their_own_numbers(tmp_path):
    choices = [
        {"index": 1, "message": {"content": "b", "reasoning_content": "hm"}},
        {"index": 0, "message": {"content": "a"}},
        {"index": 2, "message": {"content": None}, "finish_reason": "content_filter"},
    ]
    found = outputs(tmp_path, line("q1", chat("") | {"choices": choices}))
    assert [(each.sample, each.raw_output, each.reasoning) for each in found] == [
        (0, "a", None),
        (1, "b", "hm"),
        (2, None, None),
    ]
    assert [each.place for each in found] == ["line 1, choice 1", "line 1, choice 2", "line 1, choice 3"]
    assert found[2].error == "content_filter: the server's filter left no text"
    assert sum("usage" in each.more for each in found) == 1


COMPLETION = {"object": "text_completion", "model": "t", "choices": [{"text": " Paris", "finish_reason": "stop"}]}
RESPONSE = {
    "object": "response",
    "status": "completed",
    "model": "t",
    "error": None,
    "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {
            "type": "message",
            "content": [
                {"type": "output_text", "text": "Par", "annotations": []},
                {"type": "output_text", "text": "is"},
            ],
        },
    ],
    "usage": {"input_tokens": 3, "output_tokens": 1},
}


@pytest.mark.parametrize(
    ("body", "text", "finish", "reasoning"),
    [
        (COMPLETION, " Paris", "stop", None),
        (RESPONSE, "Paris", "stop", "hm"),
        (
            RESPONSE
            | {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": []},
            "",
            "length",
            None,
        ),
        (
            RESPONSE | {"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]},
            "No.",
            "stop",
            None,
        ),
        (chat(None, finish="length"), "", "length", None),
        (chat(""), "", "stop", None),
        (json.dumps(chat("in a text")), "in a text", "stop", None),
    ],
    ids=["completion", "response", "cut", "refused", "no words left", "empty", "body in a text"],
)
def test_every_endpoint_with_text_is_read(tmp_path, body, text, finish, reasoning):
    (found,) = outputs(tmp_path, line("q", body))
    assert (found.raw_output, found.finish_reason, found.reasoning) == (text, finish, reasoning)


@pytest.mark.parametrize("object_", ["list", "embedding", "moderation", "vllm.score", "chat.completion.chunk"])
def test_bodies_without_text_are_refused_by_name(tmp_path, object_):
    error = refusal(tmp_path, line("q1", chat("x")), line("q2", {"object": object_, "data": []}))
    assert error.where.endswith("out.jsonl:2")
    assert object_ in error.found


# --- failures ---


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            line("q", None, status=400, error="The model does not exist"),
            "bad_request: HTTP 400: The model does not exist",
        ),
        (
            line("q", None, status=404, error={"error": {"message": "no such model", "code": 404}}),
            "bad_request: HTTP 404: no such model",
        ),
        (line("q", {}, status=500, error={"message": "oops"}), "server_error: HTTP 500: oops"),
        (line("q", {"error": {"message": "slow down"}}, status=429), "rate_limited: HTTP 429: slow down"),
        (line("q", "<html>", status=503), "server_error: HTTP 503"),
        (
            {"custom_id": "q", "response": None, "error": {"code": "batch_expired", "message": "Too late."}},
            "batch_expired: Too late.",
        ),
        ({"custom_id": "q", "error": {"odd": 1}}, '{"odd": 1}'),
        ({"custom_id": "q", "response": None, "error": "gone"}, "gone"),
        (line("q", "no JSON"), "bad_body: the body is not a JSON object in UTF-8"),
        (line("q", {"error": {"message": "boom"}}), "bad_body: an error object: boom"),
        (line("q", chat("") | {"choices": []}), "no_choices: no choice in the body"),
        (line("q", chat(None)), "no_content: a message without content"),
        (
            line("q", RESPONSE | {"status": "failed", "error": {"message": "bad"}}),
            "bad_body: an error object: bad",
        ),
        (line("q", RESPONSE | {"status": "cancelled"}), "bad_body: an error object: cancelled"),
        (line("q", RESPONSE | {"output": [{"type": "function_call"}]}), "tool_call_only: a tool call and no text"),
    ],
)
def test_a_failure_is_no_output_and_says_why(tmp_path, row, said):
    (found,) = outputs(tmp_path, row)
    assert (found.raw_output, found.no_answer, found.error) == (None, NoAnswer.ERROR, said)


@pytest.mark.parametrize("row", [line("q", None), {"custom_id": "q", "response": None, "error": None}])
def test_where_nothing_is_said_an_answer_is_missing(tmp_path, row):
    (found,) = outputs(tmp_path, row)
    assert (found.raw_output, found.no_answer, found.error) == (None, NoAnswer.MISSING, None)


def test_a_failure_counts_under_the_name_that_answered_the_others(tmp_path):
    written(tmp_path, "in.jsonl", [request("a", "?"), request("b", "?"), request("c", "?", model="other")])
    failed = {"response": None, "error": "gone"}
    found = outputs(tmp_path, line("a", chat("x")), {"custom_id": "b", **failed}, {"custom_id": "c", **failed})
    assert [each.model for each in found] == ["tiny-2026", "tiny-2026", "other"]


# --- requests ---


def test_requests_are_found_by_their_ids_whatever_the_order(tmp_path):
    parts = [{"type": "text", "text": "In parts?"}]
    written(
        tmp_path,
        "asked.jsonl",
        [
            request("a", "First?"),
            request("b", parts),
            request("c", [*parts, *parts], n=2),
            request("d", "Fourth?"),
        ],
        end="\r\n",
    )
    rows = [line(name, chat(name)) for name in "cba"]
    log = BATCH.opened(written(tmp_path, "out.jsonl", rows, end="\r\n"))
    assert [(each.item_id, each.prompt, each.raw_output) for each in log.outputs()] == [
        ("c", None, "c"),
        ("b", "In parts?", "b"),
        ("a", "First?", "a"),
    ]
    assert log.planned == 5
    assert log.facts == {
        "requests": "asked.jsonl",
        "requests_without_an_answer": 1,
        "models_differ": {"asked of tiny, answered by tiny-2026": 3},
    }
    assert [each.more["asked_model"] for each in log.outputs()] == ["tiny"] * 3


@pytest.mark.parametrize(
    ("body", "prompt"),
    [
        ({"prompt": "Once upon"}, "Once upon"),
        ({"input": "Hello?"}, "Hello?"),
        ({"input": [{"role": "user", "content": "Hi?"}]}, "Hi?"),
        ({"messages": 5}, None),
        ({}, None),
    ],
)
def test_words_of_other_endpoints(tmp_path, body, prompt):
    written(tmp_path, "in.jsonl", [request("a", "?") | {"body": body}])
    assert [each.prompt for each in outputs(tmp_path, line("a", chat("x")))] == [prompt]


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({}, "none: no file of requests beside it"),
        ({"in.jsonl": [request("b", "?")]}, 'none: in.jsonl does not have "a"'),
        ({"1.jsonl": [request("a", "?")], "2.jsonl": [request("a", "?")]}, "none: 1.jsonl, 2.jsonl fit alike"),
        ({"in.jsonl": [request("a", "?"), request("a", "?")]}, "none: in.jsonl cannot be read (a request with an id of its own"),
        ({"in.jsonl": [request("a", "?"), 5]}, "none: in.jsonl cannot be read (a JSON object expected"),
    ],
)  # fmt: skip
def test_where_requests_do_not_fit_none_are_taken(tmp_path, files, why):
    for name, rows in files.items():
        written(tmp_path, name, rows)
    log = opened(tmp_path, line("a", chat("x")))
    assert str(log.facts["requests"]).startswith(why)
    assert (log.planned, [each.prompt for each in log.outputs()]) == (None, [None])


# --- what is refused ---


@pytest.mark.parametrize(
    ("rows", "place", "said"),
    [
        ([line("a", chat("x")), line("a", chat("y"))], ":2", "a custom_id that no other line has"),
        ([line("a", chat("x")), {"response": {}, "error": None}], ":2", "a text in 'custom_id'"),
        ([line("a", chat("x")), {"custom_id": "b"}], ":2", "a 'response' or an 'error'"),
        ([line("a", chat("x"), status=None)], ":1", "a number in 'status_code'"),
        ([line("a", chat("x"), status=True)], ":1", "a number in 'status_code'"),
        ([line("a", [1])], ":1", "an object in 'body'"),
        ([line("a", chat("x"), error="odd")], ":1", "an answer or an error, not both"),
        ([line("a", chat("x"), error=5)], ":1", "a text or an object in 'error'"),
        ([line("a", chat("x", model=5))], ":1", "a text in 'model'"),
        ([line("a", chat([{"type": "text", "text": 5}]))], ":1", "a text in 'text'"),
        ([line("a", chat([{"text": "x"}]))], ":1", "a text in 'type'"),
        ([line("a", chat(["x"]))], ":1", "objects in 'content'"),
        ([line("a", chat(5))], ":1", "a text in 'content'"),
        ([line("a", chat("x") | {"choices": {"message": {}}})], ":1", "a list in 'choices'"),
        ([line("a", chat("x") | {"choices": chat("x")["choices"] * 2})], ":1", "choices with an 'index' each"),
        ([line("a", {"data": []})], ":1", "the body of a chat completion"),
        ([line("a", RESPONSE | {"status": "queued"})], ":1", "the 'status' of a response that has ended"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_its_place(tmp_path, rows, place, said):
    error = refusal(tmp_path, *rows)
    assert error.where == f"{tmp_path / 'out.jsonl'}{place}"
    assert said in str(error)


@pytest.mark.slow
@pytest.mark.parametrize("body", [chat("x"), COMPLETION, RESPONSE], ids=["chat", "completion", "response"])
def test_a_wrong_type_anywhere_is_refused_or_read_soundly(tmp_path, body):
    path = tmp_path / "out.jsonl"
    changes = [*mutations(line("a", body), *KINDS)]
    for changed in changes:
        path.write_text(json.dumps(changed) + "\n")
        found = read_or_refused(BATCH.opened, path)
        if isinstance(found, InputError):
            assert found.where.startswith(str(path))
        else:
            assert all((each.raw_output is None) == (each.no_answer is not None) for each in found)


@pytest.mark.slow
def test_a_wrong_type_in_a_request_leaves_its_words_out(tmp_path):
    opened(tmp_path, line("a", chat("x")))
    for changed in mutations(copy.deepcopy(request("a", "?")), None, 7, [], "x", {}):
        written(tmp_path, "in.jsonl", [changed])
        (found,) = BATCH.opened(tmp_path / "out.jsonl").outputs()
        assert found.prompt in (None, "?", "x", "Be brief.")
        assert found.raw_output == "x"


def test_a_cut_log_ends_with_its_place(tmp_path):
    path = written(tmp_path, "out.jsonl", [line("a", chat("x")), line("b", chat("y"))])
    whole = path.read_bytes()
    first = whole.index(b"\n")
    for size in range(1, len(whole) - 1, 23):
        path.write_bytes(whole[:size])
        if size in (first, first + 1):
            continue
        with pytest.raises(InputError) as refused:
            list(BATCH.opened(path).outputs())
        assert refused.value.where.startswith(f"{path}:")


@pytest.mark.parametrize(
    "content",
    [
        '{"custom_id": "a", "response": ' + DEEP,
        '{"custom_id": "a", "response": {"status_code": 200, "body": {"choices": ' + "[" * 900 + "]" * 900 + "}}}",
        '{"custom_id": "a", "response": {"status_code": 400, "body": {"error": ' + "[" * 900 + "]" * 900 + "}}}",
    ],
    ids=["a million", "choices", "error"],
)
def test_what_is_nested_deeply_is_refused(tmp_path, content):
    path = tmp_path / "out.jsonl"
    path.write_text(content + "\n")
    assert BATCH.recognises(content[:HEAD].encode(), path)
    found = read_or_refused(BATCH.opened, path)
    if isinstance(found, InputError):
        assert found.where == f"{path}:1"
    else:
        assert [each.raw_output for each in found] == [None]


# --- how files are told ---


@pytest.mark.parametrize(
    ("head", "output", "requests"),
    [
        (json.dumps(line("a", chat("x" * 100_000)))[:HEAD], True, False),
        ("\ufeff" + json.dumps({"response": None, "error": {}, "custom_id": "a"}), True, False),
        (json.dumps(request("a", "?" * 100_000))[:HEAD], False, True),
        (json.dumps({"custom_id": "a", "result": {"type": "succeeded"}}), False, False),
        (json.dumps({"data": line("a", chat("x"))}), False, False),
        (json.dumps({"text": '"custom_id": 1, "response": 2'}), False, False),
        ("[" + json.dumps(line("a", None)), False, False),
        ("", False, False),
        (DEEP[:HEAD], False, False),
        ('{"' + '\\"' * 30_000, False, False),
        ('{"a' + "\\", False, False),
    ],
)  # fmt: skip
def test_files_are_told_by_their_keys(tmp_path, head, output, requests):
    told = head.encode()
    assert (BATCH.recognises(told, tmp_path), BATCH.belongs(told, tmp_path)) == (output, requests)


def test_keys_of_inner_objects_are_not_keys():
    assert first_keys(b'{"a": {"b": [{"c": 1}]}, "d": "\\\\", "e": "f:", "g":1} {"h": 1}') == {"a", "d", "e", "g"}


def test_real_logs(public_data):
    folder = public_data / "logs" / "batch"
    log = BATCH.opened(folder / "groq_batch_output.jsonl")
    found = {each.item_id: each for each in log.outputs()}
    assert list(found) == ["request-2", "request-3", "request-1"]
    assert (log.planned, log.printed, log.facts) == (3, (), {"requests": "groq_batch_input.jsonl"})
    assert found["request-1"].raw_output == "The answer to 2+2 is 4."
    assert found["request-1"].prompt == "What is 2+2?"
    assert {each.model for each in found.values()} == {"llama-3.1-8b-instant"}
    for name, is_log in (("groq_batch_output.jsonl", True), ("groq_batch_input.jsonl", False)):
        head = (folder / name).read_bytes()[:HEAD]
        assert (BATCH.recognises(head, folder / name), BATCH.belongs(head, folder / name)) == (is_log, not is_log)
