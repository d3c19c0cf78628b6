"""docs/commands.md, made from the commands' own help: `make docs` writes it, a test compares it."""

import re
import sys
from pathlib import Path

import click
from click.testing import CliRunner

from affidavit.commands.main import cli

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
HEAD = """\
# Commands

Written from the commands' own help by `make docs`.

Every command exits with 0 when it is done; 2 when the command or a file is wrong; 3 when a gate is not met; 4
when it ended with failed, pending or unread outputs; 5 when the disk refused or what it holds is broken; 6 when
another run holds the directory; 7 when `verify` finds a study that is not sealed; 130 or 143 when a signal stopped it.

## Shell completion

Commands, options and files are completed with the tab key once the shell knows how. One line, for good:

| shell | file | line |
|---|---|---|
| bash (4.4 or newer) | `~/.bashrc` | `eval "$(_AFFIDAVIT_COMPLETE=bash_source affidavit)"` |
| zsh | `~/.zshrc`, after `compinit` | `eval "$(_AFFIDAVIT_COMPLETE=zsh_source affidavit)"` |
| fish | `~/.config/fish/completions/affidavit.fish` | `_AFFIDAVIT_COMPLETE=fish_source affidavit \\| source` |

`affidavit` must be found by its name: with an environment of its own, activate it first, or write its path into the line.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(section(path) for path in paths(cli, ()))])


def paths(command: click.Command, above: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The command and all commands below it, as what a person types after `affidavit`."""
    below = command.commands.items() if isinstance(command, click.Group) else ()
    return [above, *(path for name, sub in below for path in paths(sub, (*above, name)))]


def section(path: tuple[str, ...]) -> str:
    """Heading and help of one command."""
    result = CliRunner().invoke(cli, [*path, "--help"], prog_name="affidavit", terminal_width=100)
    text = re.sub(r"[ \t]+$", "", result.output, flags=re.MULTILINE).rstrip()
    return f"## {' '.join(('affidavit', *path))}\n\n```\n{text}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.stdout.write(f"wrote {PAGE}\n")
