"""`affidavit verify`: every byte of a study, then every reading."""

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click

from affidavit.commands.exit_codes import DONE, NOT_SEALED, STORAGE
from affidavit.commands.given_code import contract_options
from affidavit.plain_text import plain_lines

if TYPE_CHECKING:
    from affidavit.running.verify import Verified


@click.command(no_args_is_help=True)
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--expect", metavar="DIGEST", help="The root digest or the seal's digest, as it was kept elsewhere: 64 digits."
)
@contract_options
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def verify(
    directory: Path, expect: str | None, contracts: tuple[str, ...], study: Path | None, *, as_json: bool
) -> None:
    """Check a study: every byte, then every reading.

    Checksums, numbers and digests first; then everything that is derived is derived again: every field from its
    raw text and the frozen items, counts, list of prompts, trees and the figures of the page. It says which files
    it checked and which it did not.

    This shows that a directory is consistent, not where it comes from: whoever has all of it can make it anew.
    Only a digest that was kept elsewhere shows that; --expect compares with it.

    A contract from a file of its author is code: it is run only if --contract or --study names it, and only if it
    is the file that read these outputs.

    \b
    Examples:
      affidavit verify my-study
      affidavit verify my-study --expect 9f2b…

    \b
    Exit codes: 0 sealed and consistent; 2 this is no study, or a contract is not named;
    5 something was changed, or is not what was expected: the message says what and where;
    7 consistent so far, but not sealed.
    """
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.commands.output import show
    from affidavit.results.page.verified_page import verify_study
    from affidavit.running.verify import expected_digest
    from affidavit.study.files import given_contracts

    wanted = None if expect is None else expected_digest(expect)
    with redirect_stdout(sys.stderr):  # whatever a contract of the user's own prints is no result
        found = verify_study(StudyDirectory(directory), given_contracts(contracts, study))
    fits = wanted is None or wanted in (found.root_sha256, found.seal_sha256)
    if as_json:
        show({**found.as_json(), "expected": wanted, "as_expected": None if wanted is None else fits})
    else:
        _print(found)
    for difference in found.differences:
        click.echo(plain_lines(difference), err=True)
    if found.differing:
        click.echo(
            f"affidavit: {found.differing:,} things do not follow from the raw texts and the plan", err=True
        )
    if not fits:
        click.echo(f"affidavit: expected the digest {wanted}, found neither of the two above", err=True)
    sys.exit(STORAGE if found.differing or not fits else DONE if found.sealed else NOT_SEALED)


def _print(found: "Verified") -> None:
    judged = f" and {found.judgements:,} judgements" if found.judgements else ""
    state = "sealed" if found.sealed else "not sealed"
    click.echo(f"{found.records:,} records, {found.responses:,} of them responses{judged}; {state}")
    for line in found.since_seal:
        click.echo(plain_lines(f"  {line}"))
    if found.torn:
        click.echo("the open segment ends in a torn tail; the next run cuts it and keeps it aside")
    if found.holder is not None:
        click.echo(plain_lines(f"held by {found.holder}"))
    for title, lines in (("checked", found.checked), ("not checked", found.not_checked)):
        if lines:
            click.echo(title)
            click.echo(plain_lines("\n".join(f"  {line}" for line in lines)))
    click.echo(f"root digest   {found.root_sha256}")
    if found.seal_sha256:
        click.echo(f"seal's digest {found.seal_sha256}")
    if not found.differing:
        click.echo("every checksum fits, and everything that is derived follows from the raw texts")
