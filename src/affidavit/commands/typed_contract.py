"""The contract that somebody typed: its name, its option set, and its parameters as `--param NAME=VALUE`."""

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from affidavit.errors import InputError, ParameterError, UsageError
from affidavit.plain_text import plain_lines

if TYPE_CHECKING:
    from affidavit.contracts.contract import AnyContract
    from affidavit.contracts.frozen_contract import NamedContract
    from affidavit.contracts.parts import Parts

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

OPTION_SET, PATTERN = "options", "pattern"
"""What has an option of its own: the option set of a contract that shows options, and a parameter."""


def pattern_option(command: CommandT) -> CommandT:
    """Add the option for a regular expression to a command that takes contracts."""
    return click.option(
        f"--{PATTERN}",
        default=None,
        metavar="REGEX",
        help="Of the contract `pattern`: what a whole output must match; the answer is the group named `answer`.",
    )(command)


def typed_contract(
    name: str, options: str | None, words: Sequence[str], pattern: str | None = None
) -> "NamedContract":
    """The contract of this name with what was typed beside it; what does not fit is told as it is typed."""
    from affidavit.contracts.frozen_contract import named_contract
    from affidavit.contracts.given_parameters import parameters_given, with_files
    from affidavit.contracts.registry import parts_named

    parts, given = parts_named(name), parameters_given(words)
    _refuse_in_place_of_option(name, parts, words)
    if pattern is not None:
        if PATTERN not in parts.typed_with:
            hint = "The contract stands before the files: affidavit read pattern FILE --pattern REGEX."
            raise UsageError("--pattern", expected="the contract pattern beside it", found=repr(name), hint=hint)
        given[PATTERN] = pattern
    try:
        return named_contract(name, options, with_files(parts, given, beside=Path()))
    except ParameterError as error:
        if (option := parts.typed_with.get(error.name)) is None:
            raise error.typed() from error
        raise InputError(option, expected=error.expected, found=error.found, hint=error.hint) from error


def _refuse_in_place_of_option(name: str, parts: "Parts", words: Sequence[str]) -> None:
    """Refuse `--param NAME=VALUE` for what has an option: there are not two ways to say one thing."""
    own = {**parts.typed_with, **({OPTION_SET: "--options"} if parts.shows_options else {})}
    typed = {each: value for each, _, value in (word.partition("=") for word in words)}
    for each in (each for each in typed if each in own):
        called = "The option set" if each == OPTION_SET else f"The {each}"
        hint = f"{called} has an option of its own: use {own[each]} {shlex.quote(typed[each])}."
        found = repr(f"{each}={typed[each]}")
        raise UsageError("--param", expected=f"a parameter of {name}", found=found, hint=hint)


def say_parameter_notes(contract: "AnyContract") -> None:
    """Tell what is odd in the parameters, before anything is read."""
    from affidavit.contracts.parts import parts_of

    for note in parts_of(contract).parameter_notes():
        click.echo(f"note: {plain_lines(note)}", err=True)
