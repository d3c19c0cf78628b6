"""Directories of shards → one directory with everything: a missing, double, foreign or broken part is named."""

import os
import shutil
from collections.abc import Sequence
from hashlib import file_digest
from pathlib import Path

from affidavit.archive.disk import storage_errors
from affidavit.errors import InputError, UsageError
from affidavit.reading.part_files.folder import Manifest, PartsFolder
from affidavit.reading.part_files.part_reading import Part, WrittenPart
from affidavit.reading.part_files.plan import Plan
from affidavit.reading.source import reading_on


def merged(paths: Sequence[Path], out: Path | None) -> tuple[Plan, Manifest]:
    """All parts of these directories in one, with their manifest; a single directory stays where it is.

    Every part is read once more, and its digest compared.
    """
    folders = [PartsFolder(path) for path in paths]
    plan = folders[0].plan()
    for folder in folders[1:]:
        if folder.plan().sha256() != plan.sha256():
            hint = "Shards are of one plan: the same files, the same contract, the same version."
            expected = f"a shard of the plan in {folders[0].path}"
            raise UsageError(str(folder.path), expected=expected, found="one of another plan", hint=hint)
    held = _held(folders, plan)
    for folder, part in held.values():
        _check(folder, part)
    if out is None and len(folders) == 1:
        return plan, folders[0].finished(plan)
    if out is None:
        raise UsageError("-o", expected="a directory for the parts of several", found="none")
    whole = PartsFolder(out)
    whole.begun(plan)
    for number, (folder, part) in held.items():
        if number not in whole.parts(plan):
            _take_over(folder, part, whole)
    return plan, whole.finished(plan)


def _held(folders: Sequence[PartsFolder], plan: Plan) -> dict[int, tuple[PartsFolder, Part]]:
    """Who has which part; UsageError if two have the same."""
    held: dict[int, tuple[PartsFolder, Part]] = {}
    for folder in folders:
        for number, part in folder.parts(plan).items():
            if number in held:
                found = f"it in {held[number][0].path} too"
                hint = "Leave out one of the two: they are of the same shard."
                raise UsageError(str(folder.path), expected=f"part {number} once", found=found, hint=hint)
            held[number] = folder, part
    return held


def _check(folder: PartsFolder, part: Part) -> None:
    path = folder.path / part.name
    with reading_on(str(path)), path.open("rb") as stream:
        found = file_digest(stream, "sha256").hexdigest()
    if found != part.sha256:
        hint = "Take the part and the .json beside it away, and read the shard again: it makes what is missing."
        raise InputError(str(path), expected=f"SHA-256 {part.sha256}", found=found, hint=hint)


def _take_over(folder: PartsFolder, part: Part, whole: PartsFolder) -> None:
    """Have a part in another directory too: by a second name where the file system can, else by a copy."""
    content, bad = f".{part.name}.merge.partial", None
    with storage_errors(str(whole.path)):
        _link(folder.path / part.name, whole.path / content)
        if part.bad:
            bad = f"{content}.bad"
            _link(folder.bad_rows_of(part), whole.path / bad)
    whole.commit(WrittenPart(part, content, bad))


def _link(old: Path, new: Path) -> None:
    new.unlink(missing_ok=True)
    try:
        os.link(old, new)
    except OSError:
        shutil.copyfile(old, new)
