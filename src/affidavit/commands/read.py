"""`affidavit read`: outputs that exist already, through a contract."""

import sys
from contextlib import ExitStack, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

import click

from affidavit.commands.column_options import column_options, given_columns
from affidavit.commands.exit_codes import DONE, ENDED_WITH_FAILURES
from affidavit.commands.label_options import given_labels, label_options
from affidavit.commands.part_options import PartOptions, given_parts, part_options, refuse_beside_parts
from affidavit.commands.rare_collection import look_for_garbage_rarely
from affidavit.commands.typed_contract import pattern_option, say_parameter_notes, typed_contract
from affidavit.errors import AffidavitError, UsageError
from affidavit.plain_text import plain_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from affidavit.contracts.contract import AnyContract
    from affidavit.contracts.frozen_contract import NamedContract
    from affidavit.contracts.judge import Judge
    from affidavit.judging.coverage import Coverage
    from affidavit.judging.label_columns import LabelColumns
    from affidavit.reading.batches import OnRow, RowReading
    from affidavit.reading.output_columns import Role
    from affidavit.reading.rows import RowReader
    from affidavit.reading.source import Source
    from affidavit.reading.worker_process import WorkerProcess


@click.command(no_args_is_help=True)
@click.argument("contract")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "-o",
    "rows_file",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Write the rows, with the contract's fields, to this file.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Make a study of the rows in this directory: for report, compare, gate, verify and judge.",
)
@column_options
@label_options
@click.option(
    "--by",
    metavar="COLUMNS",
    help="Print the figures by these columns, such as model,condition, in place of the summary of all rows.",
)
@click.option(
    "--options",
    default=None,
    help="Multiple choice: the option set, A-D unless given; auto: as many as each row has in `options`.",
    metavar="A-E",
)
@click.option(
    "--param",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the contract, as in a study file: marker='####'; may be given several times.",
)
@pattern_option
@click.option("--lenses", is_flag=True, help="Multiple choice: add lenient readings, which are not the protocol.")
@click.option(
    "--archive",
    type=click.Path(path_type=Path),
    help="judge: sort valid and invalid evaluations into this directory.",
)
@part_options
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def read(
    contract: str,
    files: tuple[Path, ...],
    rows_file: Path | None,
    out: Path | None,
    by: str | None,
    options: str | None,
    parameters: tuple[str, ...],
    pattern: str | None,
    archive: Path | None,
    *,
    lenses: bool,
    as_json: bool,
    **given: Any,  # noqa: ANN401 - the columns, and how parts are read
) -> None:
    """Read outputs that exist already.

    CONTRACT is one of those that `affidavit contracts` lists (mcqa, pattern, judge ...), or one of your own as
    my_file.py:name. FILES are JSON Lines, CSV (`,`, `;` or tab) or Parquet, all of one kind, recognised by their
    content; the first two may be compressed (.gz, .zst). `-`, or no file, is standard input. The same rows come
    out in the same order, with the contract's fields at their end; JSON Lines keep every byte they had.

    Rows go to -o FILE, else to standard output unless that is a terminal; the summary goes to standard output, or
    to standard error when the rows are there. With --json, standard output carries the summary alone. A FILE that
    ends in .gz or .zst is compressed.

    With --out DIR the rows become a study instead, sealed: every text verbatim, other fields beside it, labels by
    people as such (--label). A COLUMN is a name, or a way into nested values: response.body.choices[0].text.

    With --parts DIR or --workers N, files of any size are read range by range: FILES may then
    be directories and patterns too, and a row that is none is left out and told, unless --strict.

    \b
    Examples:
      affidavit read mcqa outputs.jsonl -o read.jsonl
      affidavit read mcqa outputs.jsonl --answer target --model model_name --out my-study
      cat judgements.jsonl | affidavit read judge --archive judged/ > read.jsonl
      affidavit read pattern 'out/*.parquet' --pattern 'Answer: (?P<answer>[A-D])' --parts read/ --workers 4

    \b
    Exit codes: 0 done; 2 the command or a file is wrong; 4 a contract of your own raised
    on some outputs, or rows were left out; 5 the disk refused; 6 another run holds the directory.
    """
    look_for_garbage_rarely()
    columns, labels = given_columns(given), _labels(given, out)
    if (parts := given_parts(given)).any:
        refuse_beside_parts({"--out": out, "--by": by, "--archive": archive})
        order = _Order((), rows_file, columns, None, lenses=lenses, as_json=as_json)
        read_by = typed_contract(contract, options, parameters, pattern)
        sys.exit(_read_parts(order, parts, files, contract, read_by))
    sources = [_source(path, columns) for path in files or (Path("-"),)]
    order = _Order(sources, rows_file, columns, archive, lenses=lenses, as_json=as_json)
    with _workers(order, out) as begun:
        read_by = typed_contract(contract, options, parameters, pattern)
        say_parameter_notes(read_by.contract)
        if out is None and by is None:
            unread = _read_rows(order, read_by.contract)
        else:
            unread = _read_groups(order._replace(labels=labels), contract, read_by, out, by, begun)
    sys.exit(ENDED_WITH_FAILURES if unread else DONE)


