"""Records are finished in groups: soon after the first of them, never while another group is being synced."""

import asyncio

import pytest

from affidavit.archive.group_commit import MOST_HELD, GroupCommit
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


class Held:
    """An archive whose syncs end when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.archive = Archive()
        self.syncs: list[asyncio.Future[None]] = []
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(loop, "run_in_executor", lambda *_: self._sync(loop.create_future()))
        self.commits = GroupCommit(self.archive)

    def _sync(self, syncing: "asyncio.Future[None]") -> "asyncio.Future[None]":
        self.syncs.append(syncing)
        return syncing

    async def appended(self, count: int) -> None:
        for _ in range(count):
            await self.commits.append({})

    async def end_sync(self) -> None:
        self.archive.group_size = 0
        self.syncs[-1].set_result(None)
        await asyncio.sleep(1)

    @property
    def written(self) -> int:
        return len(self.archive.calls)


def test_while_a_group_is_being_synced_nothing_is_written_and_whoever_brings_more_goes_on(monkeypatch):
    """By an event, not by a clock: the sync ends after somebody has brought more."""

    async def go() -> None:
        held = Held(monkeypatch)
        await held.appended(GROUP_RECORDS + 3)
        await asyncio.sleep(1)
        assert (held.written, len(held.syncs)) == (GROUP_RECORDS, 1)
        await held.end_sync()
        assert (held.written, len(held.syncs)) == (GROUP_RECORDS + 3, 2), "they are the next group"

    in_virtual_time(go())


def test_when_much_is_held_whoever_brings_more_waits(monkeypatch):
    async def go() -> None:
        held = Held(monkeypatch)
        await held.appended(GROUP_RECORDS + MOST_HELD)
        one_more = asyncio.create_task(held.appended(1))
        await asyncio.sleep(1)
        assert not one_more.done()
        await held.end_sync()
        assert one_more.done()
        assert (held.written, len(held.syncs)) == (2 * GROUP_RECORDS, 2), "a full group is synced before the next"

    in_virtual_time(go())


def test_what_is_held_is_finished_too(monkeypatch):
    async def go() -> None:
        held = Held(monkeypatch)
        await held.appended(2 * GROUP_RECORDS + 5)
        finishing = asyncio.create_task(held.commits.finish())
        for number in (1, 2, 3):
            await asyncio.sleep(1)
            assert (len(held.syncs), finishing.done()) == (number, False)
            await held.end_sync()
        assert finishing.done()
        assert held.written == 2 * GROUP_RECORDS + 5

    in_virtual_time(go())


def test_what_cannot_be_written_after_a_sync_is_told(monkeypatch):
    async def go() -> None:
        held = Held(monkeypatch)
        await held.appended(GROUP_RECORDS + 1)

        def refuse(record: object) -> None:
            raise StorageError("journal", expected="to write it", found="no room")

        held.archive.append = refuse
        await held.end_sync()
        with pytest.raises(StorageError, match="no room"):
            await held.appended(1)
        with pytest.raises(StorageError, match="no room"):
            await held.commits.finish()

    in_virtual_time(go())
