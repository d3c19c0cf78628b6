"""What a result depends on beside the study: versions of packages, the state of the repository, the machine."""

import platform
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from affidavit import __version__
from affidavit.json_values import Fields

_PACKAGES = ("aiohttp", "click", "msgspec", "polars")


def versions() -> Fields:
    """Our own version, Python's and those of the packages that take part."""
    found: Fields = {"affidavit": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def machine() -> Fields:
    """The system that ran it."""
    return {"system": platform.platform(), "implementation": sys.implementation.name}


@cache
def git_state(directory: Path) -> Fields | None:
    """The commit that a directory is at and whether anything is changed; None outside a repository."""
    try:
        commit = _git(directory, "rev-parse", "HEAD")
        changed = _git(directory, "status", "--porcelain")
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit, "changed": bool(changed)}


def _git(directory: Path, *arguments: str) -> str:
    done = subprocess.run(  # noqa: S603 - fixed words only
        ["git", "-C", str(directory), *arguments],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
        timeout=5,
    )
    return done.stdout.strip()
