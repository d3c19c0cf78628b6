"""The columnar copy of a sealed journal, used for counting: in the user's own cache, never in a study's directory.

A directory may come from anybody, and a copy in it would be a second truth. Large studies get one when they are
sealed; it is made in a process of its own, so that a run stays small in memory. Of small ones the journal itself
is read, which takes no longer. A copy is found by the digests of the segments that it was made of, once these
were checked; what stands beside it says what its own digest is.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from affidavit.archive.copy_parts import CopyPart, about, place_parts, rows_together, whole_parts
from affidavit.archive.corruption import as_written
from affidavit.archive.disk import storage_errors
from affidavit.archive.layout import RECORDS
from affidavit.archive.record import Failed, Judgement, Label, Record, Response
from affidavit.archive.seal import Seal, file_sha256
from affidavit.archive.study_directory import StudyDirectory
from affidavit.archive.user_cache import cache_directory, make_room, used
from affidavit.archive.versions import FORMAT
from affidavit.json_values import digest

if TYPE_CHECKING:
    import polars as pl

COLUMNS = 5
"""Counts changes of which columns there are: a copy of other columns does not fit."""
WORTH_A_COPY = 20_000
"""Records; fewer are read from the journal within a second."""
_AT_ONCE = 1_000
"""Records that are Python objects at the same time."""


Watch = Callable[[Record], None]


def keep_copy(directory: StudyDirectory, seal: Seal) -> None:
    """Make a copy of a large journal that was just sealed; whatever goes wrong with it costs nothing but time."""
    if seal.records >= WORTH_A_COPY:
        # Without the working directory on its path: a file there must not pass for a module of ours.
        subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-P", "-m", "affidavit.archive.parquet_copy", str(directory.path)],
            check=False,
            # Rows are made one by one: to write them, one thread is as good as many, and takes less memory.
            env={"POLARS_MAX_THREADS": "1", **os.environ},
        )


def records_frame(directory: StudyDirectory) -> "pl.LazyFrame":
    """The records of a study as columns, one for each key: from a copy if there is one, else from the journal."""
    seal = directory.seal()
    checked = seal if seal is not None and not directory.check_seal(seal) else None
    copied = copied_frame(directory, checked)
    return journal_frame(directory) if copied is None else copied


def copied_frame(directory: StudyDirectory, checked: Seal | None) -> "pl.LazyFrame | None":
    """The columns as they were copied of a journal whose seal was checked; None if there is no such copy.

    Columns that are null for all records may be left out of a copy.
    """
    import polars as pl  # noqa: PLC0415 - heavy, and a run does without

    place = None if checked is None else copy_of(directory, checked)
    parts = None if place is None else whole_parts(place)
    if place is None or parts is None:
        return None
    used((*parts, about(place)))
    return pl.scan_parquet(parts, glob=False, schema=_schema(directory), missing_columns="insert")


def copy_of(directory: StudyDirectory, seal: Seal) -> Path | None:
    """Where the copy of a sealed journal is, or would be; None where there is no cache."""
    cache = cache_directory()
    if cache is None:
        return None
    made_of = [COLUMNS, FORMAT, [segment.sha256 for segment in seal.segments], list(_schema(directory))]
    return cache / f"{digest(made_of)}.parquet"


def _schema(directory: StudyDirectory) -> "dict[str, pl.DataType]":
    from affidavit.archive.record_columns import RecordColumns  # noqa: PLC0415 - it brings Polars

    return RecordColumns(directory.parts()).schema


def journal_frame(directory: StudyDirectory, watch: Watch | None = None) -> "pl.LazyFrame":
    """The columns from the journal; `watch` sees every record on the way, so that it is walked once."""
    import polars as pl  # noqa: PLC0415 - heavy, and a run does without

    read = _Journal(directory, watch)
    frames = list(read.frames())
    return read.latest(pl.concat(frames).lazy())


@dataclass
class _Journal:
    """The records of a directory as frames, read once."""

    directory: StudyDirectory
    watch: Watch | None = None
    _superseded: set[int] = field(default_factory=set)
    """The places of failures after which their question was answered, or failed again."""

    def frames(self) -> "Iterator[pl.DataFrame]":
        """All records in batches; at least one batch, if an empty one."""
        from affidavit.archive.record_columns import RecordColumns  # noqa: PLC0415 - it brings Polars

        columns = RecordColumns(self.directory.parts())
        rows = map(columns.row, self._watched())
        batch, where = list(islice(rows, _AT_ONCE)), str(self.directory.path / RECORDS)
        while True:
            with as_written(where, "records whose fields are of their types"):
                frame = columns.frame(batch)
            yield frame
            if not (batch := list(islice(rows, _AT_ONCE))):
                return

    def _watched(self) -> Iterator[Response | Failed | Judgement]:
        failed: dict[str, int] = {}
        place = 0
        for record in self.directory.records():
            if self.watch is not None:
                self.watch(record)
            if isinstance(record, Label):
                continue  # it says something of an output, and is none
            key = record.key
            if (before := failed.pop(key, None)) is not None:
                self._superseded.add(before)
            if isinstance(record, Failed):
                failed[key] = place
            place += 1
            yield record

    def latest(self, frame: "pl.LazyFrame") -> "pl.LazyFrame":
        """The last word on each key, once all frames are read and together: one row for each."""
        import polars as pl  # noqa: PLC0415 - heavy, and a run does without

        if not self._superseded:
            return frame
        gone = pl.Series(sorted(self._superseded), dtype=pl.UInt32)
        return frame.with_row_index("place").filter(~pl.col("place").is_in(gone.implode())).drop("place")


def make_copy(directory: StudyDirectory) -> None:
    """Write the copy of a sealed journal into the cache, and then what its digest is."""
    import polars as pl  # noqa: PLC0415 - heavy, and only this process needs it

    seal = directory.seal()
    copy = None if seal is None or directory.check_seal(seal) else copy_of(directory, seal)
    if copy is None:
        return
    read = _Journal(directory)
    with storage_errors(str(copy)), tempfile.TemporaryDirectory(prefix=".", dir=copy.parent) as folder:
        parts, rows, size = Path(folder), 0, 0
        for number, frame in enumerate(read.frames()):
            rows, size = rows + len(frame), size + int(frame.estimated_size())
            frame.write_ipc(parts / f"{number:06}.arrow", compression="lz4")
        whole = parts / "whole.parquet"
        latest = read.latest(pl.scan_ipc(sorted(parts.glob("*.arrow")), glob=False))
        latest.sink_parquet(whole, compression="zstd", row_group_size=rows_together(rows, size))
        place_parts(copy, [CopyPart(whole, 0, file_sha256(whole))])
    make_room(copy.parent)


if __name__ == "__main__":
    make_copy(StudyDirectory(Path(sys.argv[1])))
