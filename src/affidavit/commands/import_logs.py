"""`affidavit import`: the logs of other harnesses become a study."""

import gc
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from affidavit.commands.exit_codes import DONE, ENDED_WITH_FAILURES
from affidavit.commands.typed_contract import say_parameter_notes, typed_contract
from affidavit.plain_text import plain_lines

if TYPE_CHECKING:
    from affidavit.exchange.log_source import LogSource


@click.command("import", no_args_is_help=True)
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Where the study is made."
)
@click.option("--contract", default="text", metavar="NAME", help="What reads the outputs.", show_default=True)
@click.option("--options", default=None, metavar="A-E", help="Multiple choice: the option set, as for `read`.")
@click.option(
    "--param",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the contract, as for `read`.",
)
@click.option(
    "--answer",
    "answer_column",
    default=None,
    metavar="COLUMN",
    help="Where right answers are, if not in `answer`.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def import_logs(
    logs: tuple[Path, ...],
    out: Path,
    contract: str,
    options: str | None,
    parameters: tuple[str, ...],
    answer_column: str | None,
    *,
    as_json: bool,
) -> None:
    """Make a study of the logs of other harnesses.

    LOGS are files or directories, told by their content; a directory is taken whole. Every text is kept as its
    source recorded it, and the source's own word on it (answer, verdict, score, error) stands beside it, apart
    from what the contract says: in the fields source_answer, source_correct, source_score, source_scorer and
    source_error of each record's row.

    \b
    Examples:
      affidavit import samples_gsm8k_2025-09-09T13-31-53.431753.jsonl -o gsm8k --contract number
      affidavit import logs/ -o study

    \b
    Exit codes: 0 done; 2 the command or a log is wrong; 4 a contract of your own raised on
    some outputs; 5 the disk refused; 6 another run holds the directory.
    """
    # Samples by the hundred thousand are no garbage, and nothing here makes cycles: look for them rarely.
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    from affidavit.commands.read_into_study import read_into_study, report_study
    from affidavit.exchange.log_source import log_sources
    from affidavit.reading.output_columns import Role

    read_by = typed_contract(contract, options, parameters)
    say_parameter_notes(read_by.contract)
    sources = log_sources(logs)
    given = {} if answer_column is None else {Role.ANSWER: answer_column}
    kept, outputs = read_into_study(sources, out, read_by, given)
    for note in _notes(sources):
        click.echo(f"note: {plain_lines(note)}", err=True)
    report_study(kept, outputs, contract, as_json=as_json)
    sys.exit(ENDED_WITH_FAILURES if any(tally.unread for tally in kept.tallies.values()) else DONE)


def _notes(sources: "Sequence[LogSource]") -> Iterator[str]:
    """What each log holds, and what a reader must know of it first (rulings I1 and I3)."""
    for source in sources:
        log, counted = source.log, source.counted
        said = [f"{counted[name]:,} {name}" for name in sorted(counted.keys() - {"outputs"})]
        yield f"{source.log_name}: {log.format}, task {log.task}, {counted['outputs']:,} outputs" + "".join(
            f", {each}" for each in said
        )
        if log.planned is not None and log.planned != counted["outputs"]:
            yield f"{source.log_name}: by its own account it has {log.planned:,} outputs"
        if log.graders:
            yield f"{source.log_name}: graded by {', '.join(log.graders)}"