def _labels(given: "Mapping[str, Any]", out: Path | None) -> "LabelColumns | None":
    """The columns of labels by people; they are kept where a study is made."""
    if (labels := given_labels(given)) is not None and out is None:
        raise UsageError("--label", expected="--out DIR beside it: labels stand on a study's record", found="none")
    return labels


class _Order(NamedTuple):
    """What is to be read, and where to."""

    sources: "Sequence[Source]"
    out: Path | None
    columns: "Mapping[Role, str]"
    archive: Path | None
    lenses: bool
    as_json: bool
    labels: "LabelColumns | None" = None


_WORTH_WORKERS = 24 << 20
"""Bytes of rows from which on it takes longer to read them than to start processes."""


def _workers(order: _Order, out: Path | None) -> "AbstractContextManager[list[WorkerProcess]]":
    """Processes that help to make a study of many rows: they load what they need while this process does."""
    from affidavit.archive.layout import STUDY
    from affidavit.reading.worker_process import usual_count, workers

    count = 0
    with suppress(OSError):  # what is wrong with a name is told when it is opened
        if out is not None and (_size(order.sources) or 0) >= _WORTH_WORKERS and not (out / STUDY).exists():
            count = usual_count()
    return workers("import", count if count > 1 else 0)


def _point_to_the_report(contract: "AnyContract") -> None:
    """Say where the lenient readings of a study are; a contract that has none refuses."""
    from affidavit.reading.rows import RowReader

    RowReader(contract, lenses=True)
    click.echo("note: the study's report has lenient readings in a table of their own", err=True)


def _refuse_beside(option: str, order: _Order) -> None:
    """Refuse what is only for rows that are written."""
    given = {"-o": order.out is not None, "--archive": order.archive is not None}
    if option == "--by":
        given["--lenses"] = order.lenses
    for other in (other for other, there in given.items() if there):
        hint = {
            "-o": f"Leave out one of the two: -o writes rows, {option} does not.",
            "--lenses": (
                "Make a study with --out DIR in place of --by: `affidavit report DIR --by COLUMNS` has lenient "
                "readings in a table of their own."
            ),
        }.get(other, "")
        raise UsageError(other, expected=f"no {option} beside it", found="both", hint=hint)


def _read_groups(
    order: _Order,
    contract: str,
    read_by: "NamedContract",
    out: Path | None,
    by: str | None,
    begun: "Sequence[WorkerProcess]",
) -> int:
    """Make a study of the rows, or only show their figures by group; how many of them are unread."""
    from affidavit.commands.read_into_study import read_into_study, report_groups, report_study
    from affidavit.reading.spooled import read_again

    _refuse_beside("--by" if out is None else "--out", order)
    if order.lenses:
        _point_to_the_report(read_by.contract)
    columns = [] if by is None else [name.strip() for name in by.split(",") if name.strip()]
    with read_again(list(order.sources)) as sources:
        if out is None:
            return report_groups(sources, columns, read_by, order.columns, as_json=order.as_json)
        kept, outputs, labels = read_into_study(sources, out, read_by, order.columns, begun, order.labels)
        report_study(kept, outputs, contract, columns, labels, as_json=order.as_json)
        return sum(tally.unread for tally in kept.tallies.values())


