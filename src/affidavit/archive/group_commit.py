"""Group commit: records are written as they come and finished together, at the latest 50 ms after the first.

While a group is being synced nothing is written, so that the lines of one group are on the disk before the first
line of the next. Whoever appends waits that long; until then it asks nothing else.
"""

import asyncio

from affidavit.archive.journal import GROUP_RECORDS, GROUP_SECONDS, Archive
from affidavit.archive.record import Record


class GroupCommit:
    """Records on their way into an archive."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self._syncing: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def append(self, record: Record) -> None:
        """Write a record; a failed sync of earlier ones is raised here, at the latest by the next `append`."""
        await self._settled()
        self.archive.append(record)
        if self.archive.group_size >= GROUP_RECORDS:
            self._sync()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GROUP_SECONDS, self._sync)

    async def finish(self) -> None:
        """Finish everything that was written."""
        await self._settled()
        self._sync()
        await self._settled()

    def _sync(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._syncing is None and self.archive.group_size:
            loop = asyncio.get_running_loop()
            self._syncing = loop.run_in_executor(None, self.archive.commit)

    async def _settled(self) -> None:
        """Wait while a group is being synced; if that fails, all who wait are told and nothing more is written."""
        while self._syncing is not None:
            if not self._syncing.done():
                await asyncio.shield(self._syncing)
            else:
                self._syncing.result()
                self._syncing = None
