"""The journal of a study: segments of checked lines that only ever grow, and a seal over them.

    records/000001.jsonl    one line per response, judgement or failure, each with its number and checksum
    seal.json               the digests of all segments, the counts, and one digest over what all records say

A record is *finished* when its group is synced. All lines of a group are on the disk before the first line of the
next is written, so whatever a crash leaves behind the last synced group is one torn tail: it is cut and kept
aside. Everything else that is not as it was written is corruption, and refused with file and line.

`group` is the number of the first record of the group, which is all it takes to tell the two apart: a whole line
whose group began after the first missing record proves that the missing one had been synced.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

import msgspec

from affidavit.archive.checked_lines import checked_fields, checked_line, is_whole
from affidavit.archive.disk import Disk, storage_errors
from affidavit.archive.record import (
    Label,
    NotARecordError,
    Placed,
    Record,
    content_digest_of,
    decode,
    encode,
)
from affidavit.errors import StorageError

SEAL = "seal.json"
RECORDS = "records"
GROUP_RECORDS = 64
GROUP_SECONDS = 0.05

_REST = 1 << 20
_OTHER_FILES = ("study.json", "items.jsonl")
"""What is sealed beside the segments."""


# --- reading ---


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


def corrupt(where: str, expected: str, found: str) -> StorageError:
    """What is on the disk is not what was written."""
    hint = "The archive was changed after it was written. Restore it from a copy."
    return StorageError(where, expected=expected, found=found, hint=hint)


class Place(msgspec.Struct, frozen=True):
    """Where a line stands: the number of its segment, and the bytes from which and up to which it goes."""

    segment: int
    start: int
    end: int


class Line(msgspec.Struct, frozen=True):
    """One whole line of a segment."""

    segment: Segment
    number: int
    place: Place
    placed: Placed
    content: bytes

    @property
    def where(self) -> str:
        """File and line, for a message."""
        return f"{self.segment.path}:{self.number}"

    @property
    def record(self) -> Record:
        """The record that stands on the line."""
        return self.placed.record


def scan(segment: Segment, *, first: int, sealed: bool) -> Iterator[Line]:
    """Every line of a segment; ends before a torn tail, if the segment may have one."""
    expected, end = first, 0
    path = segment.path
    with storage_errors(str(path)), path.open("rb") as stream:
        for number, content in enumerate(stream, 1):
            try:
                placed = decode(content)
            except NotARecordError as error:
                raise corrupt(f"{path}:{number}", error.expected, error.found) from error
            if placed is None or placed.seq != expected:
                # A crash leaves parts of lines and holes, but never a whole line in the place of another.
                if sealed or placed is not None or _later_group_follows(stream, expected):
                    raise corrupt(f"{path}:{number}", f"record {expected} as it was written", _seen(placed))
                return
            start, end = end, end + len(content)
            expected += 1
            yield Line(segment, number, Place(segment.number, start, end), placed, content)


def _seen(placed: Placed | None) -> str:
    return "a line that does not fit its checksum" if placed is None else f"record {placed.seq}"


def _later_group_follows(stream: BinaryIO, missing: int) -> bool:
    return any(_proves(content, missing) for content in stream)


def _proves(content: bytes, missing: int) -> bool:
    """Whether a line proves that the missing record had been synced: it is whole, and its group began after it."""
    try:
        placed = decode(content)
    except NotARecordError:
        return True
    return placed is not None and (placed.group > missing or placed.seq < missing)


class Walk:
    """One walk over the journal, as far as it is whole; afterwards it is known whether anything was left over."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.torn = False
        """Whether the open segment ends in a torn tail, which the next run will cut."""

    def __iter__(self) -> Iterator[Line]:
        seal, first = read_seal(self._directory), 1
        sealed = 0 if seal is None else len(seal.segments)
        for segment in segments(self._directory):
            end = 0
            for line in scan(segment, first=first, sealed=segment.number <= sealed):
                first, end = first + 1, line.place.end
                yield line
            self.torn = self.torn or segment.path.stat().st_size > end


# --- the seal ---


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
        while piece := stream.read(_REST):
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


# --- what is known about every key ---


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


# --- writing ---


