"""The tutorial, followed word for word, with a scripted server where the reader has a model."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from support.command import silent_command
from support.fault_server import Asked, FaultServer
from support.pages import steps, transcripts

PORT = "127.0.0.1:11434"
"""Where the tutorial's server is; the one that stands in for it is elsewhere."""
SAYS = {
    "France": "<answer>B</answer>",
    "Japan": "The capital of Japan is Tokyo.\n\n<answer>C</answer>",
    "Australia": "<answer>A</answer>",
    "Canada": "<answer>D</answer>",
    "Brazil": "B. Brasília",
    "Egypt": "<answer>A</answer>",
}
SEAL = re.compile("(?<=seal's digest )[0-9a-f]{64}")
"""It covers what is different every day."""
MOVED = ("France", "Australia", "Canada")
"""Where the scripted model does as it is told by experts."""


def scripted(asked: Asked) -> str:
    prompt = asked.body["messages"][-1]["content"]
    country = next(name for name in SAYS if f"capital of {name}?" in prompt)
    hint = re.search(r"correct answer is option ([A-D])\.", prompt)
    return f"<answer>{hint[1]}</answer>" if hint and country in MOVED else SAYS[country]


def followed(page: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Every command of the tutorial, typed in a folder, and what it printed."""
    environment = {**os.environ, "PATH": silent_command(folder / "bin"), "COLUMNS": "120"}
    with FaultServer(answer=scripted) as server:
        for block in transcripts(page):
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
