"""Turns to ask a model: how many requests are open at once, and at which of its servers the next one is."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from affidavit.models.model import Answer, Completion, Failure
from affidavit.running.pace import Pace
from affidavit.running.standing import Standing


@dataclass
class _Place:
    """One of the servers of a model."""

    pace: Pace
    standing: Standing = field(default_factory=Standing)
    taken: int = 0
    """Requests that are open there."""
    given: int = 0
    """Turns that it ever had."""

    @property
    def room(self) -> int:
        return self.pace.limit - self.taken


class Slots:
    """Turns to ask one model; how many there are at once is the pace's to say, for each of its servers apart.

    A turn is at the server with the fewest open requests, of those that are not left out; where all are, it is as
    if none were.
    """

    def __init__(self, paces: Sequence[Pace], *, longest_wait: float = 0.0) -> None:
        """`paces`: one for each server; `longest_wait`: seconds that a server may ask for."""
        self._places = [_Place(pace) for pace in paces]
        self._longest_wait = longest_wait
        self._queue: list[asyncio.Future[None]] = []

    async def take(self, *, but: int | None = None, at: int | None = None, elsewhere: int | None = None) -> int:
        """Wait for a turn; the number of the server.

        `but`: not at this one, if another has room; `at`: at this one; `elsewhere`: not at this one, and wait for
        room at another as long as one serves.
        """
        while (found := self._next(but, at, elsewhere)) is None:
            turn = asyncio.get_running_loop().create_future()
            self._queue.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                self._wake()
                raise
        place = self._places[found]
        place.standing.tried = place.standing.left_out
        place.taken += 1
        place.given += 1
        return found

    def give_back(self, server: int) -> None:
        """End a turn."""
        place = self._places[server]
        place.taken -= 1
        place.standing.tried = False
        self._wake()

    def told(self, server: int, answer: Answer) -> None:
        """What came of a turn: it decides about the next ones at this server."""
        place = self._places[server]
        if isinstance(answer, Completion):
            place.pace.kept_up()
            place.standing.answered()
            return
        now = asyncio.get_running_loop().time()
        if answer.slow_down:
            place.pace.pushed_back(now=now)
        if len(self._places) > 1:
            self._wake_after(place.standing.failed(answer, now=now, longest_wait=self._longest_wait))

    def contradicted(self, server: int, failure: Failure) -> None:
        """Another server answered what this one has refused."""
        now = asyncio.get_running_loop().time()
        self._wake_after(self._places[server].standing.contradicted(failure, now=now))

    def leave_out(self, server: int, failure: Failure) -> None:
        """Nobody is there: ask the others until it is tried again."""
        now = asyncio.get_running_loop().time()
        self._wake_after(self._places[server].standing.leave_out(f"{failure.reason}: {failure.detail}", now=now))

    def others_serve(self, server: int) -> bool:
        """Whether any other server can be asked now."""
        return any(number != server for number in self._serving())

    def standings(self) -> Iterator[Standing]:
        """That of each server, in their order."""
        return (place.standing for place in self._places)

    def _serving(self) -> list[int]:
        now = asyncio.get_running_loop().time()
        return [number for number, place in enumerate(self._places) if place.standing.serves(now)]

    def _due(self) -> list[int]:
        now = asyncio.get_running_loop().time()
        return [number for number, place in enumerate(self._places) if place.standing.is_due(now)]

    def _next(self, but: int | None, at: int | None, elsewhere: int | None) -> int | None:
        if at is not None:
            return self._with_room([at])
        if elsewhere is not None and self.others_serve(elsewhere):
            return self._with_room([number for number in self._serving() if number != elsewhere])
        return self._found(but if elsewhere is None else elsewhere)

    def _found(self, but: int | None) -> int | None:
        """Where the next turn is, if there is room for one anywhere."""
        if len(self._places) == 1:
            return self._with_room([0])
        serving = self._serving()
        if not serving:  # all are left out: they are asked as a single server would be
            every = range(len(self._places))
            others = self._with_room([number for number in every if number != but])
            return self._with_room(every) if others is None else others
        if due := [number for number in self._due() if number != but]:
            return due[0]
        others = self._with_room([number for number in serving if number != but])
        if others is not None or but is None:
            return others
        # The others have no room: one that would rather not be asked is better than to wait for them.
        return but if but in self._due() else self._with_room([but] if but in serving else [])

    def _with_room(self, servers: Sequence[int]) -> int | None:
        """Of these, the one with the fewest open requests, and of several the one that had the fewest ever."""
        free = [number for number in servers if self._places[number].room > 0]
        return min(free, key=lambda n: (self._places[n].taken, self._places[n].given), default=None)

    def _wake_after(self, seconds: float | None) -> None:
        """Whoever waits then may find a server that is to be tried again."""
        if seconds is not None:
            asyncio.get_running_loop().call_later(seconds, self._wake)

    def _wake(self) -> None:
        free = self._free()
        while free > 0 and self._queue:
            turn = self._queue.pop(0)
            if not turn.done():
                turn.set_result(None)
                free -= 1

    def _free(self) -> int:
        """How many turns there are to give."""
        if len(self._places) == 1:
            return self._places[0].room
        serving = self._serving()
        tried = len(self._due()) if serving else 0
        return tried + sum(max(0, self._places[number].room) for number in serving or range(len(self._places)))
