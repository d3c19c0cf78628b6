"""`affidavit judge`: outputs that are there, put to judges, and what came of it."""

import gc
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, cast

import click

from affidavit.commands.exit_codes import DONE, ENDED_WITH_FAILURES, WRONG
from affidavit.commands.given_code import code_options, contract_options
from affidavit.commands.label_options import given_labels, label_options
from affidavit.plain_text import plain_lines

if TYPE_CHECKING:
    from affidavit.contracts.own_file import GivenContracts
    from affidavit.json_values import Fields
    from affidavit.judging.label_columns import LabelColumns
    from affidavit.results.judging import Judgements, JudgingFigures
    from affidavit.running.import_outputs import Intake
    from affidavit.running.judge_panel import WantedTerms
    from affidavit.running.judging_run import Judged
    from affidavit.study.models_file import ModelsFile


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
@click.option(
    "--tasks",
    "tasks_file",
    type=click.Path(path_type=Path),
    help="For outputs that come from elsewhere: a file of rows with question_id and prompt, the words of the "
    "task, and prompt_variant where they differ by variant.",
    metavar="FILE",
)
@click.option(
    "--without-task",
    is_flag=True,
    default=None,
    help="Judge outputs whose task is not known: judges are told so, and so is whoever reads the tables.",
)
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
@click.option(
    "--dry-run", is_flag=True, help="Print what would be asked, with tokens and cost; ask and write nothing."
)
@click.option(
    "--batch",
    type=click.Path(path_type=Path),
    help="Write what would be asked as batch files to this new folder, and ask nothing: see `affidavit batch`.",
    metavar="FOLDER",
)
@click.option("--include-self", is_flag=True, help="Pool self-judging with cross-judging; the tables say so.")
@label_options
@click.option("--retry-failed", is_flag=True, help="Also ask again what failed permanently, such as bad_request.")
@click.option("--no-page", is_flag=True, help="Do not write report.html at the end.")
@click.option("--json", "as_json", is_flag=True, help="Print the tables as JSON.")
def judge(
    source: Path,
    models_file: Path | None,
    out: Path | None,
    pattern: str | None,
    tasks_file: Path | None,
    contracts: tuple[str, ...],
    study: Path | None,
    batch: Path | None,
    *,
    dry_run: bool,
    include_self: bool,
    retry_failed: bool,
    no_page: bool,
    as_json: bool,
    **given: Any,  # noqa: ANN401 - the terms, and columns of labels
) -> None:
    """Judge outputs that exist already.

    SOURCE is a study's directory, a file of outputs (JSON Lines, CSV or Parquet with question_id,
    prompt_variant, target_model, output_id and raw_output), or a folder of texts with a --pattern. Judges are
    models of the study's own file, which is looked for here, or of --models FILE.

    A judge is shown the task with the output. Outputs from elsewhere bring its words in a column prompt, or
    --tasks FILE has them; without them nothing is judged unless --without-task says so. The first judging freezes
    rubric, prompts, date and the set of outputs; further judges are bound by them. Run it again to continue.
    What is wrong is told before anything is written. Labels by people in rows are kept: --label COLUMN=verdict.

    \b
    Examples:
      affidavit judge my-study --judge server --blind --dry-run
      affidavit judge outputs.jsonl --tasks tasks.csv --out judged --judge server --models models.toml
      affidavit judge outputs.jsonl --without-task --out judged --judge server --models models.toml

    \b
    Exit codes: 0 every judgement was given, valid or not; 2 something asked for is wrong;
    4 some judgements failed or are pending; 5 the disk refused or the archive is broken;
    6 another run holds the directory; 130, 143 stopped by a signal.
    """
    from affidavit.results.judging import Judgements
    from affidavit.running.import_outputs import outputs_in
    from affidavit.running.judge_panel import WantedTerms
    from affidavit.study.files import given_contracts
    from affidavit.study.models_file import models_for

    wanted, code = WantedTerms(**_terms(given)), code_options(contracts, study)
    intake = outputs_in(source, out=out, pattern=pattern, tasks=tasks_file, without_task=wanted.without_task)
    models = models_for(intake.directory, models_file, wanted.judges)
    order = _Order(intake, models, wanted, given_contracts(contracts, study), given_labels(given))
    if dry_run or batch is not None:
        _without_asking(order, None if dry_run else batch, code, retry_failed=retry_failed, as_json=as_json)
        return
    judged = _judged(order, judgements := Judgements(), retry_failed=retry_failed)
    if judged.begun:
        _report(judged, judgements, include_self=include_self, as_json=as_json)
        options = _options_to_continue(_judges_left(judged) or wanted.judges, models_file, code)
        _say_what_follows(judged, options, code, as_json=as_json, page=not no_page)
    else:
        _report_nothing(judged, as_json=as_json)
    sys.exit(_exit_code(judged))


