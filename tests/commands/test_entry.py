"""On a system that is not POSIX: one message and exit code 2, before anything is imported that is not there."""

import subprocess
import sys

import pytest

from affidavit.commands import entry
from affidavit.errors import not_posix

WINDOWS = """
import sys
sys.platform = "win32"
for name in ("fcntl", "resource", "termios", "pwd", "grp"):
    sys.modules[name] = None
"""


def on_windows(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", WINDOWS + code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "code",
    [
        "from affidavit.commands.entry import main\nmain()",
        "import runpy\nrunpy.run_module('affidavit', run_name='__main__')",
        "sys.argv = ['affidavit', 'read', 'mcqa', 'outputs.jsonl']\nfrom affidavit.__main__ import main\nmain()",
    ],
)
def test_the_command_says_what_it_needs(code):
    done = on_windows(code)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "affidavit: this system: expected Linux, macOS or another POSIX system, found Windows\n"
        "Run it in the Windows Subsystem for Linux, or in a container.\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["open_study", "run_study", "read_frame", "verify", "GateResult"])
def test_a_name_that_needs_more_than_there_is_says_so(name):
    done = on_windows(
        f"import affidavit\ntry:\n    affidavit.{name}\nexcept affidavit.UsageError as error:\n    print(error)"
    )
    assert (done.stdout, done.stderr, done.returncode) == (f"{not_posix()}\n", "", 0)


@pytest.mark.slow
def test_contracts_read_anywhere():
    done = on_windows("import affidavit\nprint(affidavit.mcqa.read('<answer>B</answer>').extracted_answer)")
    assert (done.stdout, done.stderr) == ("B\n", "")


def test_the_system_that_is_pretended_lacks_what_a_study_needs():
    """Or nothing above would show anything."""
    done = on_windows("import affidavit.archive.lock")
    assert "ModuleNotFoundError: import of fcntl halted" in done.stderr


@pytest.mark.slow
def test_elsewhere_the_command_begins():
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; sys.argv = ['affidavit', '--version']\nfrom {entry.__name__} import main; main()",
        ],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout.startswith(b"affidavit, version ")
