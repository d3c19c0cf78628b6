"""Workers: what is asked is answered in its turn, bodies arrive whole, and nobody outlives the one who asks."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.archive.record_lines import decode
from affidavit.contracts.frozen_contract import named_contract
from affidavit.errors import UsageError
from affidavit.reading.import_job import begin
from affidavit.reading.import_messages import ImportSetup, Look, Made, Make, range_of
from affidavit.reading.output_columns import columns_of
from affidavit.reading.worker_channel import Channel, Message
from affidavit.reading.worker_main import main
from affidavit.reading.worker_process import MOST_WORKERS, WorkerProcess, usual_count, workers

ROWS = [{"id": "q", "answer": "A", "raw_output": text} for text in ("<answer>A</answer>", 'a "B"\n', "B")]


@given(st.lists(st.tuples(st.binary(max_size=40), st.lists(st.binary(max_size=9_000), max_size=3)), max_size=4))
def test_what_is_said_arrives_in_its_order(said):
    one, other = map(Channel, socket.socketpair())
    for content, body in said:
        one.send(content, body)
    found = [other.receive() for _ in said]
    assert [(content, bytes(body)) for content, body in found] == [
        (content, b"".join(body)) for content, body in said
    ]
    one.close()
    with pytest.raises(EOFError):
        other.receive()
    other.close()


def import_setup(path: Path) -> bytes:
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    read_by = named_contract("mcqa")
    columns = columns_of(ROWS[0], {}, where="f:1").names()
    return msgspec.msgpack.encode(
        ImportSetup("s", ROWS[0], columns, read_by.name, read_by.options, read_by.described())
    )


def looked_at(path: Path) -> bytes:
    return msgspec.msgpack.encode(Look(str(path), 0, path.stat().st_size))


def test_an_import_looks_first_and_makes_records_when_samples_are_known(tmp_path):
    path = tmp_path / "rows.jsonl"
    job = begin(Message(import_setup(path), memoryview(b"")))
    hashes = np.frombuffer(job(Message(looked_at(path), memoryview(b""))).body[0], np.uint64)
    assert len(hashes) == len(ROWS)
    assert len(set(hashes.tolist())) == 1, "all are of one item"
    samples = memoryview(np.arange(3).tobytes())
    asked = msgspec.msgpack.encode(Make(7, str(tmp_path / "part")))
    content, (lines, entries) = job(Message(asked, samples))
    made = msgspec.msgpack.decode(content, type=Made)
    placed = [decode(line + b"\n") for line in bytes(lines).splitlines()]
    assert [(each.seq, each.record.subject.sample) for each in placed] == [(8, 0), (9, 1), (10, 2)]
    assert (made.lines, made.samples, len(entries)) == (len(lines), 3, 3 * 48)
    assert sum(times for _, times in made.counts) == 3
    assert (made.part_sha256 is not None) == (tmp_path / "part").exists() is True


def test_what_is_not_usual_is_nothing(tmp_path):
    path = tmp_path / "rows.jsonl"
    job = begin(Message(import_setup(path), memoryview(b"")))
    path.write_text('{"id": 5}\n')
    assert job(Message(looked_at(path), memoryview(b""))) == (b"", [])
    path.write_bytes(b"\xef\xbb\xbfab")
    assert (range_of(str(path), 0, 9), range_of(str(path), 1, 3)) == (b"ab", b"\xbb\xbfa")


def test_a_worker_answers_until_nobody_asks(tmp_path):
    ours, theirs = socket.socketpair()
    worker = Thread(target=main, args=("import", theirs))
    worker.start()
    channel, path = Channel(ours), tmp_path / "rows.jsonl"
    channel.send(import_setup(path))
    for _ in range(2):
        channel.send(looked_at(path))
    assert [len(channel.receive().body) for _ in range(2)] == [8 * len(ROWS)] * 2
    channel.close()
    worker.join(60)
    assert not worker.is_alive()


@pytest.mark.slow
def test_one_that_ends_by_itself_is_told_of():
    with workers("import", 1) as (worker,):
        worker.ask(b"no setup at all")
        with pytest.raises(UsageError, match=r"expected its part of the rows, found an end with exit code 1"):
            worker.answer()
    assert 1 <= usual_count() <= MOST_WORKERS


PARENT = """
import os, signal, sys
from affidavit.reading.worker_process import WorkerProcess
print(WorkerProcess("import").pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
def test_a_worker_ends_when_whoever_started_it_is_killed():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with parent:
        pid = int(parent.stdout.readline())
        os.kill(parent.pid, signal.SIGKILL)
        deadline = time.monotonic() + 60
        while is_running(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
    assert not is_running(pid)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().rpartition(") ")[2].startswith("Z"))


def test_a_worker_can_be_ended_before_it_is_asked_anything():
    worker = WorkerProcess("import")
    worker.end()
    with pytest.raises(UsageError, match="an end by SIGKILL"):
        worker.ask(b"", [b"x"])
