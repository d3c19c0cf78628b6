"""`records.parquet`: the columnar copy of a sealed journal, used for counting as long as its digests fit.

Large studies get one when they are sealed; it is made in a process of its own, so that a run stays small in
memory. Of small ones the journal itself is read, which takes no longer. `records.parquet.json` says which seal the
copy is of, and what its own digest is: a copy that does not fit is not used.
"""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from affidavit.archive.disk import Disk, new_path, told
from affidavit.archive.journal import Seal, file_sha256, journal, read_seal, segments
from affidavit.archive.record import Kind, checked_line, decode
from affidavit.json_values import Fields

if TYPE_CHECKING:
    import polars as pl

COPY, ABOUT = "records.parquet", "records.parquet.json"
WORTH_A_COPY = 20_000
"""Records; fewer are read from the journal within a second."""
_AT_ONCE, _ROW_GROUP = 4_000, 20_000
"""Records that are Python objects at the same time; rows that are read together later."""


def keep_copy(directory: Path, seal: Seal) -> None:
    """Make a copy of a large journal that was just sealed; whatever goes wrong with it costs nothing but time."""
    if sum(int(str(each["records"])) for each in seal.segments) >= WORTH_A_COPY:
        # Without the working directory on its path: a file there must not pass for a module of ours.
        subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-P", "-m", "affidavit.archive.parquet_copy", str(directory)], check=False
        )


def records_frame(directory: Path) -> "pl.LazyFrame":
    """The records of a study as columns, one for each key: from the copy if it fits, else from the journal."""
    import polars as pl  # noqa: PLC0415 - heavy, and a run does without

    if _fits(directory):
        return pl.scan_parquet(directory / COPY, glob=False)
    read = _Journal(directory)
    frames = list(read.frames())
    return read.standing(pl.concat(frames).lazy())


def _fits(directory: Path) -> bool:
    about, seal = directory / ABOUT, read_seal(directory)
    if seal is None or not about.is_file() or not (directory / COPY).is_file():
        return False
    if len(seal.segments) != len(segments(directory)):
        return False  # a later run wrote more, and no seal is over it yet
    with told(str(about)):
        said = decode(about.read_bytes())
    if said is None or said["root_sha256"] != seal.root_sha256:
        return False
    return said["sha256"] == file_sha256(directory / COPY)


@dataclass
class _Journal:
    """The records of a directory as frames, read once."""

    directory: Path
    _superseded: set[int] = field(default_factory=set)
    """The places of failures after which their question was answered, or failed again."""

    def frames(self) -> "Iterator[pl.DataFrame]":
        """All records in batches; at least one batch, if an empty one."""
        from affidavit.archive.record_columns import frame_of, row_of  # noqa: PLC0415 - it brings Polars

        rows = map(row_of, self._watched())
        yield frame_of(islice(rows, _AT_ONCE))
        while batch := list(islice(rows, _AT_ONCE)):
            yield frame_of(batch)

    def _watched(self) -> Iterator[Fields]:
        failed: dict[str, int] = {}
        for place, record in enumerate(journal(self.directory)):
            key = str(record["key"])
            if (before := failed.pop(key, None)) is not None:
                self._superseded.add(before)
            if record["kind"] == Kind.FAILURE:
                failed[key] = place
            yield record

    def standing(self, frame: "pl.LazyFrame") -> "pl.LazyFrame":
        """What stands of the frames, once all of them are read and together: one row for each key."""
        import polars as pl  # noqa: PLC0415 - heavy, and a run does without

        if not self._superseded:
            return frame
        gone = pl.Series(sorted(self._superseded), dtype=pl.UInt32)
        return frame.with_row_index("place").filter(~pl.col("place").is_in(gone.implode())).drop("place")


def make_copy(directory: Path) -> None:
    """Write the copy, and then what it is a copy of."""
    import polars as pl  # noqa: PLC0415 - heavy, and only this process needs it

    seal = read_seal(directory)
    if seal is None:
        return
    parts, read = directory / f".{COPY}.parts", _Journal(directory)
    with told(str(directory / COPY)):
        parts.mkdir(exist_ok=True)
        try:
            for number, frame in enumerate(read.frames()):
                frame.write_ipc(parts / f"{number:06}.arrow", compression="lz4")
            with new_path(directory / COPY) as partial:
                standing = read.standing(pl.scan_ipc(sorted(parts.glob("*.arrow")), glob=False))
                standing.sink_parquet(partial, compression="zstd", row_group_size=_ROW_GROUP)
        finally:
            for part in parts.glob("*.arrow"):
                part.unlink()
            parts.rmdir()
        about = {"root_sha256": seal.root_sha256, "sha256": file_sha256(directory / COPY)}
        Disk().place(directory / ABOUT, checked_line(about))


if __name__ == "__main__":
    make_copy(Path(sys.argv[1]))