@dataclass
class Archive:
    """The journal of a study directory, open to one writer: whoever opens it holds the directory's lock."""

    directory: Path
    disk: Disk = field(default_factory=Disk)
    root: Root = field(default_factory=Root)
    _sealed: tuple[SealedSegment, ...] = ()
    _open: Segment | None = None
    _file: int | None = None
    _seq: int = 0
    _group: int = 1
    _first_of_open: int = 1
    _failure: StorageError | None = None

    @contextmanager
    def _unless_failed(self) -> Iterator[None]:
        """After one error nothing more is written: only a recovery can tell what the disk holds then."""
        if self._failure is not None:
            raise self._failure
        try:
            yield
        except BaseException as error:
            broken = StorageError(str(self.directory), expected="an archive in order", found="one that broke off")
            self._failure = error if isinstance(error, StorageError) else broken
            raise

    def recover(self) -> Iterator[Line]:
        """Every line in order; afterwards the journal can be written to, its torn tail cut and kept aside."""
        with self._unless_failed():
            self._keep_names()
            yield from self._recovered()

    def _keep_names(self) -> None:
        """Sync the names that a killed run may have left unsynced, before anything builds on them."""
        for folder in (self.directory / RECORDS, self.directory):
            with storage_errors(str(folder)):
                if folder.is_dir():
                    self.disk.sync_directory(folder)

    def _recovered(self) -> Iterator[Line]:
        seal = read_seal(self.directory)
        if seal is not None:
            check_seal(self.directory, seal)
            self._sealed = seal.segments
        present = segments(self.directory)
        for segment in present:
            sealed = segment.number <= len(self._sealed)
            if not sealed:
                self._open_is(segment, last=present[-1])
            end = 0
            for line in scan(segment, first=self._seq + 1, sealed=sealed):
                self._seq, end = self._seq + 1, line.place.end
                self.root.add_line(line.content, line.placed)
                yield line
            if not sealed:
                self._cut(segment.path, end)
        self._group = self._seq + 1

    def _open_is(self, segment: Segment, *, last: Segment) -> None:
        if segment != last:
            raise corrupt(str(segment.path), "a sealed segment", "one that the seal does not know")
        self._open, self._first_of_open = segment, self._seq + 1

    def _cut(self, path: Path, end: int) -> None:
        """Cut the torn tail of the open segment; what is cut is kept in a file beside it."""
        with storage_errors(str(path)):
            size = path.stat().st_size
            if size > end:
                with path.open("rb") as stream:
                    stream.seek(end)
                    tail = stream.read()
                self.disk.place(_free_name(path), tail)
            file = self.disk.reopen(path)
            if size > end:
                self.disk.truncate(file, end)
            # What a killed run left unsynced becomes part of the record here.
            self.disk.sync(file)
            self._file = file

    @property
    def group_size(self) -> int:
        """Records written since the last sync."""
        return self._seq - self._group + 1

    def append(self, record: Record) -> None:
        """Write one record; it is finished once `commit` has returned."""
        with self._unless_failed():
            try:
                if self._file is None:
                    self._file = self._new_segment()
                line = encode(record, seq=self._seq + 1, group=self._group)
                self.disk.write(self._file, line)
            except OSError as error:
                raise _refused(self.directory, error) from error
            self._seq += 1
            self.root.add_line(line, Placed(self._seq, self._group, record))

    def _new_segment(self) -> int:
        number = len(self._sealed) + 1
        folder = self.directory / RECORDS
        self.disk.make_directory(folder)
        self._open = Segment(folder / f"{number:06}.jsonl", number)
        self._first_of_open = self._seq + 1
        file = self.disk.create(self._open.path)
        self.disk.sync_directory(folder)
        self.disk.sync_directory(self.directory)
        return file

    def commit(self) -> None:
        """Finish all records written so far; none may be written meanwhile."""
        if self._file is not None and self.group_size:
            with self._unless_failed():
                try:
                    self.disk.sync(self._file)
                except OSError as error:
                    raise _refused(self.directory, error) from error
                self._group = self._seq + 1

    def seal(self, counts: Mapping[str, object]) -> Seal:
        """Close the open segment for good and put a seal over everything."""
        with self._unless_failed():
            self.commit()
            return self._sealed_now(counts)

    def _sealed_now(self, counts: Mapping[str, object]) -> Seal:
        if self._open is not None:
            count = self._seq - self._first_of_open + 1
            described = SealedSegment(self._open.path.name, count, file_sha256(self._open.path))
            self._sealed = (*self._sealed, described)
        self.close()
        files = {
            name: file_sha256(self.directory / name) for name in _OTHER_FILES if (self.directory / name).exists()
        }
        sealed = Seal(self._sealed, files, counts, self.root.sha256())
        content = {
            "kind": "seal",
            "v": 1,
            "segments": [msgspec.structs.asdict(segment) for segment in sealed.segments],
            "files": files,
            "counts": counts,
            "root_sha256": sealed.root_sha256,
        }
        with storage_errors(str(self.directory / SEAL)):
            self.disk.place(self.directory / SEAL, checked_line(content))
        return sealed

    def close(self) -> None:
        """Let go of the open segment."""
        file, self._file, self._open = self._file, None, None
        if file is not None:
            with storage_errors(str(self.directory)):
                self.disk.close(file)


def _free_name(path: Path) -> Path:
    return next(name for count in range(1, 1_000_000) if not (name := path.with_suffix(f".torn-{count}")).exists())


def _refused(directory: Path, error: OSError) -> StorageError:
    return StorageError(
        str(directory),
        expected="to write to the archive",
        found=error.strerror or type(error).__name__,
        hint="What was finished is safe. Make room or mend the disk; running again goes on where it stood.",
    )
