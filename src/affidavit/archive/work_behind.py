"""Work that the processor need not wait for: done by one thread, in its order, while the next is made ready."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from threading import Thread
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class WorkBehind:
    """One piece of work at a time; whoever gives more than may wait has to wait, and is told of what failed."""

    def __init__(self, *, waiting: int = 0) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._begun: deque[Future[None]] = deque()
        self._waiting = waiting
        self._failed = False

    def do(self, work: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
        """Have this done next; after a failure nothing is done any more."""
        while len(self._begun) > self._waiting:
            self._begun.popleft().result()
        self._begun.append(self._thread.submit(self._done, partial(work, *args, **kwargs)))

    def _done(self, work: Callable[[], None]) -> None:
        if not self._failed:
            self._failed = True
            work()
            self._failed = False

    def wait(self) -> None:
        """Until everything is done; what it raised is raised here."""
        while self._begun:
            self._begun.popleft().result()

    def end(self) -> None:
        """Let go of the thread; what is under way ends first, and what it raises is of no interest."""
        self._thread.shutdown(wait=True)


def done_behind(work: Iterable[Callable[[], T]], *, threads: int = 2) -> Generator[T]:
    """What pieces of work give, in their order; threads do some of them while the next is made ready.

    >>> list(done_behind(lambda n=n: n * n for n in range(4)))
    [0, 1, 4, 9]
    """
    with ThreadPoolExecutor(threads) as pool:
        begun: deque[Future[T]] = deque()
        for each in work:
            begun.append(pool.submit(each))
            if len(begun) > threads:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()


def begun(work: Callable[[], T]) -> Callable[[], T]:
    """Begin it in a thread of its own; what comes back waits for what it gives. The process may end without it.

    >>> answer = begun(lambda: 6 * 7)
    >>> answer()
    42
    """
    future: Future[T] = Future()

    def done() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again where the result is asked for
            future.set_exception(error)

    Thread(target=done, daemon=True).start()
    return future.result
