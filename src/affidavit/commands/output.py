"""What is printed at the end of a command: JSON for programs, tables for people."""

import json
import os
import sys

import click
from rich.console import Console, RenderableType

from affidavit.json_values import Fields

WIDE = 200
"""Characters of a line where nobody says how wide the screen is."""


def show(what: Fields | RenderableType) -> None:
    """Print JSON values, or tables as wide as the terminal; as wide as they need to be where there is none."""
    if isinstance(what, dict):
        click.echo(json.dumps(what, indent=2, allow_nan=False))
        return
    click.echo(text_of(what))


def text_of(what: RenderableType, *, width: int | None = None) -> str:
    """Tables as text, of a width or as wide as the terminal; as wide as they need to be where there is none."""
    known = (sys.stdout is not None and sys.stdout.isatty()) or "COLUMNS" in os.environ
    console = Console(width=width or (None if known else WIDE), highlight=False)
    with console.capture() as captured:
        console.print(what)
    return "\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n"))
