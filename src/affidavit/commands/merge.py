"""`affidavit merge`: shards of one reading, put together."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from affidavit.commands.exit_codes import DONE, ENDED_WITH_FAILURES

if TYPE_CHECKING:
    from affidavit.contracts.contract import AnyContract
    from affidavit.reading.part_files.plan import Plan


@click.command(no_args_is_help=True)
@click.argument("directories", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "out", type=click.Path(path_type=Path), metavar="DIR", help="Put all parts here.")
@click.option(
    "--contract",
    "own",
    metavar="FILE.py:NAME",
    help="The contract of your own that read them: code, which is run.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def merge(directories: tuple[Path, ...], out: Path | None, own: str | None, *, as_json: bool) -> None:
    """Put the shards of one reading together.

    DIRECTORIES hold what `affidavit read --parts DIR --shard I/N` has written, on one machine or on many. Every
    part is there once, and whole: a part that is missing, that two directories have, that is of another reading
    or was changed is named. Shards that wrote into one directory need no -o.

    \b
    Examples:
      affidavit merge read/
      affidavit merge shard-*/ -o read/

    \b
    Exit codes: 0 everything is there; 2 a part is missing, or there twice, or of another reading;
    4 everything is there, and rows were left out or unread; 5 the disk refused.
    """
    from affidavit.commands.read_into_parts import say_manifest
    from affidavit.commands.read_summary import print_summary
    from affidavit.reading.part_files.folder import PartsFolder, result_of_parts
    from affidavit.reading.part_files.merge import merged
    from affidavit.reading.rows import RowReader

    plan, manifest = merged(directories, out)
    result = result_of_parts(manifest.parts)
    say_manifest(PartsFolder(directories[0] if out is None else out), manifest)
    read = plan.read
    reader = RowReader(_contract(plan, own), field=read.field, answer=read.answer, lenses=read.lenses)
    print_summary(result, reader, None, as_json=as_json, rows_on_stdout=False)
    sys.exit(ENDED_WITH_FAILURES if manifest.bad_rows or result.tally.unread else DONE)


def _contract(plan: "Plan", own: str | None) -> "AnyContract":
    """The contract that read the parts: what is counted of it, and how that is called."""
    from affidavit.contracts.frozen_contract import frozen_contract
    from affidavit.contracts.own_file import GivenContracts

    given = GivenContracts(() if own is None else (own,))
    return frozen_contract(plan.contract, plan.options, plan.described, given)
