"""A run whose clock the test holds: waiting takes no time, and deadlines are met to the last digit.

    with virtual_time(script) as course:
        ended = run_study(...)
    course.asked[0].began, course.asked[0].ended, course.seconds    # all of them since the run began

Nothing is sent anywhere: a scripted model answers, as the script says for each question (known by the name in
square brackets in its prompt) and attempt. When all tasks wait, the clock jumps to the moment when the first of them
goes on, so the outcome does not depend on how fast the machine is.
"""

import asyncio
import re
import selectors
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Self
from unittest.mock import patch

from affidavit.models.model import Answer, Completion, Failure, Request
from affidavit.running import study_run
from affidavit.study.files import StudyFiles

Script = Mapping[str, Callable[[int], Awaitable[Answer]]]
"""By the names of questions, what an attempt comes to; other questions are answered at once."""
BEGINNING = 1000.0


class _Jumping(selectors.DefaultSelector):
    """Waits for nothing: the clock is moved on instead."""

    now = BEGINNING

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "every task waits for something that will never come"
            self.now += max(0.0, timeout)
        return ready


class _Loop(asyncio.SelectorEventLoop):
    """An event loop with such a clock, and without threads, which the clock does not know of."""

    def __init__(self) -> None:
        self._clock = _Jumping()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now

    def run_in_executor(self, executor: Executor | None, call: Callable, *arguments: object) -> asyncio.Future:
        done = self.create_future()
        try:
            done.set_result(call(*arguments))
        except Exception as error:  # noqa: BLE001 - whoever waits for it is told
            done.set_exception(error)
        return done


@dataclass
class Asked:
    """One attempt, in seconds since the run began."""

    question: str
    attempt: int
    began: float
    ended: float | None = None


@dataclass
class Course:
    """What was asked while a run lasted, and how long it did, in its own seconds."""

    asked: list[Asked] = field(default_factory=list)
    seconds: float = 0.0


@dataclass
class _Scripted:
    """A model that does what the script says."""

    script: Script
    connections: int
    asked: list[Asked]
    name: str = "m"
    flavour: str = "openai"
    _attempts: Counter[str] = field(default_factory=Counter)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        return None

    def facts(self) -> dict[str, object]:
        return {}

    def notes(self) -> list[str]:
        return []

    async def reachable(self) -> Failure | None:
        return None

    async def complete(self, request: Request) -> Answer:
        name = re.search(r"\[(\w+)\]", request.messages[-1]["content"])[1]
        self._attempts[name] += 1
        asked = Asked(name, self._attempts[name], _now())
        self.asked.append(asked)
        try:
            if name in self.script:
                return await self.script[name](asked.attempt)
            return Completion("<answer>B</answer>", "stop")
        finally:
            asked.ended = _now()

    async def setup_fault(self, failure: Failure) -> None:
        return None


def in_virtual_time(main: Awaitable) -> object:
    """What it gives, run by a clock that jumps."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(main)


def _now() -> float:
    return asyncio.get_running_loop().time() - BEGINNING


@contextmanager
def virtual_time(script: Script, *, connections: int = 8) -> Iterator[Course]:
    """While the block lasts, a run has its own time and asks a scripted model."""
    course = Course()

    def run(main: Awaitable) -> object:
        with asyncio.Runner(loop_factory=_Loop) as runner:
            try:
                return runner.run(main)
            finally:
                course.seconds = runner.get_loop().time() - BEGINNING

    clocks = [
        patch.object(module, "monotonic", lambda: asyncio.get_running_loop().time())
        for name, module in sys.modules.items()
        if name.startswith("affidavit.running.") and hasattr(module, "monotonic")
    ]
    model = _Scripted(script, connections, course.asked)
    with (
        patch.object(StudyFiles, "model", lambda files, name: model),
        patch.object(study_run.asyncio, "run", run),
    ):
        for clock in clocks:
            clock.start()
        try:
            yield course
        finally:
            for clock in clocks:
                clock.stop()


# --- what a question may meet ---


def always(answer: Answer) -> Callable[[int], Awaitable[Answer]]:
    """The same at every attempt."""
    return first(answer, attempts=1_000_000)


def first(answer: Answer, *, attempts: int = 1) -> Callable[[int], Awaitable[Answer]]:
    """This at the first attempts, then the right answer."""

    async def meet(attempt: int) -> Answer:
        return answer if attempt <= attempts else Completion("<answer>B</answer>", "stop")

    return meet


async def hangs(attempt: int) -> Answer:
    """No answer, ever."""
    return await asyncio.get_running_loop().create_future()


def after(seconds: float) -> Callable[[int], Awaitable[Answer]]:
    """The right answer, so many seconds later."""

    async def meet(attempt: int) -> Answer:
        await asyncio.sleep(seconds)
        return Completion("<answer>B</answer>", "stop")

    return meet
