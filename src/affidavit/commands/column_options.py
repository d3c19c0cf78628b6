"""The options that name the columns of outputs: nothing is taken for one of them by a guess."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from affidavit.exchange.plain_tables import SourceRole
    from affidavit.reading.output_columns import Role

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

_HELP = {
    "field": "The column that holds the model's text.  [default: raw_output]",
    "answer": "The column of right answers; `answer` if there is one.",
    "id": "The column of item ids; `id` if there is one.",
    "model": "The column of models; `model` if there is one.",
    "condition": "The column of conditions; `condition` if there is one.",
    "task": "The column of tasks; `task` if there is one.",
    "prompt": "The column of prompts; `prompt` if there is one.",
    "sample": "The column of sample numbers; `sample` if there is one.",
}
_SOURCE_HELP = {
    "source_answer": "A table's column of what another harness read.",
    "source_correct": "A table's column of its verdicts: true/false, 1/0, yes/no, or empty.",
    "source_score": "A table's column of its scores: numbers, or empty.",
}


def column_options(command: CommandT) -> CommandT:
    """Add an option for each column to a command; it gets them as `NAME_column`."""
    for name, said in reversed(_HELP.items()):
        command = click.option(f"--{name}", f"{name}_column", default=None, metavar="COLUMN", help=said)(command)
    return command


def given_columns(columns: Mapping[str, str | None]) -> "dict[Role, str]":
    """The columns that were named, by role."""
    from affidavit.reading.output_columns import OPTIONS

    named = {f"{option[2:].replace('-', '_')}_column": role for role, option in OPTIONS.items()}
    return {role: value for name, role in named.items() if (value := columns.get(name)) is not None}


def source_column_options(command: CommandT) -> CommandT:
    """Add the options for the columns of tables, those of the source's word last."""
    for name, said in reversed(_SOURCE_HELP.items()):
        option = f"--{name.replace('_', '-')}"
        command = click.option(option, f"{name}_column", default=None, metavar="COLUMN", help=said)(command)
    return column_options(command)


def given_source_columns(columns: Mapping[str, str | None]) -> "dict[SourceRole, str]":
    """The columns of the source's word that were named, by role."""
    from affidavit.exchange.plain_tables import SourceRole

    return {role: value for role in SourceRole if (value := columns.get(f"{role.value}_column")) is not None}
