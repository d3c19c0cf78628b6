"""The command line: arguments → one call → a printed result and an exit code.

Nothing is decided here. Heavy modules are imported by the command that needs them, so that `--help` answers
at once.
"""

import difflib
import gc
import json
import os
import shlex
import signal
import sys
from collections.abc import Iterable
from contextlib import ExitStack, nullcontext, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn

import click

from affidavit import __version__
from affidavit.errors import AffidavitError, UsageError
from affidavit.models_command import models
from affidavit.terminal import plain_lines

if TYPE_CHECKING:
    from rich.console import RenderableType

    from affidavit.contract import Fields
    from affidavit.engines.local import Result, Source
    from affidavit.progress import Progress
    from affidavit.rows import AnyContract, RowReader
    from affidavit.study_run import Ended

DONE, ENDED_WITH_FAILURES, STORAGE, INTERRUPTED, TERMINATED = 0, 4, 5, 130, 143
BUILT_IN = ("mcqa", "game24", "judge", "text")


class _Commands(click.Group):
    """A group whose commands report what a person can mend in one message, without a traceback."""

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except AffidavitError as error:
            click.echo(f"affidavit: {plain_lines(str(error))}", err=True)
            context.exit(error.exit_code)
        except BrokenPipeError:
            # The reader of our output has gone (`| head`): that is its right, and no failure of ours.
            _silence_output()
            context.exit(DONE)
        except OSError as error:
            # Whatever has a name was told about by name; what is left are the standard streams.
            _silence_output()
            if sys.__stderr__ is not None:
                sys.__stderr__.write(f"affidavit: standard input or output: {error.strerror or error}\n")
            context.exit(STORAGE)
        except KeyboardInterrupt:
            context.exit(INTERRUPTED)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="affidavit")
def cli() -> None:
    """LLM evaluation on the record.

    Every score traces back to a verbatim output, the contract that read it, and evidence anyone can check.
    """


@cli.command(no_args_is_help=True)
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
    from affidavit.progress import Progress
    from affidavit.rows import RowReader

    # Rows by the hundred thousand are no garbage, and nothing here makes cycles: look for them rarely.
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    reader = RowReader(_contract(contract, options), field=field, lenses=lenses)
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


@cli.command()
@click.argument("directory", type=click.Path(path_type=Path), default=".")
def init(directory: Path) -> None:
    """Write a study to start from.

    DIRECTORY, here unless given, gets study.toml, with a comment on every line that matters, and a few
    questions. The study runs as it is; nothing that is there already is written over.

    \b
    Example:
      affidavit init my-study && cd my-study && affidavit run study.toml --dry-run

    \b
    Exit codes: 0 written; 2 a study is there already; 5 the disk refused.
    """
    from affidavit.starter import write_starter

    paths = write_starter(directory)
    for path in paths:
        click.echo(plain_lines(f"wrote {path}"))
    click.echo(plain_lines(f"next: {shlex.join(['affidavit', 'run', str(paths[0]), '--dry-run'])}"))


