"""The columnar copy of a journal, made of columns that are at hand while the journal is written.

What is written here is what `parquet_copy` makes of the sealed journal: the same columns in the same order. Few
records get no copy; of many the columns are on the disk, in the cache, and not in memory.
"""

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import polars as pl

from affidavit.archive.disk import new_path, storage_errors
from affidavit.archive.parquet_copy import ROW_GROUP, WORTH_A_COPY, copy_of, place_copy
from affidavit.archive.seal import Seal
from affidavit.archive.study_directory import StudyDirectory
from affidavit.archive.user_cache import cache_directory
from affidavit.archive.work_behind import WorkBehind


class CopyWriter:
    """Columns of records, in the order of the journal."""

    def __init__(self) -> None:
        self._cache = cache_directory()
        self._folder: Path | None = None
        self._waiting: list[pl.DataFrame] = []
        self._rows, self._parts = 0, 0
        self._behind = WorkBehind()

    def add(self, frame: pl.DataFrame) -> None:
        """Some records more; whatever goes wrong with a copy costs nothing but time."""
        if self._cache is None:
            return
        self._waiting.append(frame)
        self._rows += len(frame)
        if sum(map(len, self._waiting)) >= WORTH_A_COPY:
            with suppress(OSError):
                self._spill(self._cache)
                return
            self.drop()

    def _spill(self, cache: Path) -> None:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix=".", dir=cache))
        self._parts += 1
        part, frames = self._folder / f"{self._parts:06}.arrow", self._waiting
        self._waiting = []
        self._behind.do(lambda: pl.concat(frames).write_ipc(part, compression="lz4"))

    def keep(self, directory: StudyDirectory, seal: Seal) -> bool:
        """Have the copy of a journal that was sealed; whether there is one."""
        copy = copy_of(directory, seal)
        try:
            if copy is None or self._cache is None or self._rows < WORTH_A_COPY or self._rows != seal.records:
                return False
            if self._waiting:
                self._spill(self._cache)
            self._behind.wait()
            with storage_errors(str(copy)), new_path(copy) as partial:
                frames = pl.scan_ipc(sorted((self._folder or copy).glob("*.arrow")), glob=False)
                frames.sink_parquet(partial, compression="lz4", row_group_size=ROW_GROUP)
            place_copy(copy)
            return True
        finally:
            self.drop()

    def drop(self) -> None:
        """Take away what was written for the copy."""
        self._behind.end()
        folder, self._folder, self._cache, self._waiting = self._folder, None, None, []
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