def _read_rows(order: _Order, contract: "AnyContract") -> int:
    """Read rows and write them with their new fields; how many of them are unread."""
    from affidavit.commands.progress import Progress
    from affidavit.commands.read_into_study import refuse_directory
    from affidavit.commands.read_summary import column_notes, print_summary, repeats_notes
    from affidavit.contracts.contract import RAW_OUTPUT
    from affidavit.judging.coverage import Coverage
    from affidavit.reading.engines import batch_reader, common_format, read_files
    from affidavit.reading.first_row import first_names
    from affidavit.reading.output_columns import ANSWER, Role, named_columns
    from affidavit.reading.rows import RowReader

    sources, out, as_json = order.sources, order.out, order.as_json
    if out is not None:
        refuse_directory(out)
    field = order.columns.get(Role.TEXT, RAW_OUTPUT)
    answer = order.columns.get(Role.ANSWER, ANSWER)
    reader = RowReader(contract, field=field, answer=answer, lenses=order.lenses)
    coverage = Coverage() if reader.parts.evaluates else None
    names = first_names(sources[0])
    with ExitStack() as stack:
        on_row = _watched(coverage, _filed(stack, reader, order.archive))
        rows = _rows_out(stack, out, as_json=as_json)
        on_stdout = sys.stdout is not None and rows is sys.stdout.buffer
        row_format = common_format(sources, _named(out))
        batches = batch_reader(row_format, reader, keep_readings=on_row is not None)
        if batches.binary and rows is not None and _named(out) is None:
            raise UsageError("-o", expected=f"a name for the {row_format.name} file", found="none")
        progress = stack.enter_context(Progress(sys.stderr, _size(sources)))
        stack.enter_context(redirect_stdout(sys.stderr))  # whatever a user's contract prints is not a row
        named = named_columns(order.columns)
        result = read_files(sources, batches, out=rows, on_row=on_row, progress=progress.tell, named=named)
        if rows is not None and on_stdout:
            rows.flush()
    print_summary(result, reader, coverage, as_json=as_json, rows_on_stdout=on_stdout)
    by_model = "--by model" if out is None else "--by model in place of -o"
    for note in repeats_notes(sources, by_model):
        click.echo(f"note: {note}", err=True)
    for note in column_notes(names, order.columns, reader, by_model):
        click.echo(f"note: {plain_lines(note)}", err=True)
    return result.tally.unread


def _read_parts(
    order: _Order, given: PartOptions, files: "Sequence[Path]", contract: str, read_by: "NamedContract"
) -> int:
    """Read ranges into part files, or by several workers into one; the exit code."""
    from affidavit.commands.read_into_parts import parts_order, read_into_parts
    from affidavit.commands.read_summary import print_summary
    from affidavit.contracts.contract import RAW_OUTPUT
    from affidavit.reading.output_columns import ANSWER, Role
    from affidavit.reading.rows import RowReader

    say_parameter_notes(read_by.contract)
    field, answer = order.columns.get(Role.TEXT, RAW_OUTPUT), order.columns.get(Role.ANSWER, ANSWER)
    reader = RowReader(read_by.contract, field=field, answer=answer, lenses=order.lenses)
    result, bad = read_into_parts(parts_order(given, files, order.out, reader, order.columns), contract, read_by)
    print_summary(result, reader, None, as_json=order.as_json, rows_on_stdout=False)
    return ENDED_WITH_FAILURES if bad or result.tally.unread else DONE


