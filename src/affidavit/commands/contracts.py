"""`affidavit contracts`: which contracts there are, and what one of them says of a text."""

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

import click

from affidavit.commands.exit_codes import DONE, ENDED_WITH_FAILURES
from affidavit.commands.typed_contract import pattern_option, say_parameter_notes, typed_contract
from affidavit.errors import UsageError
from affidavit.plain_text import plain

if TYPE_CHECKING:
    from affidavit.contracts.contract import AnyContract
    from affidavit.contracts.parts import Parts
    from affidavit.json_values import Fields
    from affidavit.reading.tried_text import TriedText

_MOST_SHOWN = 90
"""Characters of an example that are shown; JSON has all of it."""
_WIDTH = 100
"""Of a text where nobody says how wide the screen is."""


class _Contracts(click.Group):
    """Its commands; the name of a contract in their place is met with what to type."""

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """See `click.Group`."""
        from affidavit.contracts.own_file import is_in_file
        from affidavit.contracts.registry import BUILT_IN

        name = arguments[0]
        if name in BUILT_IN or is_in_file(name):
            hint = (
                f"affidavit contracts show {name} says what it asks for; "
                f"affidavit contracts try {name} reads a text from standard input."
            )
            raise UsageError("affidavit contracts", expected="show or try", found=repr(name), hint=hint)
        return super().resolve_command(context, arguments)


