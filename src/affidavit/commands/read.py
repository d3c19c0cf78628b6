"""`affidavit read`: outputs that exist already, through a contract."""

import gc
import json
import sys
from contextlib import ExitStack, nullcontext, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import click

from affidavit.commands.exit_codes import DONE, ENDED_WITH_FAILURES
from affidavit.errors import UsageError
from affidavit.plain_text import plain_lines

if TYPE_CHECKING:
    from affidavit.commands.progress import Progress
    from affidavit.contracts.judge import Judge
    from affidavit.reading.json_lines import EachRow, Result, Source
    from affidavit.reading.rows import RowReader


@click.command(no_args_is_help=True)
@click.argument("contract")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option("-o", "--out", type=click.Path(path_type=Path, allow_dash=True), help="Write the rows here.")
@click.option("--field", default="raw_output", show_default=True, help="The field that holds the model's text.")
@click.option("--options", default=None, help="mcqa: the option set, A-D unless given.", metavar="A-E")
@click.option("--lenses", is_flag=True, help="mcqa: add the other readings, which are not the protocol.")
@click.option("--archive", type=click.Path(path_type=Path), help="judge: sort evaluations into two trees here.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def read(
    contract: str,
    files: tuple[Path, ...],
    out: Path | None,
    field: str,
    options: str | None,
    archive: Path | None,
    *,
    lenses: bool,
    as_json: bool,
) -> None:
    """Read outputs that exist already.

    CONTRACT is mcqa, game24, judge, text, or a contract of your own as my_file.py:name. FILES are JSON
    Lines, CSV (.csv) or Parquet (.parquet), all of one kind; `-`, or no file, is JSON Lines from standard
    input. The same rows come out in the same order, with the contract's fields at their end; JSON Lines
    keep every byte that they had.

    \b
    Rows go to --out, else to standard output unless that is a terminal; the summary goes
    to standard output, or to standard error when the rows are there. With --json, standard
    output carries the summary alone.

    \b
    Examples:
      affidavit read mcqa outputs.jsonl -o read.jsonl
      affidavit read game24 --field completion samples.jsonl --json
      cat judgements.jsonl | affidavit read judge --archive judged/ > read.jsonl

    \b
    Exit codes: 0 done; 2 the command or a file is wrong; 4 a contract of your own raised
    on some outputs; 5 the disk refused.
    """
    from affidavit.commands.progress import Progress
    from affidavit.contracts.registry import contract_named
    from affidavit.reading.rows import RowReader

    # Rows by the hundred thousand are no garbage, and nothing here makes cycles: look for them rarely.
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    reader = RowReader(contract_named(contract, options), field=field, lenses=lenses)
    paths = files or (Path("-"),)
    kind = _kind(paths, out)
    if kind != "jsonl" and archive is not None:
        raise UsageError("--archive", expected="JSON Lines", found=f"{kind} files")
    with Progress(sys.stderr, _size(paths)) as progress:
        places = _ReadOptions(out, archive, as_json, progress)
        if kind == "parquet":
            result, on_stdout = _read_parquet(paths, reader, places), False
        else:
            result, on_stdout = _read_streams(kind, paths, reader, places)
    _report(result, reader, as_json=as_json, rows_on_stdout=on_stdout)
    sys.exit(ENDED_WITH_FAILURES if result.tally.unread else DONE)


def _kind(paths: tuple[Path, ...], out: Path | None) -> str:
    """The one kind of file that all these are, by their endings."""
    kinds = {_ENDINGS.get(path.suffix.lower(), "jsonl") for path in paths}
    if out is not None and str(out) != "-" and not _is_device(out):
        kinds.add(_ENDINGS.get(out.suffix.lower(), "jsonl"))
    if len(kinds) > 1:
        raise UsageError(
            "FILES and --out",
            expected="files of one kind, told by their endings: .jsonl, .csv or .parquet",
            found=", ".join(map(str, [*paths, *([out] if out is not None else [])])),
        )
    return kinds.pop()


_ENDINGS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}


def _is_device(path: Path) -> bool:
    try:
        return path.exists() and not path.is_file() and not path.is_dir()
    except OSError:
        return False  # what is wrong with the name is told when it is opened