class _Terms(TypedDict):
    """What is wanted of a judging, by the names of `WantedTerms`."""

    judges: tuple[str, ...]
    rubric: str | None
    tasks: tuple[str, ...]
    conditions: tuple[str, ...]
    repeats: int | None
    temperature: float | None
    max_tokens: int | None
    blind: bool | None
    without_task: bool | None


def _terms(given: Mapping[str, Any]) -> _Terms:
    """What was given of the terms."""
    return cast("_Terms", {name: given[name] for name in _Terms.__annotations__})


class _Order(NamedTuple):
    """What is to be judged, by whom, on which terms."""

    intake: "Intake"
    models: "ModelsFile"
    wanted: "WantedTerms"
    given: "GivenContracts"
    labels: "LabelColumns | None"
    """Columns of labels by people in the rows of the outputs."""


def _say_labels(order: _Order) -> None:
    """What is taken for labels by people in the rows of new outputs, and what may be."""
    from affidavit.archive.record import ImportIdentity
    from affidavit.judging.label_columns import likely_labels

    subject = order.intake.records[0].subject if order.intake.is_new else None
    likely = likely_labels(subject.row, order.labels) if isinstance(subject, ImportIdentity) else []
    for note in [*([] if order.labels is None else order.labels.notes()), *likely]:
        click.echo(f"note: {plain_lines(note)}", err=True)


def _show_plan(order: _Order, *, retry_failed: bool, as_json: bool) -> None:
    """What would be asked; nothing is written for it."""
    from affidavit.commands.output import show
    from affidavit.running.judge_panel import judge_panel
    from affidavit.running.judging_dry_run import judging_dry_run
    from affidavit.running.judging_run import check_labels

    _say_labels(order)
    with redirect_stdout(sys.stderr):  # whatever a contract of the user's own prints is no result
        panel = judge_panel(order.intake.directory, order.models, order.wanted)
        if order.labels is not None:
            check_labels(order.intake, panel, order.labels)
        beside = order.models.beside
        planned = judging_dry_run(order.intake, panel, order.given, beside=beside, retry_failed=retry_failed)
    show(planned.as_json() if as_json else planned.as_table())


def _without_asking(
    order: _Order, folder: Path | None, code: Sequence[str], *, retry_failed: bool, as_json: bool
) -> None:
    """What would be asked: printed, or as files in a folder, for which the terms are frozen."""
    if folder is None:
        _show_plan(order, retry_failed=retry_failed, as_json=as_json)
        return
    from affidavit.commands.batch_words import exported_json, say_exported
    from affidavit.commands.output import show
    from affidavit.errors import UsageError
    from affidavit.running.batch_export import ExportOptions, export_judging

    if order.labels is not None:
        hint = (
            "Keep them once the answers are there: `affidavit judge DIR` with --label, which asks nothing again."
        )
        raise UsageError("--label", expected="no --batch beside it", found="both", hint=hint)
    with redirect_stdout(sys.stderr):  # whatever a contract of the user's own prints is no result
        exported = export_judging(*order[:4], ExportOptions(folder, retry_failed=retry_failed))
    if as_json:
        show(exported_json(exported))
    else:
        say_exported(exported, code)


def _judged(order: _Order, judgements: "Judgements", *, retry_failed: bool) -> "Judged":
    from affidavit.commands.run_progress import RunProgress
    from affidavit.running.judging_run import JudgeOptions, judge_outputs

    _say_labels(order)
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)
    # Whatever a contract of the user's own prints is no result.
    with redirect_stdout(sys.stderr), RunProgress(sys.stderr) as progress:
        options = JudgeOptions(retry_failed, progress.tell_judging, watch=judgements.add, labels=order.labels)
        return judge_outputs(*order[:4], options)


def _exit_code(judged: "Judged") -> int:
    if judged.signal is not None:
        return 128 + judged.signal
    if judged.setup_mistake:
        return WRONG
    return ENDED_WITH_FAILURES if judged.open else DONE


def _report_nothing(judged: "Judged", *, as_json: bool) -> None:
    """Of a judging that was stopped before the first judgement: its terms are not frozen."""
    from affidavit.commands.output import show

    if as_json:
        facts = {"directory": str(judged.directory), "asked": 0, "stopped": judged.stopped, "pending": judged.open}
        show(facts)
    for said, count in judged.details:
        click.echo(f"note: {count:,} failed in this run with {plain_lines(said)}", err=True)
    stopped = judged.stopped or "nothing was asked"
    click.echo(f"affidavit: {plain_lines(stopped)}; nothing of the judging was written", err=True)


