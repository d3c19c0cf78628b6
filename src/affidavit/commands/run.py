"""`affidavit run`: arguments → one run → tables and an exit code."""

import gc
import shlex
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click

from affidavit.commands.exit_codes import DONE, ENDED_WITH_FAILURES
from affidavit.plain_text import plain_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from affidavit.results.closing import ClosedRun
    from affidavit.results.judging import Judgements
    from affidavit.running.study_run import Ended


@click.command(no_args_is_help=True)
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="The study's directory; ./<study name> unless given.")
@click.option("--dry-run", is_flag=True, help="Print what would be asked, with tokens and cost; ask nothing.")
@click.option(
    "--limit", type=click.IntRange(min=1), help="Ask about the first N items of each task only.", metavar="N"
)
@click.option("--model", "models", multiple=True, help="Ask this model only; may be given more than once.")
@click.option("--retry-failed", is_flag=True, help="Also ask again what failed permanently, such as bad_request.")
@click.option("--no-page", is_flag=True, help="Do not write report.html at the end.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def run(
    study: Path,
    out: Path | None,
    limit: int | None,
    models: tuple[str, ...],
    *,
    dry_run: bool,
    retry_failed: bool,
    no_page: bool,
    as_json: bool,
) -> None:
    """Run a study: ask, keep everything, read, judge.

    STUDY is a TOML file. Run it again to continue: only what is pending, or failed in a way that may pass, is
    asked. Every response is kept in the study's directory. With --limit or --model the rest stays pending, and
    a later run asks it. Where the study has a [judging] table, its outputs are judged once all have arrived.
    The results are in report.html there; from 20,000 records on, `affidavit report` writes it.

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
    from affidavit.commands.output import show
    from affidavit.commands.run_progress import RunProgress
    from affidavit.results.closing import closed_run
    from affidavit.results.judging import Judgements
    from affidavit.running.study_run import Options, run_study
    from affidavit.study.dry_run import dry_run as plan_only
    from affidavit.study.dry_run import left_out
    from affidavit.study.files import load

    with redirect_stdout(sys.stderr):  # whatever a contract of the user's own prints is no result
        files = load(study, with_weights=not dry_run)
        files.check_models(models)
        planned = plan_only(files, first_items=limit, models=models) if dry_run else None
    if planned is not None:
        show(planned.as_json() if as_json else planned.as_table())
        return
    gc.freeze()  # what is loaded stays, and requests leave little behind: look for garbage rarely
    gc.set_threshold(10_000, 20, 50)
    for line in left_out(files.study):
        click.echo(f"note: {line}", err=True)
    judgements = Judgements()
    with redirect_stdout(sys.stderr), RunProgress(sys.stderr) as progress:
        options = Options(out, retry_failed, limit, models, progress.tell, progress.tell_judging, judgements.add)
        ended = run_study(files, options)
    signal = ended.signal if ended.judged is None else ended.judged.signal
    closed, page = closed_run(ended, files.contracts, with_tasks=as_json), not no_page and signal is None
    _report_run(ended, closed, judgements, _again(study, out), as_json=as_json, page=page, own_code=files.own_code)
    if signal is not None:
        sys.exit(128 + signal)
    sys.exit(ENDED_WITH_FAILURES if ended.open or ended.unread else DONE)


def _again(study: Path, out: Path | None) -> str:
    """What to type to continue."""
    return shlex.join(["affidavit", "run", str(study), *([] if out is None else ["--out", str(out)])])


def _report_run(
    ended: "Ended",
    closed: "ClosedRun",
    judgements: "Judgements",
    again: str,
    *,
    as_json: bool,
    page: bool,
    own_code: Path | None,
) -> None:
    from affidavit.commands.judge import figures_of, json_of, say_digests, say_where_results_are, show_judging
    from affidavit.commands.output import show
    from affidavit.commands.what_is_left import what_is_left
    from affidavit.results import closing

    judged = ended.judged
    figures = None if judged is None else figures_of(judged, judgements)
    last = ended if judged is None else judged
    if as_json:
        digests = {"root_sha256": last.root_sha256, "seal_sha256": last.seal_sha256}
        facts = {"directory": str(ended.directory), **digests, "asked": ended.asked}
        judging = {} if judged is None or figures is None else {"judging": json_of(judged, figures)}
        show({**facts, "stopped": ended.stopped, **closing.as_json(closed), **judging})
    else:
        show(closing.as_tables(closed))
        if judged is not None and figures is not None:
            show_judging(judged, figures)
        if not ended.asked and ended.stopped is None:
            click.echo(f"nothing to do: {_what_is_left(ended)}")
        say_digests(ended.directory, last.root_sha256, last.seal_sha256)
    for note in (*closing.notes(closed), *_notes(ended)):
        click.echo(f"note: {plain_lines(note)}", err=True)
    for stopped in (ended.stopped, judged.stopped if judged is not None else None):
        if stopped:
            click.echo(f"affidavit: {plain_lines(stopped)}", err=True)
    tallies = (*ended.tallies.values(), *(() if judged is None else judged.tallies.values()))
    if (left := what_is_left(tallies, again, lacking="an answer")) is not None:
        click.echo(plain_lines(left), err=True)
    asked = ended.asked + (0 if judged is None else judged.asked)
    say_where_results_are(
        ended.directory, asked=asked, left=ended.open, page=page, as_json=as_json, study=own_code
    )


def _notes(ended: "Ended") -> "Iterator[str]":
    judged = ended.judged
    if ended.judging_waits_for:
        yield f"the judging has not begun: it waits for {ended.judging_waits_for:,} outputs that may still come"
    yield from (*ended.notes, *(judged.notes if judged is not None else ()))
    for said, count in (*ended.details, *(judged.details if judged is not None else ())):
        yield f"{count:,} failed in this run with {said}"


def _what_is_left(ended: "Ended") -> str:
    failed, pending = (sum(getattr(tally, x) for tally in ended.tallies.values()) for x in ("failed", "pending"))
    if pending:
        return f"the {pending:,} pending are left out by --limit or --model"
    if not failed:
        return "every question has been answered"
    return f"{failed:,} failed permanently; --retry-failed asks them again"
