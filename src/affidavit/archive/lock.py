"""One writer at a time: a lock on a study directory that ends with the process that holds it."""

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep

from affidavit.archive.disk import storage_errors
from affidavit.errors import LockedError, StorageError

NAME = "lock"
_PATIENCE = 10.0
"""Seconds that a holder may take to say its name: on a busy machine its turn may come late."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock, as far as it has said."""

    pid: int | None = None
    host: str | None = None
    start: str | None = None

    def __str__(self) -> str:
        return f"process {self.pid or '?'} on {self.host or '?'}, started {self.start or '?'}"


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the directory's lock while the block runs; refused at once if another process does.

    The system lets go of the lock when its process ends, so that of a dead one is simply taken. The file says who
    the holder is; whoever holds it for a moment only, to look or to introduce itself, is waited for.
    """
    with storage_errors(str(directory)):
        file = os.open(directory / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    try:
        _take(file, directory)
        with storage_errors(str(directory)):
            os.ftruncate(file, 0)
            os.pwrite(file, _introduction(), 0)
        try:
            yield
        finally:
            with suppress(OSError):
                os.ftruncate(file, 0)
    finally:
        os.close(file)


def _take(file: int, directory: Path) -> None:
    deadline = monotonic() + _PATIENCE
    while not _taken(file, directory):
        held_by = _holder(file)
        if _may_live(held_by) or monotonic() > deadline:
            raise LockedError(
                str(directory),
                expected="a directory that no other run holds",
                found=f"one held by {held_by}",
                hint="Wait for it to end, or stop it; running again then goes on where it stood.",
            )
        sleep(0.005)


def _taken(file: int, directory: Path) -> bool:
    try:
        with storage_errors(str(directory)):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except StorageError as error:
        if isinstance(error.__cause__, BlockingIOError):
            return False
        raise
    return True


def _may_live(held_by: Holder) -> bool:
    """Whether the name in the file can be that of the holder."""
    if held_by.pid is None:
        return False
    if held_by.host != socket.gethostname():
        return True
    try:
        os.kill(held_by.pid, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True


def holder(directory: Path) -> Holder | None:
    """Who holds the lock now; None if nobody does."""
    try:
        file = os.open(directory / NAME, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _holder(file)
    finally:
        os.close(file)
    return None


def _introduction() -> bytes:
    start = datetime.now(UTC).isoformat(timespec="seconds")
    return json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "start": start}).encode() + b"\n"


def _holder(file: int) -> Holder:
    with suppress(ValueError, AttributeError):
        told_us = json.loads(os.pread(file, 4096, 0))
        pid, host, start = told_us.get("pid"), told_us.get("host"), told_us.get("start")
        return Holder(pid if type(pid) is int else None, str(host)[:200], str(start)[:40])
    return Holder()
