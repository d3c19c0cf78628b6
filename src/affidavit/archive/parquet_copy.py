"""`records.parquet`: the columnar copy of a sealed journal, used for counting as long as its digests fit.

Large studies get one when they are sealed; it is made in a process of its own, so that a run stays small in
memory. Of small ones the journal itself is read, which takes no longer. `records.parquet.json` says which seal the
copy is of, and what its own digest is: a copy that does not fit is not used.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from affidavit.archive.checked_lines import checked_fields, checked_line
from affidavit.archive.disk import Disk, new_path, storage_errors
from affidavit.archive.record import Failed, Judgement, Label, Record, Response
from affidavit.archive.seal import Seal, file_sha256
from affidavit.archive.study_directory import StudyDirectory

if TYPE_CHECKING:
    import polars as pl

COPY, ABOUT = "records.parquet", "records.parquet.json"
COLUMNS = 3
"""Counts changes of which columns there are: a copy of other columns does not fit."""
WORTH_A_COPY = 20_000
"""Records; fewer are read from the journal within a second."""
_AT_ONCE, _ROW_GROUP = 4_000, 20_000
"""Records that are Python objects at the same time; rows that are read together later."""


Watch = Callable[[Record], None]


def keep_copy(directory: StudyDirectory, seal: Seal) -> None:
    """Make a copy of a large journal that was just sealed; whatever goes wrong with it costs nothing but time."""
    if seal.records >= WORTH_A_COPY:
        # Without the working directory on its path: a file there must not pass for a module of ours.
        subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-P", "-m", "affidavit.archive.parquet_copy", str(directory.path)], check=False
        )


def records_frame(directory: StudyDirectory) -> "pl.LazyFrame":
    """The records of a study as columns, one for each key: from the copy if it fits, else from the journal."""
    copied = copied_frame(directory)
    return journal_frame(directory) if copied is None else copied


def copied_frame(directory: StudyDirectory) -> "pl.LazyFrame | None":
    """The columns as they were copied; None if there is no copy that fits."""
    import polars as pl  # noqa: PLC0415 - heavy, and a run does without

    if not _fits(directory):
        return None
    from affidavit.archive.record_columns import RecordColumns  # noqa: PLC0415 - it brings Polars

    copied = pl.scan_parquet(directory.path / COPY, glob=False)
    wanted = RecordColumns(directory.parts()).schema
    return copied if wanted.keys() <= set(copied.collect_schema().names()) else None


def journal_frame(directory: StudyDirectory, watch: Watch | None = None) -> "pl.LazyFrame":
    """The columns from the journal; `watch` sees every record on the way, so that it is walked once."""
    import polars as pl  # noqa: PLC0415 - heavy, and a run does without

    read = _Journal(directory, watch)
    frames = list(read.frames())
    return read.latest(pl.concat(frames).lazy())


def _fits(directory: StudyDirectory) -> bool:
    about, copy = directory.path / ABOUT, directory.path / COPY
    seal = directory.seal()
    if seal is None or not about.is_file() or not copy.is_file():
        return False
    if not directory.is_sealed_by(seal):
        return False  # a later run wrote more, and no seal is over it yet
    with storage_errors(str(about)):
        said = checked_fields(about.read_bytes())
    if said is None or said["root_sha256"] != seal.root_sha256 or said.get("columns") != COLUMNS:
        return False
    return said["sha256"] == file_sha256(copy)


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
        yield columns.frame(islice(rows, _AT_ONCE))
        while batch := list(islice(rows, _AT_ONCE)):
            yield columns.frame(batch)

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
    """Write the copy, and then what it is a copy of."""
    import polars as pl  # noqa: PLC0415 - heavy, and only this process needs it

    seal, copy = directory.seal(), directory.path / COPY
    if seal is None:
        return
    parts, read = directory.path / f".{COPY}.parts", _Journal(directory)
    with storage_errors(str(copy)):
        parts.mkdir(exist_ok=True)
        try:
            for number, frame in enumerate(read.frames()):
                frame.write_ipc(parts / f"{number:06}.arrow", compression="lz4")
            with new_path(copy) as partial:
                latest = read.latest(pl.scan_ipc(sorted(parts.glob("*.arrow")), glob=False))
                latest.sink_parquet(partial, compression="zstd", row_group_size=_ROW_GROUP)
        finally:
            for part in parts.glob("*.arrow"):
                part.unlink()
            parts.rmdir()
        about = {"root_sha256": seal.root_sha256, "sha256": file_sha256(copy), "columns": COLUMNS}
        Disk().place(directory.path / ABOUT, checked_line(about))


if __name__ == "__main__":
    make_copy(StudyDirectory(Path(sys.argv[1])))
