"""Asks every question of a plan that has no answer yet, and keeps whatever comes back.

One failing sample never stops the others. Whatever the world does ends within its deadline: an attempt, a sample
with all its attempts, the run. The first signal lets the open requests end and seals what is there; a second one
stops at once, and loses no more than a kill would.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from time import monotonic, time
from typing import Any, Generic, Protocol, TypeVar

from affidavit.archive.group_commit import GroupCommit
from affidavit.archive.journal import Archive
from affidavit.archive.record import Failed, Judgement, Response
from affidavit.errors import StorageError
from affidavit.models.connections import allow_open_files
from affidavit.models.model import Answer, Completion, Failure, Model, Reason, Request
from affidavit.models.settings import Limits
from affidavit.running.attempts import Attempt, Attempts
from affidavit.running.ledger import Ledger
from affidavit.running.pace import Pace
from affidavit.running.retry_waits import RetryWaits
from affidavit.running.turns import Slots

DRAIN = 5.0
"""Seconds that open requests are given after a signal."""


class Asking(Protocol):
    """One question, whatever it is about."""

    @property
    def key(self) -> str:
        """What its record is kept under."""

    @property
    def model(self) -> str:
        """Who is asked."""

    @property
    def request(self) -> Request:
        """What is asked."""


AskingT = TypeVar("AskingT", bound=Asking)


class Work(Protocol[AskingT]):
    """All questions of one kind, and the records that their answers become."""

    def questions(self, model: str) -> Iterator[AskingT]:
        """What a model is to be asked, answered or not."""

    def response(self, question: AskingT, completion: Completion, /) -> Response | Judgement:
        """The record of an answer."""

    def failure(self, question: AskingT, failure: Failure, /) -> Failed:
        """The record of a question that nobody answered."""


class Runner(Generic[AskingT]):
    """One run over all questions of a kind."""

    def __init__(  # noqa: PLR0913
        self,
        work: Work[AskingT],
        models: Sequence[Model],
        archive: Archive,
        ledger: Ledger[Any],
        *,
        limits: Limits,
        progress: Callable[[], None] | None = None,
        thread_from: int | None = None,
    ) -> None:
        """`thread_from`: answers to questions with so many characters are read in a thread; None: none is."""
        self._work = work
        self._models = models
        self._archive = archive
        self._ledger = ledger
        self._limits = limits
        self._progress = progress
        self._thread_from = thread_from
        self._commits = GroupCommit(archive)
        self._attempts = Attempts(archive.directory, archive.disk)
        self._waits = RetryWaits(limits)
        self.asked = 0
        """Questions that were answered or failed in this run."""
        self.stopped: str | None = None
        """Why nothing more is asked."""
        self.details: Counter[str] = Counter()
        """What was said of failures that stayed."""

    def notes(self) -> list[str]:
        """What is to be said of the models, and of what their servers said of themselves."""
        own = [note for model in self._models for note in model.notes()]
        return [*own, *self._ledger.server_words.changes()]

    def stop(self, why: str) -> None:
        """Ask nothing more; open requests may end."""
        self.stopped = self.stopped or why

    async def run(self) -> None:
        """Ask whatever is open; everything that came back is finished when this returns."""
        allow_open_files({model.name: model.connections for model in self._models})
        try:
            async with AsyncExitStack() as stack:
                if await self._ready(stack):
                    await self._watched([worker for model in self._models for worker in self._workers(model)])
        except BaseException:
            # What is there is finished as far as that is still possible; the first error is the one to tell.
            with suppress(StorageError):
                await self._commits.finish()
            with suppress(StorageError):
                self._attempts.close()
            raise
        await self._commits.finish()
        self._attempts.close()

    async def _ready(self, stack: AsyncExitStack) -> bool:
        """Whether every model is there to be asked; a signal ends the waiting."""
        looking = asyncio.create_task(self._first_unreachable(stack))
        while not looking.done() and self.stopped is None:
            await asyncio.wait([looking], timeout=0.1)
        if not looking.done():
            looking.cancel()
            await asyncio.wait([looking])
        elif (unreachable := looking.result()) is not None:
            self.stop(unreachable)
        return self.stopped is None

    async def _first_unreachable(self, stack: AsyncExitStack) -> str | None:
        for model in self._models:
            await stack.enter_async_context(model)
            failure = await model.reachable()
            if failure is not None:
                return f"{model.name} cannot be asked: {failure.reason}, {failure.detail}"
        return None

    async def _watched(self, workers: "list[asyncio.Task[None]]") -> None:
        """Until all workers are done, one of them broke, or the time after a stop is over."""
        deadline = monotonic() + self._limits.run
        waiting = set(workers)
        try:
            while waiting:
                if self._progress is not None:  # the first time before anything is asked
                    self._progress()
                done, waiting = await asyncio.wait(waiting, timeout=0.1, return_when=asyncio.FIRST_EXCEPTION)
                for worker in done:
                    worker.result()
                if monotonic() > deadline and self.stopped is None:
                    self.stop(f"the run's {self._limits.run:g} s are over")
                    deadline = monotonic() + DRAIN
                elif self.stopped is not None:
                    deadline = min(deadline, monotonic() + DRAIN)
                    if monotonic() > deadline:
                        break
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    def _workers(self, model: Model) -> Iterator["asyncio.Task[None]"]:
        questions = self._open_questions(model.name)
        slots = Slots(Pace(model.connections))
        for _ in range(model.connections):
            yield asyncio.create_task(self._ask_all(model, questions, slots))

    def _open_questions(self, model: str) -> Iterator[AskingT]:
        settled = self._ledger.settled
        for question in self._work.questions(model):
            if not settled or bytes.fromhex(question.key) not in settled:
                yield question

    async def _ask_all(self, model: Model, questions: Iterator[AskingT], slots: Slots) -> None:
        while self.stopped is None:
            await slots.take()
            held = True
            try:
                question = next(questions, None)
                if question is None or self.stopped is not None:
                    return
                held = False
                answer = await self._answer(model, question, slots)
            finally:
                if held:
                    slots.give_back()
            if answer is not None:
                await self._keep(question, answer)

    async def _answer(self, model: Model, question: AskingT, slots: Slots) -> Answer | None:
        """The answer after all attempts; None if the run was stopped before there was one. Ends the turn."""
        began = monotonic()
        answer: Answer | None = None
        for number in range(1, self._limits.attempts + 1):
            if number > 1:
                await slots.take()
            try:
                answer = await self._attempt(model, question, number, began)
            finally:
                slots.give_back()
            if isinstance(answer, Completion):
                slots.pace.kept_up()
                return answer
            if answer.slow_down:
                slots.pace.pushed_back(now=monotonic())
            wait = self._waits.before_next(answer, number)
            if wait is None or monotonic() + wait - began > self._limits.sample:
                return answer
            if not await self._slept(wait):
                return None
        return answer

    async def _attempt(self, model: Model, question: AskingT, number: int, began: float) -> Answer:
        at, start = time(), monotonic()
        allowed = min(self._limits.attempt, self._limits.sample - (start - began))
        answer: Answer
        try:
            async with asyncio.timeout(max(allowed, 0.001)):
                answer = await model.complete(question.request)
        except TimeoutError:
            answer = Failure(Reason.TIMEOUT, f"no answer within {allowed:.3g} s")
        except StorageError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it is about this question alone
            answer = _unexpected(error)
        seconds = monotonic() - start
        self._attempts.add(Attempt(question.key, question.model, number, at, seconds, answer))
        return answer

    async def _slept(self, seconds: float) -> bool:
        """Wait; False if the run was stopped meanwhile."""
        end = monotonic() + seconds
        while self.stopped is None and (left := end - monotonic()) > 0:
            await asyncio.sleep(min(left, 0.2))
        return self.stopped is None

    async def _keep(self, question: AskingT, answer: Answer) -> None:
        record = await self._record(question, answer)
        await self._commits.append(record)
        self._ledger.add(record)
        self.asked += 1

    async def _record(self, question: AskingT, answer: Answer) -> Response | Judgement | Failed:
        """What an answer becomes; if nothing can be made of it, it is a failure of its question alone."""
        if isinstance(answer, Completion):
            try:
                return await self._read(question, answer)
            except StorageError:
                raise
            except Exception as error:  # noqa: BLE001 - the run goes on
                answer = _unexpected(error)
        self.details[f"{answer.reason}: {answer.detail}"] += 1
        if answer.reason is Reason.UNAUTHORISED:
            self.stop(f"{question.model} refused our credentials ({answer.detail})")
        return self._work.failure(question, answer)

    async def _read(self, question: AskingT, answer: Completion) -> Response | Judgement:
        """The record of an answer; what may take long is read while others are asked."""
        size = len(answer.text) + sum(len(message["content"]) for message in question.request.messages)
        if self._thread_from is None or size < self._thread_from:
            return self._work.response(question, answer)
        return await asyncio.to_thread(self._work.response, question, answer)


def _unexpected(error: Exception) -> Failure:
    """The failure of a question whose answer could not be handled; what an exception says may hold a secret."""
    return Failure(Reason.BAD_BODY, f"an unexpected {type(error).__name__} while the answer was handled")
