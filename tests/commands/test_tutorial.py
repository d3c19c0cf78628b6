"""The tutorial is followed word for word, with a scripted server where the reader has a model."""

import os
import re
import subprocess

import pytest

from support.command import silent_command
from support.fault_server import Asked, FaultServer
from support.pages import ROOT, steps, transcripts

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


@pytest.mark.slow
def test_the_tutorial_can_be_followed(tmp_path):
    page = ROOT / "docs" / "tutorial.md"
    environment = {**os.environ, "PATH": silent_command(tmp_path / "bin"), "COLUMNS": "120"}
    with FaultServer(answer=scripted) as server:
        for block in transcripts(page):
            for command, shown in steps(block):
                if command.startswith("cat "):
                    (tmp_path / command[4:]).write_text(shown.replace(PORT, server.address))
                    continue
                done = subprocess.run(
                    ["bash", "-c", command],
                    cwd=tmp_path,
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                found = (done.stdout + done.stderr).replace(server.address, PORT)
                assert SEAL.sub("…", found) == SEAL.sub("…", shown), command
