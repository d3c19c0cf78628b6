"""`--skip-unreadable`, as `audit` and `import` take it: to go on without logs that cannot be read."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

CommandT = TypeVar("CommandT", bound=Callable[..., Any])


def skip_option(command: CommandT) -> CommandT:
    """Add the option to a command that takes logs."""
    return click.option(
        "--skip-unreadable",
        is_flag=True,
        help="Leave out logs that cannot be read or do not fit the contract; each is named, the exit code is 4.",
    )(command)
