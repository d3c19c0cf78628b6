"""`affidavit run`: arguments → one run → tables and an exit code."""

import gc
import shlex
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from affidavit.commands.exit_codes import DONE, ENDED_WITH_FAILURES, WRONG
from affidavit.commands.given_code import code_options
from affidavit.plain_text import plain_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from affidavit.results.judging import Judgements
    from affidavit.running.asked_now import AskedNow
    from affidavit.running.study_run import Ended, Options
    from affidavit.study.crossing import Cell
    from affidavit.study.dry_run import DryRun, PlannedRequests
    from affidavit.study.files import StudyFiles


@click.command(no_args_is_help=True)
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="The study's directory; ./<study name> unless given.")
@click.option("--dry-run", is_flag=True, help="Print what would be asked, with tokens and cost; ask nothing.")
@click.option(
    "--difference",
    type=click.FloatRange(min=0, max=1, min_open=True),
    default=0.05,
    show_default=True,
    help="With --dry-run: say how many items it takes to find this difference of two shares.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help="A trial of the first N items of each task, in a directory of its own: NAME-trial.",
    metavar="N",
)
@click.option(
    "--reuse",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Take over answers to the same questions from this study; may be given more than once.",
)
@click.option("--model", "models", multiple=True, help="Ask this model only; may be given more than once.")
@click.option("--retry-failed", is_flag=True, help="Also ask again what failed permanently, such as bad_request.")
@click.option("--no-page", is_flag=True, help="Do not write report.html at the end.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def run(
    study: Path,
    out: Path | None,
    limit: int | None,
    reuse: tuple[Path, ...],
    models: tuple[str, ...],
    difference: float,
    *,
    dry_run: bool,
    retry_failed: bool,
    no_page: bool,
    as_json: bool,
) -> None:
    """Run a study: ask, keep everything, read, judge.

    STUDY is a TOML file. Every model is tried with one question first: a mistake of the setup is told, and
    nothing is written. Run it again to continue: only what is pending, or failed in a way that may pass, is
    asked. Every response is kept in the study's directory. Until something was answered, anything in the file may
    be changed; afterwards models, conditions, tasks, items and samples may be added, and are asked in the next
    run. A trial with --limit is a whole study of its own; the study itself takes its answers over. With --model
    the rest stays pending. Where the study has a [judging] table, its outputs are judged once all have arrived.
    The results are in report.html there; from 20,000 records on, `affidavit report` writes it.
    With --dry-run it also says what differences such a study would find in 80 % of cases, and what its judges
    would be asked at most: as if every output arrived, as long as it may be.

    \b
    Examples:
      affidavit run study.toml --dry-run --difference 0.03
      affidavit run study.toml --limit 5
      affidavit run study.toml --out runs/first --json

    \b
    Exit codes: 0 every sample answered; 2 the study or the setup of a model is wrong; 4 some
    samples failed or are pending; 5 the disk refused or the archive is broken; 6 another run holds the directory;
    130, 143 stopped by a signal.
    """
    gc.set_threshold(10_000, 20, 50)  # modules stay, and requests leave little behind: look for garbage rarely
    from affidavit.results.judging import Judgements
    from affidavit.running.study_run import Options
    from affidavit.study.files import load

    with redirect_stdout(sys.stderr):  # whatever a contract of the user's own prints is no result
        files = load(study, with_weights=not dry_run)
        files.check_models(models)
        options = Options(out, retry_failed, limit, reuse, models)
        planned = _planned(files, options) if dry_run else None
    if planned is not None:
        _show_plan(*planned, difference, as_json=as_json)
        return
    judgements = Judgements()
    ended = _ended(files, replace(options, judging_watch=judgements.add), page=not no_page)
    signal = ended.signal if ended.judged is None else ended.judged.signal
    if not ended.begun:
        _report_nothing(ended, as_json=as_json)
    else:
        again, page = _again(study, out, limit), not no_page and signal is None
        _report_run(ended, files, judgements, again, as_json=as_json, page=page)
    sys.exit(_exit_code(ended, signal))


def _ended(files: "StudyFiles", options: "Options", *, page: bool) -> "Ended":
    """How a run ended, with its progress shown; what comes now is loaded, also for a page if one is wanted."""
    from affidavit.commands.modules_ahead import ModulesAhead
    from affidavit.commands.run_progress import RunProgress
    from affidavit.running.study_run import run_study
    from affidavit.study.crossing import left_out

    gc.freeze()

    def note(line: str) -> None:
        click.echo(f"note: {plain_lines(line)}", err=True)

    for line in left_out(files.study):
        note(line)
    ahead = ModulesAhead(page=page)
    with redirect_stdout(sys.stderr), RunProgress(sys.stderr) as progress:

        def tell(now: "AskedNow[Cell]") -> None:
            progress.tell(now)
            ahead.tell(now)

        watched = replace(options, note=note, progress=tell, judging_progress=progress.tell_judging)
        try:
            return run_study(files, watched)
        finally:
            ahead.wait()


def _report_nothing(ended: "Ended", *, as_json: bool) -> None:
    """Of a run that ended before its first record: there is no study yet, or it has not grown."""
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.commands.output import show

    there = StudyDirectory(ended.directory).is_study
    stopped = ended.stopped or "nothing was asked"
    if as_json:
        directory = str(ended.directory) if there else None
        show({"directory": directory, "asked": 0, "stopped": ended.stopped, "pending": ended.open})
    for note in _notes(ended):
        click.echo(f"note: {plain_lines(note)}", err=True)
    written = f"nothing was added to {ended.directory}" if there else "nothing was written"
    click.echo(f"affidavit: {plain_lines(f'{stopped}; {written}')}", err=True)