def _size(paths: tuple[Path, ...]) -> int | None:
    """The bytes that there are to read; None if nobody knows."""
    return sum(path.stat().st_size for path in paths) if all(path.is_file() for path in paths) else None


def _read_streams(
    kind: str, paths: tuple[Path, ...], reader: "RowReader", options: "_ReadOptions"
) -> tuple["Result", bool]:
    """Files that are read from their first byte to their last; also says whether rows went to standard output."""
    from affidavit.reading.csv_files import read_csv
    from affidavit.reading.json_lines import read_lines

    tell = options.progress.tell
    sources = [_source(path) for path in paths]
    with ExitStack() as stack:
        rows = _rows_out(stack, options.out, as_json=options.as_json)
        on_stdout = sys.stdout is not None and rows is sys.stdout.buffer
        stack.enter_context(redirect_stdout(sys.stderr))  # whatever a user's contract prints is not a row
        if kind == "csv":
            result = read_csv(sources, reader, out=rows, progress=tell)
        else:
            result = read_lines(
                sources, reader, out=rows, each_row=_filed(stack, reader, options.archive), progress=tell
            )
        if on_stdout and rows is not None:
            rows.flush()
    return result, on_stdout


def _filed(stack: ExitStack, reader: "RowReader", archive: Path | None) -> "EachRow | None":
    """What files every evaluation into one of two trees; None unless that was asked for."""
    from affidavit.judging.trees import file_row, judge_archive

    if archive is None:
        return None
    if not reader.parts.evaluates:
        raise UsageError("--archive", expected="the contract judge", found=reader.contract.name)
    return partial(file_row, stack.enter_context(judge_archive(archive, cast("Judge", reader.contract))))


def _read_parquet(paths: tuple[Path, ...], reader: "RowReader", options: "_ReadOptions") -> "Result":
    from affidavit.reading.parquet_files import read_parquet

    nowhere = options.out is None and not options.as_json and not (sys.stdout and sys.stdout.isatty())
    if nowhere or str(options.out) == "-":
        raise UsageError("--out", expected="a name for the Parquet file", found="nothing")
    return read_parquet(paths, reader, out=options.out, progress=options.progress.tell)


@dataclass(frozen=True)
class _ReadOptions:
    """Where the results of `read` go."""

    out: Path | None
    archive: Path | None
    as_json: bool
    progress: "Progress"


def _source(path: Path) -> "Source":
    from affidavit.reading.json_lines import Source, open_source

    if str(path) == "-":
        if sys.stdin is None:
            raise UsageError("standard input", expected="rows of outputs", found="nothing: it is closed")
        return Source("standard input", lambda: nullcontext(sys.stdin.buffer))
    open_source(path).close()  # a file that is not there is told of before anything is done
    return Source(str(path), partial(open_source, path))


def _rows_out(stack: ExitStack, out: Path | None, *, as_json: bool) -> BinaryIO | None:
    """Where the rows go; None if nowhere."""
    from affidavit.archive.disk import new_file

    if out is not None and str(out) != "-":
        return stack.enter_context(new_file(out))
    if out is None and as_json:
        return None
    if sys.stdout is None:
        raise UsageError("standard output", expected="a place for the rows", found="nothing: it is closed")
    return None if out is None and sys.stdout.isatty() else sys.stdout.buffer


def _report(result: "Result", reader: "RowReader", *, as_json: bool, rows_on_stdout: bool) -> None:
    from affidavit import label
    from affidavit.reading.summary import figures, text

    name = label(reader.contract)
    if as_json:
        summary = json.dumps(figures(result.tally, name, dict(reader.contract.params), reader.parts), indent=2)
    else:
        summary = text(result.tally, name, reader.parts)
    click.echo(plain_lines(summary), err=rows_on_stdout)
    for note in _notes(result, reader):
        click.echo(f"note: {plain_lines(note)}", err=True)


def _notes(result: "Result", reader: "RowReader") -> list[str]:
    notes = []
    if result.unchecked:
        notes.append(
            f"{result.unchecked:,} of {result.tally.n:,} rows have no '{reader.parts.checked_by}': "
            f"{reader.parts.unchecked}"
        )
    if result.replaced:
        notes.append(f"fields that were there already were replaced: {', '.join(sorted(result.replaced))}")
    notes.extend(f"{count:,} unread: {error}" for error, count in result.tally.errors.most_common(5))
    return notes
