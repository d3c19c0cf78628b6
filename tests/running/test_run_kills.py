"""A run that is killed, interrupted or doubled loses nothing that was finished and pays for nothing twice."""

import json
import random
import signal
import socket
from pathlib import Path
from threading import Event
from time import monotonic, sleep

import pytest

from support.command import affidavit
from support.fault_server import FaultServer, every, hang, held, limited
from support.kills import journal, started, wait_for
from support.studies import FIRST, accounted, fine, quiz, records, run, told, told_by_verify, write_study

pytestmark = pytest.mark.slow

SAMPLES, CONNECTIONS, KILLS = 2000, 24, 60
MARGIN = 1.5
"""Seconds of grace for a slow machine."""


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311


def varied(server_seed: int) -> FaultServer:
    """A server that answers after 10 to 30 ms, some questions wrongly and some not by the contract."""
    chance = seeded(server_seed)

    def answer(asked) -> str:
        number = int(asked.question[1:])
        return f"<answer>{'ABCD'[number % 4]}</answer>" if number % 7 else f"It is {number}."

    return FaultServer(answer=answer, latency=lambda: chance.uniform(0.010, 0.030))


def test_kills_lose_nothing_and_resend_no_more_than_was_open(tmp_path):
    changed = {"models": {"m": {"connections": CONNECTIONS}}}
    with varied(1) as server:
        write_study(tmp_path / "whole", server.url, count=SAMPLES, changed=changed)
        whole = run(tmp_path / "whole", "--json")
        assert fine(whole, 0)
        assert len(server.log) == SAMPLES
    chance, folder = seeded(2), tmp_path / "killed"
    with varied(3) as server:
        write_study(folder, server.url, count=SAMPLES, changed=changed)
        kills, before, lost = 0, [], []
        while kills < KILLS:
            with started(folder) as process:
                # Some are killed before they ask anything, some right after an answer, most in between.
                share = 2 * (SAMPLES - len(before)) // (KILLS - kills + 5)
                wait_for(server, len(server.log) + chance.randrange(share + 1), process)
                sleep(chance.uniform(0, 0.02))
                if process.poll() is not None:
                    break
                process.kill()
                process.wait()
            kills += 1
            sleep(0.02)  # what was sent before the kill has arrived now
            after = journal(folder / "out")
            assert after[: len(before)] == before, f"after kill {kills}"
            lost.append(len(server.log) - len(after) - sum(lost))
            before = after
        assert kills == KILLS
        done = run(folder, "--json")
        assert fine(done, 0)
        assert journal(folder / "out")[: len(before)] == before
        resent = len(server.log) - SAMPLES
        assert resent == sum(lost)
        assert max(lost) <= CONNECTIONS
    assert told(done)["root_sha256"] == told(whole)["root_sha256"] == told_by_verify(folder / "out")["root_sha256"]
    assert quiz(done) == quiz(whole)
    keys = [each["key"] for each in records(folder / "out")]
    assert len(set(keys)) == len(keys) == SAMPLES
    print(f"{kills} kills, {resent} of {SAMPLES} questions asked again, {resent / kills:.1f} per kill")


def stopped(folder: Path, server: FaultServer, number: signal.Signals, after: int) -> tuple[int, float, bytes]:
    """Exit code, seconds and standard error of a run that got a signal after so many requests."""
    with started(folder) as process:
        wait_for(server, len(server.log) + after, process)
        began = monotonic()
        process.send_signal(number)
        said = process.communicate(timeout=30)[1]
        return process.returncode, monotonic() - began, said


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_lets_open_requests_end_and_seals(tmp_path, number, code):
    chance = seeded(code)
    with varied(4) as server:
        write_study(tmp_path, server.url, count=600, changed={"models": {"m": {"connections": CONNECTIONS}}})
        for _ in range(12):
            asked = len(server.log)
            exit_code, seconds, said = stopped(tmp_path, server, number, chance.randrange(1, 60))
            assert exit_code == code, said
            assert b"Traceback" not in said
            assert f"stopped by {number.name}".encode() in said
            assert seconds < 5.0 + MARGIN
            assert len(server.log) > asked
            found = told_by_verify(tmp_path / "out")
            assert found["sealed"]
            assert found["responses"] == len(server.log), "what was paid for is kept"
        done = run(tmp_path, "--json")
        assert fine(done, 0)
        assert accounted(quiz(done))
        assert server.questions() == {f"q{n}": 1 for n in range(600)}, "nothing is asked twice"
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_five_seconds_for_a_server_that_hangs(tmp_path, number):
    with FaultServer({f"q{n}": every(hang) for n in range(10, 40)}) as server:
        changed = {"limits": {"attempt": 60.0, "sample": 60.0, "run": 600.0}}
        write_study(tmp_path, server.url, count=40, changed=changed)
        exit_code, seconds, said = stopped(tmp_path, server, number, 18)
        assert exit_code == 128 + number, said
        assert 4.0 < seconds < 5.0 + MARGIN
        found = told_by_verify(tmp_path / "out")
        assert (found["sealed"], found["responses"]) == (True, 10)
        server.script = {}
        assert fine(run(tmp_path), 0)