@click.group(cls=_Contracts, invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_context
def contracts(context: click.Context, *, as_json: bool) -> None:
    """List the built-in contracts; show one, or try it on a text.

    Without a command: each contract with its version, what it asks for, its parameters, the rulings that
    it follows (docs/rulings.md), an output that passes and one that fails, and what each was read as.

    \b
    Examples:
      affidavit contracts
      affidavit contracts --json
      affidavit contracts show json --param schema=schema.json
      echo 'The answer is <answer>B</answer>' | affidavit contracts try mcqa

    \b
    Exit codes: 0 done; 2 the command is wrong.
    """
    if context.invoked_subcommand is not None:
        context.default_map = {name: {"as_json": as_json} for name in contracts.commands}
        return
    from affidavit.contracts.registry import BUILT_IN

    if as_json:
        click.echo(json.dumps({"contracts": [_described(each) for each in BUILT_IN.values()]}, indent=2))
        return
    click.echo("\n\n".join("\n".join(map(plain, _listed(each))) for each in BUILT_IN.values()))


_OPTIONS = click.option(
    "--options", default=None, help="Multiple choice: the option set, A-D unless given.", metavar="A-E"
)
_PARAMETERS = click.option(
    "--param",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the contract, as in a study file; may be given several times.",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


@contracts.command("show", no_args_is_help=True)
@click.argument("name")
@_OPTIONS
@_PARAMETERS
@pattern_option
@_JSON
def show_contract(
    name: str, options: str | None, parameters: tuple[str, ...], pattern: str | None, *, as_json: bool
) -> None:
    """Show one contract, with the words that a model is given.

    NAME is one of those that `affidavit contracts` lists. What is shown last is its instruction; the question
    stands after it in a prompt, and `affidavit run --dry-run` shows the whole.

    \b
    Examples:
      affidavit contracts show mcqa
      affidavit contracts show json --param schema=schema.json

    \b
    Exit codes: 0 done; 2 the command is wrong.
    """
    contract = _contract(name, options, parameters, pattern)
    say_parameter_notes(contract)
    with redirect_stdout(sys.stderr):
        said = contract.instruction()
        described, lines = _described(contract), list(_listed(contract))
    if as_json:
        click.echo(json.dumps({**described, "instruction": said}, indent=2))
        return
    asked = (f"    {line}".rstrip() for line in said.splitlines())
    click.echo("\n".join(map(plain, (*lines, "  instruction", *asked))))


@contracts.command("try", no_args_is_help=True, context_settings={"allow_extra_args": True})
@click.argument("name")
@_OPTIONS
@_PARAMETERS
@pattern_option
@_JSON
@click.pass_context
def try_contract(
    context: click.Context,
    name: str,
    options: str | None,
    parameters: tuple[str, ...],
    pattern: str | None,
    *,
    as_json: bool,
) -> None:
    """Read one text by a contract.

    NAME is one of those that `affidavit contracts` lists, or a contract of your own as my_file.py:name.
    The text comes from standard input and is read as it is, without an item: what needs the question or
    the right answer is not said. What the contract read is underlined with ^; with ~ what it did not read
    and stands in the place of an answer: a line below the text says what it is. A contract that takes the
    whole text, as json does, underlines nothing: its findings have paths.

    \b
    Examples:
      echo 'So it is B. <answer>B</answer>' | affidavit contracts try mcqa-reasoned
      affidavit contracts try mcqa --options A-E < output.txt
      affidavit contracts try pattern --pattern 'Answer: (?P<answer>[A-D])' < output.txt
      affidavit contracts try my_file.py:name --json < output.txt

    \b
    Exit codes: 0 the text was read, compliant or not; 2 the command or the input is wrong;
    4 a contract of your own raised.
    """
    from affidavit.reading.tried_text import try_text

    if context.args:
        hint = f"The text comes from standard input: echo 'TEXT' | affidavit contracts try {name}"
        raise UsageError("affidavit contracts try", expected="one name", found=" ".join(context.args), hint=hint)
    contract = _contract(name, options, parameters, pattern)
    say_parameter_notes(contract)
    text = _given_text()
    with redirect_stdout(sys.stderr):  # whatever a contract of the user's own prints is no part of the reading
        found = try_text(contract, text)
    if as_json:
        click.echo(json.dumps(_tried_fields(contract, found), indent=2))
    else:
        click.echo("\n".join(_tried_lines(contract, found)))
    sys.exit(DONE if found.error is None else ENDED_WITH_FAILURES)


# --- the list ---


def _parameters(parts: "Parts") -> dict[str, str]:
    """What may be given beside the contract's name, in words."""
    options = {"options": "the option set, A-B to A-W (--options)"} if parts.shows_options else {}
    return {**options, **parts.parameters}


def _examples(contract: "AnyContract") -> "dict[str, TriedText]":
    from affidavit.contracts.parts import parts_of
    from affidavit.reading.tried_text import try_text

    parts = parts_of(contract)
    texts = {"passing": parts.passing, "failing": parts.failing}
    return {kind: try_text(contract, text) for kind, text in texts.items() if text}


def _described(contract: "AnyContract") -> "Fields":
    from affidavit.contracts.contract import label
    from affidavit.contracts.parts import parts_of

    parts = parts_of(contract)
    return {
        "contract": label(contract),
        "summary": parts.summary,
        "params": dict(contract.params),
        "parameters": _parameters(parts),
        "required_parameters": list(parts.required_parameters),
        "rulings": parts.rulings,
        **{kind: {"text": each.text, **_read_fields(each)} for kind, each in _examples(contract).items()},
    }


def _listed(contract: "AnyContract") -> Iterator[str]:
    from affidavit.contracts.contract import label
    from affidavit.contracts.parts import parts_of

    parts = parts_of(contract)
    yield f"{label(contract)}  {parts.summary}".rstrip()
    for name, words in _parameters(parts).items():
        yield f"  parameter  {name}: {words}; {_unless_given(contract, name)}"
    if parts.rulings:
        yield f"  rulings    {parts.rulings}"
    for kind, found in _examples(contract).items():
        yield f"  {'passes' if kind == 'passing' else 'fails':<11}{_brief(found.text)}"
        yield f"  {'':<11}{_outcome(parts, found)}"


def _unless_given(contract: "AnyContract", name: str) -> str:
    """What holds of a parameter that is not given: its default, once, or that it has to be given."""
    from affidavit.contracts.parts import parts_of

    parts, value = parts_of(contract), contract.params.get(name)
    if name in parts.required_parameters:
        return f"required ({_shown(value)} in the examples)"
    # The option set has an option of its own, and is typed without quotes; parameters are as in a study file.
    default = value if name not in parts.parameters else json.dumps(value, ensure_ascii=False)
    return f"{'none' if value == '' else default} unless given"


def _brief(text: str) -> str:
    """An example on one line, between quotes where it has line breaks or blanks at its ends."""
    cut = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]} …"
    line = cut if cut.isprintable() and cut == cut.strip() else json.dumps(cut, ensure_ascii=False)
    return line if cut == text else f"{line} ({len(text):,} characters)"


