"""The worked example of docs/judging.md, typed word for word, with a scripted judge where the reader has a server.

    PYTHONPATH=tests:src python tests/support/judging_page.py

writes what its commands print now into the page: what is shown there is never typed.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from support.command import silent_command
from support.fault_server import Call, FaultServer, says
from support.pages import ROOT, steps, transcripts
from support.scripted_judge import Always, evaluation, first_line, judge_prompt

PAGE = ROOT / "docs" / "judging.md"
PORT = "127.0.0.1:8000"
"""Where the page's server is; the one that stands in for it is elsewhere."""
DIGEST = re.compile("(?<=digest )( *)[0-9a-f]{64}")
"""A judging is frozen with its date, so that its digests are others every day."""
SCORES = {"l-1": (2, 2, 2, 2), "q-1": (1, 0, 1, 0), "l-2": (2, 2, 2, 2), "q-2": (2, 2, 1, 1)}


async def scripted(call: Call) -> None:
    """A judge that knows the four outputs of the page."""
    prompt = judge_prompt(call.asked.prompt)
    assert prompt is not None
    assert prompt.task
    scores = SCORES[prompt.meta["output_id"]]
    await says(json.dumps(evaluation(prompt.meta, first_line(prompt.output), scores)))(call)


def followed(folder: Path) -> Iterator[tuple[str, str]]:
    """Every command of the page, typed in a folder, and what it printed."""
    environment = {**os.environ, "PATH": silent_command(folder / "bin"), "COLUMNS": "80"}
    with FaultServer(Always(scripted)) as server:
        for block in transcripts(PAGE):
            for command, shown in steps(block):
                if command.startswith("cat "):
                    (folder / command[4:]).write_text(shown.replace(PORT, server.address))
                    continue
                done = subprocess.run(
                    ["bash", "-c", command],
                    cwd=folder,
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                yield command, (done.stdout + done.stderr).replace(server.address, PORT)


def main() -> None:
    """Replace every transcript by what was printed."""
    text = PAGE.read_text()
    with tempfile.TemporaryDirectory() as folder:
        printed = dict(followed(Path(folder)))
    for block in transcripts(PAGE):
        shown = block
        for command, before in steps(block):
            if (now := printed.get(command)) is not None:
                shown = shown.replace(f"$ {command}\n{before}", f"$ {command}\n{now}")
        text = text.replace(block, shown)
    PAGE.write_text(text)


if __name__ == "__main__":
    sys.exit(main())
