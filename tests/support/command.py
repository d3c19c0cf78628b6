"""`affidavit` as a person runs it, in a process of its own, but without waiting for Python to import it each time.

A warm process has imported everything; each command is a fork of it, with its own directory, environment, standard
streams and end. Whatever depends on a cold start, on signals or on pipes starts the real command instead.

Commands that take longer than two seconds say how far they are. Here they do not, or what a command says would depend
on how fast the machine is; when they say so is tested with a clock that the test holds. All of them judge on one day.
"""

import atexit
import gc
import io
import json
import os
import subprocess
import sys
import tempfile
import traceback
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess

COMMAND = Path(sys.executable).with_name("affidavit")
ENVIRONMENT = {**os.environ, "COLUMNS": "100", "PYTHONWARNINGS": "error", "LC_ALL": "C.UTF-8"}


SILENT = """#!{python}
import sys
from affidavit.commands import progress
progress.SILENT_FOR = float("inf")
from affidavit.commands.main import main
sys.argv[0] = "affidavit"
main()
"""


def silent_command(folder: Path) -> str:
    """A search path for a shell on which `affidavit` says nothing of its progress, however long it takes."""
    folder.mkdir()
    (folder / "affidavit").write_text(SILENT.format(python=sys.executable))
    (folder / "affidavit").chmod(0o755)
    return os.pathsep.join((str(folder), str(COMMAND.parent), os.environ["PATH"]))


def affidavit(
    *arguments: object, given: bytes = b"", cwd: Path | None = None, page: bool = False, **environment: str
) -> CompletedProcess[bytes]:
    """What the command said, and how it ended.

    A run or a judging ends without its page unless a test asks for it: writing it takes longer than all the rest.
    """
    if not page and arguments[0] in ("run", "judge") and len(arguments) > 1:
        arguments = (*arguments, "--no-page")
    with tempfile.TemporaryDirectory() as directory:
        streams = [Path(directory, name) for name in ("in", "out", "err")]
        streams[0].write_bytes(given)
        order = {
            "arguments": ["affidavit", *map(str, arguments)],
            "cwd": str(cwd or Path.cwd()),
            "environment": ENVIRONMENT | environment,
            "streams": [str(stream) for stream in streams],
        }
        code = _told(order)
        return CompletedProcess(order["arguments"], code, streams[1].read_bytes(), streams[2].read_bytes())


def _told(order: dict[str, object]) -> int:
    process = _warm_process()
    process.stdin.write(json.dumps(order).encode() + b"\n")
    process.stdin.flush()
    return int(process.stdout.readline())


@cache
def _warm_process() -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT
    )
    atexit.register(_end, process)
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    with process:
        process.stdin.close()


# --- in the warm process ---


def _serve() -> None:
    for line in sys.stdin.buffer:
        child = os.fork()
        if child == 0:
            _become(json.loads(line))
            return
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.stdout.write(f"{code}\n")
        sys.stdout.flush()


def _become(order: dict) -> None:
    """Be the command, until it exits."""
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environment"])
    given, out, err = order["streams"]
    for number, (path, flags) in enumerate(((given, os.O_RDONLY), (out, os.O_WRONLY), (err, os.O_WRONLY))):
        opened = os.open(path, flags | (os.O_CREAT if number else 0), 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(2, "w", closefd=False)),
        encoding="utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )
    sys.argv = order["arguments"]
    os._exit(_exit_code())


def _exit_code() -> int:
    """How the command ended, with everything written and done that Python would still write and do.

    Taking all modules of the warm process apart at the end, as Python does, takes longer than most commands.
    """
    try:
        main()
        code: object = 0
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 - whatever it is, it is printed as Python would
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else int(code is not None)


def _same_day() -> type[datetime]:
    """A clock that stays on the day on which it was made: a judging is frozen with its date, and midnight may come."""
    began = datetime.now(UTC)

    class Day(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return began

    return Day


if __name__ == "__main__":
    import pkgutil
    from importlib import import_module

    import scipy.special  # noqa: F401

    import affidavit

    for module in pkgutil.walk_packages(affidavit.__path__, "affidavit."):
        if not module.name.endswith(("__main__", "llama_server")):
            import_module(module.name)
    from affidavit.commands import progress
    from affidavit.commands.main import main
    from affidavit.running import judging_run

    progress.SILENT_FOR = float("inf")
    judging_run.datetime = _same_day()
    # A fork that ends looks through everything that is not frozen.
    gc.collect()
    gc.freeze()
    _serve()
