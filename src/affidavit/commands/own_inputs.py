"""A log that is read is no place for a page: rows may take the place of rows, but nothing makes the log again."""

from collections.abc import Iterable
from pathlib import Path

from affidavit.errors import UsageError


def refuse_over_input(option: str, out: Path | None, inputs: Iterable[Path]) -> None:
    """Refuse to write over a file that is read: it would be gone, and nothing made of it could be made again."""
    if out is None or not out.exists():
        return
    inputs = list(inputs)
    for folder in (each for each in inputs if each.is_dir()):
        if out.resolve().is_relative_to(folder.resolve()):
            found = f"{str(out)!r}, which is there already"
            raise UsageError(option, expected=f"no file in {folder}, which is read", found=found)
    for each in inputs:
        if str(each) != "-" and each.is_file() and out.samefile(each):
            raise UsageError(option, expected="a file that is not read", found=repr(str(out)))
