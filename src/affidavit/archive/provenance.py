"""What a result depends on beside the study: versions of packages, the state of the repository, the machine."""

import os
import platform
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from affidavit import __version__
from affidavit.json_values import Fields

_PACKAGES = ("click", "httptools", "jsonschema-rs", "msgspec", "polars")


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
    """The commit that a directory is at and whether anything is changed; None outside a repository.

    Whether anything is changed is null where the repository has filters of its own: git would run them to tell.
    """
    try:
        commit = _git(directory, "rev-parse", "HEAD")
        filters = _git(directory, "config", "--get-regexp", r"^filter\..*\.(clean|process)$", may_fail=True)
        changed = None if filters else bool(_git(directory, "status", "--porcelain", "--ignore-submodules=all"))
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit, "changed": changed}


_NOTHING_ELSE = (
    "--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
    "-c", "core.pager=cat", "-c", "core.untrackedCache=false",
)  # fmt: skip
"""A repository may name programs that git runs; none of them is run."""
_NO_TRANSPORT = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
"""Nothing is fetched that a repository may lack."""


def _git(directory: Path, *arguments: str, may_fail: bool = False) -> str:
    done = subprocess.run(  # noqa: S603 - fixed words only
        ["git", *_NOTHING_ELSE, "-C", str(directory), *arguments],  # noqa: S607
        capture_output=True,
        text=True,
        errors="replace",
        check=not may_fail,
        timeout=5,
        env={**os.environ, **_NO_TRANSPORT},
    )
    return done.stdout.strip()
