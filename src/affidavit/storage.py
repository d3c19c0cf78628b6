"""The seam to the disk: whatever is written under a name is there whole, or not at all."""

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from affidavit.errors import StorageError, UsageError


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes its name only when the block ends without an error.

    Until then the name holds what it held before, or nothing; also if the process is killed. A link is
    followed. A device or a pipe is written to as it is: it has no content to keep. It is for what can be made
    again, so it does not wait for the disk.
    """
    real = _checked(path)
    if real.exists() and not real.is_file():
        with told(str(path)), real.open("wb") as stream:
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
        with told(str(path), hint="Nothing was changed under this name."):
            yield partial
            if real.exists():
                partial.chmod(stat.S_IMODE(real.stat().st_mode))
            partial.replace(real)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def told(name: str, *, hint: str = "") -> Iterator[None]:
    """Turn the system's refusal to write into an error that says where."""
    try:
        yield
    except BrokenPipeError:
        raise  # not a refusal: whoever read our output has gone
    except OSError as error:
        raise StorageError(name, expected="to write it", found=_reason(error), hint=hint) from error


@contextmanager
def new_directories(root: Path, names: tuple[str, ...]) -> Iterator[Path]:
    """A directory to fill; its subdirectories of these names appear below `root` when the block ends well."""
    try:
        _refuse_taken(root, names)
        made = not root.exists()
        root.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=".", suffix=".partial", dir=root))
    except OSError as error:
        raise UsageError(str(root), expected="a directory to write to", found=_reason(error)) from error
    try:
        for name in names:
            (partial / name).mkdir()
        yield partial
        with told(str(root)):
            for name in names:
                (partial / name).rename(root / name)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        if made and not any(root.iterdir()):
            root.rmdir()


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
    with told(str(root.parent)):
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
    return real


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