@cli.command(no_args_is_help=True)
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="The study's directory; ./<study name> unless given.")
@click.option("--dry-run", is_flag=True, help="Print what would be asked, with tokens and cost; ask nothing.")
@click.option(
    "--limit", type=click.IntRange(min=1), help="Ask about the first N items of each task only.", metavar="N"
)
@click.option("--model", "models", multiple=True, help="Ask this model only; may be given more than once.")
@click.option("--retry-failed", is_flag=True, help="Also ask again what failed for good, such as bad_request.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def run(
    study: Path,
    out: Path | None,
    limit: int | None,
    models: tuple[str, ...],
    *,
    dry_run: bool,
    retry_failed: bool,
    as_json: bool,
) -> None:
    """Run a study: ask, keep everything, read.

    STUDY is a TOML file. Run it again to go on: only what is pending, or failed in a way that may pass, is
    asked. Whatever came back is kept for good in the study's directory. With --limit or --model the rest
    stays pending, and a later run asks it.

    \b
    Examples:
      affidavit run study.toml --dry-run
      affidavit run study.toml --limit 5
      affidavit run study.toml --out runs/first --json

    \b
    Exit codes: 0 every sample answered; 2 the study is wrong; 4 some samples failed or are
    pending; 5 the disk refused or the archive is broken; 6 another run holds the directory;
    130, 143 stopped by a signal.
    """
    from affidavit.dry_run import dry_run as plan_only
    from affidavit.dry_run import left_out
    from affidavit.run_progress import RunProgress
    from affidavit.study_files import load
    from affidavit.study_run import Options, run_study

    files = load(study, _task_contract, with_weights=not dry_run)
    for name in models:
        if name not in files.study.models:
            hint = _nearest(name, files.study.models)
            raise UsageError("--model", expected=", ".join(files.study.models), found=repr(name), hint=hint)
    if dry_run:
        planned = plan_only(files, first_items=limit, models=models)
        _print(planned.as_json() if as_json else planned.as_table())
        sys.exit(DONE)
    # What is loaded stays, and requests leave little behind: look for garbage rarely.
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)
    for line in left_out(files.study):
        click.echo(f"note: {line}", err=True)
    with RunProgress(sys.stderr) as progress:
        ended = run_study(files, _task_contract, Options(out, retry_failed, limit, models, progress.tell))
    _report_run(ended, _again(study, out), as_json=as_json)
    if ended.signal is not None:
        sys.exit(128 + ended.signal)
    open_ones = sum(tally.failed + tally.pending + tally.unread for tally in ended.tallies.values())
    sys.exit(ENDED_WITH_FAILURES if open_ones else DONE)


def _print(what: "Fields | RenderableType") -> None:
    """JSON values, or tables as wide as the terminal; as wide as they need to be where there is none."""
    if isinstance(what, dict):
        click.echo(json.dumps(what, indent=2))
        return
    from rich.console import Console

    wide = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 200
    console = Console(width=wide, highlight=False)
    with console.capture() as captured:
        console.print(what)
    click.echo("\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n")))


def _again(study: Path, out: Path | None) -> str:
    """What to type to go on."""
    return shlex.join(["affidavit", "run", str(study), *([] if out is None else ["--out", str(out)])])


def _report_run(ended: "Ended", again: str, *, as_json: bool) -> None:
    from affidavit import run_report

    if as_json:
        facts = {"directory": str(ended.directory), "root_sha256": ended.root_sha256, "asked": ended.asked}
        _print({**facts, "stopped": ended.stopped, **run_report.as_json(ended.standings)})
    else:
        _print(run_report.as_tables(ended.standings))
        if not ended.asked and ended.stopped is None:
            click.echo(f"nothing to do: {_what_is_left(ended)}")
        click.echo(plain_lines(f"sealed in {ended.directory}, digest {ended.root_sha256[:16]}…"))
    for said, count in ended.details:
        click.echo(f"note: {count:,} failed with {plain_lines(said)}", err=True)
    left = sum(tally.failed + tally.pending for tally in ended.tallies.values())
    if ended.stopped:
        click.echo(f"affidavit: {plain_lines(ended.stopped)}", err=True)
    if left:
        click.echo(plain_lines(f"{left:,} without an answer; to go on: {again}"), err=True)
    elif not as_json:
        click.echo(plain_lines(f"to check it: affidavit verify {ended.directory}"))


def _what_is_left(ended: "Ended") -> str:
    failed, pending = (sum(getattr(tally, x) for tally in ended.tallies.values()) for x in ("failed", "pending"))
    if pending:
        return f"the {pending:,} pending are left out by --limit or --model"
    if not failed:
        return "every question has its answer"
    return f"{failed:,} failed for good; --retry-failed asks them again all the same"


@cli.command(no_args_is_help=True)
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

    from affidavit.verify import verify as check

    found = check(directory, _task_contract, beside=None if study is None else study.parent)
    if as_json:
        click.echo(json.dumps(asdict(found), indent=2))
    else:
        state = "sealed" if found.sealed else "not sealed"
        click.echo(f"{found.records:,} records, {found.responses:,} of them responses; {state}")
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


