"""A judging that is stopped before its first judgement: nothing is frozen and nothing is written."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from support.command import COMMAND, ENVIRONMENT, affidavit
from support.fault_server import LONGEST, Call, bad_request, hang
from support.judged_studies import agreeable, judge_again, open_study, serving
from support.kills import wait
from support.scripted_judge import judge_prompt, judged_in
from support.studies import every_byte, fine, run

SHORT = {"limits": {"run": 0.3}}
"""A time that is over before a judge says anything that never does."""


async def never_judges(call: Call) -> None:
    """A model that answers, and is silent when it is to judge."""
    await (agreeable if judge_prompt(call.asked.prompt) is None else hang)(call)


@pytest.fixture
def begun(tmp_path):
    """A study with all its outputs, and a server that judges nothing."""
    with serving(never_judges) as server:
        open_study(tmp_path, server.url, {})
        assert fine(run(tmp_path), 0)
        yield tmp_path, server


def unchanged(folder: Path, before: bytes) -> bool:
    """All is as it was, but for the name of whoever held the lock."""
    (folder / "out/lock").write_bytes(b"")
    return every_byte(folder / "out") == before


@pytest.mark.slow
def test_the_time_of_a_judging_ends_in_its_trial(begun):
    folder, server = begun
    before = every_byte(folder / "out")
    open_study(folder, server.url, SHORT)
    for options in ((), ("--json",)):
        done = judge_again(folder, *options)
        assert fine(done, 4)
        assert done.stderr.endswith(b"affidavit: the run's 0.3 s are over; nothing of the judging was written\n")
        assert unchanged(folder, before)
    assert json.loads(done.stdout) == {
        "directory": str(folder / "out"), "asked": 0, "stopped": "the run's 0.3 s are over", "pending": 24,
    }  # fmt: skip
    assert fine(affidavit("verify", folder / "out"), 0)


@pytest.mark.slow
def test_the_time_of_a_run_ends_in_the_trial_of_its_judging(begun):
    folder, server = begun
    before = every_byte(folder / "out")
    open_study(folder, server.url, SHORT, {"judging": {"judges": ["alpha"]}})
    done = run(folder)
    assert fine(done, 4)
    assert b"affidavit: the run's 0.3 s are over; nothing of the judging was written" in done.stderr
    assert b"24 without an answer; to continue: affidavit run" in done.stderr
    assert b"sealed in" in done.stdout
    assert b"nothing to do" not in done.stdout
    assert unchanged(folder, before)
    done = run(folder, "--json")
    assert fine(done, 4)
    told = json.loads(done.stdout)
    assert (told["stopped"], "judging" in told) == (
        "the run's 0.3 s are over; nothing of the judging was written", False
    )  # fmt: skip
    assert told["root_sha256"] == json.loads((folder / "out/seal.json").read_text())["root_sha256"]


@pytest.mark.slow
def test_a_judge_who_joins_and_is_never_heard_does_not_join(tmp_path):
    """The terms of the others stay as they are, and so does the seal."""

    async def beta_is_silent(call: Call) -> None:
        await (never_judges if call.asked.body["model"] == "beta" else agreeable)(call)

    with serving(beta_is_silent) as server:
        open_study(tmp_path, server.url, {})
        assert fine(run(tmp_path), 0)
        assert fine(judge_again(tmp_path), 0)
        before = every_byte(tmp_path / "out")
        open_study(tmp_path, server.url, SHORT)
        assert fine(judge_again(tmp_path, judges=("alpha", "beta")), 4)
        assert unchanged(tmp_path, before)
        server.script = dict.fromkeys(server.script, serving().script["q1"])
        open_study(tmp_path, server.url, {})
        assert fine(judge_again(tmp_path, judges=("alpha", "beta")), 0)
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_the_trial_of_a_judging(begun, number):
    folder, server = begun
    before, order = every_byte(folder / "out"), [COMMAND, "judge", "out", "--judge", "alpha"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(order, cwd=folder, env=ENVIRONMENT, **streams) as process:
        wait(process, lambda: list(judged_in(server.log)))
        process.send_signal(number)
        out, said = process.communicate(timeout=LONGEST)
    assert (process.returncode, out) == (128 + number, b"")
    assert said.decode().endswith(f"affidavit: stopped by {number.name}; nothing of the judging was written\n")
    assert unchanged(folder, before)


async def refuses_to_judge(call: Call) -> None:
    """A model that answers, and whose server takes no request to judge."""
    await (agreeable if judge_prompt(call.asked.prompt) is None else bad_request)(call)


@pytest.mark.slow
def test_a_judging_whose_first_requests_are_all_refused_can_be_mended(tmp_path):
    """Ruling J7: terms are frozen at the first judging, which nobody has begun here."""
    with serving(refuses_to_judge) as server:
        open_study(tmp_path, server.url, {})
        assert fine(run(tmp_path), 0)
        before = every_byte(tmp_path / "out")
        done = judge_again(tmp_path)
    assert fine(done, 2)
    assert b"none of it was kept; nothing of the judging was written" in done.stderr
    assert unchanged(tmp_path, before)
    with serving() as server:
        open_study(tmp_path, server.url, {})
        assert fine(judge_again(tmp_path, "--temperature", "0.5"), 0), "on other terms"
