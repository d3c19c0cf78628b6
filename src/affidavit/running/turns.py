"""Turns to ask a model: how many requests are open at once."""

import asyncio
from dataclasses import dataclass, field

from affidavit.running.pace import Pace


@dataclass
class Slots:
    """Turns to ask one model; how many there are at once is the pace's to say."""

    pace: Pace
    _taken: int = 0
    _queue: list["asyncio.Future[None]"] = field(default_factory=list)

    async def take(self) -> None:
        """Wait for a turn."""
        while self._taken >= self.pace.limit:
            turn = asyncio.get_running_loop().create_future()
            self._queue.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                self._wake()
                raise
        self._taken += 1

    def give_back(self) -> None:
        """End a turn."""
        self._taken -= 1
        self._wake()

    def _wake(self) -> None:
        free = self.pace.limit - self._taken
        while free > 0 and self._queue:
            turn = self._queue.pop(0)
            if not turn.done():
                turn.set_result(None)
                free -= 1
