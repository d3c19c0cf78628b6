"""Turns to ask a model, and the log of attempts."""

import asyncio
import json

from affidavit.archive.disk import Disk
from affidavit.models.model import Completion, Failure, Reason
from affidavit.running.attempts import ATTEMPTS, Attempt, Attempts
from affidavit.running.pace import Pace
from affidavit.running.turns import Slots
from support.virtual_time import in_virtual_time


def test_no_more_have_a_turn_than_the_pace_allows_and_everybody_gets_one():
    most: list[int] = []

    async def go() -> None:
        slots, asking = Slots([Pace(3)]), 0

        async def ask() -> None:
            nonlocal asking
            await slots.take()
            asking += 1
            most.append(asking)
            await asyncio.sleep(1)
            asking -= 1
            slots.give_back(0)

        await asyncio.gather(*(ask() for _ in range(10)))

    in_virtual_time(go())
    assert len(most) == 10
    assert max(most) == 3


def test_turns_are_given_in_the_order_in_which_they_were_asked_for():
    order: list[int] = []

    async def go() -> None:
        slots = Slots([Pace(1)])

        async def ask(number: int) -> None:
            await slots.take()
            order.append(number)
            await asyncio.sleep(1)
            slots.give_back(0)

        await asyncio.gather(*(ask(number) for number in range(5)))

    in_virtual_time(go())
    assert order == [0, 1, 2, 3, 4]


def test_whoever_gives_up_waiting_leaves_its_turn_to_the_next():
    async def go() -> None:
        slots = Slots([Pace(1)])
        await slots.take()
        gives_up, waits = asyncio.create_task(slots.take()), asyncio.create_task(slots.take())
        await asyncio.sleep(1)
        slots.give_back(0)  # to the one that is cancelled before it can go on
        gives_up.cancel()
        await waits

    in_virtual_time(go())


def attempt(number: int, answer: Completion | Failure, *server: str) -> Attempt:
    return Attempt("ab" * 32, 'a "model"\n', number, 1_700_000_000.1234, 0.25, answer, *server)


def test_every_attempt_is_a_line_with_what_came_of_it(tmp_path):
    (tmp_path / ATTEMPTS).write_bytes(b'{"cut sho')
    log = Attempts()
    log.open(tmp_path, Disk())
    log.add(attempt(1, Failure(Reason.TIMEOUT, 'no "answer"\n')))
    log.add(attempt(2, Completion("text")))
    log.add(attempt(3, Completion("text"), "http://h/v1"))
    log.close()
    cut, *lines = (tmp_path / ATTEMPTS).read_bytes().splitlines()
    assert cut == b'{"cut sho'
    first, second, third = map(json.loads, lines)
    same = {"key": "ab" * 32, "model": 'a "model"\n', "began": 1_700_000_000.123, "seconds": 0.25}
    assert first == {**same, "attempt": 1, "outcome": "timeout", "detail": 'no "answer"\n'}
    assert second == {**same, "attempt": 2, "outcome": "response"}
    assert third == {**same, "attempt": 3, "server": "http://h/v1", "outcome": "response"}


def test_attempts_are_written_together(tmp_path):
    log = Attempts()
    log.open(tmp_path, Disk())
    for number in range(1, 200):
        log.add(attempt(number, Completion("")))
    assert (tmp_path / ATTEMPTS).read_bytes() == b""
    log.add(attempt(200, Completion("")))
    assert (tmp_path / ATTEMPTS).read_bytes().count(b"\n") == 200
    log.close()
