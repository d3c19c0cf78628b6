"""The seal of a study: the digest of every file that anything rests on, the counts, and the root digest.

Two digests, each with its promise (ruling C10). The *root digest* covers what was asked and what came back: the
plan, the items, the terms of a judging, and what all records say, in the order of their keys. An interrupted run
of the same answers has the same. What people said of outputs is no part of it, and has a digest of its own. The
*seal's digest* is that of `seal.json` itself, which lists every file, also those that differ from day to day: it
is the one to publish.
"""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from affidavit.archive.checked_lines import (
    checked_fields,
    checked_line,
    is_as_written,
    is_whole,
    lines_of,
    only_line_of,
)
from affidavit.archive.corruption import as_written, corrupt
from affidavit.archive.disk import Disk, storage_errors
from affidavit.archive.layout import GROWING, ITEMS, JUDGING, LABELS, MANIFEST, RECORDS, SEAL, STUDY
from affidavit.archive.record import Label, Placed, content_digest_of
from affidavit.archive.regular_files import open_to_read
from affidavit.archive.revisions import is_revision_name, last_revision, revision_file, revision_names
from affidavit.archive.root_entries import by_first_byte, digests_in_order
from affidavit.archive.segments import scan, segments
from affidavit.archive.versions import FORMAT, refuse_other_version
from affidavit.errors import StorageError
from affidavit.json_values import Fields, digest, shown

_PIECE = 1 << 20
_SEALED_FILES = (STUDY, ITEMS, JUDGING, LABELS, *GROWING, MANIFEST)
"""What is sealed beside the segments and the revisions, where it is there."""
_OF_THE_DAY = ("kind", "v", "versions", "git", "date", "before", "files", "order")
"""What study.json and the revisions say that decides no answer: the same rows may come in another file."""
_OF_THE_JUDGING = ("sha256_of_terms", "judges", "tasks")
"""What judging.json says that decides judgements; the rest follows from the records."""


class SealedSegment(msgspec.Struct, frozen=True):
    """A segment that is closed for good."""

    name: str
    records: int
    sha256: str


class SealedFile(msgspec.Struct, frozen=True):
    """A file as it was sealed; one that runs append to may be longer now."""

    bytes: int
    sha256: str


class Seal(msgspec.Struct, frozen=True):
    """What was sealed: the files with their digests, the counts, and the root digest."""

    segments: tuple[SealedSegment, ...]
    files: dict[str, SealedFile]
    counts: Mapping[str, object]
    judges: dict[str, str]
    """The digest of the terms of each judge: more may join before the next seal."""
    root_sha256: str
    draws: tuple[str, ...] = ()
    """The digest of each draw for people to label: more may follow before the next seal."""
    labels_sha256: str = ""
    """Over what people said, in the order in which it came; empty if they said nothing."""
    sha256: str = ""
    """The seal's own digest."""

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
        with open_to_read(path) as stream:
            content = only_line_of(stream)
    fields = checked_fields(content)
    if fields is None:
        raise corrupt(f"{path}:1", "the seal as it was written", "a line that does not fit its checksum")
    refuse_other_version(fields, f"{path}:1")
    if not is_as_written(content, fields):
        raise corrupt(f"{path}:1", "the seal as it was written", "names that are there twice, or in another order")
    with as_written(f"{path}:1", "the fields of a seal"):
        seal = msgspec.convert({**fields, "sha256": sha256(content).hexdigest()}, Seal)
    others = [name for name in sorted(seal.files) if name not in _SEALED_FILES and not is_revision_name(name)]
    if others:
        raise corrupt(f"{path}:1", "digests of the files of a study", shown(", ".join(others)))
    return seal


def _sealable(directory: Path) -> list[str]:
    """The names of what is sealed beside the segments, if it is there."""
    return [*_SEALED_FILES, *revision_names(directory)]


def write_seal(
    directory: Path, sealed: tuple[SealedSegment, ...], counts: Mapping[str, object], root: "Root", disk: Disk
) -> Seal:
    """Put a seal over everything that is there now; the file is there whole, or not at all."""
    there = [name for name in _sealable(directory) if (directory / name).exists()]
    _keep_growing(directory, disk)
    content: Fields = {
        "kind": "seal",
        "v": FORMAT,
        "segments": [msgspec.structs.asdict(segment) for segment in sealed],
        "files": {name: msgspec.structs.asdict(sealed_file(directory / name)) for name in there},
        "counts": counts,
        "judges": _judges(directory),
        "root_sha256": root.sha256(directory),
        # Only where there are any: every other seal keeps the form that it always had.
        **({"draws": list(draws)} if (draws := _draws(directory)) else {}),
        **({"labels_sha256": root.labels_sha256} if root.labels_sha256 else {}),
    }
    line = checked_line(content)
    with storage_errors(str(directory / SEAL)):
        disk.place(directory / SEAL, line)
    return msgspec.convert({**content, "sha256": sha256(line).hexdigest()}, Seal)


