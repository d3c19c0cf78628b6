"""The columnar copy of a journal, made of columns that are at hand while the journal is written.

What is written here is what `parquet_copy` makes of the sealed journal: the same columns in the same order, as far
as they are given, the others being null. Few records get no copy; of many the columns go to the disk, in the
cache, as they come, and are not in memory.
"""

import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from affidavit.archive.copy_parts import CopyPart, place_parts
from affidavit.archive.parquet_copy import WORTH_A_COPY, copy_of
from affidavit.archive.seal import Seal, file_sha256
from affidavit.archive.study_directory import StudyDirectory
from affidavit.archive.user_cache import cache_directory, make_room

if TYPE_CHECKING:
    import polars as pl

    from affidavit.archive.parquet_file import ParquetFile


class CopyWriter:
    """Columns of records, in the order of the journal: at hand, or in files already."""

    def __init__(self) -> None:
        self._cache = cache_directory()
        self._name = secrets.token_hex(8)
        self._waiting: list[pl.DataFrame] = []
        self._rows = 0
        self._parts: list[CopyPart] = []
        self._file: ParquetFile | None = None
        self._rows_before = 0
        """Of the file that is being written: rows before it."""

    def part_path(self, number: int) -> Path | None:
        """Where a part may be written that is added later; None if there is no copy."""
        return None if self._cache is None else self._cache / f".{self._name}-{number}.partial"

    def add_part(self, part: CopyPart | None) -> None:
        """Some records more, in a file of its own; None if it could not be written."""
        if self._cache is None:
            return
        if part is None or not self._end_file():
            self.drop()
            return
        self._parts.append(part)
        self._rows += part.rows

    def add(self, frame: "pl.DataFrame") -> None:
        """Some records more; whatever goes wrong with a copy costs nothing but time."""
        if self._cache is None:
            return
        self._waiting.append(frame)
        self._rows += len(frame)
        if self._rows >= WORTH_A_COPY and not self._written():
            self.drop()

    def _written(self) -> bool:
        """Whether what has waited is written, or will be."""
        from affidavit.archive.parquet_file import ParquetFile  # noqa: PLC0415 - it brings Polars

        waiting, self._waiting = self._waiting, []
        if self._file is None and waiting and self._cache is not None:
            self._rows_before = sum(part.rows for part in self._parts)
            path = self._cache / f".{self._name}.{len(self._parts)}.partial"
            self._file = ParquetFile(path, dict(waiting[0].schema))
        return self._file is None or all(map(self._file.takes, waiting))

    def _end_file(self) -> bool:
        """Whether columns that were at hand are a part by now, or there are none."""
        if not self._written():
            return False
        if self._file is None:
            return True
        if not self._file.ended():
            return False
        path = self._file.path
        self._parts.append(CopyPart(path, self._rows - self._rows_before, file_sha256(path)))
        self._file = None
        return True

    def keep(self, directory: StudyDirectory, seal: Seal) -> bool:
        """Have the copy of a journal that was sealed; whether there is one."""
        try:
            if self._cache is None or self._rows != seal.records or self._rows < WORTH_A_COPY:
                return False
            copy = copy_of(directory, seal)
            if copy is None or not self._end_file():
                return False
            place_parts(copy, self._parts)
            make_room(copy.parent)
            return True
        finally:
            self.drop()

    def drop(self) -> None:
        """Take away what was written for the copy; nobody writes parts of it any more."""
        file, self._file, cache, self._cache, self._waiting = self._file, None, self._cache, None, []
        if file is not None:
            file.drop()
        if cache is not None:
            for path in cache.glob(f".{self._name}*.partial"):
                with suppress(OSError):
                    path.unlink()
