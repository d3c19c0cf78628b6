"""`affidavit init`: a study to start from."""

import shlex
from pathlib import Path

import click

from affidavit.plain_text import plain_lines


@click.command()
@click.argument("directory", type=click.Path(path_type=Path), default=".")
def init(directory: Path) -> None:
    """Write a study to start from.

    DIRECTORY, here unless given, gets study.toml, with a comment on every line that matters, and a few
    questions. The study runs as it is; nothing that is there already is written over.

    \b
    Example:
      affidavit init my-study && cd my-study && affidavit run study.toml --dry-run

    \b
    Exit codes: 0 written; 2 a study is there already; 5 the disk refused.
    """
    from affidavit.commands.starter import write_starter

    paths = write_starter(directory)
    for path in paths:
        click.echo(plain_lines(f"wrote {path}"))
    click.echo(plain_lines(f"next: {shlex.join(['affidavit', 'run', str(paths[0]), '--dry-run'])}"))
