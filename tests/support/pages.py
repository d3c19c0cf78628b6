"""The pages of the documentation and the commands they show."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]


def transcripts(page: Path) -> list[str]:
    """The console blocks of a page."""
    return re.findall(r"^```console\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def steps(block: str) -> list[tuple[str, str]]:
    """Each command of a block, on one line or on several that end in a stroke, with what is shown for it."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    assert parts[0] == ""
    return [re.fullmatch(r"((?:.*\\\n)*.*)\n?((?:.*\n)*)", part).groups() for part in parts[1:]]