def _report(judged: "Judged", judgements: "Judgements", *, include_self: bool, as_json: bool) -> None:
    from affidavit.commands.output import show

    figures = figures_of(judged, judgements, include_self=include_self)
    if as_json:
        digests = {"root_sha256": judged.root_sha256, "seal_sha256": judged.seal_sha256}
        facts = {"directory": str(judged.directory), **digests, "asked": judged.asked}
        said = {} if judged.labels is None else {"labels": judged.labels.as_json()}
        show({**facts, **said, "stopped": judged.stopped, "judging": json_of(judged, figures)})
    else:
        show_judging(judged, figures)
        for line in () if judged.labels is None else judged.labels.in_words():
            click.echo(plain_lines(line))
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
        repeats=judged.frozen.repeats,
        include_self=include_self,
        seed=judged.seed,
        blind=judged.frozen.terms.blind,
        without_task=judged.frozen.terms.without_task,
    )


def json_of(judged: "Judged", figures: "JudgingFigures") -> "Fields":
    """The figures of a judging as JSON values, and what is missing among its outputs."""
    from msgspec.structs import asdict

    from affidavit.results.judging_closing import by_judge
    from affidavit.results.judging_tables import judging_json
    from affidavit.results.token_counts import tokens_json

    missing = [asdict(output) for output in judged.frozen.not_arrived]
    terms = {"sha256_of_terms": judged.frozen.terms.digest}
    tokens = tokens_json(by_judge(judged.tallies))
    return {**judging_json(figures), **terms, "not_arrived": missing, "late": judged.late, "tokens": tokens}


def show_judging(judged: "Judged", figures: "JudgingFigures") -> None:
    """Print the tables of a judging."""
    from affidavit.commands.output import show
    from affidavit.results.judging_closing import judging_closing

    people = _said_by_people(judged.directory, include_self=figures.pooled)
    show(judging_closing(judged.frozen, figures, judged.tallies, late=judged.late, people=people))


def _said_by_people(directory: Path, *, include_self: bool) -> list[str]:
    """What labels by people say of these figures; without a draw of labels no record is read for it."""
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.judging.label_draws import read_draws
    from affidavit.results.study_results import StudyResults

    study = StudyDirectory(directory)
    return StudyResults(study).said_by_people(include_self=include_self) if read_draws(study) else []


def _judges_left(judged: "Judged") -> list[str]:
    """The judges of whom something is failed or pending, whoever was named this time."""
    left = (cell.judge for cell, tally in judged.tallies.items() if tally.failed + tally.pending)
    return list(dict.fromkeys(left))


def _options_to_continue(judges: Sequence[str], models_file: Path | None, code: Sequence[str]) -> list[str]:
    """What names the same judges again, where they are described, and the code that they need."""
    models = [] if models_file is None else [("--models", str(models_file))]
    return [*chain.from_iterable([*(("--judge", name) for name in judges), *models]), *code]


def _say_what_follows(
    judged: "Judged", options: Sequence[str], code: Sequence[str], *, as_json: bool, page: bool
) -> None:
    """What is to be known of this run, what is left, and where the results are.

    `options` are those with which it goes on, `code` those that a verification takes.
    """
    from affidavit.commands.what_is_left import what_is_left

    for note in (*judged.notes, *_cut_short(judged)):
        click.echo(f"note: {plain_lines(note)}", err=True)
    for said, count in judged.details:
        click.echo(f"note: {count:,} failed in this run with {plain_lines(said)}", err=True)
    if judged.stopped:
        click.echo(f"affidavit: {plain_lines(judged.stopped)}", err=True)
    again = shlex.join(["affidavit", "judge", str(judged.directory), *options])
    if (left := what_is_left(judged.tallies.values(), again, lacking="a judgement")) is not None:
        click.echo(plain_lines(left), err=True)
    page = page and judged.signal is None
    say_where_results_are(
        judged.directory, asked=judged.asked, left=judged.open, page=page, as_json=as_json, code=code
    )


def _cut_short(judged: "Judged") -> list[str]:
    """That evaluations were cut at a limit, whatever flags they have for it (ruling C6)."""
    cut = sum(tally.truncated for tally in judged.tallies.values())
    if not cut:
        return []
    return [
        f"{cut:,} of the evaluations were cut at a limit of tokens: a larger --max-tokens, or context of a model "
        "that runs here, may mend that"
    ]


def say_where_results_are(
    directory: Path, *, asked: int, left: int, page: bool, as_json: bool, code: Sequence[str] = ()
) -> None:
    """In the page, which is written now unless it is there or would take long; else behind a command.

    `code` are the options that name the study's own contracts: code that a verification has to be allowed to run.
    """
    said = f"affidavit report {directory}"
    if page:
        from affidavit.archive.study_directory import StudyDirectory
        from affidavit.results.page.page_at_the_end import page_at_the_end

        said = page_at_the_end(StudyDirectory(directory), anew=asked > 0)
    if not as_json and (page or not left):
        click.echo(plain_lines(f"results: {said}"))
    if not as_json and not left:
        click.echo(plain_lines(f"to verify: {shlex.join(['affidavit', 'verify', str(directory), *code])}"))
