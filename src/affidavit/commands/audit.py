"""`affidavit audit`: a second reading of the logs of other harnesses."""

import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from affidavit.commands.column_options import given_columns, given_source_columns, source_column_options
from affidavit.commands.contract_or_pattern import contract_or_pattern
from affidavit.commands.exit_codes import DONE, ENDED_WITH_FAILURES, NOT_MET
from affidavit.commands.own_inputs import refuse_over_input
from affidavit.commands.rare_collection import look_for_garbage_rarely
from affidavit.commands.skipped_logs import skip_option
from affidavit.commands.typed_contract import pattern_option, say_parameter_notes, typed_contract
from affidavit.plain_text import plain_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from affidavit.contracts.contract import AnyContract
    from affidavit.exchange.unreadable_logs import UnreadableLogs
    from affidavit.results.text_forms import Report
    from affidavit.running.second_reading import SecondReading


@click.command(no_args_is_help=True)
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--contract", default=None, metavar="NAME", help="What reads the outputs a second time.")
@pattern_option
@click.option("--options", default=None, metavar="A-E", help="Multiple choice: the option set, as for `read`.")
@click.option(
    "--param",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the contract, as for `read`.",
)
@source_column_options
@click.option(
    "--answer-pattern",
    default=None,
    metavar="REGEX",
    help="What a whole right answer must match, if it holds more than the answer: the group named `answer`.",
)
@click.option(
    "--scorer", default=None, metavar="NAME", help="Whose word stands for the source, if it has several."
)
@click.option(
    "--source-rule",
    default=None,
    metavar="NAME",
    help="What stands for the source's word, for logs that have none: the rule by which a harness reads multiple "
    "choice, such as lawbench.",
)
@click.option(
    "--moved",
    default=20,
    show_default=True,
    type=click.IntRange(0),
    help="Show so many of the rows that moved, shared among logs, at most 200 of each kind and log; "
    "a page shows at least 60.",
)
@click.option(
    "--page",
    "page_file",
    default=None,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a page with the same tables, and the rows that moved with their texts.",
)
@click.option(
    "--max-moved",
    default=None,
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Exit 3 if more than this share of what can be compared in a log moved, or nothing can be compared.",
)
@skip_option
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def audit(
    logs: tuple[Path, ...],
    contract: str | None,
    pattern: str | None,
    options: str | None,
    parameters: tuple[str, ...],
    answer_pattern: str | None,
    scorer: str | None,
    source_rule: str | None,
    moved: int,
    page_file: Path | None,
    max_moved: float | None,
    *,
    skip_unreadable: bool,
    as_json: bool,
    **columns: str | None,
) -> None:
    """Read the logs of other harnesses a second time.

    LOGS are files or directories, told by their content. For each: what its source scored, as printed and made
    again from its rows; what of that had no answer at all; how many outputs follow the format; accuracy over
    answers and over all outputs; and which rows moved, the worst first, each with its text and both readings.

    A table (CSV, JSON Lines, Parquet) is a log if its texts are in raw_output, or if a COLUMN is named.

    \b
    Examples:
      affidavit audit logs/run.eval --contract mcqa-reasoned
      affidavit audit samples_gsm8k_*.jsonl --contract number --param marker='####' --max-moved 0.02
      affidavit audit table.csv --contract mcqa --field completion --source-correct correct
      affidavit audit predictions/ --pattern '\\[正确答案\\](?P<answer>[A-D])<eoa>' --source-rule lawbench

    \b
    Exit codes: 0 done; 2 the command or a log is wrong; 3 (before 4) more moved than --max-moved, or
    nothing can be compared; 4 a contract of your own raised on some outputs, or logs were left out.
    """
    look_for_garbage_rarely()
    from affidavit.contracts.read_by import ReadBy
    from affidavit.exchange.unreadable_logs import UnreadableLogs
    from affidavit.results.second_readings import audit_report
    from affidavit.running.second_reading import audit_terms, audited

    reads = _contract(logs, contract, pattern, options, parameters, is_for_rule=source_rule is not None)
    refuse_over_input("--page", page_file, logs)
    terms = audit_terms(
        reads,
        options=options,
        scorer=scorer,
        source_rule=source_rule,
        columns=given_columns(columns),
        source_columns=given_source_columns(columns),
        answer_pattern=answer_pattern,
    )
    unreadable = UnreadableLogs.among(logs, skipped=skip_unreadable)
    readings = audited(logs, terms, unreadable)
    report = audit_report(readings, ReadBy.of(reads), moved=moved, unreadable=unreadable)
    _show(report, readings, unreadable, as_json=as_json)
    if page_file is not None:
        _write_page(page_file, report, readings, logs, moved=moved)
    sys.exit(_exit_code(readings, max_moved, is_whole=not unreadable.found))


def _exit_code(readings: "Sequence[SecondReading]", max_moved: float | None, *, is_whole: bool) -> int:
    """How the command ends; what is not met is told, log by log."""
    from affidavit.results.second_readings import moved_most

    if max_moved is not None and (not_met := list(moved_most(readings, max_moved))):
        for each in not_met:
            click.echo(f"--max-moved: {plain_lines(each)}", err=True)
        return NOT_MET
    return DONE if is_whole and not any(each.unread for each in readings) else ENDED_WITH_FAILURES


def _show(
    report: "Report", readings: "Sequence[SecondReading]", unreadable: "UnreadableLogs", *, as_json: bool
) -> None:
    from affidavit.commands.output import show
    from affidavit.results.second_readings import audit_fields
    from affidavit.results.terminal import shown_report

    show(audit_fields(readings, unreadable) if as_json else shown_report(report))


def _write_page(
    path: Path, report: "Report", readings: "Sequence[SecondReading]", logs: "Sequence[Path]", *, moved: int
) -> None:
    from affidavit.archive.disk import new_file
    from affidavit.results.page.audit_page import MadeOf, audit_page

    made_of = MadeOf([str(each) for each in logs], datetime.now(UTC))
    page = audit_page(report, readings, made_of, most=moved)
    with new_file(path) as stream:
        stream.write(page.encode())
    click.echo(f"the page: {plain_lines(str(path))}", err=True)


_WHICH = "What reads the outputs is yours to say: `affidavit contracts` lists what there is"


def _which(logs: "Sequence[Path]") -> str:
    """What there is to read with; the forms that answers have are counted for a file alone.

    >>> _which([Path("no-log")])
    'What reads the outputs is yours to say: `affidavit contracts` lists what there is.'
    """
    if len(logs) != 1 or not logs[0].is_file():
        return f"{_WHICH}."
    order = f"affidavit read mcqa {shlex.quote(str(logs[0]))} --lenses -o rows.jsonl"
    return f"{_WHICH}, and `{order}` counts the forms that answers have."


def _contract(
    logs: "Sequence[Path]",
    contract: str | None,
    pattern: str | None,
    options: str | None,
    parameters: tuple[str, ...],
    *,
    is_for_rule: bool,
) -> "AnyContract":
    """What reads the outputs: a contract by its name, or a pattern; `options` may be the rule's alone."""
    name = contract_or_pattern("audit", contract, pattern, hint=_which(logs))
    shown = None if pattern is not None and is_for_rule else options  # a pattern shows none
    reads = typed_contract(name, shown, parameters, pattern).contract
    say_parameter_notes(reads)
    return reads
