"""Asks every question of a plan that has no answer yet, and keeps whatever comes back.

First every model is tried with one question of the plan. What is said is held: if one model cannot be asked
because of how it is set up, that is told and nothing is kept; otherwise these are the first records. What is added
to a plan is asked before what was left open of it, until it is answered once: only that freezes it. One failing
sample never stops the others. Whatever the world does ends within its deadline: an attempt, a sample with all its
attempts, the run. The first signal lets the open requests end and seals what is there; a second one stops at once,
and loses no more than a kill would.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from itertools import islice
from math import inf
from time import monotonic, time
from typing import Any, Generic, Protocol, Self, TypeVar

from affidavit.archive.group_commit import GroupCommit
from affidavit.archive.journal import Archive
from affidavit.archive.record import Failed, Judgement, Response
from affidavit.errors import StorageError
from affidavit.models.connections import allow_open_files
from affidavit.models.model import (
    Answer,
    Completion,
    Failure,
    Model,
    Reason,
    Request,
    Server,
    TellsSlowness,
    servers_of,
)
from affidavit.models.settings import Limits
from affidavit.models.setup_fault import ignored_grammar
from affidavit.running.asked_now import AskedNow
from affidavit.running.attempts import Attempt, Attempts
from affidavit.running.first_failures import FirstFailures
from affidavit.running.ledger import Ledger
from affidavit.running.pace import Pace
from affidavit.running.retry_waits import RetryWaits
from affidavit.running.standing import Standing
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

    def fits(self, question: AskingT, completion: Completion, /) -> bool:
        """Whether an answer fits the constraint of its decoding, as far as that is known."""


@dataclass(frozen=True)
class _Tried(Generic[AskingT]):
    """A model, one of its servers, the question that it was tried with, and what it says, once it has."""

    model: Model
    server: int
    question: AskingT
    answer: "asyncio.Task[Answer]"


class Runner(Generic[AskingT]):
    """One run over all questions of a kind."""

    def __init__(  # noqa: PLR0913
        self,
        work: Work[AskingT],
        models: Sequence[Model],
        ledger: Ledger[Any],
        *,
        limits: Limits,
        progress: Callable[[AskedNow[Any]], None] | None = None,
        thread_from: int | None = None,
        added: Callable[[str], Iterator[AskingT]] | None = None,
    ) -> None:
        """`thread_from`: answers to questions with so many characters are read in a thread; None: none is.

        `added`: of the questions to a model, those that are asked before the rest until one of them is answered,
        where only that freezes what they were added with.
        """
        self._work = work
        self._models = models
        self._ledger = ledger
        self._limits = limits
        self._progress = progress
        self._thread_from = thread_from
        self._added = added
        self._asked_first: set[str] = set()
        """The keys of what was asked before the rest."""
        self._servers = {model.name: servers_of(model) for model in models}
        self._slots: dict[str, Slots] = {}
        """Of each model: how many requests are open, and where."""
        self._stack = AsyncExitStack()
        self._attempts = Attempts()
        self._waits = RetryWaits(limits)
        self._commits: GroupCommit
        """From `run` on."""
        self._begin: Callable[[], None]
        """From `run` on: what is done before the first record is written."""
        self._not_begun: BaseException | None = None
        """What came of it, if it could not be done: it is not tried twice."""
        self.begun = False
        """Whether that was done."""
        self._tried: list[_Tried[AskingT]] = []
        self._first_failures = FirstFailures[AskingT]()
        self._deadline = inf
        """From `async with` on, when the run's time is over."""
        self.asked = 0
        """Questions that were answered or failed in this run."""
        self.stopped: str | None = None
        """Why nothing more is asked."""
        self.details: Counter[str] = Counter()
        """What was said of failures that stayed."""

    @property
    def setup_mistake(self) -> bool:
        """Whether it was stopped because all first requests were refused alike."""
        return self._first_failures.mistake

    def notes(self) -> list[str]:
        """What is to be said of the models, and of what their servers said of themselves."""
        own = [note for model in self._models for note in model.notes()]
        left_out = [
            f"{model.name}: the server at {server.address} was left out {_times(standing.times)}, and those that "
            f"answered were asked instead ({standing.why})"
            for model, server, standing in self._standings()
            if standing.times
        ]
        return [*own, *left_out, *self._ledger.server_words.changes()]

    def _slowness(self) -> Iterator[str]:
        for model in self._models:
            if isinstance(model, TellsSlowness) and (said := model.slowness()) is not None:
                yield said
        yield from self.left_out()

    def left_out(self) -> Iterator[str]:
        """Which servers of models that have several are asked nothing at the moment, and why."""
        for model, server, standing in self._standings():
            if standing.left_out:
                yield f"{model.name}: the server at {server.address} is left out for now ({standing.why})"

    def _standings(self) -> Iterator[tuple[Model, Server, Standing]]:
        """Each server of models that have several, with what its last answers say of it."""
        for model in self._models:
            servers = self._servers[model.name]
            if len(servers) > 1:
                for server, standing in zip(servers, self._slots_of(model).standings(), strict=True):
                    yield model, server, standing

    def _slots_of(self, model: Model) -> Slots:
        if model.name not in self._slots:
            paces = [Pace(server.model.connections) for server in self._servers[model.name]]
            self._slots[model.name] = Slots(paces, longest_wait=self._limits.retry_after)
        return self._slots[model.name]

    def stop(self, why: str) -> None:
        """Ask nothing more; open requests may end."""
        self.stopped = self.stopped or why

    async def __aenter__(self) -> Self:
        allow_open_files({model.name: model.connections for model in self._models})
        self._deadline = monotonic() + self._limits.run
        return self

    async def __aexit__(self, *error: object) -> None:
        for tried in self._tried:
            tried.answer.cancel()
        await asyncio.gather(*(tried.answer for tried in self._tried), return_exceptions=True)
        await self._stack.aclose()

    # --- the trial ---

    async def trial(self, *, with_questions: bool) -> None:
        """Look for every model, and ask it the first of its questions; a mistake of the setup is raised.

        What it says is held. What is frozen already is not asked beforehand. Whoever takes long is not waited for:
        the run begins, and the answer is kept when it comes. A signal ends the trial, and so does the end of the
        run's time.
        """
        trying = asyncio.create_task(self._try_all(with_questions=with_questions))
        while not trying.done() and self.stopped is None:
            await asyncio.wait([trying], timeout=0.1)
            self._stop_in_time()
        if not trying.done():
            trying.cancel()
            await asyncio.wait([trying])
        else:
            trying.result()

    async def _try_all(self, *, with_questions: bool) -> None:
        for model in self._models:
            await self._stack.enter_async_context(model)
            await self._look_for(model)
        for model in self._models if with_questions else ():
            servers, slots = self._servers[model.name], self._slots_of(model)
            there = [number for number, each in enumerate(slots.standings()) if not each.left_out]
            turns = {number: asyncio.Semaphore(servers[number].model.connections) for number in there}
            questions = self._open_questions(model.name, added=self._added is not None)
            for question, place in _of_each_kind(islice(questions, _LOOKED_AT), times=len(there)):
                number = there[place]
                answer = asyncio.create_task(self._first_attempt(servers[number], question, turns[number]))
                self._tried.append(_Tried(model, number, question, answer))
                await asyncio.sleep(0)  # it is sent now: the next is looked for while this one is answered
        if self._tried:
            await asyncio.wait([each.answer for each in self._tried], timeout=self._limits.connect)
        for each in self._tried:
            if each.answer.done():
                await self._look_at(each, each.answer.result())

    async def _look_for(self, model: Model) -> None:
        """Whether anybody is there, at each server; those where nobody is are left out, if there are others."""
        found = await asyncio.gather(*(server.model.reachable() for server in self._servers[model.name]))
        gone = [failure is not None and failure.reason in _NOBODY_THERE for failure in found]
        for number, failure in enumerate(found):
            if failure is not None and gone[number] and not all(gone):
                self._slots_of(model).leave_out(number, failure)
            elif failure is not None:
                await self._refuse_setup(self._servers[model.name][number], failure)

    async def _first_attempt(self, server: Server, question: AskingT, turns: asyncio.Semaphore) -> Answer:
        """One attempt, with no more of them at once than the server takes, in the order of the plan."""
        async with turns:
            return await self._attempt(server, question, 1, monotonic())

    async def _look_at(self, tried: "_Tried[AskingT]", answer: Answer) -> None:
        """Refuse a setup that an answer shows to be wrong."""
        if isinstance(answer, Completion):
            if not self._work.fits(tried.question, answer):
                raise ignored_grammar(tried.model.name, answer.text).error(more=self._dropped())
        elif answer.reason in _NOBODY_THERE and self._slots_of(tried.model).others_serve(tried.server):
            self._slots_of(tried.model).told(tried.server, answer)  # it was there a moment ago
        else:
            await self._refuse_setup(self._servers[tried.model.name][tried.server], answer)
            if len(self._servers[tried.model.name]) > 1:
                self._slots_of(tried.model).told(tried.server, answer)

    async def _refuse_setup(self, server: Server, failure: Failure) -> None:
        if (fault := await server.model.setup_fault(failure)) is not None:
            raise fault.error(more=self._dropped())

    @property
    def trial_answers(self) -> int:
        """Answers that were given in the trial so far."""
        given = [each.answer for each in self._tried if each.answer.done() and not each.answer.cancelled()]
        return sum(answer.exception() is None and isinstance(answer.result(), Completion) for answer in given)

    def _dropped(self) -> str:
        dropped = self.trial_answers
        kept = f" {dropped:,} answers of the trial were dropped." if dropped else ""
        return f"Nothing was written.{kept}"

    async def _after_trial(self, tried: "_Tried[AskingT]", slots: Slots) -> None:
        """Keep what a model says to the question that it was tried with; what may pass is asked again."""
        server = await slots.take(at=tried.server)
        try:
            answer: Answer | None = await tried.answer
        finally:
            slots.give_back(server)
        if isinstance(answer, Failure) and answer.may_pass:
            server = await slots.take(but=server)
            answer = await self._answer(tried.model, tried.question, slots, server)
        if answer is not None:
            await self._keep(tried.question, answer)

    # --- the run ---

    async def run(
        self, archive: Archive, begin: Callable[[], None], *, at_once: bool, by_an_answer: bool = False
    ) -> None:
        """Ask whatever is open; everything that came back is finished when this returns.

        `begin` is called `at_once`, or else before the first record is written: without one, nothing is frozen.
        `by_an_answer`: that is an answer, and questions that failed before it are held until it comes. What was
        added is asked first then; the rest once it is frozen, so that no other answer freezes it (ruling C11).
        """
        self._commits, self._begin = GroupCommit(archive), begin
        self._first_failures = FirstFailures(every_kind=by_an_answer)
        if at_once:
            self._open_files(archive)
        now = self._ledger.begin({model.name for model in self._models})
        try:
            await self._ask(now)
            self._drop(self._first_failures.to_drop())
            for question, failure in self._first_failures.to_keep() if self.begun or not by_an_answer else ():
                await self._write(question, failure)
        except BaseException:
            # What is there is finished as far as that is still possible; the first error is the one to tell.
            with suppress(StorageError):
                await self._commits.finish()
            with suppress(StorageError):
                self._attempts.close()
            raise
        await self._commits.finish()
        self._attempts.close()

    def _open_files(self, archive: Archive) -> None:
        """Freeze what is to be frozen and open what is written to, once: whoever comes second finds it done."""
        if self._not_begun is not None:
            raise self._not_begun
        if not self.begun:
            try:
                self._begin()
                self._attempts.open(archive.directory, archive.disk)
            except BaseException as error:
                self._not_begun = error
                raise
            self.begun = True

    def _drop(self, failures: Sequence[Failure]) -> None:
        """Tell of questions that nobody answered and that are kept nowhere, as nothing else was."""
        self.details.update(f"{failure.reason}: {failure.detail}" for failure in failures)
        if failures:
            self.stop(f"none of the {len(failures):,} questions that were asked was answered")

    async def _ask(self, now: AskedNow[Any]) -> None:
        """What was added, until that is frozen, and then whatever else is open."""
        workers: list[asyncio.Task[None]] = []
        try:
            if self._added is not None and not self.begun:
                workers += self._workers(added=True)
                await self._watched(workers, now, until_begun=True)
            if self._added is None or self.begun:
                workers += self._workers(added=False)
                await self._watched(workers, now)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _watched(
        self, workers: "list[asyncio.Task[None]]", now: AskedNow[Any], *, until_begun: bool = False
    ) -> None:
        """Until all workers are done, one of them broke, or the time after a stop is over."""
        drained, waiting = inf, set(workers)
        while waiting and not (until_begun and self.begun):
            if self._progress is not None:  # the first time before anything is asked
                now.slow[:] = self._slowness()
                self._progress(now)
            done, waiting = await asyncio.wait(waiting, timeout=0.1, return_when=asyncio.FIRST_EXCEPTION)
            for worker in done:
                worker.result()
            self._stop_in_time()
            if self.stopped is not None:
                drained = min(drained, monotonic() + DRAIN)
            if monotonic() > drained:
                break

    def _stop_in_time(self) -> None:
        if monotonic() > self._deadline:
            self.stop(f"the run's {self._limits.run:g} s are over")

    def _workers(self, *, added: bool) -> Iterator["asyncio.Task[None]"]:
        """Whoever asks the models; `added`: only what is asked before the rest, until that is frozen."""
        for model in self._models:
            questions = self._open_questions(model.name, added=added)
            slots = self._slots_of(model)
            own = (each for each in self._tried if each.model is model)
            tried = [each for each in own if self._is_left(each.question)]
            if added:
                self._asked_first.update(each.question.key for each in tried)
            # Whoever holds an answer begins last: what is kept first freezes the plan, and others ask meanwhile.
            without = max(model.connections - len(tried), 0)
            for first in (*[None] * without, *tried):
                yield asyncio.create_task(self._ask_all(model, questions, slots, first, added=added))

    def _open_questions(self, model: str, *, added: bool = False) -> Iterator[AskingT]:
        settled, tried = self._ledger.settled, {each.question.key for each in self._tried}
        first = iter(()) if self._added is None else self._added(model)
        for question in first if added else self._work.questions(model):
            left = question.key not in tried and self._is_left(question)
            if left and (not settled or bytes.fromhex(question.key) not in settled):
                yield question

    def _is_left(self, question: AskingT) -> bool:
        """Whether it was not asked before the rest: in one run nothing is asked twice."""
        return question.key not in self._asked_first

    async def _ask_all(
        self,
        model: Model,
        questions: Iterator[AskingT],
        slots: Slots,
        first: "_Tried[AskingT] | None",
        *,
        added: bool,
    ) -> None:
        if first is not None:
            await self._after_trial(first, slots)
        while self.stopped is None and not (added and self.begun):
            server = await slots.take()
            held = True
            try:
                question = next(questions, None)
                if question is None or self.stopped is not None:
                    return
                if added:
                    self._asked_first.add(question.key)
                held = False
                answer = await self._answer(model, question, slots, server)
            finally:
                if held:
                    slots.give_back(server)
            if answer is not None:
                await self._keep(question, answer)

    async def _answer(self, model: Model, question: AskingT, slots: Slots, at: int) -> Answer | None:
        """The answer after all attempts, the first of them at this server; None if the run was stopped before.

        Ends the turn.
        """
        began, servers = monotonic(), self._servers[model.name]
        answer: Answer | None = None
        refused: tuple[int, Failure] | None = None
        for number in range(1, self._limits.attempts + 1):
            if number > 1:
                at = await (slots.take(but=at) if refused is None else slots.take(elsewhere=refused[0]))
            try:
                answer = await self._attempt(servers[at], question, number, began)
                slots.told(at, answer)
            finally:
                slots.give_back(at)
            if isinstance(answer, Completion):
                if refused is not None:
                    slots.contradicted(*refused)
                return answer
            if answer.reason is Reason.BAD_REQUEST and refused is None and slots.others_serve(at):
                refused = at, answer  # it may be the server that is wrong: another one is asked once
                continue
            if answer.reason is Reason.UNAUTHORISED and len(servers) > 1:
                self.stop(f"{model.name} at {servers[at].address} refused our credentials ({answer.detail})")
            # What a server asks to be spared is no matter of the others.
            asks_for = replace(answer, retry_after=None) if slots.others_serve(at) else answer
            wait = self._waits.before_next(asks_for, number)
            if wait is None or monotonic() + wait - began > self._limits.sample:
                return answer
            if not await self._slept(wait):
                return None
        return answer

    async def _attempt(self, server: Server, question: AskingT, number: int, began: float) -> Answer:
        at, start = time(), monotonic()
        allowed = min(self._limits.attempt, self._limits.sample - (start - began))
        answer: Answer
        try:
            async with asyncio.timeout(max(allowed, 0.001)):
                answer = await server.model.complete(question.request)
        except TimeoutError:
            answer = Failure(Reason.TIMEOUT, f"no answer within {allowed:.3g} s")
        except StorageError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it is about this question alone
            answer = unexpected(error)
        seconds = monotonic() - start
        self._attempts.add(Attempt(question.key, question.model, number, at, seconds, answer, server.address))
        return answer

    async def _slept(self, seconds: float) -> bool:
        """Wait; False if the run was stopped meanwhile."""
        end = monotonic() + seconds
        while self.stopped is None and (left := end - monotonic()) > 0:
            await asyncio.sleep(min(left, 0.2))
        return self.stopped is None

    async def _keep(self, question: AskingT, answer: Answer) -> None:
        """Keep what was said; refusals of the first questions are held until one is answered."""
        if isinstance(answer, Failure):
            if answer.reason is Reason.UNAUTHORISED:
                self.stop(f"{question.model} refused our credentials ({answer.detail})")
            if self._first_failures.holds(question, answer):
                if (why := self._first_failures.why_to_stop()) is not None:
                    self.stop(why)
                return
        elif (why := self._first_failures.answered()) is not None:
            self.stopped = why  # one came late: what was said of them holds, but that nothing is kept
        for earlier, failure in self._first_failures.to_keep():
            await self._write(earlier, failure)
        await self._write(question, answer)

    async def _write(self, question: AskingT, answer: Answer) -> None:
        record = await self._record(question, answer)
        self._open_files(self._commits.archive)
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
                answer = unexpected(error)
        self.details[f"{answer.reason}: {answer.detail}"] += 1
        return self._work.failure(question, answer)

    async def _read(self, question: AskingT, answer: Completion) -> Response | Judgement:
        """The record of an answer; what may take long is read while others are asked."""
        size = len(answer.text) + sum(len(message["content"]) for message in question.request.messages)
        if self._thread_from is None or size < self._thread_from:
            return self._work.response(question, answer)
        return await asyncio.to_thread(self._work.response, question, answer)


_LOOKED_AT = 500
"""Questions among which one is looked for that constrains the decoding."""


def _of_each_kind(questions: Iterable[AskingT], *, times: int) -> Iterator[tuple[AskingT, int]]:
    """The first questions, and the first whose decoding is constrained otherwise, each as soon as it is met.

    So many of each kind, counted from 0: one for each server.
    """
    met = Counter[bool]()
    for question in questions:
        constrained = question.request.grammar is not None or question.request.schema is not None
        if met[constrained] < times:
            yield question, met[constrained]
            met[constrained] += 1
            if met.total() == 2 * times:
                return


_NOBODY_THERE = (Reason.CONNECTION, Reason.TIMEOUT)
"""What comes of a trial of a server that does not run."""


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def unexpected(error: Exception) -> Failure:
    """The failure of a question whose answer could not be handled; what an exception says may hold a secret."""
    return Failure(Reason.BAD_BODY, f"an unexpected {type(error).__name__} while the answer was handled")
