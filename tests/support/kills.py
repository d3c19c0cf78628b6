"""Processes that are started to be killed."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from support.command import COMMAND, ENVIRONMENT
from support.fault_server import LONGEST, FaultServer

PATIENTLY = """
import sys
from affidavit.archive import lock
from affidavit.running import runner
runner.DRAIN = lock._PATIENCE = float(sys.argv.pop(1))
from affidavit.commands.main import main
sys.argv[0] = "affidavit"
main()
"""
"""The command, with other times for what it waits for: how long these are must not decide a test."""


@contextmanager
def started(
    folder: Path, *, patience: float | None = None, more: Sequence[str] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """The real command, on its way; it does not outlive the block.

    `patience`: seconds that it waits for open requests after a signal, and for the name of who holds a lock, in place of
    its own. `more`: further options. It ends without its page, which takes longer to write than all the rest.
    """
    command = [COMMAND] if patience is None else [sys.executable, "-c", PATIENTLY, str(patience)]
    order = [*command, "run", folder / "study.toml", "--out", folder / "out", "--no-page", *more]
    process = subprocess.Popen(order, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait(process: subprocess.Popen[bytes], until: Callable[[], object]) -> None:
    """Until something is so; the process must not have ended before."""
    end = monotonic() + LONGEST
    while not until():
        assert process.poll() is None or until(), process.communicate()
        assert monotonic() < end
        sleep(0.002)


def wait_for(server: FaultServer, requests: int, process: subprocess.Popen[bytes]) -> None:
    """Until the server has seen so many requests."""
    wait(process, lambda: len(server.log) >= requests)


def send(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal, and wait until the process has been told: what comes later, comes after it."""
    process.send_signal(number)
    told_of_it(process, number)


def told_of_it(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Wait until a signal that was sent has reached the process."""
    wait(process, lambda: not _pending(process.pid) >> (number - 1) & 1)


def _pending(pid: int) -> int:
    """The signals that wait for a process, as bits; none wait for one that has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(line.split()[1], 16) for line in lines if line.startswith("ShdPnd:"))


def journal(directory: Path) -> list[bytes]:
    """The whole lines of the journal."""
    written = b"".join(path.read_bytes() for path in sorted(directory.glob("records/*.jsonl")))
    return written[: written.rfind(b"\n") + 1].splitlines(keepends=True)
