"""`affidavit init`: a study to start from."""

from pathlib import Path

import click

from affidavit.plain_text import plain_lines


@click.command()
@click.argument("directory", type=click.Path(path_type=Path), default=".")
def init(directory: Path) -> None:
    """Write a study to start from.

    DIRECTORY, here unless given, gets study.toml, with a comment on every line that matters, questions with
    options, and open questions. The study runs as it is, on a small model on this machine; nothing that is there
    already is written over. The commands to type next are printed.

    \b
    Example:
      affidavit init my-study && affidavit run my-study/study.toml --dry-run

    \b
    Exit codes: 0 written; 2 a study is there already; 5 the disk refused.
    """
    from affidavit.commands.starter import name_of_starter, next_commands, write_starter

    paths = write_starter(directory)
    lines = [f"wrote {path}" for path in paths]
    lines += ["next:", *(f"  {command}" for command in next_commands(paths[0], _missing()))]
    lines += [f"the results will be in the directory of the study's name: {name_of_starter()}"]
    lines += ["every key of the file: docs/studies.md; judging its open task: docs/judging.md"]
    click.echo("\n".join(map(plain_lines, lines)))


def _missing() -> list[str]:
    """The commands that get what the study needs and this machine has not."""
    from importlib.util import find_spec

    from affidavit.commands.starter import MODEL
    from affidavit.errors import AffidavitError
    from affidavit.models import weights

    library = [] if find_spec("xllamacpp") is not None else ["pip install 'affidavit[embedded]'"]
    try:
        there = MODEL not in [known.name for known in weights.not_at_hand()]
    except AffidavitError:  # there is no home to look in; the command says what to do
        there = False
    return library if there else [*library, f"affidavit models pull {weights.known_model(MODEL).short}"]
