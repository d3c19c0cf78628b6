"""The segments of a journal: files of checked lines that only ever grow, and where a torn one ends.

    records/000001.jsonl    one line per response, judgement or failure, each with its number and checksum

All lines of a group are on the disk before the first line of the next is written, so whatever a crash leaves
behind the last synced group is one torn tail. Everything else that is not as it was written is corruption, and
refused with file and line.

`group` is the number of the first record of the group, which is all it takes to tell the two apart: a whole line
whose group began after the first missing record proves that the missing one had been synced.
"""

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from affidavit.archive.checked_lines import LONGEST_LINE, lines_of
from affidavit.archive.corruption import corrupt
from affidavit.archive.disk import storage_errors
from affidavit.archive.layout import RECORDS
from affidavit.archive.line_shapes import NotARecordError
from affidavit.archive.record import Placed, Record
from affidavit.archive.record_lines import decode
from affidavit.archive.regular_files import open_to_read


@dataclass(frozen=True, slots=True)
class Segment:
    """One file of the journal."""

    path: Path
    number: int


def segments(directory: Path) -> list[Segment]:
    """The files of the journal in their order; a gap in their numbers is corruption."""
    folder = directory / RECORDS
    found = sorted(path for path in folder.glob("*.jsonl")) if folder.is_dir() else []
    for number, path in enumerate(found, 1):
        if path.name != f"{number:06}.jsonl":
            raise corrupt(str(path), f"the segment {number:06}.jsonl", "another name")
    return [Segment(path, number) for number, path in enumerate(found, 1)]


class Place(msgspec.Struct, frozen=True):
    """Where a line stands: the number of its segment, and the bytes from which and up to which it goes."""

    segment: int
    start: int
    end: int


class Line(msgspec.Struct, frozen=True):
    """One whole line of a segment."""

    segment: Segment
    number: int
    end: int
    """The bytes of the segment up to which it goes."""
    placed: Placed
    content: bytes

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place(self.segment.number, self.end - len(self.content), self.end)

    @property
    def where(self) -> str:
        """File and line, for a message."""
        return f"{self.segment.path}:{self.number}"

    @property
    def record(self) -> Record:
        """The record that stands on the line."""
        return self.placed.record


class Scanned(NamedTuple):
    """How far a segment is whole."""

    following: int
    """The number of the record that would come next."""
    end: int
    """The bytes up to which it goes."""


def scan(segment: Segment, *, first: int, sealed: bool) -> Generator[Line, None, Scanned]:
    """Every line of a segment; ends before a torn tail, if the segment may have one, and then says how far."""
    expected, end = first, 0
    path = segment.path
    with storage_errors(str(path)), open_to_read(path) as stream:
        for number, content in enumerate(lines_of(stream), 1):
            try:
                placed = decode(content)
            except NotARecordError as error:
                raise corrupt(f"{path}:{number}", error.expected, error.found) from error
            if placed is None or placed.seq != expected:
                # A crash leaves parts of lines and holes, but never a whole line in the place of another.
                if sealed or placed is not None or _later_group_follows(stream, expected):
                    found = _seen(content, placed)
                    raise corrupt(f"{path}:{number}", f"record {expected} as it was written", found)
                break
            end += len(content)
            expected += 1
            yield Line(segment, number, end, placed, content)
    return Scanned(expected, end)


def _seen(content: bytes, placed: Placed | None) -> str:
    if len(content) > LONGEST_LINE:
        return f"a line of more than {LONGEST_LINE:,} bytes"
    return "a line that does not fit its checksum" if placed is None else f"record {placed.seq}"


def _later_group_follows(stream: BinaryIO, missing: int) -> bool:
    return any(_proves(content, missing) for content in lines_of(stream))


def _proves(content: bytes, missing: int) -> bool:
    """Whether a line proves that the missing record had been synced: it is whole, and its group began after it."""
    try:
        placed = decode(content)
    except NotARecordError:
        return True
    return placed is not None and (placed.group > missing or placed.seq < missing)
