"""Shell completion, as the page of commands says to set it up: the scripts are made, they work, and nothing heavy is loaded."""

import os
import re
import subprocess
import sys

import pytest

from support.command import COMMAND, ENVIRONMENT
from support.pages import ROOT

ROWS = re.findall(r"^\| (bash|zsh|fish)\b.*\| `(.+)` \|$", (ROOT / "docs/commands.md").read_text(), re.MULTILINE)
LINES = {shell: line.replace("\\|", "|") for shell, line in ROWS}
SEARCHED = {**ENVIRONMENT, "PATH": os.pathsep.join((str(COMMAND.parent), os.environ["PATH"]))}
HEAVY = {"polars", "numpy", "scipy", "msgspec", "rich", "jinja2", "httptools", "asyncio"}


def asked(shell: str, words: str, number: int, partial: str) -> str:
    """What the command answers to a shell that completes its words."""
    given = {"COMP_WORDS": words, "COMP_CWORD": partial if shell == "fish" else str(number)}
    environment = {**SEARCHED, **given, "_AFFIDAVIT_COMPLETE": f"{shell}_complete"}
    done = subprocess.run([COMMAND], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_every_shell_is_made(shell):
    variable = f"_AFFIDAVIT_COMPLETE={shell}_source"
    assert variable in LINES[shell]
    environment = {**SEARCHED, "_AFFIDAVIT_COMPLETE": f"{shell}_source"}
    done = subprocess.run(["affidavit"], env=environment, capture_output=True, text=True, check=True)
    assert f"_AFFIDAVIT_COMPLETE={shell}_complete" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["affidavit", "ru"], ["run"]),
        (["affidavit", "do"], ["doctor"]),
        (["affidavit", "models", "qu"], ["quantize"]),
        (["affidavit", "run", "--retr"], ["--retry-failed"]),
        (["affidavit", "doctor", "--key"], ["--key-env"]),
        (["affidavit", "zebra"], []),
    ],
    ids=" ".join,
)
def test_bash_completes_once_the_line_of_the_page_was_read(words, completed):
    """In a real bash, by the function that it calls at the tab key."""
    typed = " ".join(words)
    program = (
        f"{LINES['bash']}\nCOMP_WORDS=({typed}) COMP_CWORD={len(words) - 1}\n"
        'complete -p affidavit >/dev/null && _affidavit_completion affidavit && printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", program], env=SEARCHED, capture_output=True, text=True, check=True)
    assert done.stdout.split() == completed
    assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.parametrize(("shell", "answer"), [("zsh", "plain\nrun\n"), ("fish", "plain,run\t")])
def test_other_shells_are_answered_as_they_ask(shell, answer):
    assert asked(shell, "affidavit ru", 1, "ru").startswith(answer)


@pytest.mark.slow
def test_a_study_is_completed_as_a_file():
    for command in ("run", "doctor"):
        assert asked("bash", f"affidavit {command} st", 2, "st") == "file,st\n"


@pytest.mark.slow
def test_completing_loads_no_room_but_the_commands():
    program = (
        "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
        "from affidavit.commands.main import main; main()"
    )
    environment = {"_AFFIDAVIT_COMPLETE": "bash_complete", "COMP_WORDS": "affidavit run --", "COMP_CWORD": "2"}
    order = [sys.executable, "-c", program]
    done = subprocess.run(order, env={**SEARCHED, **environment}, capture_output=True, text=True, check=False)
    assert "plain,--retry-failed" in done.stdout.split()
    loaded = done.stderr.split()
    assert {name.split(".")[1] for name in loaded if name.startswith("affidavit.")} == {
        "commands", "errors", "plain_text",
    }  # fmt: skip
    assert not HEAVY & set(loaded)