def _outcome(parts: "Parts", found: "TriedText") -> str:
    """Whether a text complies, and what was read of it, on one line."""
    word = parts.outcome_words.kept if found.compliant else parts.outcome_words.broken
    said = ", ".join(f"{name} {_shown(value)}" for name, value in found.fields.items() if _are_words(value))
    return f"{word}: {said}" if said else word


def _are_words(value: object) -> bool:
    """Whether a value is a text, or some texts."""
    return isinstance(value, str) or (
        isinstance(value, list) and bool(value) and all(isinstance(each, str) for each in value)
    )


def _shown(value: object) -> str:
    """A value for people: texts as they are, everything else as JSON."""
    if isinstance(value, list) and _are_words(value):
        return ", ".join(value)
    return str(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# --- one text ---


def _contract(name: str, options: str | None, parameters: tuple[str, ...], pattern: str | None) -> "AnyContract":
    from affidavit.contracts.mcqa import AUTO

    if options == AUTO:
        hint = "A text by itself is of no item: name the options that its question had."
        raise UsageError("--options", expected="an option set, such as A-E", found=repr(options), hint=hint)
    return typed_contract(name, options, parameters, pattern).contract


def _given_text() -> str:
    from affidavit.reading.utf8 import decoded_whole

    if sys.stdin is None:
        raise UsageError("standard input", expected="a text", found="nothing: it is closed")
    if sys.stdin.isatty():
        click.echo("the text, and then Ctrl-D:", err=True)
    return decoded_whole(sys.stdin.buffer.read(), name="standard input")


def _read_fields(found: "TriedText") -> "Fields":
    lenient = {"lenient_readings": found.lenient_readings} if found.lenient_readings else {}
    if found.readings_left_out:
        lenient["lenient_readings_left_out"] = dict(found.readings_left_out)
    return {
        "protocol_compliant": found.compliant,
        **({} if found.error is None else {"unread": found.error}),
        "fields": found.fields,
        **lenient,
        "marks": [mark._asdict() for mark in found.marks],
    }


def _tried_fields(contract: "AnyContract", found: "TriedText") -> "Fields":
    from affidavit.contracts.contract import label

    return {"contract": label(contract), "params": dict(contract.params), **_read_fields(found)}


def _tried_lines(contract: "AnyContract", found: "TriedText") -> Iterator[str]:
    """The reading for people, every line safe for a terminal."""
    from affidavit.commands.marked_text import STROKES, marked_lines
    from affidavit.contracts.contract import label
    from affidavit.contracts.parts import MARKED, parts_of

    words = parts_of(contract).outcome_words
    outcome = words.kept if found.compliant else words.broken
    yield plain(f"{label(contract)}: {outcome if found.error is None else f'unread, {found.error}'}")
    yield from _aligned(dict(contract.params))
    if found.fields:
        yield "\nread"
        yield from _aligned(found.fields)
    if found.lenient_readings:
        yield "\nlenient readings, not the protocol"
        left_out = {name: f"not read: needs {needs}" for name, needs in found.readings_left_out.items()}
        yield from _aligned({**found.lenient_readings, **left_out})
    on_terminal = _is_terminal()
    known = on_terminal or "COLUMNS" in os.environ
    width = max(20, shutil.get_terminal_size().columns if known else _WIDTH) - 2
    yield f"\ntext, {len(found.text):,} characters"
    colours = on_terminal and "NO_COLOR" not in os.environ
    yield from (f"  {line}" for line in marked_lines(found.text, found.marks, width=width, colours=colours))
    kinds = {mark.kind for mark in found.marks}
    yield from (f"marked {STROKES[kind]}: {words}" for kind, words in MARKED.items() if kind in kinds)


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _aligned(fields: Mapping[str, object]) -> Iterator[str]:
    """A line for each field; the parts of a list of objects each on a line of its own."""
    width = max(map(len, fields), default=0)
    for name, value in fields.items():
        objects = value if isinstance(value, list) and not _are_words(value) else []
        yield plain(f"  {name:<{width}}  {'' if objects else _shown(value)}".rstrip())
        yield from (plain(f"    {_shown(each)}") for each in objects)
