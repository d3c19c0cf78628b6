"""The seam to the disk: whatever is written under a name is there whole, or not at all."""

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import file_digest
from pathlib import Path
from typing import BinaryIO

from affidavit.archive.layout import FILES, FOLDERS, PAGE, STUDY
from affidavit.archive.regular_files import open_regular, open_to_read
from affidavit.errors import StorageError, UsageError

WRITTEN_AT_ONCE = 128 << 10
"""Bytes: for megabytes at once, Linux looks for large stretches of memory, which costs a virtual machine that must
fetch them from its host some eight times the writing itself."""


class Disk:
    """The system's own calls, each once and by its own name, so that a test can put another disk in its place.

    A directory remembers the names in it only once it is synced itself.
    """

    def make_directory(self, path: Path) -> None:
        """Make a directory, and those above it, unless it is there."""
        path.mkdir(parents=True, exist_ok=True)

    def create(self, path: Path) -> int:
        """A new file to append to; whoever has the name already keeps it."""
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)

    def reopen(self, path: Path) -> int:
        """A file to append to, made if it is not there."""
        return open_regular(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK)

    def reopen_lines(self, path: Path) -> int:
        """A file of lines to append to; a line that a kill has cut short ends here, and the next begins anew."""
        file = self.reopen(path)
        with open_to_read(path) as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - 1))
            if stream.read(1) not in (b"", b"\n"):
                self.write(file, b"\n")
        return file

    def write(self, file: int, content: bytes | memoryview) -> None:
        """Append all of the content."""
        written = 0
        while written < len(content):
            written += os.write(file, memoryview(content)[written : written + WRITTEN_AT_ONCE])

    def sync(self, file: int) -> None:
        """Wait until what was written survives a loss of power."""
        os.fsync(file)

    def truncate(self, file: int, size: int) -> None:
        """Cut a file to its first bytes."""
        os.ftruncate(file, size)

    def close(self, file: int) -> None:
        """Let go of a file."""
        os.close(file)

    def replace(self, old: Path, new: Path) -> None:
        """Give a file another name, which may be taken: then it is this file's from now on."""
        old.replace(new)

    def remove(self, path: Path) -> None:
        """Take a name away, if it is there."""
        path.unlink(missing_ok=True)

    def sync_directory(self, path: Path) -> None:
        """Wait until the names in a directory survive a loss of power."""
        directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def place(self, path: Path, content: bytes) -> None:
        """Put content under a name for good: it is there whole, or what was there before is."""
        partial = path.with_name(f".{path.name}.partial")
        self.remove(partial)
        file = self.create(partial)
        try:
            self.write(file, content)
            self.sync(file)
        finally:
            self.close(file)
        self.replace(partial, path)
        self.sync_directory(path.parent)


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes its name only when the block ends without an error.

    Until then the name holds what it held before, or nothing; also if the process is killed. A link is
    followed. A device or a pipe is written to as it is: it has no content to keep. It is for what can be made
    again, so it does not wait for the disk.
    """
    real = _checked(path)
    if real.exists() and not real.is_file():
        with storage_errors(str(path)), real.open("wb") as stream:
            yield stream
        return
    with new_path(path) as partial, partial.open("xb") as stream:
        yield stream


@contextmanager
def new_path(path: Path) -> Iterator[Path]:
    """A path to write to by other means; what is there takes the name `path` when the block ends well."""
    real = _checked(path)
    if real.exists() and not real.is_file():
        raise UsageError(str(path), expected="the name of a file to write", found="a device or a pipe")
    partial = real.with_name(f".{secrets.token_hex(8)}.partial")
    try:
        with storage_errors(str(path), hint="Nothing was changed under this name."):
            yield partial
            if real.exists():
                partial.chmod(stat.S_IMODE(real.stat().st_mode))
            partial.replace(real)
    finally:
        partial.unlink(missing_ok=True)


def refuse_study(directory: Path) -> None:
    """Refuse to write further files into a study's own directory."""
    if (directory / STUDY).exists():
        expected, found = "another place than a study", "a study's directory"
        raise UsageError(str(directory), expected=expected, found=found, hint="It is evidence: write elsewhere.")


