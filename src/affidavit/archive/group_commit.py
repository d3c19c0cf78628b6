"""Group commit: records are written as they come and finished together, at the latest 50 ms after the first.

While a group is being synced nothing is written, so that the lines of one group are on the disk before the first
line of the next. What comes meanwhile is held, and whoever brought it goes on; only when much is held because the
disk is slower than the answers, whoever brings more waits, and asks nothing else until then.
"""

import asyncio
from collections import deque

from affidavit.archive.journal import GROUP_RECORDS, GROUP_SECONDS, Archive
from affidavit.archive.record import Record

MOST_HELD = 4 * GROUP_RECORDS


class GroupCommit:
    """Records on their way into an archive."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._held: deque[Record] = deque()
        """What came while a group was being synced, in its order."""
        self._syncing: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._failure: BaseException | None = None

    async def append(self, record: Record) -> None:
        """Write a record, now or with the next group; a failure of earlier ones is raised here, soon or later."""
        while len(self._held) >= MOST_HELD and self._failure is None:
            await self._synced()
        self._raise_failure()
        if self._syncing is None:
            self._write(record)
        else:
            self._held.append(record)

    async def finish(self) -> None:
        """Finish everything that came."""
        self._raise_failure()
        self._sync()
        while self._syncing is not None:
            await self._synced()
            self._raise_failure()
            self._sync()

    def _write(self, record: Record) -> None:
        self._archive.append(record)
        if self._archive.group_size >= GROUP_RECORDS:
            self._sync()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GROUP_SECONDS, self._sync)

    def _sync(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._may_write() and self._archive.group_size:
            loop = asyncio.get_running_loop()
            self._syncing = loop.run_in_executor(None, self._archive.commit)
            self._syncing.add_done_callback(self._go_on)

    def _go_on(self, synced: "asyncio.Future[None]") -> None:
        """A group is finished: write what came meanwhile, which is the beginning of the next."""
        self._syncing = None
        self._failure = synced.exception()
        try:
            while self._held and self._may_write():
                self._write(self._held.popleft())
        except BaseException as error:  # noqa: BLE001 - whoever brings the next record is told
            self._failure = error

    def _may_write(self) -> bool:
        return self._syncing is None and self._failure is None

    async def _synced(self) -> None:
        if self._syncing is not None:
            await asyncio.wait([self._syncing])

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure
