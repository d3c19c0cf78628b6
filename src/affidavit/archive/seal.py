"""The seal of a study: the digests of all its files, the counts, and one digest over what all records say."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import msgspec

from affidavit.archive.checked_lines import checked_fields, is_whole
from affidavit.archive.disk import storage_errors
from affidavit.archive.record import Label, Placed, content_digest_of
from affidavit.archive.segments import RECORDS, corrupt, scan, segments

SEAL = "seal.json"
_PIECE = 1 << 20


class SealedSegment(msgspec.Struct, frozen=True):
    """A segment that is closed for good."""

    name: str
    records: int
    sha256: str


class Seal(msgspec.Struct, frozen=True):
    """What was sealed: the files with their digests, the counts, and the digest over all records."""

    segments: tuple[SealedSegment, ...]
    files: dict[str, str]
    counts: Mapping[str, object]
    root_sha256: str

    @property
    def records(self) -> int:
        """How many records it is over."""
        return sum(segment.records for segment in self.segments)


def read_seal(directory: Path) -> Seal | None:
    """The seal; None if there is none yet."""
    path = directory / SEAL
    with storage_errors(str(path)):
        if not path.exists():
            return None
        fields = checked_fields(path.read_bytes())
    if fields is None:
        raise corrupt(f"{path}:1", "the seal as it was written", "a line that does not fit its checksum")
    try:
        return msgspec.convert(fields, Seal)
    except msgspec.ValidationError as error:
        raise corrupt(f"{path}:1", "the fields of a seal", str(error)) from error


def file_sha256(path: Path) -> str:
    """The digest of a file."""
    with storage_errors(str(path)), path.open("rb") as stream:
        total = sha256()
        while piece := stream.read(_PIECE):
            total.update(piece)
    return total.hexdigest()


def check_seal(directory: Path, seal: Seal) -> None:
    """Refuse the directory unless every sealed file is, to the last bit, what was sealed; names file and line."""
    for name, expected in seal.files.items():
        path = directory / name
        if not path.is_file():
            raise corrupt(str(path), "the file that was sealed", "no such file")
        if file_sha256(path) != expected:
            raise corrupt(f"{path}:{bad_line(path)}", "the line as it was sealed", "another one")
    present = segments(directory)
    if len(present) < len(seal.segments):
        raise corrupt(str(directory / RECORDS), f"{len(seal.segments)} segments", str(len(present)))
    first = 1
    for segment, sealed in zip(present, seal.segments, strict=False):
        if file_sha256(segment.path) != sealed.sha256:
            count = sum(1 for _ in scan(segment, first=first, sealed=True))
            raise corrupt(f"{segment.path}:{count + 1}", f"{sealed.records} sealed records", "other lines")
        first += sealed.records


def bad_line(path: Path) -> int:
    """The first line of a file of checked lines that is not whole; if all are, the one after the last."""
    number = 0
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not is_whole(line):
                return number
    return number + 1


class Root:
    """The digest over what all records say, in the order of their keys: the response, or else the last failure.

    It holds 48 bytes per key, in one bucket for each first byte, so that a large study stays small in memory. Half
    of a key is enough to order by; all of it is part of what the record says.
    """

    def __init__(self) -> None:
        self._buckets = [bytearray() for _ in range(256)]

    def add(self, key: str, content: bytes) -> None:
        """What a record says; it is the only one of its key, or a later one than those before."""
        entry = bytes.fromhex(key[:32]) + content
        self._buckets[entry[0]] += entry

    def add_line(self, line: bytes, placed: Placed) -> None:
        """What the record on a line says; labels have no part in this digest."""
        if not isinstance(placed.record, Label):
            self.add(placed.record.key, content_digest_of(line, placed))

    def sha256(self) -> str:
        """The digest."""
        total = sha256()
        for bucket in self._buckets:
            last = {
                bytes(bucket[at : at + 16]): bytes(bucket[at + 16 : at + 48]) for at in range(0, len(bucket), 48)
            }
            for key in sorted(last):
                total.update(last[key])
        return total.hexdigest()