def _exit_code(ended: "Ended", signal: int | None) -> int:
    if signal is not None:
        return 128 + signal
    if ended.setup_mistake or (ended.judged is not None and ended.judged.setup_mistake):
        return WRONG
    return ENDED_WITH_FAILURES if ended.open or ended.unread else DONE


def _planned(files: "StudyFiles", options: "Options") -> "tuple[DryRun, list[PlannedRequests], list[str]]":
    """What would be asked of models, then of judges, and what is to be known of these; not what is answered."""
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.running.answered_before import answered_before
    from affidavit.running.judging_dry_run import most_judging, most_judging_notes
    from affidavit.running.taken_over import trial_directory
    from affidavit.study.dry_run import dry_run
    from affidavit.study.freezing import planned_growth

    name = files.study.study.name
    path = options.out or Path(name)
    files = files if options.limit is None else files.limited(options.limit)
    grown = planned_growth(StudyDirectory(path if options.limit is None else trial_directory(path)), files)
    before = answered_before(
        path,
        name,
        limit=options.limit,
        reuse=options.reuse,
        retry_failed=options.retry_failed,
    )
    planned = dry_run(files, options.models, answered=before.answered, failed=before.failed)
    if grown:
        planned = replace(planned, notes=[f"a run would add to the study: {', '.join(grown)}", *planned.notes])
    judging = most_judging(files, before.judged)
    notes = [note for note in most_judging_notes(files, judging) if note not in planned.notes]
    return planned, judging, notes


def _show_plan(
    planned: "DryRun",
    judging: "Sequence[PlannedRequests]",
    notes: "Sequence[str]",
    difference: float,
    *,
    as_json: bool,
) -> None:
    """What would be asked, and what differences would be found; the notes are about judges."""
    from affidavit.commands.output import show
    from affidavit.results.planning import planned_tasks, planning_lines
    from affidavit.running.judging_dry_run import judges_json, most_judging_table

    study = planned.plan.study
    items = {each.cell: each.planned // study.decoding.samples for each in planned.asked}
    controls = {name: table.control for name, table in study.conditions.items() if table.control}
    tasks = planned_tasks(items, controls)
    if as_json:
        listing = planned.as_json()
        listing["notes"] = [*planned.notes, *notes]
        judged = {"judging": judges_json(judging)} if judging else {}
        show({**listing, **judged, "planning": [task.as_json(difference) for task in tasks]})
        return
    show(planned.as_table())
    if judging:
        show(most_judging_table(planned.asked, judging, notes))
    if lines := "\n".join(planning_lines(tasks, difference)):
        click.echo(f"\n{lines}")


def _again(study: Path, out: Path | None, limit: int | None) -> str:
    """What to type to continue."""
    options = {"--out": out, "--limit": limit}
    given = [part for name, value in options.items() if value is not None for part in (name, str(value))]
    return shlex.join(["affidavit", "run", str(study), *given])


def _report_run(
    ended: "Ended",
    files: "StudyFiles",
    judgements: "Judgements",
    again: str,
    *,
    as_json: bool,
    page: bool,
) -> None:
    from affidavit.commands.judge import figures_of, json_of, say_digests, say_where_results_are, show_judging
    from affidavit.commands.output import show
    from affidavit.commands.what_is_left import what_is_left
    from affidavit.results import closing

    closed = closing.closed_run(ended, files.contracts, with_tasks=as_json)
    judged = ended.judged if ended.judged is not None and ended.judged.begun else None
    figures = None if judged is None else figures_of(judged, judgements)
    last = ended if judged is None else judged
    if as_json:
        digests = {"root_sha256": last.root_sha256, "seal_sha256": last.seal_sha256}
        facts = {"directory": str(ended.directory), **digests, "asked": ended.asked}
        judging = {} if judged is None or figures is None else {"judging": json_of(judged, figures)}
        show({**facts, "stopped": _stopped(ended), **closing.as_json(closed), **judging})
    else:
        show(closing.as_tables(closed))
        if judged is not None and figures is not None:
            show_judging(judged, figures)
        if not ended.asked and _stopped(ended) is None:
            click.echo(f"nothing to do: {_what_is_left(ended)}")
        if ended.taken_over:
            click.echo(
                f"{ended.taken_over:,} answers to the same questions were taken over, and not asked for again"
            )
        if last.seal_sha256:
            say_digests(ended.directory, last.root_sha256, last.seal_sha256)
        else:
            click.echo(plain_lines(f"not sealed: no question was answered yet ({ended.directory})"))
    for note in (*closing.notes(closed), *_notes(ended)):
        click.echo(f"note: {plain_lines(note)}", err=True)
    if (stopped := _stopped(ended)) is not None:
        click.echo(f"affidavit: {plain_lines(stopped)}", err=True)
    tallies = (*ended.tallies.values(), *(() if ended.judged is None else ended.judged.tallies.values()))
    if (left := what_is_left(tallies, again, lacking="an answer")) is not None:
        click.echo(plain_lines(left), err=True)
    asked = ended.asked + (0 if judged is None else judged.asked)
    say_where_results_are(
        ended.directory,
        asked=asked,
        left=ended.open,
        page=page,
        as_json=as_json,
        code=code_options(study=files.own_code),
    )


def _stopped(ended: "Ended") -> str | None:
    """Why the run, or the judging after it, ended early; a run that was stopped is not judged."""
    judged = ended.judged
    if judged is None or judged.stopped is None:
        return ended.stopped
    return judged.stopped if judged.begun else f"{judged.stopped}; nothing of the judging was written"


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
        return f"the {pending:,} pending are left out by --model"
    if not failed:
        return "every question has been answered"
    return f"{failed:,} failed permanently; --retry-failed asks them again"
