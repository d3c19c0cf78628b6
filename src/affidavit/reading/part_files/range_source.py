"""The lines of a range: a source like any other, that begins and ends within a file."""

import io
from functools import partial
from os import SEEK_CUR
from pathlib import Path

from affidavit.reading import source as limits
from affidavit.reading.json_lines import JSON_LINES
from affidavit.reading.source import Source, Stream, reading_on, too_long


class _RangeOfFile(io.RawIOBase):
    """The bytes of a file from one place to another, and nothing else."""

    def __init__(self, path: Path, start: int, stop: int) -> None:
        super().__init__()
        self._file = path.open("rb", buffering=0)
        self._file.seek(start)
        self._left = stop - start

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        count = self._file.readinto(memoryview(buffer)[: self._left])
        self._left -= count
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def lines_between(name: str, path: Path, start: int, stop: int) -> Source:
    """The lines of a file that begin at these bytes or between them; a line belongs to where it begins.

    Lines are counted from the beginning of the range: `name (from byte 67,108,864)` says so.
    """
    with reading_on(name), path.open("rb") as stream:
        first, last = (_line_start(stream, place, name) for place in (start, stop))
    told = name if start == 0 else f"{name} (from byte {first:,})"
    return Source(told, partial(_opened, path, told, first, max(first, last)), format=JSON_LINES)


def _opened(path: Path, name: str, start: int, stop: int) -> Stream:
    with reading_on(name):
        return Stream(_RangeOfFile(path, start, stop), name=name)


def _line_start(stream: io.BufferedReader, place: int, name: str) -> int:
    """Where the first line begins that does not begin before a place."""
    if place == 0:
        return 0
    stream.seek(place - 1)
    while line := stream.readline(limits.LONGEST_ROW):
        if line.endswith(b"\n"):
            break
        if len(line) == limits.LONGEST_ROW:
            raise too_long(name)
    return stream.seek(0, SEEK_CUR)
