"""What a run sends, and what the record tells of it (ruling C9)."""

import json
from pathlib import Path

import pytest

from support.command import affidavit
from support.fault_server import FaultServer
from support.studies import fine, quiz, records, run, write_study


@pytest.mark.slow
def test_the_log_shows_the_request_of_every_model(tmp_path):
    """Ruling C9: what was sent, merged, without messages and seed; the tools apart, by model."""
    tools = [{"type": "function", "function": {"name": "f"}}]
    with FaultServer() as server:
        other = {
            "base_url": server.url,
            "body": {"top_k": 3},
            "tools": tools,
            "token_limit": "max_completion_tokens",
        }
        write_study(tmp_path, server.url, count=1, changed={"models": {"n": other}, "decoding": {"top_p": 0.5}})
        assert fine(run(tmp_path), 0)
        got = {asked.body["model"]: dict(asked.body) for asked in server.log}
    began = json.loads((tmp_path / "out" / "run_log.jsonl").read_text().splitlines()[0])
    for name, body in got.items():
        assert isinstance(body.pop("seed"), int)
        assert body.pop("messages")
        assert began["models"][name]["request"] == body
    assert began["tools"] == {"m": None, "n": tools}
    assert got["n"]["max_completion_tokens"] == 256
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.slow
def test_a_server_that_changes_within_a_study_is_told_of(tmp_path):
    """Ruling C9: at the end of the run, in its log, in the report and on the page; the records have every word."""

    def said(asked) -> dict:
        late = int(asked.question.removeprefix("q")) >= 7
        return {"model": "m-2" if late else "m-1", "system_fingerprint": "fp_1", "id": asked.question}

    with FaultServer(said=said) as server:
        write_study(tmp_path, server.url, count=10)
        done = run(tmp_path)
        assert fine(done, 0)
        note = 'm: its server names the model as "m-1" with 7 answers, "m-2" with 3: it changed within the study'
        assert f"note: {note}\n".encode() in done.stderr
        assert b"fingerprint" not in done.stderr
    kept = {
        each["item_id"]: (each["server_model"], each["system_fingerprint"]) for each in records(tmp_path / "out")
    }
    assert kept == {f"q{n}": ("m-1" if n < 7 else "m-2", "fp_1") for n in range(10)}
    assert json.loads((tmp_path / "out" / "run_log.jsonl").read_text().splitlines()[-1])["notes"] == [note]
    reported = affidavit("report", tmp_path / "out", "--format", "json")
    assert note in json.loads(reported.stdout)["notes"]
    assert fine(affidavit("report", tmp_path / "out"), 0)
    assert "it changed within the study" in (tmp_path / "out" / "report.html").read_text()
    assert fine(affidavit("verify", tmp_path / "out"), 0)
    ids = {each["key"]: each["id"] for each in attempts(tmp_path / "out")}
    assert ids == {each["key"]: each["item_id"] for each in records(tmp_path / "out")}


@pytest.mark.slow
def test_stray_responses_are_asked_for_again_and_told_of(tmp_path):
    """Rulings C1 and C9."""

    def said(asked) -> dict:
        return {"id": "q0" if asked.question == "q45" and asked.attempt == 1 else asked.question}

    with FaultServer(said=said) as server:
        write_study(tmp_path, server.url, count=50, changed={"models": {"m": {"connections": 1}}})
        done = run(tmp_path, "--json")
        assert fine(done, 0)
        assert quiz(done)["compliant"] == 50
        assert server.questions()["q45"] == 2
    assert b"note: m: 1 responses had the id of a response to another request" in done.stderr
    (stray,) = (each for each in attempts(tmp_path / "out") if each["outcome"] != "response")
    assert (stray["outcome"], stray["id"], stray["attempt"]) == ("stray_response", "q0", 1)


def attempts(directory: Path) -> list[dict]:
    return [json.loads(line) for line in (directory / "attempts.jsonl").read_text().splitlines()]
