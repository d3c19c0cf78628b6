"""On a system that is not POSIX: one message and exit code 2, before anything is imported that is not there.

And whoever is interrupted while modules are loaded ends with 130, and without a word.
"""

import os
import subprocess
import sys
from pathlib import Path

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


INTERRUPTS = """
import os, signal, sys

class AtImport:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["INTERRUPTED_AT"]:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, AtImport())
if os.environ["INTERRUPTED_AT"] == "parse_args":
    import click
    click.Group.parse_args = lambda *_: signal.raise_signal(signal.SIGINT)
"""
SCRIPT = [str(Path(sys.executable).with_name("affidavit"))]
MODULE = [sys.executable, "-m", "affidavit"]


def interrupted(command: list[str], at: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command, interrupted as a module of this name is looked for, however fast the machine is."""
    (folder / "sitecustomize.py").write_text(INTERRUPTS)
    environment = {**os.environ, "PYTHONPATH": str(folder), "INTERRUPTED_AT": at}
    return subprocess.run(
        [*command, "report", "nothing-here"], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", [SCRIPT, MODULE], ids=["script", "module"])
@pytest.mark.parametrize(
    "at",
    [
        "affidavit.commands.main",
        "click",
        "parse_args",
        "affidavit.errors",
        "difflib",
        "affidavit.commands.results",
        "affidavit.archive.study_directory",
    ],
)
def test_an_interruption_while_modules_are_loaded_ends_without_a_word(tmp_path, command, at):
    done = interrupted(command, at, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("at", ["affidavit.commands", "affidavit.commands.entry"])
def test_so_does_one_before_the_command_begins(tmp_path, at):
    done = interrupted(MODULE, at, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_before_the_command_begins_hardly_anything_is_loaded():
    """Nobody can end quietly then: the less there is to load, the more seldom an interruption comes just there."""
    code = f"import sys; sys.path[:0] = {sys.path!r}; import affidavit.commands.entry; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert {name for name in loaded if name.startswith("affidavit.")} == {
        "affidavit.commands",
        "affidavit.commands.entry",
    }
    assert not loaded & {"click", "difflib", "enum", "re", "signal", "typing"}


@pytest.mark.slow
def test_an_interruption_that_does_not_come_leaves_the_command_as_it_is(tmp_path):
    """Or nothing above would show anything."""
    done = interrupted(MODULE, "no.such.module", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("affidavit: nothing-here: expected ")
