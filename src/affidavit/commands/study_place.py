"""Where the results of a study are: in the directory of its name, which is another than that of its file."""

import tomllib
from pathlib import Path
from shlex import quote

from affidavit.errors import InputError


def refuse_study_file(given: Path, command: str) -> None:
    """Refuse a study file, or the folder of one, where its results are meant, and say where these are."""
    from affidavit.archive.layout import STUDY

    file = given / "study.toml" if given.is_dir() else given
    if file.suffix != ".toml" or not file.is_file() or (given / STUDY).exists():
        return
    found = f"a study file in it, {file.name}, and no results" if given.is_dir() else "a study file"
    raise InputError(
        str(given), expected="the directory of a study's results", found=found, hint=_hint(file, command)
    )


def _hint(file: Path, command: str) -> str:
    from affidavit.archive.layout import STUDY

    name = _name_in(file)
    if name is None:
        return "The results are in the directory of the study's `name`, or in that of --out."
    results = f"`affidavit {command} {quote(name)}`"
    if (Path(name) / STUDY).is_file():
        return f"The results are in the directory of the study's name: {results}."
    return (
        f"Once `affidavit run {quote(str(file))}` has answers, they are in the directory of its name: {results}."
    )


def _name_in(file: Path) -> str | None:
    """The name of a study; None if the file gives none."""
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    header = tables.get("study")
    name = header.get("name") if isinstance(header, dict) else None
    return name if isinstance(name, str) and name.strip() else None
