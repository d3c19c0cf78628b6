"""`affidavit import`: the logs of other harnesses become a study."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from affidavit.commands.column_options import given_columns, given_source_columns, source_column_options
from affidavit.commands.contract_or_pattern import contract_or_pattern
from affidavit.commands.exit_codes import DONE, ENDED_WITH_FAILURES
from affidavit.commands.label_options import given_labels, label_options
from affidavit.commands.rare_collection import look_for_garbage_rarely
from affidavit.commands.skipped_logs import skip_option
from affidavit.commands.typed_contract import pattern_option, say_parameter_notes, typed_contract
from affidavit.errors import UsageError
from affidavit.plain_text import counted_noun, plain

if TYPE_CHECKING:
    from affidavit.contracts.contract import AnyContract
    from affidavit.exchange.log_source import LogSource
    from affidavit.exchange.unreadable_logs import UnreadableLogs


_ONE = {
    "sentinels": ("sentinel", "sentinels"),
    "error": ("error", "errors"),
    "errors with a text": ("error with a text", "errors with a text"),
}
"""Kinds of outputs that are nouns, one of them and several."""


@click.command("import", no_args_is_help=True)
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Where the study is made."
)
@click.option(
    "--contract",
    default=None,
    metavar="NAME",
    help="What reads the outputs; text unless it or --pattern is given.",
)
@pattern_option
@click.option("--options", default=None, metavar="A-E", help="Multiple choice: the option set, as for `read`.")
@click.option(
    "--param",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the contract, as for `read`.",
)
@click.option(
    "--answer-pattern",
    default=None,
    metavar="REGEX",
    help="What a whole right answer must match, if it holds more than the answer: the group named `answer`.",
)
@source_column_options
@skip_option
@label_options
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def import_logs(
    logs: tuple[Path, ...],
    out: Path,
    contract: str | None,
    pattern: str | None,
    options: str | None,
    parameters: tuple[str, ...],
    answer_pattern: str | None,
    *,
    skip_unreadable: bool,
    as_json: bool,
    **columns: Any,  # noqa: ANN401 - the columns, those of labels too
) -> None:
    """Make a study of the logs of other harnesses.

    LOGS are files or directories, told by their content; a directory is taken whole. Every text is kept as its
    source recorded it, and the source's own word on it (answer, verdict, score, error) stands beside it, apart
    from what the contract says: in the fields source_answer, source_correct, source_score, source_scorer and
    source_error of each record's row.

    A table (CSV, JSON Lines, Parquet) is a log if its texts are in raw_output, or if a COLUMN is named.

    \b
    Examples:
      affidavit import samples_gsm8k_2025-09-09T13-31-53.431753.jsonl -o gsm8k --contract number
      affidavit import logs/ -o study
      affidavit import predictions/ -o study --pattern '\\[正确答案\\](?P<answer>[A-D])<eoa>'
      affidavit import table.csv -o study --field completion --source-correct correct

    \b
    Exit codes: 0 done; 2 the command or a log is wrong; 4 a contract of your own raised on
    some outputs, or logs were left out; 5 the disk refused; 6 another run holds the directory.
    """
    look_for_garbage_rarely()
    from affidavit.commands.read_into_study import read_into_study, report_study
    from affidavit.contracts.parts import parts_of
    from affidavit.exchange.log_source import log_sources
    from affidavit.exchange.plain_tables import Tables
    from affidavit.exchange.right_answers import AnswerPattern
    from affidavit.exchange.unreadable_logs import UnreadableLogs
    from affidavit.reading.cell_values import unknown_if_empty
    from affidavit.reading.output_columns import ANSWER, Role

    name = _reader(contract, pattern, out)
    read_by = typed_contract(name, options, parameters, pattern)
    say_parameter_notes(read_by.contract)
    given = given_columns(columns)
    answer = given.get(Role.ANSWER, ANSWER)
    unknown = unknown_if_empty(parts_of(read_by.contract), answer)
    unreadable = UnreadableLogs.among(logs, skipped=skip_unreadable)
    sources = log_sources(logs, Tables(given, given_source_columns(columns), unknown), unreadable)
    if answer_pattern is not None:
        sources = [replace(source, answers=AnswerPattern(answer_pattern, answer)) for source in sources]
    sources = _readable(sources, read_by.contract, answer, unreadable)
    named = {Role.ANSWER: answer} if answer != ANSWER else {}
    kept, outputs, labels = read_into_study(sources, out, read_by, named, labels=given_labels(columns))
    _say(_notes(sources))
    report_study(kept, outputs, name, labels=labels, as_json=as_json)
    is_whole = not unreadable.found and not any(tally.unread for tally in kept.tallies.values())
    sys.exit(DONE if is_whole else ENDED_WITH_FAILURES)


def _reader(contract: str | None, pattern: str | None, out: Path) -> str:
    """The name of what reads the outputs, once `out` is seen to be no file that rows would go to."""
    from affidavit.commands.read_into_study import refuse_file

    refuse_file(out, for_import=True)
    return contract_or_pattern("import", contract or (None if pattern else "text"), pattern, hint="")


def _readable(
    sources: "list[LogSource]", contract: "AnyContract", answer: str, unreadable: "UnreadableLogs"
) -> "list[LogSource]":
    """Those that can be read to their end, where others may be left out: these are told. It takes a walk."""
    from affidavit.reading.rows import RowReader
    from affidavit.reading.sources import rows_of

    if not unreadable.skipped:
        _say(unreadable.notes())
        return sources
    reader, found = RowReader(contract, answer=answer), list["LogSource"]()
    for source in sources:
        with unreadable.watched(source.name):
            for row in rows_of(source):
                reader.read(row.fields, where=row.where)
            found.append(source)
    if not found:
        hint = "\n".join(unreadable.notes())
        raise UsageError("LOGS", expected="at least one log that fits", found="none: no log is left", hint=hint)
    _say(unreadable.notes())
    return found


def _counted(name: str, count: int) -> str:
    """A kind of output with its count.

    >>> _counted("sentinels", 1), _counted("sentinels", 2), _counted("error", 2), _counted("not verbatim", 1)
    ('1 sentinel', '2 sentinels', '2 errors', '1 not verbatim')
    """
    kind = _ONE.get(name)
    return f"{count:,} {name}" if kind is None else f"{count:,} {kind[0] if count == 1 else kind[1]}"


def _say(notes: Iterable[str]) -> None:
    for note in notes:
        click.echo(f"note: {plain(note)}", err=True)


def _notes(sources: "Sequence[LogSource]") -> Iterator[str]:
    """What each log holds, and what a reader must know of it first (rulings I1 and I3)."""
    from affidavit.exchange.log_source import OTHER_TEXTS

    for source in sources:
        log, counted = source.log, source.counted
        said = [_counted(name, counted[name]) for name in sorted(counted.keys() - {"outputs"})]
        yield (
            f"{source.log_name}: {log.format}, task {log.task}, {counted_noun(counted['outputs'], 'output')}"
            + "".join(f", {each}" for each in said)
        )
        if counted[OTHER_TEXTS]:
            yield f"{source.log_name}: other texts are kept in `source_other_texts` of each row, and not read"
        yield from (f"{source.log_name}: {note}" for note in log.notes)
        if log.planned is not None and log.planned != counted["outputs"]:
            yield f"{source.log_name}: by its own account it has {counted_noun(log.planned, 'output')}"
        if log.graders:
            by = dict.fromkeys(each.model for each in log.graders)
            yield f"{source.log_name}: graded by {', '.join(by)}"
