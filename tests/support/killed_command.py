"""`affidavit` in a process of its own that is killed at one of its calls to the file system.

    last = calls("judge", "out", "--judge", "alpha", cwd=folder)    # that make, move or take away a name
    killed(7, "judge", "out", "--judge", "alpha", cwd=folder)       # at the seventh of them

The process counts the calls itself, by an audit hook, and ends itself by SIGKILL just before one of them is made. So it
is always killed at the same place, however fast the machine is.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

from support.command import ENVIRONMENT

CALLS = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "os.chmod")
"""What makes, moves, empties or takes away a name; a file that is opened to be read is not counted."""


def calls(*arguments: object, cwd: Path) -> int:
    """How many calls the command makes that could be its last, if nobody kills it."""
    done = _run("0", *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr.decode()
    return int(done.stderr.splitlines()[-1])


def killed(at: int, *arguments: object, cwd: Path) -> None:
    """Run the command and kill it just before its call of this number, counted from 1."""
    done = _run(str(at), *arguments, cwd=cwd)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


def _run(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    order = [sys.executable, __file__, *map(str, arguments)]
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**ENVIRONMENT, "PYTHONPATH": paths}
    return subprocess.run(order, cwd=cwd, env=environment, capture_output=True, check=False)


# --- in the process that is killed ---


def _counts(event: str, arguments: tuple) -> bool:
    if event not in CALLS:
        return False
    # Python itself opens what it imports, and writes what it compiled.
    if "/__pycache__/" in str(arguments[0]):
        return False
    return event != "open" or bool((arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def _main() -> None:
    last, counted = int(sys.argv.pop(1)), 0

    def hook(event: str, arguments: tuple) -> None:
        nonlocal counted
        if _counts(event, arguments):
            counted += 1
            if counted == last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    sys.argv[0] = "affidavit"
    try:
        main()
    finally:
        print(counted, file=sys.stderr)


if __name__ == "__main__":
    from affidavit.commands.main import main

    _main()