def _refuse_evidence(path: Path) -> None:
    """Refuse to write over a file that a study rests on; its page may be written anew."""
    parts = path.parts
    for above in path.parents:
        inside = parts[len(above.parts)]
        if inside in (*FILES, *FOLDERS) and path.name != PAGE and (above / STUDY).is_file():
            hint = "Nothing was written. It is evidence, and no command writes results over it."
            expected = "a file that is no part of a study"
            raise UsageError(str(path), expected=expected, found=f"one of the study in {above}", hint=hint)


@contextmanager
def storage_errors(name: str, *, hint: str = "") -> Iterator[None]:
    """Turn the system's refusal to write into an error that says where."""
    try:
        yield
    except BrokenPipeError:
        raise  # not a refusal: whoever read our output has gone
    except OSError as error:
        raise StorageError(name, expected="to write it", found=_reason(error), hint=hint) from error


@contextmanager
def new_directories(root: Path, names: tuple[str, ...], *, anew: bool = False) -> Iterator[Path]:
    """A directory to fill; its subdirectories of these names appear below `root` when the block ends well.

    With `anew`, such as are there already go when these come, and so does whatever a kill has left of an earlier
    attempt: the caller makes sure that nobody else is at it.
    """
    try:
        if not anew:
            _refuse_taken(root, names)
        made = not root.exists()
        root.mkdir(parents=True, exist_ok=True)
        partial = _fresh(root / ".anew.partial") if anew else _temporary(root)
    except OSError as error:
        raise UsageError(str(root), expected="a directory to write to", found=_reason(error)) from error
    try:
        for name in names:
            (partial / name).mkdir()
        yield partial
        with storage_errors(str(root)):
            for name in names:
                if anew and (root / name).exists():
                    (root / name).rename(partial / f"old {name}")
                (partial / name).rename(root / name)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        if made and not any(root.iterdir()):
            root.rmdir()


def _temporary(root: Path) -> Path:
    return Path(tempfile.mkdtemp(prefix=".", suffix=".partial", dir=root))


def _fresh(path: Path) -> Path:
    if path.is_symlink() or path.is_file():
        path.unlink()
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    return path


def _refuse_taken(root: Path, names: tuple[str, ...]) -> None:
    for name in names:
        if (root / name).exists():
            raise UsageError(
                str(root / name),
                expected="a name that is free",
                found="something there already",
                hint="Choose another directory, or remove the old one first.",
            )


def write_below(root: Path, parts: Sequence[str], content: bytes) -> None:
    """Write a file below a directory, making the directories on its way.

    Each is entered by itself: a path of many names may be longer than the system takes in one piece.
    """
    with storage_errors(str(root.parent)):
        here = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in parts[:-1]:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=here)
                below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
                os.close(here)
                here = below
            file = os.open(parts[-1], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=here)
        finally:
            os.close(here)
        with os.fdopen(file, "wb") as stream:
            stream.write(content)


def digests_below(root: Path) -> Iterator[tuple[str, str]]:
    """Path and SHA-256 of every file below a directory, if it is there; a link or a device has no digest but "".

    Like `write_below` it goes from one directory into the next, whatever the length of the path.
    """
    if not root.is_dir() or root.is_symlink():
        return
    with storage_errors(str(root)):
        for place, directories, files, here in os.fwalk(root):
            for name in (*directories, *files):
                mode = os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
                if not stat.S_ISDIR(mode):
                    digest = _digest(name, here) if stat.S_ISREG(mode) else ""
                    yield os.path.join(place, name).removeprefix(f"{root}/"), digest  # noqa: PTH118 - may be too long


def _digest(name: str, here: int) -> str:
    with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=here), "rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def _checked(path: Path) -> Path:
    """Where a name really leads; refused if nothing can be written there."""
    fault, real = "", path
    try:
        real = path.resolve(strict=False)
        real.exists()
        if real.is_dir():
            fault = "a directory"
        elif not real.parent.is_dir():
            fault = f"no directory {str(path.parent)!r}"
        elif not os.access(real.parent, os.W_OK):
            fault = f"no right to write in {str(path.parent)!r}"
    except OSError as error:
        fault = _reason(error)
    except RuntimeError:
        fault = "links that lead in a circle"
    if fault:
        raise UsageError(str(path), expected="the name of a file to write", found=fault)
    _refuse_evidence(real)
    return real


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
