"""One writer at a time: who holds the lock, who is told so, and who is waited for."""

import fcntl
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from affidavit.archive import lock
from affidavit.archive.layout import LOCK
from affidavit.errors import LockedError, StorageError

PATIENCE = 120.0
"""Seconds that these tests give a holder to say its name, so that none of them hangs on who gets its turn when."""


CONTENDER = """
import json, os, sys, time
from pathlib import Path
from affidavit.archive import lock
from affidavit.errors import LockedError

directory, lock._PATIENCE = Path(sys.argv[1]), float(sys.argv[2])
print("ready", flush=True)
for line in sys.stdin:
    while time.monotonic() < float(line):
        pass
    try:
        with lock.locked(directory):
            print(json.dumps({"held": True, "pid": os.getpid()}), flush=True)
            sys.stdin.readline()
    except LockedError as error:
        print(json.dumps({"held": False, "code": error.exit_code, "found": error.found}), flush=True)
    print("free", flush=True)
"""


ASKING = """
import sys
from pathlib import Path
from affidavit.archive import lock

print("ready", flush=True)
while True:
    lock.holder(Path(sys.argv[1]))
"""


class Contender:
    """A process that tries for the lock when told."""

    def __init__(self, directory: Path) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, "-c", CONTENDER, directory, str(PATIENCE)], stdin=pipe, stdout=pipe
        )
        assert self.hear() == "ready"

    def hear(self) -> str:
        return self.process.stdout.readline().decode().strip()

    def tell(self, line: object) -> None:
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def outcome(self) -> dict[str, object]:
        return json.loads(self.hear())

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def contenders(tmp_path):
    both = [Contender(tmp_path) for _ in range(2)]
    yield both
    for each in both:
        each.end()


def holder_told(found: object) -> tuple[int, str, str] | None:
    match = re.fullmatch(r"one held by process (\d+) on (\S+), started (\d{4}-\d\d-\d\dT\S+)", str(found))
    return (int(match[1]), match[2], match[3]) if match else None


def race(contenders) -> tuple[dict[str, object], dict[str, object]]:
    """Both try at the same moment; the outcomes of the one that holds the lock and of the other."""
    start = time.monotonic() + 0.01
    for each in contenders:
        each.tell(start)
    outcomes = [(each.outcome(), each) for each in contenders]
    held = [(outcome, each) for outcome, each in outcomes if outcome["held"]]
    assert len(held) == 1
    held[0][1].tell("let go")
    for each in contenders:
        assert each.hear() == "free"
    return held[0][0], next(outcome for outcome, _ in outcomes if not outcome["held"])


@pytest.mark.slow
def test_of_two_writers_one_is_refused_and_told_who_holds_the_lock(tmp_path, contenders):
    """The last race's winner has left its name: it must not be taken for this one's."""
    astray = []
    for number in range(20):
        winner, loser = race(contenders)
        assert loser["code"] == 6
        told = holder_told(loser["found"])
        if told is None or told[:2] != (winner["pid"], socket.gethostname()):
            astray.append((number, winner["pid"], loser["found"]))
    assert lock.holder(tmp_path) is None
    assert astray == [], f"{len(astray)} of 20 losers were not told the winner: (race, winner, told)"


@pytest.mark.slow
def test_the_lock_of_a_killed_process_is_taken(tmp_path, contenders):
    first, second = contenders
    first.tell(0)
    assert first.outcome()["held"]
    with pytest.raises(LockedError) as caught, lock.locked(tmp_path):
        pass
    assert caught.value.exit_code == 6
    assert holder_told(caught.value.found)[0] == first.process.pid == lock.holder(tmp_path).pid
    first.process.send_signal(signal.SIGKILL)
    first.process.wait()
    assert lock.holder(tmp_path) is None
    second.tell(0)
    assert second.outcome()["held"]
    assert lock.holder(tmp_path).pid == second.process.pid


@pytest.mark.slow
def test_whoever_asks_for_the_holder_is_in_nobodys_way(tmp_path, monkeypatch):
    """To ask who holds a lock must not look like holding it."""
    monkeypatch.setattr(lock, "_PATIENCE", PATIENCE)
    with lock.locked(tmp_path):
        pass
    with subprocess.Popen([sys.executable, "-c", ASKING, tmp_path], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        refused = 0
        for _ in range(500):
            try:
                with lock.locked(tmp_path):
                    pass
            except LockedError:
                refused += 1
        process.kill()
    assert refused == 0


# --- a holder without a name ---


@contextmanager
def held(directory: Path) -> Iterator[int]:
    """The lock, held by somebody who has not said its name yet; gives the file in which it will."""
    held_directory = os.open(directory, os.O_RDONLY)
    file = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT)
    fcntl.flock(held_directory, fcntl.LOCK_EX)
    try:
        yield file
    finally:
        os.close(file)
        os.close(held_directory)


