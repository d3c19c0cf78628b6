"""Work that the processor need not wait for: done by one thread, in its order, while the next is made ready."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec

P = ParamSpec("P")


class WorkBehind:
    """One piece of work at a time; whoever gives the next waits for the last, and is told if it failed."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._last: Future[None] | None = None

    def do(self, work: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
        """Have this done next."""
        self.wait()
        self._last = self._thread.submit(work, *args, **kwargs)

    def wait(self) -> None:
        """Until everything is done; what it raised is raised here."""
        last, self._last = self._last, None
        if last is not None:
            last.result()

    def end(self) -> None:
        """Let go of the thread; what is under way ends first, and what it raises is of no interest."""
        self._thread.shutdown(wait=True)
