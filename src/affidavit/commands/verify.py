"""`affidavit verify`: every byte of a study, then every reading."""

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click

from affidavit.commands.exit_codes import DONE, NOT_SEALED, STORAGE, WRONG
from affidavit.commands.given_code import contract_options
from affidavit.plain_text import counted_noun, plain, plain_lines

_COVERED = {
    "seal's digest": "nothing that a seal covers has changed since it was kept",
    "root digest": "what was asked and what came back is the same; run log, attempts and versions may not be",
    "labels' digest": "what people said of outputs is the same; nothing is said of the outputs themselves",
}
_OF_A_REVISION = "what was asked and what came back until the plan grew is the same"

if TYPE_CHECKING:
    from affidavit.running.verify import Verified


@click.command(no_args_is_help=True)
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--expect",
    metavar="DIGEST",
    help="The root digest, the seal's or the labels', as it was kept elsewhere: 64 digits.",
)
@contract_options
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    metavar="N",
    help="Processes that derive the records of a large study again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def verify(
    directory: Path,
    expect: str | None,
    contracts: tuple[str, ...],
    study: Path | None,
    workers: int,
    *,
    as_json: bool,
) -> None:
    """Check a study: every byte, then every reading.

    Checksums, numbers and digests first; then everything that is derived is derived again: every field from its
    raw text and the frozen items, counts, list of prompts, trees and the figures of the page. It says which files
    it checked and which it did not.

    This shows that a directory is consistent, not where it comes from: whoever has all of it can make it anew.
    Only a digest that was kept elsewhere shows that; --expect compares with it.

    A contract from a file of its author is code: it is run only if --contract or --study names it, and only if it
    is the file that read these outputs; an expected digest is compared before. Without it, all is checked that can
    be without running code.

    \b
    Examples:
      affidavit verify my-study
      affidavit verify my-study --expect 9f2b…
      affidavit verify my-study --workers 4

    \b
    Exit codes: 0 sealed and consistent; 2 this is no study, or a contract is not named;
    5 something was changed, or the digest is another: the message says what and where;
    7 consistent so far, but not sealed.
    """
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.commands.output import show
    from affidavit.commands.study_place import refuse_study_file
    from affidavit.results.page.verified_page import verify_study
    from affidavit.running.verify import expected_digest
    from affidavit.study.files import given_contracts

    refuse_study_file(directory, "verify")
    wanted = None if expect is None else expected_digest(expect)
    with redirect_stdout(sys.stderr):  # whatever a contract of the user's own prints is no result
        given = given_contracts(contracts, study)
        found = verify_study(StudyDirectory(directory), given, expect=wanted, without_code=True, workers=workers)
    if as_json:
        show(found.as_json())
    else:
        _print(found)
    for difference in found.differences:
        click.echo(plain(difference), err=True)
    if found.differing:
        are = "one thing does" if found.differing == 1 else f"{found.differing:,} things do"
        click.echo(f"affidavit: {are} not follow from the raw texts and the settings; see above", err=True)
        sys.exit(STORAGE)
    if found.not_read_again:
        click.echo(f"affidavit: {plain_lines(found.not_read_again)}", err=True)
        sys.exit(WRONG)
    sys.exit(DONE if found.sealed else NOT_SEALED)


def _print(found: "Verified") -> None:
    judged = _judged_and_labelled(found)
    state = "sealed" if found.sealed else "not sealed"
    click.echo(f"{found.records:,} records, {found.responses:,} of them responses{judged}; {state}")
    for line in found.since_seal:
        click.echo(f"  {plain(line)}")
    if found.torn:
        click.echo("the open segment ends in a torn tail; the next run cuts it and keeps it aside")
    if found.holder is not None:
        click.echo(plain_lines(f"held by {found.holder}"))
    for each in found.draws:
        by = f", as many of each {', '.join(each.by)}" if each.by else ""
        drawn = f"{each.n:,} of {counted_noun(each.outputs, 'output')} for {counted_noun(each.raters, 'rater')}"
        click.echo(plain_lines(f"drawn for {each.about} on {each.date}: {drawn}{by}"))
    _print_files_and_digests(found)
    if not found.differing:
        click.echo(_in_a_sentence(found))


def _print_files_and_digests(found: "Verified") -> None:
    for title, lines in (("checked", found.checked), ("not checked", found.not_checked)):
        if lines:
            click.echo(title)
            click.echo("\n".join(f"  {plain(line)}" for line in lines))
    digests = (("root digest  ", found.root_sha256), ("labels' digest", found.labels_sha256))
    for name, said in (*digests, ("seal's digest", found.seal_sha256)):
        if said:
            click.echo(f"{name} {said}")
    for each in found.revisions:
        when = f", {each.date}: {', '.join(each.added)}" if each.number > 1 else ""
        click.echo(plain_lines(f"revision {each.number}{when}\n  root digest {each.root_sha256}"))
    if found.fits:
        click.echo(f"the expected digest is the {found.fits}: {_COVERED.get(found.fits, _OF_A_REVISION)}")


def _judged_and_labelled(found: "Verified") -> str:
    judged = f" and {found.judgements:,} judgements" if found.judgements else ""
    return judged + (f"; {counted_noun(found.labels, 'label')} by people" if found.labels else "")


def _in_a_sentence(found: "Verified") -> str:
    if found.not_read_again:
        return "every checksum fits; what was read from the raw texts was not read again"
    derived = "everything that is derived follows from the raw texts"
    if found.sealed:
        page = "" if found.page_checked else "; of the page, see what was not checked"
        return f"every checksum fits, and {derived}{page}"
    return f"so far every checksum of a record fits, and {derived}; but the study is not sealed"
