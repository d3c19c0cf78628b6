"""The trial of the models, before anything is frozen: who holds the directory, and what is left if it is cut short."""

import asyncio
import json
import signal
from itertools import pairwise
from threading import Event

import pytest

from support.command import affidavit
from support.fault_server import LONGEST, RIGHT, Call, FaultServer, every, hang, held, says
from support.kills import started, wait_for
from support.studies import every_byte, fine, run, write_study

pytestmark = pytest.mark.slow


def test_a_second_run_is_refused_while_the_first_tries_its_models(tmp_path):
    over = Event()
    with FaultServer({"q0": every(held(over))}) as server:
        write_study(tmp_path, server.url, count=4)
        with started(tmp_path) as first:
            wait_for(server, 1, first)
            assert not (tmp_path / "out/study.json").exists(), "nothing is frozen yet"
            second = run(tmp_path)
            assert fine(second, 6)
            assert f"one held by process {first.pid} on ".encode() in second.stderr
            over.set()
            said = first.communicate(timeout=LONGEST)[1]
        assert first.returncode == 0, said
        assert server.questions() == {f"q{n}": 1 for n in range(4)}
    assert fine(affidavit("verify", tmp_path / "out"), 0)


def test_a_kill_in_the_trial_is_in_nobodys_way(tmp_path):
    with FaultServer({"q0": every(hang)}) as server:
        write_study(tmp_path, server.url, count=4)
        with started(tmp_path) as process:
            wait_for(server, 1, process)
            process.kill()
            process.wait()
        assert not (tmp_path / "out/study.json").exists()
        assert fine(affidavit("verify", tmp_path / "out"), 2)
        server.script = {}
        write_study(tmp_path, server.url, count=3, changed={"study": {"seed": 8}})
        assert fine(run(tmp_path), 0), "another study as well"
        assert not list((tmp_path / "out").glob(".*")), "nothing that was drafted is left"
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("json_form", [False, True])
def test_a_signal_in_the_trial_leaves_no_directory(tmp_path, number, json_form):
    with FaultServer({"q0": every(hang)}) as server:
        write_study(tmp_path, server.url, count=4)
        with started(tmp_path, more=("--json",) if json_form else ()) as process:
            wait_for(server, 1, process)
            process.send_signal(number)
            out, said = process.communicate(timeout=LONGEST)
    assert process.returncode == 128 + number, said
    assert said.decode().endswith(f"affidavit: stopped by {number.name}; nothing was written\n")
    assert (json.loads(out)["pending"] if json_form else out) == (4 if json_form else b"")
    assert not (tmp_path / "out").exists()


def test_a_study_does_not_grow_while_another_run_holds_it(tmp_path):
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=4)
        assert fine(run(tmp_path), 0)
        server.script = {"q4": every(hang)}
        write_study(tmp_path, server.url, count=5)
        with started(tmp_path) as first:
            wait_for(server, 5, first)  # it tries its models for a growth
            before = every_byte(tmp_path / "out")
            write_study(tmp_path, server.url, count=6)
            assert fine(run(tmp_path), 6)
            assert every_byte(tmp_path / "out") == before
            first.kill()
            first.wait()
        server.script = {}
        assert fine(run(tmp_path), 0)
        assert server.questions() == {**{f"q{n}": 1 for n in range(6)}, "q4": 2}, "open at the kill"
    assert len(list((tmp_path / "out/revisions").glob("*.json"))) == 1
    assert fine(affidavit("verify", tmp_path / "out"), 0)


async def slow(call: Call) -> None:
    await asyncio.sleep(0.3)
    await says(RIGHT)(call)


def test_a_model_with_one_connection_is_tried_with_one_question_after_the_other(tmp_path):
    """In the order of the plan: with one slot, what an embedded model says may depend on what it was asked before."""
    conditions = {"plain": {}, "held": {"constrained": True}}
    model = {"connections": 1, "flavour": "llamacpp"}
    with FaultServer({"q0": every(slow)}) as server:
        write_study(tmp_path, server.url, count=2, changed={"conditions": conditions, "models": {"m": model}})
        assert fine(run(tmp_path), 0)
        assert ["grammar" in each.body for each in server.log[:2]] == [False, True]
        assert all(one.answered <= other.began for one, other in pairwise(server.log))