def _keep_growing(directory: Path, disk: Disk) -> None:
    """Sync what runs append to without waiting for the disk: no seal is over lines that may still be lost."""
    for path in (directory / name for name in GROWING):
        with storage_errors(str(path)):
            if path.exists():
                file = disk.reopen(path)
                try:
                    disk.sync(file)
                finally:
                    disk.close(file)
    with storage_errors(str(directory)):
        disk.sync_directory(directory)


def sealed_file(path: Path) -> SealedFile:
    """A file as it is now."""
    with storage_errors(str(path)), open_to_read(path) as stream:
        size, total = _digest(stream)
    return SealedFile(size, total)


def file_sha256(path: Path) -> str:
    """The digest of a file of a study's directory."""
    return sealed_file(path).sha256


def _digest(stream: BinaryIO, most: int | None = None) -> tuple[int, str]:
    """How many bytes there are, or the first of them, and their digest."""
    total, size = sha256(), 0
    while piece := stream.read(_PIECE if most is None else min(_PIECE, most - size)):
        total.update(piece)
        size += len(piece)
    return size, total.hexdigest()


# --- whether it holds ---


def check_seal(directory: Path, seal: Seal, *, hashed: Mapping[str, SealedFile] | None = None) -> tuple[str, ...]:
    """Refuse the directory unless every sealed file is, to the last bit, what was sealed; names file and line.

    What was written since and is not sealed yet is no fault: a run may be at it, or was killed. It is given back,
    a line for each. `hashed` is what whoever holds the lock has found of files a moment ago: those that are as
    they were sealed are not read again.
    """
    known = {MANIFEST: seal.files.get(MANIFEST), **(hashed or {})}
    others = [(directory / name, sealed) for name, sealed in seal.files.items() if known.get(name) != sealed]
    since = [said for path, sealed in others if (said := _checked(path, sealed, seal))]
    since += [
        f"{name} is newer than the seal"
        for name in _sealable(directory)
        if name not in seal.files and (directory / name).exists()
    ]
    present = segments(directory)
    if len(present) < len(seal.segments):
        raise corrupt(str(directory / RECORDS), f"{len(seal.segments)} segments", str(len(present)))
    first = 1
    for segment, sealed in zip(present, seal.segments, strict=False):
        if file_sha256(segment.path) != sealed.sha256 or segment.path.name != sealed.name:
            count = sum(1 for _ in scan(segment, first=first, sealed=True))
            raise corrupt(f"{segment.path}:{count + 1}", f"{sealed.records} sealed records", "other lines")
        first += sealed.records
    since += [f"{RECORDS}/{each.path.name} is newer than the seal" for each in present[len(seal.segments) :]]
    return (*since, *_manifest_since(directory, seal, something_new=bool(since)))


def _manifest_since(directory: Path, seal: Seal, *, something_new: bool) -> list[str]:
    """Whether the list of prompts was written since: the last thing before a seal, which may never have come."""
    sealed = seal.files.get(MANIFEST)
    try:
        said = None if sealed is None else _checked(directory / MANIFEST, sealed, seal)
    except StorageError:
        if not something_new:
            raise
        return [f"{MANIFEST} is newer than the seal"]
    return [] if said is None else [said]


def is_sealed_by(directory: Path, seal: Seal | None) -> bool:
    """Whether a seal is over everything that is there now, by names and sizes alone; `check_seal` looks inside."""
    if seal is None or len(seal.segments) != len(segments(directory)):
        return False
    for name in {*_sealable(directory), *seal.files}:
        path, sealed = directory / name, seal.files.get(name)
        if (path.lstat().st_size if path.exists() else None) != (None if sealed is None else sealed.bytes):
            return False
    return True


def _checked(path: Path, sealed: SealedFile, seal: Seal) -> str | None:
    if not path.exists():
        raise corrupt(str(path), "the file that was sealed", "no such file")
    growing = path.name in GROWING
    with storage_errors(str(path)), open_to_read(path) as stream:
        size, found = _digest(stream, sealed.bytes if growing else None)
        longer = growing and bool(stream.read(1))
    if (size, found) == (sealed.bytes, sealed.sha256):
        return f"{path.name} has grown since it was sealed" if longer else None
    if path.name == JUDGING and _has_more_judges(path.parent, seal):
        return f"{path.name} has judges that joined since it was sealed"
    if path.name == LABELS and _has_more_draws(path.parent, seal):
        return f"{path.name} has draws that were made since it was sealed"
    where = str(path) if path.name in (*GROWING, MANIFEST) else f"{path}:{bad_line(path)}"
    raise corrupt(where, "the file as it was sealed", "another content")


