"""The first segment of a journal, written aside: all of its records are there at once, or none is.

Whoever has all records at hand from the start does not know what to freeze before the last of them was read. So
they are drafted first, in one group; then what they are is frozen, and then they take their place and are sealed.
A kill leaves a draft, which is nobody's and is written anew.
"""

from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from affidavit.archive.disk import WRITTEN_AT_ONCE, Disk, storage_errors
from affidavit.archive.layout import RECORDS
from affidavit.archive.record import Failed, Response, encoded
from affidavit.archive.seal import Root, Seal, SealedSegment, write_seal
from affidavit.archive.segments import segments
from affidavit.archive.work_behind import WorkBehind

_NAME = f"{1:06}.jsonl"
_AT_ONCE = 1 << 20
"""Bytes that are written together."""
_WAITING = 3
"""Pieces that wait to be written: while the disk is waited for, others are made."""
_SYNCED_AT_ONCE = 64 << 20
"""Bytes after which the disk is waited for, by the thread that writes: at the end little is left to wait for."""


class DraftedJournal:
    """Records that stand in no journal yet; whoever drafts holds the directory's lock."""

    def __init__(self, directory: Path, root: Root, disk: Disk) -> None:
        """`root` gets what the records say."""
        self._directory = directory
        self._disk = disk
        self._path = directory / f".{RECORDS}.partial"
        self.root = root
        self.records = 0
        self._content = sha256()
        self._behind = WorkBehind(waiting=_WAITING)
        self._waiting: list[bytes | memoryview] = []
        self._size = 0
        self._unsynced = 0
        with storage_errors(str(directory)):
            disk.remove(self._path)
            self._file: int | None = disk.create(self._path)

    def append(self, record: Response | Failed) -> None:
        """Draft one record more."""
        line, content = encoded(record, seq=self.records + 1, group=1)
        self.root.add(record.key, content)
        self.append_lines(line, 1)

    def append_lines(self, lines: bytes | memoryview, records: int) -> None:
        """Draft lines that are ready; their part in the root digest is added by whoever made them."""
        self.records += records
        self._waiting.append(lines)
        self._size += len(lines)
        if self._size >= _AT_ONCE:
            self._write()

    def _write(self) -> None:
        together = self._waiting[0] if len(self._waiting) == 1 else b"".join(self._waiting)
        self._behind.do(self._put, together)
        self._waiting, self._size = [], 0

    def _put(self, content: bytes | memoryview) -> None:
        content = memoryview(content)
        with storage_errors(str(self._directory)):
            assert self._file is not None  # noqa: S101 - nobody drafts after the end
            for start in range(0, len(content), WRITTEN_AT_ONCE):
                # What was digested a moment ago is written sooner: the processor still has it at hand.
                piece = content[start : start + WRITTEN_AT_ONCE]
                self._content.update(piece)
                self._disk.write(self._file, piece)
            self._unsynced += len(content)
            if self._unsynced >= _SYNCED_AT_ONCE:
                self._disk.sync(self._file)
                self._unsynced = 0

    def drop(self) -> None:
        """Take the draft away."""
        self._behind.end()
        self._close()
        with suppress(OSError):
            self._disk.remove(self._path)

    def keep(self, counts: Mapping[str, object]) -> Seal:
        """Give the records their place, and put a seal over everything; what they are was frozen before."""
        self._write()
        self._behind.wait()
        self._behind.end()
        with storage_errors(str(self._directory)):
            if self._file is not None:
                self._disk.sync(self._file)
            self._close()
            folder = self._directory / RECORDS
            self._disk.make_directory(folder)
            if segments(self._directory):
                raise ValueError("a draft is the first segment of its journal")
            self._disk.replace(self._path, folder / _NAME)
            self._disk.sync_directory(folder)
            self._disk.sync_directory(self._directory)
        segment = SealedSegment(_NAME, self.records, self._content.hexdigest())
        return write_seal(self._directory, (segment,), counts, self.root, self._disk)

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            self._disk.close(file)
