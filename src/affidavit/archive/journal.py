"""The journal of a study: what was written is walked in order, and one writer adds to it.

A record is *finished* when its group is synced. What a crash left behind the last synced group, a torn tail, is
cut and kept aside before anything is added.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from affidavit.archive.checked_lines import LONGEST_LINE, only_line_of
from affidavit.archive.corruption import corrupt
from affidavit.archive.disk import Disk, storage_errors
from affidavit.archive.layout import RECORDS
from affidavit.archive.record import Label, Record, encoded
from affidavit.archive.regular_files import open_to_read
from affidavit.archive.seal import Root, Seal, SealedSegment, check_seal, file_sha256, read_seal, write_seal
from affidavit.archive.segments import Line, Segment, scan, segments
from affidavit.errors import StorageError

GROUP_RECORDS = 64
GROUP_SECONDS = 0.05


class Walk:
    """One walk over the journal, as far as it is whole; afterwards it is known whether anything was left over."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.torn = False
        """Whether the open segment ends in a torn tail, which the next run will cut."""

    def __iter__(self) -> Iterator[Line]:
        seal, first = read_seal(self._directory), 1
        sealed, present = 0 if seal is None else len(seal.segments), segments(self._directory)
        for segment in present:
            if segment.number > sealed and segment != present[-1]:
                raise not_sealed(segment)
            first, end = yield from scan(segment, first=first, sealed=segment.number <= sealed)
            self.torn = self.torn or segment.path.stat().st_size > end


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
    _identity: tuple[int, int] | None = None

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
            self._check_place()
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
                self._seq, end = self._seq + 1, line.end
                self.root.add_line(line.content, line.placed)
                yield line
            if not sealed:
                self._cut(segment.path, end)
        self._group = self._seq + 1

    def _open_is(self, segment: Segment, *, last: Segment) -> None:
        if segment != last:
            raise not_sealed(segment)
        self._open, self._first_of_open = segment, self._seq + 1

    def _cut(self, path: Path, end: int) -> None:
        """Cut the torn tail of the open segment; what is cut is kept in a file beside it."""
        with storage_errors(str(path)):
            size = path.stat().st_size
            if size > end:
                with open_to_read(path) as stream:
                    stream.seek(end)
                    tail = only_line_of(stream)
                if len(tail) > LONGEST_LINE:
                    raise corrupt(str(path), f"a torn tail of at most {LONGEST_LINE:,} bytes", f"{size - end:,}")
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
                line, content = encoded(record, seq=self._seq + 1, group=self._group)
                self.disk.write(self._file, line)
            except OSError as error:
                raise _refused(self.directory, error) from error
            self._seq += 1
            if isinstance(record, Label):
                self.root.add_label(content)
            else:
                self.root.add(record.key, content)

    def _new_segment(self) -> int:
        self._check_place()
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
            self._check_place()
            self.commit()
            return self._sealed_now(counts)

    def _sealed_now(self, counts: Mapping[str, object]) -> Seal:
        if self._open is not None:
            count = self._seq - self._first_of_open + 1
            described = SealedSegment(self._open.path.name, count, file_sha256(self._open.path))
            self._sealed = (*self._sealed, described)
        self.close()
        return write_seal(self.directory, self._sealed, counts, self.root, self.disk)

    def root_sha256(self) -> str:
        """The root digest as things stand."""
        return self.root.sha256(self.directory)

    def _check_place(self) -> None:
        """Refuse to go on by a name that stands for another directory than the one that was opened."""
        now = _identity_of(self.directory)
        self._identity = self._identity or now
        if now is None or now != self._identity:
            raise StorageError(
                str(self.directory),
                expected="the directory that the run has begun to write to",
                found="none of this name" if now is None else "another one of this name",
                hint="It was moved while a run wrote to it. What was finished is safe where it is now.",
            )

    def close(self) -> None:
        """Let go of the open segment."""
        file, self._file, self._open = self._file, None, None
        if file is not None:
            with storage_errors(str(self.directory)):
                self.disk.close(file)


def not_sealed(segment: Segment) -> StorageError:
    """Only the last segment may be open: all before it were sealed before it was begun."""
    return corrupt(str(segment.path), "a sealed segment", "one that no seal knows")


def _identity_of(directory: Path) -> tuple[int, int] | None:
    """Which directory a name stands for now."""
    try:
        state = directory.stat()
    except OSError:
        return None
    return state.st_dev, state.st_ino


def _free_name(path: Path) -> Path:
    return next(name for count in range(1, 1_000_000) if not (name := path.with_suffix(f".torn-{count}")).exists())


def _refused(directory: Path, error: OSError) -> StorageError:
    return StorageError(
        str(directory),
        expected="to write to the archive",
        found=error.strerror or type(error).__name__,
        hint="What was finished is safe. Make room or mend the disk; running again goes on where it stood.",
    )