def _source(path: Path, given: "Mapping[Role, str]") -> "Source":
    """Where rows are; a log of another harness is read as one unless the column of texts is named."""
    from affidavit.reading.output_columns import Role
    from affidavit.reading.source import file_source, stream_source

    if str(path) != "-":
        if Role.TEXT not in given and path.is_file() and (export := _export_source(path)) is not None:
            return export
        log = None if Role.TEXT in given or _has_texts(path) else _log_source(path)
        return file_source(path) if log is None else log
    if sys.stdin is None:
        raise UsageError("standard input", expected="rows of outputs", found="nothing: it is closed")
    return stream_source("standard input", sys.stdin.buffer)


def _has_texts(path: Path) -> bool:
    """Whether the first row has texts under our name for them, or nobody can look twice: then it is no log."""
    from affidavit.contracts.contract import RAW_OUTPUT
    from affidavit.reading.first_row import first_names
    from affidavit.reading.source import file_source

    if not path.is_file():
        return not path.is_dir()
    with suppress(AffidavitError):  # what is wrong with the file is told when it is read
        return RAW_OUTPUT in first_names(file_source(path))
    return False


def _export_source(path: Path) -> "Source | None":
    """The outputs of a file that `export` wrote; what is wrong with another one is told when it is read."""
    from affidavit.exchange.own_exports import source_if_export

    with suppress(AffidavitError):
        if (export := source_if_export(path)) is not None:
            hint = "its outputs have the names that `read` has; its own columns are read with --field"
            click.echo(f"note: {plain_lines(str(path))} is read as an export: {hint}", err=True)
            return export
    return None


def _log_source(path: Path) -> "Source | None":
    from affidavit.exchange.log_source import source_if_log

    if (log := source_if_log(path)) is not None:
        hint = "its own columns are read with --field"
        click.echo(f"note: {plain_lines(str(path))} is read as a log: {log.log.format}; {hint}", err=True)
    return log


def _named(out: Path | None) -> Path | None:
    """The output, if it is a file whose name may say what it holds."""
    return None if out is None or str(out) == "-" or _is_device(out) else out


def _is_device(path: Path) -> bool:
    try:
        return path.exists() and not path.is_file() and not path.is_dir()
    except OSError:
        return False  # what is wrong with the name is told when it is opened


def _size(sources: "Sequence[Source]") -> int | None:
    """The bytes that there are to read; None if nobody knows."""
    paths = [source.path for source in sources]
    return None if None in paths else sum(path.stat().st_size for path in paths if path is not None)


def _filed(stack: ExitStack, reader: "RowReader", archive: Path | None) -> "OnRow | None":
    """What files every evaluation into one of two trees; None unless that was asked for."""
    from affidavit.judging.trees import file_row, judge_archive

    if archive is None:
        return None
    if not reader.parts.evaluates:
        raise UsageError("--archive", expected="the contract judge", found=reader.contract.name)
    trees = stack.enter_context(judge_archive(archive, cast("Judge", reader.contract)))
    return lambda row: file_row(trees, *row)


def _watched(coverage: "Coverage | None", filed: "OnRow | None") -> "OnRow | None":
    """What notes every evaluation in the coverage (ruling J9), and files it where that was asked for."""
    if coverage is None:
        return filed

    def on_row(row: "RowReading") -> None:
        coverage.add(row.result.item, evaluated=row.raw is not None)  # type: ignore[arg-type] # of the judge contract
        if filed is not None:
            filed(row)

    return on_row


def _rows_out(stack: ExitStack, out: Path | None, *, as_json: bool) -> BinaryIO | None:
    """Where the rows go, compressed if the name says so; None if nowhere."""
    from affidavit.archive.disk import new_file
    from affidavit.reading.compressed import packed_by_ending

    if out is not None and str(out) != "-":
        return stack.enter_context(packed_by_ending(stack.enter_context(new_file(out)), out.name))
    if out is None and as_json:
        return None
    if sys.stdout is None:
        raise UsageError("standard output", expected="a place for the rows", found="nothing: it is closed")
    return None if out is None and sys.stdout.isatty() else sys.stdout.buffer
