"""Write what the commands of the tutorial print now into the tutorial: what is shown there is never typed.

    PYTHONPATH=tests:src python tests/support/write_tutorial.py

The server that stands in for the reader's is the one of the test that follows the tutorial.
"""

import sys
import tempfile
from pathlib import Path

from support.pages import ROOT, steps, transcripts
from support.tutorial import followed

PAGE = ROOT / "docs" / "tutorial.md"


def main() -> None:
    """Replace every transcript by what was printed."""
    text = PAGE.read_text()
    with tempfile.TemporaryDirectory() as folder:
        printed = dict(followed(PAGE, Path(folder)))
    for block in transcripts(PAGE):
        shown = block
        for command, before in steps(block):
            if (now := printed.get(command)) is not None:
                shown = shown.replace(f"$ {command}\n{before}", f"$ {command}\n{now}")
        text = text.replace(block, shown)
    PAGE.write_text(text)


if __name__ == "__main__":
    sys.exit(main())
