"""What `make demo` prints first, as the README shows it.

    PYTHONPATH=tests:src python tests/support/demo_block.py

runs the whole demo, which takes minutes, and writes the block anew.
"""

import os
import re
import subprocess
import tempfile
from pathlib import Path

from support.command import silent_command
from support.pages import ROOT

README, DEMO = ROOT / "README.md", ROOT / "examples" / "demo.toml"
_BLOCK = re.compile(r"(?<=^```\n\$ make demo\n)trivia.*?(?=^```$)", re.MULTILINE | re.DOTALL)


def shown() -> str:
    """The block of the README, from the name of the task on."""
    match = _BLOCK.search(README.read_text())
    assert match, "the README shows `make demo`"
    return match[0]


def printed(study: Path, folder: Path) -> str:
    """What a run of a study prints of its first task, in a folder and in a terminal of eighty columns."""
    environment = {**os.environ, "PATH": silent_command(folder / "bin"), "COLUMNS": "80"}
    command = ["affidavit", "run", str(study)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    match = re.match(r"trivia.*?\n  pending\n", done.stdout, re.DOTALL)
    assert match, done.stdout
    return match[0]


def main() -> None:
    """Replace the block by what is printed now."""
    with tempfile.TemporaryDirectory() as folder:
        now = printed(DEMO, Path(folder))
    README.write_text(_BLOCK.sub(lambda _: now, README.read_text()))


if __name__ == "__main__":
    main()
