"""A study to start from: a commented file and a few questions, which run as they are."""

from importlib.resources import files
from pathlib import Path

from affidavit.archive.disk import Disk, storage_errors
from affidavit.errors import UsageError

STARTER = ("study.toml", "questions.jsonl")


def write_starter(directory: Path) -> list[Path]:
    """Write the files; none of them if one is there already."""
    paths = [directory / name for name in STARTER]
    there = [str(path) for path in paths if path.exists()]
    if there:
        raise UsageError(
            str(directory),
            expected="a place without a study",
            found=" and ".join(there),
            hint="Nothing was written. Choose another directory: affidavit init my-study",
        )
    disk = Disk()
    with storage_errors(str(directory)):
        directory.mkdir(parents=True, exist_ok=True)
        for path in paths:
            disk.place(path, (files("affidavit.commands") / "starter_files" / path.name).read_bytes())
    return paths
