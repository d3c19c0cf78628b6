"""A run that is killed, interrupted or doubled loses nothing that was finished and pays for nothing twice.

Nothing here is a matter of time: a run is caught while the server holds an answer back, so it cannot have ended.
"""

import json
import random
import signal
import socket
from threading import Event
from time import monotonic, sleep

import pytest

from affidavit.running.runner import DRAIN
from support.command import affidavit
from support.fault_server import (
    LONGEST,
    FaultServer,
    Turnstile,
    every,
    hang,
    held,
    limited,
    model_list,
    says,
)
from support.kills import journal, send, started, wait, wait_for
from support.scripted_judge import Always
from support.studies import FIRST, accounted, fine, quiz, records, run, told, told_by_verify, write_study

pytestmark = pytest.mark.slow

SAMPLES, CONNECTIONS, KILLS = 2000, 24, 60
PATIENT = {"limits": {"attempt": 6000.0, "sample": 6000.0, "run": 6000.0}}


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311


async def varied(call) -> None:
    """Answers of which some are wrong and some not by the contract."""
    number = int(call.asked.question[1:])
    await says(f"<answer>{'ABCD'[number % 4]}</answer>" if number % 7 else f"It is {number}.")(call)


@pytest.mark.long
def test_kills_lose_nothing_and_resend_no_more_than_was_open(tmp_path):
    changed = {"models": {"m": {"connections": CONNECTIONS}}}
    with FaultServer(Always(varied)) as server:
        write_study(tmp_path / "whole", server.url, count=SAMPLES, changed=changed)
        whole = run(tmp_path / "whole", "--json")
        assert fine(whole, 0)
        assert len(server.log) == SAMPLES
    chance, folder = seeded(2), tmp_path / "killed"
    answers, lookups = Turnstile(varied), Turnstile(model_list)
    with FaultServer(Always(answers), models=lookups) as server:
        write_study(folder, server.url, count=SAMPLES, changed=changed)
        before, lost = [], []
        for kill in range(KILLS):
            asked, looked_up = len(server.log), server.looked_up
            some = chance.randrange(2 * (SAMPLES - len(before)) // (KILLS - kill + 5) + 1)
            answers.let_pass(some)
            lookups.let_pass(kill % 8 != 0)
            with started(folder) as process:
                # Some are killed before they ask anything, some as soon as they ask for more than is answered,
                # some when all that was answered is written down.
                wait(process, lambda looked_up=looked_up: server.looked_up > looked_up)
                if kill % 8:
                    wait_for(server, asked + some + 1, process)
                if kill % 8 > 4:
                    wait(process, lambda: len(journal(folder / "out")) >= len(before) + some)  # noqa: B023
                process.kill()
                process.wait()
            server.quiet()
            after = journal(folder / "out")
            assert after[: len(before)] == before, f"after kill {kill}"
            lost.append(len(server.log) - len(after) - sum(lost))
            before = after
        answers.open()
        lookups.open()
        done = run(folder, "--json")
        assert fine(done, 0)
        assert journal(folder / "out")[: len(before)] == before
        resent = len(server.log) - SAMPLES
        assert resent == sum(lost)
        assert 0 < max(lost) <= CONNECTIONS
    assert told(done)["root_sha256"] == told(whole)["root_sha256"] == told_by_verify(folder / "out")["root_sha256"]
    assert quiz(done) == quiz(whole)
    keys = [each["key"] for each in records(folder / "out")]
    assert len(set(keys)) == len(keys) == SAMPLES
    print(f"{KILLS} kills, {resent} of {SAMPLES} questions asked again, {resent / KILLS:.1f} per kill")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_lets_open_requests_end_and_seals(tmp_path, number, code):
    chance, answers = seeded(code), Turnstile(varied)
    with FaultServer(Always(answers)) as server:
        write_study(tmp_path, server.url, count=600, changed={"models": {"m": {"connections": CONNECTIONS}}})
        for _ in range(12):
            asked, some = len(server.log), chance.randrange(1, 20)
            answers.let_pass(some)
            with started(tmp_path, patience=LONGEST) as process:
                wait_for(server, asked + some + 1, process)
                send(process, number)
                answers.open()
                said = process.communicate(timeout=LONGEST)[1]
            assert process.returncode == code, said
            assert b"Traceback" not in said
            assert f"stopped by {number.name}".encode() in said
            found = told_by_verify(tmp_path / "out")
            assert found["sealed"]
            assert asked < found["responses"] == len(server.log) < 600, "what was paid for is kept"
        done = run(tmp_path, "--json")
        assert fine(done, 0)
        assert accounted(quiz(done))
        assert server.questions() == {f"q{n}": 1 for n in range(600)}, "nothing is asked twice"
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_five_seconds_for_a_server_that_hangs(tmp_path, number):
    """Not less; that it does not wait longer is tested with a clock that the test holds."""
    with FaultServer({f"q{n}": every(hang) for n in range(10, 40)}) as server:
        write_study(tmp_path, server.url, count=40, changed=PATIENT)
        with started(tmp_path) as process:
            wait_for(server, 18, process)
            began = monotonic()
            process.send_signal(number)
            said = process.communicate(timeout=LONGEST)[1]
        assert process.returncode == 128 + number, said
        assert monotonic() - began >= DRAIN
        assert f"stopped by {number.name}".encode() in said
        found = told_by_verify(tmp_path / "out")
        assert (found["sealed"], found["responses"]) == (True, 10)
        server.script = {}
        assert fine(run(tmp_path), 0)


@pytest.mark.parametrize(("one", "two"), [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGINT)])
def test_a_second_signal_stops_at_once_and_costs_no_more_than_a_kill(tmp_path, one, two):
    with FaultServer({f"q{n}": every(hang) for n in range(10, 40)}) as server:
        write_study(tmp_path, server.url, count=40, changed=PATIENT)
        with started(tmp_path, patience=LONGEST) as process:
            wait_for(server, 18, process)
            send(process, one)
            process.send_signal(two)
            said = process.communicate(timeout=LONGEST)[1]
        assert process.returncode == 128 + two
        assert said == b"", "whoever waits for open requests says at last why it stopped"
        assert not (tmp_path / "out/seal.json").exists()
        assert fine(affidavit("verify", tmp_path / "out"), 7)
        server.script = {}
        assert fine(run(tmp_path), 0)
        assert len(server.log) <= 40 + 8


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_a_server_is_looked_up(tmp_path, number):
    with FaultServer(models=hang) as server:
        write_study(tmp_path, server.url)
        with started(tmp_path) as process:
            wait(process, lambda: server.looked_up)
            process.send_signal(number)
            said = process.communicate(timeout=LONGEST)[1]
        assert process.returncode == 128 + number, said
        assert b"Traceback" not in said
        assert not server.log


