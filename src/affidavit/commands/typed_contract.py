"""The contract that somebody typed: its name, its option set, and its parameters as `--param NAME=VALUE`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from affidavit.errors import ParameterError, UsageError
from affidavit.plain_text import plain_lines

if TYPE_CHECKING:
    from affidavit.contracts.contract import AnyContract
    from affidavit.contracts.frozen_contract import NamedContract

OPTION_SET = "options"


def typed_contract(name: str, options: str | None, words: Sequence[str]) -> "NamedContract":
    """The contract of this name with what was typed beside it; what does not fit is told as it is typed."""
    from affidavit.contracts.frozen_contract import named_contract
    from affidavit.contracts.given_parameters import parameters_given, with_files
    from affidavit.contracts.registry import parts_named

    parts, given = parts_named(name), parameters_given(words)
    if OPTION_SET in given and parts.shows_options:
        found = f"{OPTION_SET}={given[OPTION_SET]}"
        hint = f"The option set has an option of its own: use --options {given[OPTION_SET]}."
        raise UsageError("--param", expected=f"a parameter of {name}", found=repr(found), hint=hint)
    try:
        return named_contract(name, options, with_files(parts, given, beside=Path()))
    except ParameterError as error:
        raise error.typed() from error


def say_parameter_notes(contract: "AnyContract") -> None:
    """Tell what is odd in the parameters, before anything is read."""
    from affidavit.contracts.parts import parts_of

    for note in parts_of(contract).parameter_notes():
        click.echo(f"note: {plain_lines(note)}", err=True)
