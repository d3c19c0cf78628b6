"""Processes that are started to be killed."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from support.command import COMMAND, ENVIRONMENT
from support.fault_server import FaultServer


@contextmanager
def started(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The real command, on its way; it does not outlive the block."""
    order = [COMMAND, "run", folder / "study.toml", "--out", folder / "out"]
    process = subprocess.Popen(order, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(server: FaultServer, requests: int, process: subprocess.Popen[bytes]) -> None:
    """Until the server has seen so many requests, or the process has ended."""
    end = monotonic() + 30
    while len(server.log) < requests and process.poll() is None:
        assert monotonic() < end
        sleep(0.001)


def journal(directory: Path) -> list[bytes]:
    """The whole lines of the journal."""
    written = b"".join(path.read_bytes() for path in sorted(directory.glob("records/*.jsonl")))
    return written[: written.rfind(b"\n") + 1].splitlines(keepends=True)