def test_a_signal_while_a_sample_waits_for_its_next_attempt(tmp_path):
    with FaultServer({"q0": every(limited("5000"))}) as server:
        changed = {"limits": {"retry_after": 6000.0, "sample": 60_000.0}}
        write_study(tmp_path, server.url, count=3, changed=changed)
        with started(tmp_path) as process:
            wait_for(server, 3, process)
            process.send_signal(signal.SIGTERM)
            said = process.communicate(timeout=LONGEST)[1]
        assert process.returncode == 143, said
        assert told_by_verify(tmp_path / "out")["records"] == 2, "what was not settled is pending, not failed"


@pytest.mark.long
def test_of_two_runs_on_one_directory_one_runs(tmp_path):
    for race in range(20):
        folder, over = tmp_path / str(race), Event()
        with FaultServer({f"q{n}": every(held(over)) for n in range(8)}) as server:
            write_study(folder, server.url, count=8)
            with started(folder, patience=LONGEST) as one:
                if race % 4 == 0:  # the first one is well on its way
                    wait_for(server, 1, one)
                elif race % 4 == 1:  # or has just come
                    wait(one, (folder / "out").exists)
                with started(folder, patience=LONGEST) as two:
                    ended(one, two)
                    over.set()
                    said = {each.pid: each.communicate(timeout=LONGEST)[1].decode() for each in (one, two)}
                    codes = {process.pid: process.returncode for process in (one, two)}
            assert sorted(codes.values()) == [0, 6], said
            winner, loser = sorted(codes, key=codes.get)
            assert f"process {winner} on {socket.gethostname()}, started 20" in said[loser], said[loser]
            assert server.questions() == {f"q{n}": 1 for n in range(8)}
            assert len(journal(folder / "out")) == 8


def ended(*processes) -> None:
    """Wait until one of them has ended."""
    end = monotonic() + LONGEST
    while all(process.poll() is None for process in processes):
        assert monotonic() < end
        sleep(0.01)


def test_the_lock_of_a_killed_run_is_in_nobodys_way(tmp_path):
    with FaultServer({f"q{n}": every(hang) for n in range(1, 8)}) as server:
        write_study(tmp_path, server.url, count=8, changed=PATIENT)
        with started(tmp_path) as process:
            wait(process, (tmp_path / "out/study.json").exists)  # the first answer has frozen the plan
            held = told_by_verify(tmp_path / "out")
            assert held["holder"]["pid"] == process.pid
            process.kill()
            process.wait()
        server.script = {}
        assert json.loads((tmp_path / "out/lock").read_text())["pid"] == process.pid
        assert told_by_verify(tmp_path / "out")["holder"] is None
        assert fine(run(tmp_path), 0)


def test_a_torn_tail_is_cut_and_kept_aside(tmp_path):
    with FaultServer({f"q{n}": every(hang) for n in range(100, 200)}) as server:
        write_study(tmp_path, server.url, count=200, changed=PATIENT)
        with started(tmp_path) as process:
            wait_for(server, 108, process)
            process.kill()
            process.wait()
        server.script = {}
        whole = journal(tmp_path / "out")
        assert len(whole) == 100, "whoever asks again has written down what it was told"
        with (tmp_path / "out" / FIRST).open("ab") as stream:
            stream.write(whole[0][:-10])
        found = affidavit("verify", tmp_path / "out")
        assert fine(found, 7)
        assert b"torn tail" in found.stdout
        assert fine(run(tmp_path), 0)
        assert journal(tmp_path / "out")[: len(whole)] == whole
        assert [path.read_bytes() for path in (tmp_path / "out/records").glob("*.torn-*")] == [whole[0][:-10]]
    assert fine(affidavit("verify", tmp_path / "out"), 0)
