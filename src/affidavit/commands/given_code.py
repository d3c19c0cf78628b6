"""The options that name the code of a study's author: nothing else makes a command run it."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

CommandT = TypeVar("CommandT", bound=Callable[..., Any])


def contract_options(command: CommandT) -> CommandT:
    """Add `--contract` and `--study` to a command; it gets them as `contracts` and `study`."""
    named = click.option(
        "--contract",
        "contracts",
        multiple=True,
        metavar="FILE.py:NAME",
        help="A contract of the study's author: code, which is run if it is the one that was used.",
    )
    in_file = click.option(
        "--study",
        type=click.Path(path_type=Path),
        help="The study file, in place of --contract for each that it names.",
    )
    return named(in_file(command))


def code_options(contracts: Iterable[str] = (), study: Path | None = None) -> list[str]:
    """The options that name the same code to another command, which is printed for somebody to type.

    >>> code_options(["own.py:mine"], Path("study.toml"))
    ['--contract', 'own.py:mine', '--study', 'study.toml']
    """
    named = [part for contract in contracts for part in ("--contract", contract)]
    return [*named, *([] if study is None else ["--study", str(study)])]
