"""A study to start from: a commented file, its items, and what to type next."""

import shlex
import tomllib
from importlib.resources import files
from pathlib import Path

from affidavit.archive.disk import Disk, storage_errors
from affidavit.errors import UsageError

STARTER = ("study.toml", "questions.jsonl", "open_questions.jsonl")
MODEL = "smollm2-135m-instruct-q4_1"
"""The weights that the study runs on."""


def write_starter(directory: Path) -> list[Path]:
    """Write the files; none of them if one is there already."""
    paths = [directory / name for name in STARTER]
    there = [str(path) for path in paths if path.is_symlink() or path.exists()]
    if there:
        raise UsageError(
            str(directory),
            expected="a place without a study",
            found=" and ".join(there),
            hint="Nothing was written. Choose another directory: affidavit init another-study",
        )
    disk = Disk()
    with storage_errors(str(directory)):
        directory.mkdir(parents=True, exist_ok=True)
        for path in paths:
            disk.place(path, (files("affidavit.commands") / "starter_files" / path.name).read_bytes())
    return paths


def name_of_starter() -> str:
    """The name of the study, which is also the directory of its results.

    >>> name_of_starter()
    'first-study'
    """
    text = (files("affidavit.commands") / "starter_files" / STARTER[0]).read_text(encoding="utf-8")
    return str(tomllib.loads(text)["study"]["name"])


def next_commands(study: Path, missing: list[str]) -> list[str]:
    """What to type next, in this order; `missing` are the commands that get what the study lacks on this machine.

    >>> next_commands(Path("my study/study.toml"), ["affidavit models pull smollm2"])[:2]
    ['affidavit models pull smollm2', "affidavit run 'my study/study.toml' --dry-run"]
    """
    run = ["affidavit", "run", str(study)]
    return [*missing, *(shlex.join([*run, *more]) for more in (["--dry-run"], ["--limit", "2"], []))]
