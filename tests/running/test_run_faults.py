"""Whatever a server does, a run ends, counts everything once and scores only what was answered.

When exactly things end and how long is waited is tested with a clock that the test holds (`test_run_deadlines`): here
time is only bounded from below, and a deadline that a slow machine might miss stands only where nobody answers.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess
from typing import NamedTuple

import pytest

from affidavit.models.model import PERMANENT
from support.command import affidavit
from support.fault_server import (
    RIGHT,
    Fault,
    FaultServer,
    bad_request,
    body,
    chat,
    closed,
    content_filter,
    context_overflow,
    cut_at_the_limit,
    cut_chunked,
    cut_json,
    cut_length,
    drip,
    echo,
    error_object,
    every,
    first,
    gzip_bomb,
    hang,
    held_until,
    limited,
    limited_until,
    message,
    no_choices,
    not_http,
    not_json,
    not_utf8,
    null_content,
    packed,
    ran_out,
    refusal,
    reset,
    reset_in_body,
    says,
    status,
    thought_and_said,
    thought_only,
    too_long,
    tool_call,
    unauthorised,
    unavailable,
)
from support.scripted_judge import Always
from support.studies import accounted, fine, quiz, records, run, told, write_study

COUNT = 100
FIRST_OF = [f"q{n}" for n in (3, 29, 51, 97)]
EVERY_OF = [f"q{n}" for n in (13, 64)]
LIMITS = {"attempts": 2, "retry_after": 0.3}


class Case(NamedTuple):
    """A fault, and what ruling C1 says of it."""

    fault: Fault
    reason: str | None
    """None if an output arrived all the same."""
    compliant: bool = False
    raw: str = ""


CASES = {
    "429 for a second": Case(limited("0.2"), "rate_limited"),
    "429 until a date": Case(limited_until(1.0), "rate_limited"),
    "429 for thirty years": Case(limited("1000000000"), "rate_limited"),
    "429 for a negative time": Case(limited("-5"), "rate_limited"),
    "429 for a time that is no number": Case(limited("soon"), "rate_limited"),
    "408": Case(status(408), "timeout"),
    "500": Case(status(500), "server_error"),
    "502": Case(status(502), "server_error"),
    "503 in HTML": Case(unavailable, "server_error"),
    "504": Case(status(504), "timeout"),
    "reset": Case(reset, "connection"),
    "closed": Case(closed, "connection"),
    "reset in the body": Case(reset_in_body, "bad_body"),
    "cut, of the right length": Case(cut_json, "bad_body"),
    "cut, of the wrong length": Case(cut_length, "bad_body"),
    "cut chunks": Case(cut_chunked, "bad_body"),
    "no HTTP": Case(not_http, "bad_body"),
    "no JSON": Case(not_json, "bad_body"),
    "HTML with 200": Case(body(b"<html>busy</html>"), "bad_body"),
    "an empty body": Case(body(b""), "bad_body"),
    "a JSON list": Case(body(b"[1]"), "bad_body"),
    "a deep body": Case(body(b"[" * 200_000), "bad_body"),
    "no UTF-8": Case(not_utf8, "bad_body"),
    "an error object with 200": Case(error_object, "bad_body"),
    "garbage said to be gzip": Case(body(b"no", headers={"Content-Encoding": "gzip"}), "bad_body"),
    "cut gzip": Case(packed(chat({"content": RIGHT}), cut=8), "bad_body"),
    "an encoding that nobody asked for": Case(body(b"no", headers={"Content-Encoding": "br"}), "bad_body"),
    "no choices": Case(no_choices, "no_choices"),
    "choices of null": Case(body(b'{"choices": null}'), "no_choices"),
    "a choice without a message": Case(body(b'{"choices": [{}]}'), "no_choices"),
    "null content": Case(null_content, "no_content"),
    # what asking again cannot mend
    "400": Case(bad_request, "bad_request"),
    "404": Case(status(404), "bad_request"),
    "a redirection": Case(body(b"", code=302, headers={"Location": "http://127.0.0.1:9/"}), "bad_request"),
    "400 that repeats all headers": Case(echo(400), "bad_request"),
    "context overflow": Case(context_overflow, "context_overflow"),
    "413": Case(status(413), "context_overflow"),
    "filtered": Case(content_filter, "content_filter"),
    "a tool call only": Case(tool_call, "tool_call_only"),
    "10 MB": Case(too_long, "too_large"),
    "a gzip bomb": Case(gzip_bomb, "too_large"),
    # outputs, odd ones
    "out of tokens": Case(ran_out, None),
    "thought only": Case(thought_only, None),
    "empty text": Case(message(content=""), None),
    "a refusal": Case(refusal, None, raw="I would rather not."),
    "thought and said": Case(thought_and_said, None, compliant=True, raw=RIGHT),
    "cut at the token limit": Case(cut_at_the_limit, None, compliant=True, raw=RIGHT),
    "filtered with text": Case(says(RIGHT, "content_filter"), None, compliant=True, raw=RIGHT),
    "gzip that nobody asked for": Case(packed(chat({"content": RIGHT})), None, compliant=True, raw=RIGHT),
    "another model's name": Case(body(chat({"content": RIGHT}, model="x")), None, compliant=True, raw=RIGHT),
}
PASSING = {name: case for name, case in CASES.items() if case.reason and case.reason not in PERMANENT}
LASTING = {name: case for name, case in CASES.items() if case.reason in PERMANENT}
ARRIVING = {name: case for name, case in CASES.items() if case.reason is None}


def cases(chosen: Mapping[str, Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", chosen.values(), ids=chosen)


def study_of(tmp_path: Path, server: FaultServer, **limits: float) -> None:
    write_study(tmp_path, server.url, count=COUNT, changed={"limits": {**LIMITS, **limits}})


def counted(done: CompletedProcess[bytes], **expected: int) -> bool:
    """Everything is in exactly one place, and whatever is scored is right, as all answers of the server are."""
    figures = quiz(done)
    assert accounted(figures)
    assert figures["n"] == COUNT
    assert figures["accuracy_over_compliant"]["value"] == 1.0
    assert {name: figures[name] for name in expected} == expected
    return True


@pytest.mark.slow
@cases(PASSING)
def test_a_fault_that_passes_leaves_no_trace_in_the_score(tmp_path, case):
    with FaultServer(dict.fromkeys(FIRST_OF, first(case.fault))) as server:
        study_of(tmp_path, server)
        done = run(tmp_path, "--json")
        assert fine(done, 0)
        assert counted(done, compliant=COUNT)
        assert server.questions() == {f"q{n}": 1 + (f"q{n}" in FIRST_OF) for n in range(COUNT)}
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.slow
@cases(PASSING)
def test_a_fault_that_stays_fails_its_own_sample_and_no_other(tmp_path, case):
    with FaultServer(dict.fromkeys(EVERY_OF, every(case.fault))) as server:
        study_of(tmp_path, server)
        done = run(tmp_path, "--json")
        assert fine(done, 4)
        assert counted(done, compliant=COUNT - 2, failed=2)
        assert quiz(done)["failures"] == {case.reason: 2}
        assert all(server.questions()[name] == 2 for name in EVERY_OF)
        assert (
            f"2 failed in this run with {case.reason}: ".encode() in done.stderr
            or b"1 failed in this" in done.stderr
        )
        server.script = {}
        again = run(tmp_path, "--json")
        assert fine(again, 0)
        assert counted(again, compliant=COUNT)
        assert told(again)["asked"] == 2
        assert len(server.log) == COUNT + 2 + 2, "only what had failed is asked again"
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.slow
@cases(LASTING)
def test_a_fault_that_asking_cannot_mend_is_met_once(tmp_path, case):
    with FaultServer(dict.fromkeys(EVERY_OF, every(case.fault))) as server:
        study_of(tmp_path, server)
        done = run(tmp_path, "--json")
        assert fine(done, 4)
        assert counted(done, compliant=COUNT - 2, failed=2)
        assert quiz(done)["failures"] == {case.reason: 2}
        assert len(server.log) == COUNT
        server.script = {}
        again = run(tmp_path, "--json")
        assert fine(again, 4)
        assert again.stdout == done.stdout.replace(b'"asked": 100', b'"asked": 0')
        assert len(server.log) == COUNT, "nobody is asked again"
        mended = run(tmp_path, "--json", "--retry-failed")
        assert fine(mended, 0)
        assert counted(mended, compliant=COUNT)
        assert server.questions() == {f"q{n}": 1 + (f"q{n}" in EVERY_OF) for n in range(COUNT)}
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.slow
@cases(ARRIVING)
def test_what_arrives_is_an_output_however_odd(tmp_path, case):
    with FaultServer(dict.fromkeys(EVERY_OF, every(case.fault))) as server:
        study_of(tmp_path, server)
        done = run(tmp_path, "--json")
        assert fine(done, 0)
        assert counted(done, compliant=COUNT - 2 * (not case.compliant), non_compliant=2 * (not case.compliant))
        assert len(server.log) == COUNT
    kept = [each for each in records(tmp_path / "out") if each["item_id"] in EVERY_OF]
    assert [each["raw_output"] for each in kept] == [case.raw] * 2
    assert quiz(done)["truncated"] == 2 * (kept[0]["finish_reason"] == "length")  # ruling C6
    if case.fault in (thought_only, thought_and_said):  # ruling C7
        assert all(each["reasoning"] for each in kept)


@pytest.mark.slow
def test_a_run_through_many_faults_at_once(tmp_path):
    """A quick part of the table, for every commit."""
    once = {f"q{n}": first(case.fault) for n, case in enumerate(PASSING.values())}
    lasting = {f"q{50 + n}": every(case.fault) for n, case in enumerate(LASTING.values())}
    odd = {f"q{70 + n}": every(case.fault) for n, case in enumerate(ARRIVING.values())}
    with FaultServer(once | lasting | odd) as server:
        study_of(tmp_path, server)
        done = run(tmp_path, "--json")
        assert fine(done, 4)
    broken = sum(not case.compliant for case in ARRIVING.values())
    assert counted(done, compliant=COUNT - len(LASTING) - broken, non_compliant=broken, failed=len(LASTING))
    assert fine(affidavit("verify", tmp_path / "out"), 0)


# --- waiting at least as long as was asked ---


@pytest.mark.slow
def test_a_server_that_says_when_to_come_back_is_obeyed(tmp_path):
    script = {"q1": first(limited("1.5")), "q2": first(limited_until(3.0)), "q3": first(limited("0"))}
    with FaultServer(script) as server:
        study_of(tmp_path, server, retry_after=10.0)
        done = run(tmp_path, "--json")
    assert fine(done, 0)
    assert counted(done, compliant=COUNT)
    for name in ("q1", "q2", "q3"):
        refused, answered = (asked for asked in server.log if asked.question == name)
        assert answered.began >= refused.not_before


@pytest.mark.slow
@pytest.mark.parametrize("fault", [limited("1000000000"), limited_until(1e9), limited("2.5")])
def test_no_server_can_ask_for_more_than_the_longest_wait(tmp_path, fault):
    with FaultServer({"q1": first(fault)}) as server:
        study_of(tmp_path, server, retry_after=1.5)
        assert fine(run(tmp_path), 0)
    refused, answered = (asked for asked in server.log if asked.question == "q1")
    assert answered.began - refused.began >= 1.5


@pytest.mark.slow
@pytest.mark.parametrize("fault", [status(500), limited("0.2"), hang])
def test_a_sample_ends_with_its_time_however_many_attempts_it_has(tmp_path, fault):
    with FaultServer({"q0": every(fault), "q1": every(fault)}) as server:
        limits = {**LIMITS, "attempts": 1_000_000, "sample": 3.0}
        write_study(tmp_path, server.url, count=2, changed={"limits": limits})
        done = run(tmp_path, "--json")
    assert fine(done, 4)
    assert (quiz(done)["compliant"], quiz(done)["failed"], quiz(done)["pending"]) == (0, 2, 0)


@pytest.mark.slow
def test_a_run_ends_with_its_time(tmp_path):
    with FaultServer({f"q{n}": every(hang) for n in range(20)}) as server:
        write_study(tmp_path, server.url, changed={"limits": {**LIMITS, "run": 0.5}})
        done = run(tmp_path, "--json")
        assert fine(done, 4)
        assert (told(done)["asked"], told(done)["pending"], told(done)["directory"]) == (0, 20, None)
        assert b"the run's 0.5 s are over; nothing was written" in done.stderr
        assert not (tmp_path / "out").exists()
        del server.script["q0"]
        done = run(tmp_path, "--json")
        assert fine(done, 4)
        assert (quiz(done)["compliant"], quiz(done)["failed"], quiz(done)["pending"]) == (1, 0, 19)
        assert b"the run's 0.5 s are over" in done.stderr
        server.script = {}
        write_study(tmp_path, server.url, changed={"limits": LIMITS})
        assert fine(run(tmp_path), 0)
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.slow
def test_an_attempt_is_cut_at_its_deadline_and_a_later_run_is_more_patient(tmp_path):
    with FaultServer({"q0": every(hang), "q1": every(drip)}) as server:
        write_study(tmp_path, server.url, count=2, changed={"limits": {"attempt": 0.3, "attempts": 2}})
        done = run(tmp_path, "--json")
        assert fine(done, 4)
        assert quiz(done)["failures"] == {"timeout": 2}
        tried = [json.loads(line) for line in (tmp_path / "out/attempts.jsonl").read_text().splitlines()]
        assert (  # the first question once more: the model is tried with it
            sorted((each["attempt"], each["outcome"]) for each in tried)
            == [(1, "timeout")] * 3 + [(2, "timeout")] * 2
        )
        assert all(each["seconds"] >= 0.3 for each in tried)
        server.script = {}
        write_study(tmp_path, server.url, count=2)
        again = run(tmp_path, "--json")
        assert fine(again, 0)
        assert (told(again)["asked"], quiz(again)["compliant"]) == (2, 2)
    assert fine(affidavit("verify", tmp_path / "out"), 0)


# --- servers that go away, refuse or are slow ---


@pytest.mark.slow
def test_a_key_that_is_refused_stops_the_run_at_once(tmp_path):
    with FaultServer({f"q{n}": every(unauthorised) for n in range(20, COUNT)}) as server:
        study_of(tmp_path, server)
        done = run(tmp_path, "--json")
        assert fine(done, 4)
        assert counted(done, compliant=20)
        assert len(server.log) <= 20 + 8, "nobody but those who were asked already"
        assert re.search(rb"m refused our credentials \(HTTP 401: bad key\)", done.stderr)
        server.script = {}
        mended = run(tmp_path, "--json", "--retry-failed")
        assert fine(mended, 0)
        assert counted(mended, compliant=COUNT)


@pytest.mark.slow
def test_a_server_that_is_away_for_a_moment_is_waited_for(tmp_path):
    with FaultServer(latency=lambda: 0.005) as server:
        server.script = {name: first(server.gone(0.6)) for name in ("q20", "q70")}
        study_of(tmp_path, server, attempts=1000)
        done = run(tmp_path, "--json")
    assert fine(done, 0)
    assert counted(done, compliant=COUNT)


@pytest.mark.slow
def test_a_server_that_goes_for_good_fails_what_is_left(tmp_path):
    with FaultServer() as server:
        server.script = {"q50": first(server.gone(float("inf")))}
        study_of(tmp_path, server)
        done = run(tmp_path, "--json")
    assert fine(done, 4)
    assert counted(done)
    figures = quiz(done)
    assert figures["compliant"] >= 40
    assert figures["failures"] == {"connection": COUNT - figures["compliant"]}


@pytest.mark.slow
def test_one_of_two_servers_may_be_slow(tmp_path):
    def most_are_asked() -> bool:
        return len(quick.log) > 40 or len(slow.log) == 1  # whoever tries it waits for its answer

    with FaultServer() as quick, FaultServer(Always(held_until(most_are_asked))) as slow:
        write_study(tmp_path, [quick.url, slow.url], count=60, changed={"limits": LIMITS})
        assert fine(run(tmp_path), 0)
        assert len(quick.log) + len(slow.log) == 60
        assert 0 < len(slow.log) < len(quick.log)


@pytest.mark.slow
def test_a_server_that_pushes_back_is_asked_less_at_once(tmp_path):
    with FaultServer(latency=lambda: 0.02) as server:
        server.script = {f"q{n}": first(limited("0.3")) for n in range(40)}
        changed = {"limits": {**LIMITS, "attempts": 5}, "models": {"m": {"connections": 64}}}
        write_study(tmp_path, server.url, count=400, changed=changed)
        done = run(tmp_path, "--json")
        assert fine(done, 0)
        assert quiz(done)["compliant"] == 400
        assert len(server.log) == 440