@pytest.mark.parametrize(("one", "two"), [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGINT)])
def test_a_second_signal_stops_at_once_and_costs_no_more_than_a_kill(tmp_path, one, two):
    with FaultServer({f"q{n}": every(hang) for n in range(10, 40)}) as server:
        changed = {"limits": {"attempt": 60.0, "sample": 60.0, "run": 600.0}}
        write_study(tmp_path, server.url, count=40, changed=changed)
        with started(tmp_path) as process:
            wait_for(server, 18, process)
            process.send_signal(one)
            sleep(0.5)
            assert process.poll() is None
            began = monotonic()
            process.send_signal(two)
            process.communicate(timeout=30)
            assert monotonic() - began < 0.5
            assert process.returncode == 128 + two
        assert fine(affidavit("verify", tmp_path / "out"), 0)
        server.script = {}
        assert fine(run(tmp_path), 0)
        assert len(server.log) <= 40 + 8


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_a_server_is_looked_up(tmp_path, number):
    with FaultServer(models=hang) as server:
        write_study(tmp_path, server.url, changed={"limits": {"connect": 20.0}})
        with started(tmp_path) as process:
            while not server.looked_up and process.poll() is None:
                sleep(0.01)
            began = monotonic()
            process.send_signal(number)
            said = process.communicate(timeout=40)[1]
            assert monotonic() - began < 5.0 + MARGIN
            assert process.returncode == 128 + number, said
            assert b"Traceback" not in said
        assert not server.log


def test_a_signal_while_a_sample_waits_for_its_next_attempt(tmp_path):
    with FaultServer({"q0": every(limited("50"))}) as server:
        write_study(tmp_path, server.url, count=3, changed={"limits": {"retry_after": 60.0, "sample": 600.0}})
        exit_code, seconds, said = stopped(tmp_path, server, signal.SIGTERM, 3)
        assert exit_code == 143, said
        assert seconds < 1.0 + MARGIN
        assert told_by_verify(tmp_path / "out")["records"] == 2, "what was not settled is pending, not failed"


def test_of_two_runs_on_one_directory_one_runs(tmp_path):
    chance = seeded(5)
    for race in range(20):
        folder, over = tmp_path / str(race), Event()
        with FaultServer({f"q{n}": every(held(over)) for n in range(8)}) as server:
            write_study(folder, server.url, count=8, changed={"limits": {"attempt": 30.0}})
            with started(folder) as one:
                if race % 4 == 0:  # the first one is well on its way
                    wait_for(server, 1, one)
                elif race % 4 == 1:
                    sleep(chance.uniform(0, 0.4))
                with started(folder) as two:
                    end = monotonic() + 20
                    while one.poll() is None and two.poll() is None and monotonic() < end:
                        sleep(0.01)
                    over.set()
                    said = {process.pid: process.communicate(timeout=30)[1].decode() for process in (one, two)}
                    codes = {process.pid: process.returncode for process in (one, two)}
            assert sorted(codes.values()) == [0, 6], said
            winner, loser = sorted(codes, key=codes.get)
            assert f"process {winner} on {socket.gethostname()}, started 20" in said[loser], said[loser]
            assert server.questions() == {f"q{n}": 1 for n in range(8)}
            assert len(journal(folder / "out")) == 8


def test_the_lock_of_a_killed_run_is_in_nobodys_way(tmp_path):
    with FaultServer(latency=lambda: 0.2) as server:
        write_study(tmp_path, server.url, count=8)
        with started(tmp_path) as process:
            wait_for(server, 1, process)
            held = told_by_verify(tmp_path / "out")
            assert held["holder"]["pid"] == process.pid
            process.kill()
            process.wait()
        assert json.loads((tmp_path / "out/lock").read_text())["pid"] == process.pid
        assert told_by_verify(tmp_path / "out")["holder"] is None
        assert fine(run(tmp_path), 0)


def test_a_torn_tail_is_cut_and_kept_aside(tmp_path):
    with FaultServer(latency=lambda: 0.01) as server:
        write_study(tmp_path, server.url, count=200)
        with started(tmp_path) as process:
            wait_for(server, 100, process)
            process.kill()
            process.wait()
        whole = journal(tmp_path / "out")
        with (tmp_path / "out" / FIRST).open("ab") as stream:
            stream.write(whole[0][:-10])
        found = affidavit("verify", tmp_path / "out")
        assert fine(found, 0)
        assert b"torn tail" in found.stdout
        assert fine(run(tmp_path), 0)
        assert journal(tmp_path / "out")[: len(whole)] == whole
        assert [path.read_bytes() for path in (tmp_path / "out/records").glob("*.torn-*")] == [whole[0][:-10]]
    assert fine(affidavit("verify", tmp_path / "out"), 0)
