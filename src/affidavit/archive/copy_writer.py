"""The columnar copy of a journal, made of columns that are at hand while the journal is written.

What is written here is what `parquet_copy` makes of the sealed journal: the same columns in the same order, as far
as they are given, the others being null. Few records get no copy; of many the columns go to the disk, in the
cache, as they come, and are not in memory.
"""

import secrets
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Full, Queue

import polars as pl
from polars.io.plugins import register_io_source

from affidavit.archive.disk import storage_errors
from affidavit.archive.parquet_copy import ROW_GROUP, WORTH_A_COPY, copy_of, place_copy
from affidavit.archive.seal import Seal
from affidavit.archive.study_directory import StudyDirectory
from affidavit.archive.user_cache import cache_directory


class CopyWriter:
    """Columns of records, in the order of the journal."""

    def __init__(self) -> None:
        self._cache = cache_directory()
        self._waiting: list[pl.DataFrame] = []
        self._rows = 0
        self._file: _ParquetFile | None = None

    def add(self, frame: pl.DataFrame) -> None:
        """Some records more; whatever goes wrong with a copy costs nothing but time."""
        if self._cache is None:
            return
        self._waiting.append(frame)
        self._rows += len(frame)
        if self._rows < WORTH_A_COPY:
            return
        if self._file is None:
            self._file = _ParquetFile(self._cache / f".{secrets.token_hex(8)}.partial", dict(frame.schema))
        waiting, self._waiting = self._waiting, []
        if not all(map(self._file.takes, waiting)):
            self.drop()

    def keep(self, directory: StudyDirectory, seal: Seal) -> bool:
        """Have the copy of a journal that was sealed; whether there is one."""
        copy = copy_of(directory, seal)
        try:
            if copy is None or self._file is None or self._rows != seal.records or not self._file.ended():
                return False
            with storage_errors(str(copy)):
                self._file.path.replace(copy)
            place_copy(copy)
            return True
        finally:
            self.drop()

    def drop(self) -> None:
        """Take away what was written for the copy."""
        file, self._file, self._cache, self._waiting = self._file, None, None, []
        if file is not None:
            file.drop()


class _ParquetFile:
    """A file of columns that a thread writes while the next are made."""

    def __init__(self, path: Path, schema: dict[str, pl.DataType]) -> None:
        self.path = path
        self._schema = schema
        self._frames: Queue[pl.DataFrame | None] = Queue(1)
        self._thread = ThreadPoolExecutor(1)
        self._written: Future[None] = self._thread.submit(self._write)

    def _write(self) -> None:
        columns = register_io_source(lambda *_: self._next_frames(), schema=self._schema)
        columns.sink_parquet(self.path, compression="lz4", statistics=False, row_group_size=ROW_GROUP)

    def _next_frames(self) -> Iterator[pl.DataFrame]:
        while (frame := self._frames.get()) is not None:
            yield frame

    def takes(self, frame: pl.DataFrame | None) -> bool:
        """Have a frame written next, None being the end; False if nothing is written any more."""
        while not self._written.done():
            with suppress(Full):
                self._frames.put(frame, timeout=0.1)
                return True
        return False

    def ended(self) -> bool:
        """Whether everything is written, and well."""
        return self.takes(None) and self._written.exception() is None

    def drop(self) -> None:
        """Let go of the thread, and take away what was written."""
        self.takes(None)
        self._thread.shutdown(wait=True)
        self.path.unlink(missing_ok=True)
