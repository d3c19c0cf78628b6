"""The files of a plan that has grown: one for each growth, and one for the items that it added (ruling C11).

    revisions/000002.json          the plan after the first growth, one checked line
    revisions/000002.items.jsonl   the items that it added, if it added any

`study.json` is the first revision and never changes. A revision says how many records there were before it and
their root digest, so that a digest which was published then can be found again.
"""

import re
from pathlib import Path

from affidavit.archive.corruption import corrupt
from affidavit.archive.layout import REVISIONS

_NAME = re.compile(rf"{REVISIONS}/[0-9]{{6}}(\.items\.jsonl|\.json)")


def revision_file(number: int) -> str:
    """The file of a revision, from the study's directory.

    >>> revision_file(2), revision_items(2)
    ('revisions/000002.json', 'revisions/000002.items.jsonl')
    """
    return f"{REVISIONS}/{number:06}.json"


def revision_items(number: int) -> str:
    """The file of the items that a revision added."""
    return f"{REVISIONS}/{number:06}.items.jsonl"


def is_revision_name(name: str) -> bool:
    """Whether a file of a revision could have this name."""
    return _NAME.fullmatch(name) is not None


def last_revision(directory: Path) -> int:
    """The number of the last revision; 1 if the plan has not grown. A gap in their numbers is corruption."""
    folder = directory / REVISIONS
    found = sorted(path for path in folder.glob("*.json")) if folder.is_dir() else []
    for number, path in enumerate(found, 2):
        if path.name != f"{number:06}.json":
            raise corrupt(str(path), f"the revision {number:06}.json", "another name")
    return len(found) + 1


def revision_names(directory: Path) -> list[str]:
    """All files of revisions that there are; items whose revision never came to be are left out."""
    names: list[str] = []
    for number in range(2, last_revision(directory) + 1):
        names.append(revision_file(number))
        if (directory / revision_items(number)).exists():
            names.append(revision_items(number))
    return names
