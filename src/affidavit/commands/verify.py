"""`affidavit verify`: every byte of a study, then every reading."""

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path

import click

from affidavit.commands.exit_codes import STORAGE
from affidavit.plain_text import plain_lines


@click.command(no_args_is_help=True)
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--study", type=click.Path(path_type=Path), help="The study file, where the study has a contract of your own."
)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def verify(directory: Path, study: Path | None, *, as_json: bool) -> None:
    """Check a study: every byte, then every reading.

    Checksums, numbers and digests first; then every derived field is derived again from the raw text and
    the frozen items. A contract from a file of its author is code: it is run only if --study says where it is.

    \b
    Example:
      affidavit verify my-study

    \b
    Exit codes: 0 everything holds; 2 this is no study; 5 something was changed: the message
    says what and where.
    """
    from dataclasses import asdict

    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.contracts.registry import task_contract_named
    from affidavit.running.verify import verify as check

    with redirect_stdout(sys.stderr):  # whatever a contract of the user's own prints is no result
        found = check(StudyDirectory(directory), task_contract_named, beside=study and study.parent)
    if as_json:
        click.echo(json.dumps(asdict(found), indent=2))
    else:
        state = "sealed" if found.sealed else "not sealed"
        judged = f" and {found.judgements:,} judgements" if found.judgements else ""
        click.echo(f"{found.records:,} records, {found.responses:,} of them responses{judged}; {state}")
        click.echo(f"root digest {found.root_sha256}")
        if found.torn:
            click.echo("the open segment ends in a torn tail; the next run cuts it and keeps it aside")
        if found.holder is not None:
            click.echo(plain_lines(f"held by {found.holder}"))
        click.echo("every checksum fits; every field follows from its raw text" if not found.differing else "")
    for difference in found.differences:
        click.echo(plain_lines(difference), err=True)
    if found.differing:
        click.echo(f"affidavit: {found.differing:,} records do not follow from their raw text", err=True)
        sys.exit(STORAGE)
