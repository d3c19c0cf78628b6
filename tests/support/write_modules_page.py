"""docs/modules.md, made from the modules' own first sentences: `make docs` writes it, a test compares it."""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "modules.md"
PACKAGE = ROOT / "src" / "affidavit"
HEAD = """\
# Modules

Every file of the package in its own first sentence, room by room; written by `make docs`. What the rooms are for,
and how an output walks through them: [design.md](design.md).
"""


def page() -> str:
    """The whole page."""
    folders = sorted({file.parent for file in PACKAGE.rglob("*.py")})
    return "\n".join([HEAD, *(section(folder) for folder in folders)])


def section(folder: Path) -> str:
    """A room: what it is for, and its files."""
    files = sorted(file for file in folder.glob("*.py") if file.name != "__init__.py")
    rows = [f"| `{file.name}` | {_in_a_cell(first_sentence(file))} |" for file in files]
    title = f"{folder.relative_to(PACKAGE.parent).as_posix()}/"
    return "\n".join(
        [f"## {title}\n", f"{first_sentence(folder / '__init__.py')}\n", "| file | |", "|---|---|", *rows, ""]
    )


def first_sentence(file: Path) -> str:
    """The first paragraph of a module's docstring, on one line."""
    words = ast.get_docstring(ast.parse(file.read_text())) or ""
    return " ".join(words.partition("\n\n")[0].split())


def _in_a_cell(words: str) -> str:
    return words.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.stdout.write(f"wrote {PAGE}\n")