class Clock:
    """A clock that moves only while somebody sleeps; at each sleep something happens."""

    def __init__(self, monkeypatch, happens: Callable[[], object] = lambda: None) -> None:
        self.now = 0.0
        self._happens = happens
        monkeypatch.setattr(lock, "monotonic", lambda: self.now)
        monkeypatch.setattr(lock, "sleep", self.sleep)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self._happens()


def refused(directory: Path) -> str:
    with pytest.raises(LockedError) as caught, lock.locked(directory):
        pass
    assert caught.value.exit_code == 6
    return caught.value.found


def test_a_holder_that_is_about_to_say_its_name_is_waited_for(tmp_path, monkeypatch):
    me = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "start": "2026-01-05T10:00:00"}).encode()
    with held(tmp_path) as file:
        clock = Clock(monkeypatch, lambda: clock.now < 1.0 or os.pwrite(file, me, 0))
        assert refused(tmp_path) == (
            f"one held by process {os.getpid()} on {socket.gethostname()}, started 2026-01-05T10:00:00"
        )
    assert 1.0 <= clock.now < 1.1


@pytest.mark.slow
def test_a_holder_that_says_no_name_is_waited_for_only_so_long(tmp_path, monkeypatch):
    clock = Clock(monkeypatch)
    with held(tmp_path):
        assert refused(tmp_path) == "one held by process ? on ?, started ?"
    assert lock._PATIENCE < clock.now < lock._PATIENCE + 0.1


def test_a_lock_that_is_let_go_meanwhile_is_taken(tmp_path, monkeypatch):
    """Somebody only looked."""
    looking = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_EX)
    clock = Clock(monkeypatch, lambda: clock.now < 1.0 or fcntl.flock(looking, fcntl.LOCK_UN))
    with lock.locked(tmp_path):
        assert lock.holder(tmp_path).pid == os.getpid()
    os.close(looking)
    assert lock.holder(tmp_path) is None


@pytest.mark.slow
def test_the_name_of_one_who_is_dead_is_not_believed(tmp_path, monkeypatch):
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    dead = {"pid": gone.pid, "host": socket.gethostname(), "start": "2026-01-05T10:00:00"}
    clock = Clock(monkeypatch)
    with held(tmp_path) as file:
        os.pwrite(file, json.dumps(dead).encode(), 0)
        assert refused(tmp_path).startswith(f"one held by process {gone.pid} on ")
        assert clock.now > lock._PATIENCE, "its name may be that of the last holder: the new one is waited for"
        clock.now = 0.0
        os.pwrite(file, json.dumps({**dead, "host": "elsewhere"}).encode(), 0)
        assert refused(tmp_path).startswith(f"one held by process {gone.pid} on elsewhere")
        assert clock.now == 0.0, "nobody can tell from here whether it lives"


# --- the lock is on the directory itself ---


def test_removing_the_file_lets_nobody_in(tmp_path, monkeypatch):
    Clock(monkeypatch)
    with lock.locked(tmp_path):
        (tmp_path / LOCK).unlink()
        assert refused(tmp_path) == "one held by process ? on ?, started ?"


def test_another_name_of_the_directory_lets_nobody_in(tmp_path):
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    with lock.locked(before):
        before.rename(after)
        assert refused(after).startswith(f"one held by process {os.getpid()} on ")


@pytest.mark.parametrize("made_anew", [False, True])
def test_a_directory_that_is_taken_away_while_it_is_waited_for_is_not_held(tmp_path, monkeypatch, made_anew):
    """A run that ends before the first answer takes its directory away; the lock of that one keeps nobody out."""
    study = tmp_path / "study"
    study.mkdir()
    holding = os.open(study, os.O_RDONLY)
    fcntl.flock(holding, fcntl.LOCK_EX)

    def taken_away() -> None:
        if clock.now >= 1.0 and study.exists() and os.path.samestat(os.fstat(holding), study.stat()):
            study.rmdir()
            if made_anew:
                study.mkdir()
            fcntl.flock(holding, fcntl.LOCK_UN)

    clock = Clock(monkeypatch, taken_away)
    assert refused(study).startswith(f"{'another one' if made_anew else 'none'} of this name")
    assert study.exists() == made_anew
    assert not (study / LOCK).exists()
    os.close(holding)


def test_a_link_in_the_place_of_the_file_is_not_followed(tmp_path):
    other = tmp_path / "other"
    other.write_text("mine")
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / LOCK).symlink_to(other)
    with pytest.raises(StorageError, match="found a symbolic link"), lock.locked(tmp_path / "study"):
        pass
    assert other.read_text() == "mine"
