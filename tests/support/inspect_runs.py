"""Inspect, run in its own environment: logs against a server that says what is given here, and its own commands."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from support.fault_server import Fault, FaultServer, body, chat
from support.pages import ROOT

ENVIRONMENTS = ROOT / ".venv-interop"
OFFLINE = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "NO_PROXY": "127.0.0.1"}


def as_tiny(text: str, finish: str = "stop") -> Fault:
    """This text, by a server that says which model it has: Inspect insists on it."""
    return body(chat({"content": text}, finish, model="tiny", id="chatcmpl-1", created=0))


def logs_by_inspect(folder: Path, answers: Mapping[str, object]) -> list[dict]:
    """What Inspect says of the logs that it wrote into a folder, asking a server that answers like this."""
    script = ROOT / "tests" / "support" / "write_inspect_logs.py"
    with FaultServer(answers) as server:
        said = by_inspect("python", "-W", "ignore", script, server.url, folder, cwd=folder)
    return json.loads(said[said.index("[{") :])


def by_inspect(program: str, *arguments: object, cwd: Path) -> str:
    """What a program of Inspect's environment prints; it ends well."""
    order = [ENVIRONMENTS / "inspect" / "bin" / program, *arguments]
    done = subprocess.run(order, capture_output=True, text=True, check=False, env=OFFLINE, cwd=cwd)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
