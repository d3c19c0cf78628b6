"""`affidavit judge`: outputs that are there, put to judges, and what came of it."""

import gc
import shlex
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click

from affidavit.commands.exit_codes import DONE, ENDED_WITH_FAILURES, WRONG
from affidavit.commands.given_code import code_options, contract_options
from affidavit.plain_text import plain_lines

if TYPE_CHECKING:
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.contracts.own_file import GivenContracts
    from affidavit.json_values import Fields
    from affidavit.results.judging import Judgements, JudgingFigures
    from affidavit.running.judge_panel import WantedTerms
    from affidavit.running.judging_run import Judged


@click.command(no_args_is_help=True)
@click.argument("source", type=click.Path(path_type=Path))
@click.option(
    "--judge", "judges", multiple=True, required=True, help="The model that judges; may be given more than once."
)
@click.option("--models", "models_file", type=click.Path(path_type=Path), help="A TOML file with [models.NAME].")
@click.option(
    "--out", type=click.Path(path_type=Path), help="For outputs that come from elsewhere: the new study directory."
)
@click.option("--pattern", help="For a folder of texts: '{question_id}/{prompt_variant}_{target_model}.md'.")
@contract_options
@click.option("--rubric", help="'default', or a TOML file; unless given, the one frozen by the first judging.")
@click.option("--task", "tasks", multiple=True, help="Judge the outputs of this task; all open ones unless given.")
@click.option(
    "--condition",
    "conditions",
    multiple=True,
    type=click.Choice(["free", "schema"]),
    help="Free decoding, or decoding constrained to the JSON schema; may be given twice.",
)
@click.option("--repeats", type=click.IntRange(min=1), help="Judgements of each output by each judge.")
@click.option(
    "--blind",
    is_flag=True,
    default=None,
    help="Give judges aliases in place of the targets' names; tables say so.",
)
@click.option("--temperature", type=float, help="0 unless given.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="1024 unless given.")
@click.option("--include-self", is_flag=True, help="Pool self-judging with cross-judging; the tables say so.")
@click.option("--retry-failed", is_flag=True, help="Also ask again what failed permanently, such as bad_request.")
@click.option("--no-page", is_flag=True, help="Do not write report.html at the end.")
@click.option("--json", "as_json", is_flag=True, help="Print the tables as JSON.")
def judge(
    source: Path,
    judges: tuple[str, ...],
    models_file: Path | None,
    out: Path | None,
    pattern: str | None,
    contracts: tuple[str, ...],
    study: Path | None,
    rubric: str | None,
    tasks: tuple[str, ...],
    conditions: tuple[str, ...],
    repeats: int | None,
    temperature: float | None,
    max_tokens: int | None,
    *,
    blind: bool | None,
    include_self: bool,
    retry_failed: bool,
    no_page: bool,
    as_json: bool,
) -> None:
    """Judge outputs that exist already.

    SOURCE is a study's directory, a file of outputs (JSON Lines, CSV or Parquet with question_id,
    prompt_variant, target_model, output_id and raw_output), or a folder of texts with a --pattern. Judges are
    models of the study's own file, which is looked for here, or of --models FILE.

    The first judging freezes rubric, prompts, date and the set of outputs; further judges are bound by them.
    Run it again to continue.

    \b
    Examples:
      affidavit judge my-study --judge server
      affidavit judge outputs.jsonl --out judged --judge server --models models.toml

    \b
    Exit codes: 0 every judgement was given, valid or not; 2 something asked for is wrong;
    4 some judgements failed or are pending; 5 the disk refused or the archive is broken;
    6 another run holds the directory; 130, 143 stopped by a signal.
    """
    from affidavit.results.judging import Judgements
    from affidavit.running.import_outputs import outputs_directory
    from affidavit.running.judge_panel import WantedTerms
    from affidavit.study.files import given_contracts

    directory = outputs_directory(source, out=out, pattern=pattern)
    judgements = Judgements()
    wanted = WantedTerms(judges, rubric, tasks, conditions, repeats, temperature, max_tokens, blind)
    given = given_contracts(contracts, study)
    judged = _judged(directory, wanted, models_file, judgements, given, retry_failed=retry_failed)
    _report(judged, judgements, include_self=include_self, as_json=as_json)
    code = code_options(contracts, study)
    _say_what_is_left(judged, judges, models_file, code, as_json=as_json)
    page = not no_page and judged.signal is None
    say_where_results_are(
        judged.directory, asked=judged.asked, left=judged.open, page=page, as_json=as_json, code=code
    )
    sys.exit(_exit_code(judged))


def _exit_code(judged: "Judged") -> int:
    if judged.signal is not None:
        return 128 + judged.signal
    if judged.setup_mistake:
        return WRONG
    return ENDED_WITH_FAILURES if judged.open else DONE


def _judged(
    directory: "StudyDirectory",
    wanted: "WantedTerms",
    models_file: Path | None,
    judgements: "Judgements",
    given: "GivenContracts",
    *,
    retry_failed: bool,
) -> "Judged":
    from affidavit.commands.run_progress import RunProgress
    from affidavit.running.judge_panel import judge_panel
    from affidavit.running.judging_run import JudgeOptions, judge_study
    from affidavit.study.models_file import models_for

    gc.freeze()
    gc.set_threshold(10_000, 20, 50)
    with directory.locked():
        file = models_for(directory, models_file)
        panel = judge_panel(directory, file, wanted)
        # Whatever a contract of the user's own prints is no result.
        with redirect_stdout(sys.stderr), RunProgress(sys.stderr) as progress:
            options = JudgeOptions(retry_failed, progress.tell_judging, watch=judgements.add)
            return judge_study(directory, panel, given, options)


def _report(judged: "Judged", judgements: "Judgements", *, include_self: bool, as_json: bool) -> None:
    from affidavit.commands.output import show

    figures = figures_of(judged, judgements, include_self=include_self)
    if as_json:
        digests = {"root_sha256": judged.root_sha256, "seal_sha256": judged.seal_sha256}
        facts = {"directory": str(judged.directory), **digests, "asked": judged.asked}
        show({**facts, "stopped": judged.stopped, "judging": json_of(judged, figures)})
    else:
        show_judging(judged, figures)
        say_digests(judged.directory, judged.root_sha256, judged.seal_sha256)


def say_digests(directory: Path, root_sha256: str, seal_sha256: str) -> None:
    """Where the study is sealed, and the two digests with what they promise (ruling C10)."""
    click.echo(plain_lines(f"sealed in {directory}"))
    click.echo(f"  seal's digest {seal_sha256}")
    click.echo(f"  root digest   {root_sha256}")
    click.echo("  Keep the seal's digest elsewhere: only that shows later that this is the same study.")


def figures_of(judged: "Judged", judgements: "Judgements", *, include_self: bool = False) -> "JudgingFigures":
    """The figures of a judging, from the judgements that it has shown: those of the report."""
    from affidavit.results.judging import judging_figures

    rubric = judged.frozen.terms.rubric
    return judging_figures(
        judgements,
        rubric,
        judged.tallies,
        include_self=include_self,
        seed=judged.seed,
        blind=judged.frozen.terms.blind,
    )


def json_of(judged: "Judged", figures: "JudgingFigures") -> "Fields":
    """The figures of a judging as JSON values, and what is missing among its outputs."""
    from msgspec.structs import asdict

    from affidavit.results.judging_tables import judging_json

    missing = [asdict(output) for output in judged.frozen.not_arrived]
    terms = {"sha256_of_terms": judged.frozen.terms.digest}
    return {**judging_json(figures), **terms, "not_arrived": missing, "late": judged.late}


def show_judging(judged: "Judged", figures: "JudgingFigures") -> None:
    """Print the tables of a judging."""
    from affidavit.commands.output import show
    from affidavit.results.judging_closing import judging_closing

    show(judging_closing(judged.frozen, figures, late=judged.late))


def _say_what_is_left(
    judged: "Judged", judges: tuple[str, ...], models_file: Path | None, code: list[str], *, as_json: bool
) -> None:
    from affidavit.commands.what_is_left import what_is_left

    for note in judged.notes:
        click.echo(f"note: {plain_lines(note)}", err=True)
    for said, count in judged.details:
        click.echo(f"note: {count:,} failed in this run with {plain_lines(said)}", err=True)
    if judged.stopped:
        click.echo(f"affidavit: {plain_lines(judged.stopped)}", err=True)
    named = [part for name in judges for part in ("--judge", name)]
    models = [] if models_file is None else ["--models", str(models_file)]
    again = shlex.join(["affidavit", "judge", str(judged.directory), *named, *models, *code])
    if (left := what_is_left(judged.tallies.values(), again, lacking="a judgement")) is not None:
        click.echo(plain_lines(left), err=True)


def say_where_results_are(
    directory: Path, *, asked: int, left: int, page: bool, as_json: bool, code: Sequence[str] = ()
) -> None:
    """In the page, which is written now unless it is there or would take long; else behind a command.

    `code` are the options that name the study's own contracts: code that a verification has to be allowed to run.
    """
    said = f"affidavit report {directory}"
    if page:
        from affidavit.archive.study_directory import StudyDirectory
        from affidavit.results.page.study_page import page_at_the_end

        said = page_at_the_end(StudyDirectory(directory), anew=asked > 0)
    if not as_json and (page or not left):
        click.echo(plain_lines(f"results: {said}"))
    if not as_json and not left:
        click.echo(plain_lines(f"to verify: {shlex.join(['affidavit', 'verify', str(directory), *code])}"))
