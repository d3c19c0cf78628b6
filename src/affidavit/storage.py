"""The seam to the disk: whatever is written under a name is there whole, or not at all."""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
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
    real = path.resolve()
    _check_parent(path, real)
    if real.exists() and not real.is_file():
        with told(str(path)), real.open("wb") as stream:
            yield stream
        return
    with new_path(path) as partial, partial.open("xb") as stream:
        yield stream


@contextmanager
def new_path(path: Path) -> Iterator[Path]:
    """A path to write to by other means; what is there takes the name `path` when the block ends well."""
    real = path.resolve()
    _check_parent(path, real)
    partial = real.with_name(f".{real.name[:100]}.{secrets.token_hex(4)}.partial")
    try:
        with told(str(path), hint="Nothing was changed under this name."):
            yield partial
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
    for name in names:
        if (root / name).exists():
            raise UsageError(
                str(root / name),
                expected="a name that is free",
                found="something there already",
                hint="Choose another directory, or remove the old one first.",
            )
    try:
        root.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=".", suffix=".partial", dir=root))
    except OSError as error:
        raise UsageError(str(root), expected="a directory to write to", found=_reason(error)) from error
    try:
        with told(str(root)):
            for name in names:
                (partial / name).mkdir()
            yield partial
            for name in names:
                (partial / name).rename(root / name)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _check_parent(path: Path, real: Path) -> None:
    if real.is_dir():
        raise UsageError(str(path), expected="the name of a file to write", found="a directory")
    if not real.parent.is_dir():
        raise UsageError(
            str(path),
            expected="a directory to write to",
            found=f"no directory {str(path.parent)!r}",
            hint="Create it, or write elsewhere.",
        )
    if not os.access(real.parent, os.W_OK):
        raise UsageError(str(path), expected="a directory to write to", found=f"no right to write {path.parent}")


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
