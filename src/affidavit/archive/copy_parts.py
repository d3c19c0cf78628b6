"""The files of a columnar copy: one, or several that follow one another, each with its own digest.

Whoever makes columns in several processes has a file from each. The first has the name of the copy, the others are
numbered after it. What stands beside the copy says what the digests are: files that it does not name are nobody's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from affidavit.archive.checked_lines import checked_fields, checked_line, only_line_of
from affidavit.archive.disk import Disk, storage_errors
from affidavit.archive.regular_files import open_to_read
from affidavit.archive.seal import file_sha256
from affidavit.errors import StorageError

ROW_GROUP = 20_000
"""Rows that are read together later."""
_GROUP_BYTES = 4 << 20
"""What such rows hold at most, about: a group is in memory, more than once, until it is written."""


def rows_together(rows: int, size: int) -> int:
    """How many rows go together of so many, which hold so many bytes.

    >>> rows_together(100_000, 10_000_000), rows_together(100_000, 1_000_000_000), rows_together(0, 0)
    (20000, 419, 20000)
    """
    return max(1, min(ROW_GROUP, rows * _GROUP_BYTES // size)) if size else ROW_GROUP


@dataclass(frozen=True)
class CopyPart:
    """Columns of some records, in a file."""

    path: Path
    rows: int
    sha256: str


def about(copy: Path) -> Path:
    """What says what the digests are."""
    return copy.with_suffix(".json")


def part_path(copy: Path, place: int) -> Path:
    """Where a part of a copy is.

    >>> [part_path(Path("c.parquet"), place).name for place in (0, 1)]
    ['c.parquet', 'c.1.parquet']
    """
    return copy.with_suffix(f".{place}.parquet") if place else copy


def place_parts(copy: Path, parts: Sequence[CopyPart]) -> None:
    """Give parts their names, and then write down what their digests are."""
    with storage_errors(str(copy)):
        for place, part in enumerate(parts):
            part.path.replace(part_path(copy, place))
    digests = [part.sha256 for part in parts]
    said = digests[0] if len(digests) == 1 else digests
    Disk().place(about(copy), checked_line({"copy_sha256": said}))


def whole_parts(copy: Path) -> list[Path] | None:
    """The files of a copy; None unless all are there as they were written."""
    try:
        with open_to_read(about(copy)) as stream:
            said = (checked_fields(only_line_of(stream)) or {}).get("copy_sha256")
        digests = said if isinstance(said, list) else [said]
        paths = [part_path(copy, place) for place in range(len(digests))]
        return paths if paths and list(map(file_sha256, paths)) == digests else None
    except (OSError, StorageError):
        return None