cli.add_command(models)


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
    from affidavit.engines.csv_files import read_csv
    from affidavit.engines.local import read_lines

    tell = options.progress.tell
    sources = [_source(path) for path in paths]
    with ExitStack() as stack:
        rows = _rows_out(stack, options.out, as_json=options.as_json)
        on_stdout = sys.stdout is not None and rows is sys.stdout.buffer
        stack.enter_context(redirect_stdout(sys.stderr))  # whatever a user's contract prints is not a row
        if kind == "csv":
            result = read_csv(sources, reader, out=rows, progress=tell)
        else:
            result = read_lines(sources, reader, out=rows, archive=options.archive, progress=tell)
        if on_stdout and rows is not None:
            rows.flush()
    return result, on_stdout


def _read_parquet(paths: tuple[Path, ...], reader: "RowReader", options: "_ReadOptions") -> "Result":
    from affidavit.engines.parquet_files import read_parquet

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


def _contract(name: str, options: str | None) -> "AnyContract":
    if options is not None and name != "mcqa":
        raise UsageError("--options", expected="the contract mcqa", found=name)
    if name == "mcqa":
        from affidavit.contracts.mcqa import MultipleChoice

        return MultipleChoice("A-D" if options is None else options)
    if name in BUILT_IN:
        import affidavit

        built_in: AnyContract = getattr(affidavit, name)
        return built_in
    if ":" in name:
        from affidavit.user_contract import load_contract

        with redirect_stdout(sys.stderr):
            return load_contract(name)
    raise UsageError(
        "CONTRACT",
        expected="mcqa, game24, judge, text or my_file.py:name",
        found=repr(name),
        hint=_nearest(name, BUILT_IN),
    )


def _nearest(name: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(name, known, 1)
    return f"Did you mean {found[0]}?" if found else ""


def _task_contract(name: str, options: str) -> "AnyContract":
    """The contract of a task; only multiple choice has an option set."""
    return _contract(name, options if name == "mcqa" else None)


def _source(path: Path) -> "Source":
    from affidavit.engines.local import Source, open_source

    if str(path) == "-":
        if sys.stdin is None:
            raise UsageError("standard input", expected="rows of outputs", found="nothing: it is closed")
        return Source("standard input", lambda: nullcontext(sys.stdin.buffer))
    open_source(path).close()  # a file that is not there is told of before anything is done
    return Source(str(path), partial(open_source, path))


def _rows_out(stack: ExitStack, out: Path | None, *, as_json: bool) -> BinaryIO | None:
    """Where the rows go; None if nowhere."""
    from affidavit.storage import new_file

    if out is not None and str(out) != "-":
        return stack.enter_context(new_file(out))
    if out is None and as_json:
        return None
    if sys.stdout is None:
        raise UsageError("standard output", expected="a place for the rows", found="nothing: it is closed")
    return None if out is None and sys.stdout.isatty() else sys.stdout.buffer


def _report(result: "Result", reader: "RowReader", *, as_json: bool, rows_on_stdout: bool) -> None:
    from affidavit import label
    from affidavit.contracts.judge import Judge
    from affidavit.summary import EVALUATIONS, Words, figures, text

    name = label(reader.contract)
    if as_json:
        summary = json.dumps(figures(result.tally, name, dict(reader.contract.params)), indent=2)
    else:
        summary = text(result.tally, name, EVALUATIONS if isinstance(reader.contract, Judge) else Words())
    click.echo(plain_lines(summary), err=rows_on_stdout)
    for note in _notes(result, reader):
        click.echo(f"note: {plain_lines(note)}", err=True)


def _notes(result: "Result", reader: "RowReader") -> list[str]:
    notes = []
    if result.unchecked:
        notes.append(
            f"{result.unchecked:,} of {result.tally.n:,} rows have no '{reader.layout.needs}': "
            f"{reader.layout.unchecked}"
        )
    if result.replaced:
        notes.append(f"fields that were there already were replaced: {', '.join(sorted(result.replaced))}")
    notes.extend(f"{count:,} unread: {error}" for error, count in result.tally.errors.most_common(5))
    return notes


def _silence_output() -> None:
    """Keep Python from complaining, at exit, about output that nobody reads."""
    sys.stdout = None
    sys.stderr = None


def main() -> NoReturn:
    """Run the command; never returns."""
    # As an exception, so that whatever is half-written is cleared away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    cli(prog_name="affidavit")
    raise SystemExit(DONE)
