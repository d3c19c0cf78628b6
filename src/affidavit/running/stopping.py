"""How a run is stopped from outside: by a signal, where it has the main thread, or by whoever holds its switch."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from typing import Protocol


class Stoppable(Protocol):
    """A run that can be told to ask nothing more."""

    def stop(self, why: str) -> None:
        """Ask nothing more; open requests may end."""


class StopSwitch:
    """Stops a run from another thread; one that begins later on the same switch stops at once.

    >>> class Run:
    ...     stopped = ""
    ...     def stop(self, why): self.stopped = why
    >>> switch, first, second = StopSwitch(), Run(), Run()
    >>> switch.connect(first); switch.stop("enough"); switch.connect(second)
    >>> first.stopped, second.stopped
    ('enough', 'enough')
    """

    def __init__(self) -> None:
        self.why: str | None = None
        """Why it was stopped; None as long as it was not."""
        self._run: Stoppable | None = None

    def connect(self, run: Stoppable) -> None:
        """From now on, this is the run that is stopped."""
        # First the run, then the question: `stop` goes the other way, so that between them none is lost.
        self._run = run
        if self.why is not None:
            run.stop(self.why)

    def stop(self, why: str) -> None:
        """Let nothing more be asked; what has come back is kept and sealed."""
        self.why = self.why or why
        if self._run is not None:
            self._run.stop(self.why)


def stop_on_signals(run: Stoppable) -> Callable[[], int | None]:
    """Let the first signal stop the run gently and the second at once; gives a way to ask which came.

    Signals belong to the main thread: in any other, none is looked for.
    """
    came: list[int] = []

    def handle(number: int) -> None:
        if came:
            os._exit(128 + number)
        came.append(number)
        run.stop(f"stopped by {signal.Signals(number).name}")

    if threading.current_thread() is threading.main_thread():
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, handle, number)
    return lambda: came[0] if came else None