def bad_line(path: Path) -> int:
    """The first line of a file of checked lines that is not whole; if all are, the one after the last."""
    number = 0
    with open_to_read(path) as stream:
        for number, line in enumerate(lines_of(stream), 1):
            if not is_whole(line):
                return number
    return number + 1


def _judges(directory: Path) -> dict[str, str]:
    """The digest of the terms of each judge, by its name."""
    judges: Any = (_whole_file(directory / JUDGING) or {}).get("judges", {})
    return {name: digest(terms) for name, terms in judges.items()} if isinstance(judges, dict) else {}


def _has_more_judges(directory: Path, seal: Seal) -> bool:
    """Whether judging.json is that of the seal, with judges who joined since."""
    now = _judges(directory)
    return len(now) > len(seal.judges) > 0 and seal.judges.items() <= now.items()


def _draws(directory: Path) -> tuple[str, ...]:
    """The digest of each draw, in their order."""
    draws: Any = (_whole_file(directory / LABELS) or {}).get("draws", [])
    return tuple(map(digest, draws)) if isinstance(draws, list) else ()


def _has_more_draws(directory: Path, seal: Seal) -> bool:
    """Whether labels.json is that of the seal, with draws that followed."""
    now, sealed = _draws(directory), seal.draws
    return len(now) > len(sealed) > 0 and now[: len(sealed)] == sealed


def _whole_file(path: Path) -> Fields | None:
    """The fields of a file of one checked line; None if it is not there, or not whole."""
    if not path.exists():
        return None
    with storage_errors(str(path)), open_to_read(path) as stream:
        return checked_fields(only_line_of(stream))


# --- the root digest ---


class Root:
    """The digest over what was asked and what all records say: the response, or else the last failure.

    It holds 48 bytes per key, in one bucket for each first byte, so that a large study stays small in memory. Half
    of a key is enough to order by; all of it is part of what the record says.
    """

    def __init__(self) -> None:
        self._buckets = [bytearray() for _ in range(256)]
        self._sorted: dict[int, tuple[int, bytes]] = {}
        """What buckets that were so long say in the order of their keys: it is asked for more than once."""
        self._labels, self._labelled = sha256(), False

    def add(self, key: str, content: bytes) -> None:
        """What a record says; it is the only one of its key, or a later one than those before."""
        entry = bytes.fromhex(key[:32]) + content
        self._buckets[entry[0]] += entry

    def add_entries(self, entries: bytes | memoryview) -> None:
        """What many records say: of each the first half of its key and the digest, one behind the other."""
        for place, some in by_first_byte(entries):
            self._buckets[place] += some

    def add_line(self, line: bytes, placed: Placed) -> None:
        """What the record on a line says; labels have no part in this digest, and one of their own."""
        content = content_digest_of(line, placed)
        if isinstance(placed.record, Label):
            self.add_label(content)
        else:
            self.add(placed.record.key, content)

    def add_label(self, content: bytes) -> None:
        """What a person said, after all that was said before."""
        self._labels.update(content)
        self._labelled = True

    @property
    def labels_sha256(self) -> str:
        """The digest over all that people said, in its order; empty if they said nothing."""
        return self._labels.hexdigest() if self._labelled else ""

    def sha256(self, directory: Path, *, revision: int | None = None) -> str:
        """The digest, with what the directory says of plan, items and judging, up to a revision or in all."""
        return self._over(asked_sha256(directory, revision=revision).encode())

    def records_sha256(self) -> str:
        """The digest over what all records say, in the order of their keys, and nothing else."""
        return self._over(b"")

    def _over(self, before: bytes) -> str:
        total = sha256(before)
        for place, bucket in enumerate(self._buckets):
            size, said = self._sorted.get(place, (0, b""))
            if size != len(bucket):
                said = digests_in_order(bucket)
                self._sorted[place] = len(bucket), said
            total.update(said)
        return total.hexdigest()


def asked_sha256(directory: Path, *, revision: int | None = None) -> str:
    """The digest of what was asked: the deciding parts of the plan with its items, and of the judging.

    With a revision: as it was then. Nothing had been judged, as what is judged does not grow (ruling C11).
    """
    last = last_revision(directory) if revision is None else revision
    judging = _whole_file(directory / JUDGING) if revision is None else None
    terms = None if judging is None else {name: judging.get(name) for name in _OF_THE_JUDGING}
    grown = [_deciding(directory / revision_file(number)) for number in range(2, last + 1)]
    more = {"revisions": grown} if grown else {}
    return digest({"format": FORMAT, "study": _deciding(directory / STUDY), "judging": terms, **more})


def _deciding(path: Path) -> Fields:
    """What a file of the plan says that decides answers."""
    return {name: value for name, value in (_whole_file(path) or {}).items() if name not in _OF_THE_DAY}
