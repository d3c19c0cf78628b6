"""Only regular files are opened in a study's directory: no link, device or pipe that somebody put there.

A directory may come from anybody. A link in it could make a command read a file of the reader's and show it, or
write to one; a pipe could make it wait for ever. What is written must have no second name elsewhere either.
"""

import os
import stat
from pathlib import Path
from typing import BinaryIO

from affidavit.archive.layout import FILES, FOLDERS, PAGE, RECORDS, REVISIONS
from affidavit.errors import StorageError

_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFREG: "a file",
}
_BUFFER = 1 << 17
"""Bytes that are read at once: journals are read line by line, and are long."""
_HINT = "A study's directory is data, and nothing in it may lead elsewhere. Put a plain copy in its place."


def open_to_read(path: Path) -> BinaryIO:
    """A regular file, open for reading; whatever else has the name is refused."""
    # Without waiting: the opening of a pipe would end only when somebody writes to it.
    return os.fdopen(open_regular(path, os.O_RDONLY | os.O_NONBLOCK), "rb", _BUFFER)


def open_regular(path: Path, flags: int) -> int:
    """A regular file, open by the system's flags; for writing, one that has no other name."""
    try:
        file = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError:
        if (found := other_kind(path)) is not None:
            raise _refused(path, found) from None
        raise
    try:
        _check(path, os.fstat(file), writing=bool(flags & (os.O_WRONLY | os.O_RDWR)))
    except BaseException:
        os.close(file)
        raise
    return file


def _check(path: Path, state: os.stat_result, *, writing: bool) -> None:
    if not stat.S_ISREG(state.st_mode):
        raise _refused(path, _in_words(state.st_mode))
    if writing:
        _refuse_second_name(path, state)


def _in_words(mode: int) -> str:
    return _KINDS.get(stat.S_IFMT(mode), "something else")


def other_kind(path: Path, *, folder: bool = False) -> str | None:
    """What a name stands for, if that is there and no regular file, or no folder; None otherwise."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return None
    if stat.S_ISDIR(mode) if folder else stat.S_ISREG(mode):
        return None
    return _in_words(mode)


def check_kinds(directory: Path, *, writing: bool) -> None:
    """Refuse a study's directory in which a name that is ours stands for something else than it should.

    It is asked before the first byte is read or the first request is sent. What is written in place must be a file
    of this directory alone.
    """
    for name in FOLDERS:
        if (found := other_kind(directory / name, folder=True)) is not None:
            raise _refused(directory / name, found, expected="a folder of its own")
    inside = [path for name in (RECORDS, REVISIONS) for path in sorted((directory / name).glob("*.json*"))]
    for path in (*(directory / name for name in FILES), *inside):
        if (found := other_kind(path)) is not None:
            raise _refused(path, found)
        if writing and path.exists():
            _refuse_second_name(path, path.lstat())
        partial = path.with_name(f".{path.name}.partial")
        # A page that cannot be written costs nothing but the page.
        if writing and path.name != PAGE and partial.is_dir() and not partial.is_symlink():
            raise _refused(partial, "a directory", expected="nothing, or what a killed run left")


def _refuse_second_name(path: Path, state: os.stat_result) -> None:
    if state.st_nlink > 1:
        found = f"one with {state.st_nlink} names (hard links): writing here would change it elsewhere too"
        raise _refused(path, found, expected="a file of this directory alone")


def _refused(path: Path, found: str, *, expected: str = "a regular file") -> StorageError:
    return StorageError(str(path), expected=expected, found=found, hint=_HINT)
