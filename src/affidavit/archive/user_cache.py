"""The user's own cache: what can be made again, and what nobody else may write.

It is `affidavit/columns` in the user's cache directory, or the directory that `AFFIDAVIT_CACHE` names; `off` turns
it off. Only its owner has access. When it holds more than it may, what was not used for longest goes.
"""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from time import time

SETTING, OFF = "AFFIDAVIT_CACHE", "off"
MOST_BYTES = 5 * 10**9
_ABANDONED = 24 * 3600.0
"""Seconds after which nobody writes to what is not finished."""


def cache_directory() -> Path | None:
    """Where it is, made if it is not there; None if it is turned off, or is not the user's alone."""
    setting = os.environ.get(SETTING, "")
    if setting == OFF:
        return None
    try:
        directory = Path(setting).expanduser() if setting else _usual()
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        state = directory.lstat()
        if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.geteuid():
            return None
        if stat.S_IMODE(state.st_mode) != 0o700:
            directory.chmod(0o700)
    except (OSError, RuntimeError):
        return None
    return directory


def _usual() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (cache if cache.is_absolute() else Path.home() / ".cache") / "affidavit" / "columns"


def used(paths: Iterable[Path]) -> None:
    """Note that files were used just now."""
    for path in paths:
        with suppress(OSError):
            os.utime(path)


def make_room(directory: Path, *, most_bytes: int = MOST_BYTES) -> None:
    """Remove what kills have left, and what was not used for longest, until there is no more than may be."""
    found = []
    for path in directory.iterdir():
        with suppress(OSError):
            state = path.lstat()
            if path.name.endswith(".partial") and state.st_mtime < time() - _ABANDONED:
                path.unlink()
            elif stat.S_ISREG(state.st_mode):
                found.append((state.st_mtime, state.st_size, path))
    size = sum(size for _, size, _ in found)
    for _, bytes_, path in sorted(found):
        if size <= most_bytes:
            return
        with suppress(OSError):
            path.unlink()
        size -= bytes_
