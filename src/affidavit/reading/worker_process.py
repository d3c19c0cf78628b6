"""Processes of ours that do part of the work, each on a core of its own: what is asked of one is answered in turn.

A worker begins to load what its job needs as soon as it is started. It ends when the channel to it is closed,
which also happens if this process is killed. One that ends by itself is told of where its answer is waited for.
"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from affidavit.errors import UsageError
from affidavit.reading.worker_channel import Bytes, Channel, Message

MOST_WORKERS = 8
_ENVIRONMENT = {
    "POLARS_MAX_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # Memory that is let go of is taken again a moment later: given back, every page of it costs a fault.
    "_RJEM_MALLOC_CONF": "dirty_decay_ms:-1,muzzy_decay_ms:-1",
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
}
"""Of a worker: there are as many of them as cores."""
_PATIENCE = 5.0
"""Seconds that a worker may take to end."""


class WorkerProcess:
    """A process that does one job, piece by piece."""

    def __init__(self, job: str) -> None:
        """`job` is one of those that `worker_main` knows."""
        ours, theirs = socket.socketpair()
        with theirs:
            # Without the working directory on its path: a file there must not pass for a module of ours.
            self._process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-P", "-m", "affidavit.reading.worker_main", job],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env={**os.environ, **_ENVIRONMENT},
                # Ctrl-C is for the command, which closes the channel; in a worker Polars would raise it.
                process_group=0,
            )
        self._channel = Channel(ours)

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def fileno(self) -> int:
        """What can be read from when there is an answer."""
        return self._channel.fileno()

    def ask(self, content: bytes, body: Sequence[Bytes] = ()) -> None:
        """Have something done, after all that was asked before; what comes first is what the job is about."""
        try:
            self._channel.send(content, body)
        except OSError as error:
            raise self._ended() from error

    def answer(self) -> Message:
        """What became of the first piece whose answer was not taken yet."""
        try:
            return self._channel.receive()
        except (OSError, EOFError) as error:
            raise self._ended() from error

    def _ended(self) -> UsageError:
        code = self._process.wait(_PATIENCE)
        found = f"an end by {signal.Signals(-code).name}" if code < 0 else f"an end with exit code {code}"
        hint = "Nothing was kept. It may have been short of memory; what it said itself stands above."
        return UsageError(f"worker process {self.pid}", expected="its part of the rows", found=found, hint=hint)

    def end(self) -> None:
        """Have it end now, whatever it is at."""
        self._channel.close()
        self._process.kill()
        self._process.wait()


@contextmanager
def workers(job: str, count: int) -> Iterator[list[WorkerProcess]]:
    """So many workers, until the block ends."""
    begun: list[WorkerProcess] = []
    try:
        for _ in range(count):
            begun.append(WorkerProcess(job))
        yield begun
    finally:
        for worker in begun:
            worker.end()


def usual_count() -> int:
    """How many workers there are unless somebody says otherwise: one for each core that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    cores = os.cpu_count() or 1 if allowed is None else len(allowed(0))
    return min(cores, MOST_WORKERS)
