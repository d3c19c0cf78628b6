"""One writer at a time: a lock on a study directory that ends with the process that holds it.

The lock is on the directory itself, not on a file in it: whoever removes a file, or gives the directory another
name, does not let a second writer in.
"""

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
from affidavit.archive.layout import LOCK
from affidavit.archive.regular_files import open_regular
from affidavit.errors import LockedError, StorageError

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

    The system lets go of the lock when its process ends, so that of a dead one is simply taken. A file in the
    directory says who the holder is; whoever holds the lock for a moment only, to look or to introduce itself, is
    waited for.
    """
    with storage_errors(str(directory)):
        held = _opened(directory)
    try:
        _take(held, directory)
        _refuse_another(held, directory)
        with storage_errors(str(directory / LOCK)):
            name = open_regular(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK)
        try:
            with storage_errors(str(directory / LOCK)):
                os.ftruncate(name, 0)
                os.pwrite(name, _introduction(), 0)
            yield
        finally:
            with suppress(OSError):
                os.ftruncate(name, 0)
            os.close(name)
    finally:
        os.close(held)


def _opened(directory: Path) -> int:
    return os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _take(held: int, directory: Path) -> None:
    deadline = monotonic() + _PATIENCE
    while not _taken(held, directory):
        held_by = _named(directory)
        if _may_live(held_by) or monotonic() > deadline:
            raise LockedError(
                str(directory),
                expected="a directory that no other run holds",
                found=f"one held by {held_by}",
                hint="Wait for it to end, or stop it; running again then goes on where it stood.",
            )
        sleep(0.005)


def _refuse_another(held: int, directory: Path) -> None:
    """Refuse the lock of a directory that lost its name meanwhile: the name may stand for another one now."""
    now = os.fstat(held)
    try:
        if os.path.samestat(now, directory.stat()):
            return
        found = "another one of this name"
    except FileNotFoundError:
        found = "none of this name"
    raise LockedError(
        str(directory),
        expected="the directory that was there a moment ago",
        found=f"{found}: the run that held it took it away, because nothing was answered",
        hint="Run it again.",
    )


def _taken(held: int, directory: Path) -> bool:
    try:
        with storage_errors(str(directory)):
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
        held = _opened(directory)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _named(directory)
    finally:
        os.close(held)
    return None


def names_a_holder(lock: Path) -> bool:
    """Whether a file is one that a holder left here: it names one, or is empty still."""
    return lock.is_file() and (not lock.stat().st_size or _named(lock.parent).pid is not None)


def _introduction() -> bytes:
    start = datetime.now(UTC).isoformat(timespec="seconds")
    return json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "start": start}).encode() + b"\n"


def _named(directory: Path) -> Holder:
    """Who the file says it is; nobody, if there is no such file or it says nothing."""
    with suppress(ValueError, AttributeError, OSError, StorageError):
        file = open_regular(directory / LOCK, os.O_RDONLY | os.O_NONBLOCK)
        try:
            said = json.loads(os.pread(file, 4096, 0))
        finally:
            os.close(file)
        pid, host, start = said.get("pid"), said.get("host"), said.get("start")
        return Holder(pid if type(pid) is int else None, str(host)[:200], str(start)[:40])
    return Holder()
