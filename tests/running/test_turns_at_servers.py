"""Turns to ask a model that several servers have: the one with the least to do is next, and no other waits for it."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

from affidavit.models.model import Completion, Failure, Reason
from affidavit.running.pace import Pace
from affidavit.running.standing import FAILURES
from affidavit.running.turns import Slots
from support.virtual_time import in_virtual_time

ANSWER = Completion("")
GONE = Failure(Reason.CONNECTION, "refused")


def slots(*most: int) -> Slots:
    return Slots([Pace(each) for each in most], longest_wait=120.0)


def course(main: Callable[[], Awaitable[None]]) -> None:
    in_virtual_time(main())


async def fail(turns: Slots, server: int, failure: Failure = GONE, times: int = FAILURES) -> None:
    for _ in range(times):
        assert await turns.take(at=server) == server
        turns.told(server, failure)
        turns.give_back(server)


def test_the_server_with_the_fewest_open_requests_is_next():
    async def go() -> None:
        turns = slots(8, 8, 8)
        assert [await turns.take() for _ in range(6)] == [0, 1, 2, 0, 1, 2]
        for server in (2, 1, 1):
            turns.give_back(server)
        assert [await turns.take() for _ in range(3)] == [1, 2, 1]

    course(go)


def test_a_slow_server_holds_no_more_than_its_own_turns():
    took: Counter[int] = Counter()

    async def go() -> None:
        turns = slots(4, 4, 4)

        async def ask() -> None:
            server = await turns.take()
            took[server] += 1
            await asyncio.sleep(1000 if server == 0 else 1)
            turns.told(server, ANSWER)
            turns.give_back(server)

        await asyncio.gather(*(ask() for _ in range(400)))
        assert asyncio.get_running_loop().time() < 2100

    course(go)
    assert took[0] == 4
    assert took.total() == 400


def test_the_limit_of_a_server_falls_alone():
    async def go() -> None:
        turns = slots(8, 8)
        turns.told(0, Failure(Reason.SERVER_ERROR, slow_down=True))
        assert Counter([await turns.take() for _ in range(12)]) == {0: 4, 1: 8}

    course(go)


def test_a_server_that_failed_again_and_again_is_left_out_and_tried_by_one_question_after_a_while():
    async def go() -> None:
        turns = slots(8, 8)
        await fail(turns, 0)
        assert [await turns.take() for _ in range(4)] == [1, 1, 1, 1]
        await asyncio.sleep(1)
        assert [await turns.take() for _ in range(3)] == [0, 1, 1], "one question tries it, the others do not wait"
        turns.told(0, ANSWER)
        turns.give_back(0)
        assert [await turns.take() for _ in range(4)] == [0, 0, 0, 0]

    course(go)


def test_whoever_waits_for_a_turn_tries_a_server_once_its_rest_is_over():
    async def go() -> None:
        turns = slots(8, 1)
        await fail(turns, 0)
        assert await turns.take() == 1
        began = asyncio.get_running_loop().time()
        assert await turns.take() == 0
        assert asyncio.get_running_loop().time() - began == 1.0

    course(go)


def test_what_failed_at_a_server_is_asked_of_another_if_there_is_one():
    async def go() -> None:
        turns = slots(2, 2)
        assert [await turns.take(but=0), await turns.take(but=0)] == [1, 1]
        assert await turns.take(but=0) == 0, "all others have enough to do, and this one is well"
        alone = slots(2)
        assert await alone.take(but=0) == 0

    course(go)


def test_where_all_are_left_out_they_are_asked_as_if_none_were():
    async def go() -> None:
        turns = slots(2, 2)
        await fail(turns, 0)
        await fail(turns, 1)
        assert sorted([await turns.take(), await turns.take(), await turns.take(), await turns.take()]) == [
            0,
            0,
            1,
            1,
        ]
        assert not turns.others_serve(0)

    course(go)


def test_one_server_alone_is_never_left_out():
    async def go() -> None:
        turns = slots(8)
        await fail(turns, 0, times=50)
        assert not next(turns.standings()).left_out
        assert [await turns.take() for _ in range(8)] == [0] * 8

    course(go)


def test_a_server_that_asked_for_a_wait_is_spared_for_so_long_and_the_others_are_not():
    async def go() -> None:
        turns = slots(8, 8)
        await fail(turns, 0, Failure(Reason.RATE_LIMITED, retry_after=30.0, slow_down=True), times=1)
        assert turns.others_serve(0)
        assert not turns.others_serve(1)
        assert [await turns.take() for _ in range(3)] == [1, 1, 1]
        await asyncio.sleep(30)
        assert await turns.take() == 0

    course(go)


def test_a_server_that_may_be_tried_again_is_not_left_idle_by_those_who_would_rather_ask_another():
    """The other one has no room: nobody knows for how long it hangs."""

    async def go() -> None:
        turns = slots(1, 1)
        await fail(turns, 0)
        assert await turns.take() == 1
        waiting = asyncio.create_task(turns.take(but=0))
        await asyncio.sleep(2)
        assert waiting.done()
        assert await waiting == 0

    course(go)
