"""Records are finished in groups: soon after the first of them, never while another group is being synced."""

import asyncio

import pytest

from affidavit.archive.group_commit import GroupCommit
from affidavit.archive.journal import GROUP_RECORDS, GROUP_SECONDS
from affidavit.errors import StorageError
from support.virtual_time import in_virtual_time


class Archive:
    """What a group commit needs of an archive, and when it was asked for it."""

    def __init__(self) -> None:
        self.group_size = 0
        self.calls: list[tuple[str, int, float]] = []
        self.fails = False

    def append(self, record: object) -> None:
        self.group_size += 1
        self.calls.append(("append", self.group_size, asyncio.get_running_loop().time()))

    def commit(self) -> None:
        self.calls.append(("commit", self.group_size, asyncio.get_running_loop().time()))
        self.group_size = 0
        if self.fails:
            raise StorageError("journal", expected="to write it", found="no room")

    def commits(self) -> list[tuple[int, float]]:
        """Sizes of the groups, and when each was finished, since the first call."""
        began = self.calls[0][2]
        return [(size, round(at - began, 6)) for name, size, at in self.calls if name == "commit"]


def test_a_group_is_finished_soon_after_its_first_record():
    archive = Archive()

    async def go() -> None:
        commits = GroupCommit(archive)
        for _ in range(3):
            await commits.append({})
            await asyncio.sleep(GROUP_SECONDS / 4)
        await asyncio.sleep(10)
        await commits.append({})
        await commits.finish()

    in_virtual_time(go())
    after_ten = 3 * GROUP_SECONDS / 4 + 10
    assert archive.commits() == [(3, GROUP_SECONDS), (1, round(after_ten, 6))]


def test_a_full_group_does_not_wait():
    archive = Archive()

    async def go() -> None:
        commits = GroupCommit(archive)
        for _ in range(GROUP_RECORDS + 1):
            await commits.append({})
        await commits.finish()

    in_virtual_time(go())
    assert archive.commits() == [(GROUP_RECORDS, 0.0), (1, 0.0)]


def test_nothing_to_finish_is_no_commit():
    archive = Archive()

    async def go() -> None:
        await GroupCommit(archive).finish()

    in_virtual_time(go())
    assert archive.calls == []


def test_whoever_appends_after_a_sync_that_failed_is_told_and_nothing_more_is_written():
    archive = Archive()
    archive.fails = True

    async def go() -> None:
        commits = GroupCommit(archive)
        await commits.append({})
        await asyncio.sleep(2 * GROUP_SECONDS)
        for _ in range(2):
            with pytest.raises(StorageError, match="no room"):
                await commits.append({})

    in_virtual_time(go())
    assert [name for name, _, _ in archive.calls] == ["append", "commit"]


def test_while_a_group_is_being_synced_nothing_is_written(monkeypatch):
    """By an event, not by a clock: the sync waits until somebody has tried to append."""
    archive, order = Archive(), []

    async def go() -> None:
        syncing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        monkeypatch.setattr(asyncio.get_running_loop(), "run_in_executor", lambda *_: syncing)
        commits = GroupCommit(archive)
        for _ in range(GROUP_RECORDS):
            await commits.append({})
        waiting = asyncio.create_task(commits.append({}))
        await asyncio.sleep(1)
        order.append(len(archive.calls))
        archive.group_size = 0
        syncing.set_result(None)
        await waiting
        order.append(len(archive.calls))

    in_virtual_time(go())
    assert order == [GROUP_RECORDS, GROUP_RECORDS + 1]
