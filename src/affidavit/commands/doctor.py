"""`affidavit doctor`: what is here, and what the models that are named can do, for a report of a mistake."""

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click

from affidavit.commands.exit_codes import DONE, ENDED_WITH_FAILURES, WRONG
from affidavit.plain_text import plain, plain_lines

if TYPE_CHECKING:
    from affidavit.commands.doctor_report import CheckedStudy
    from affidavit.models.ability import CheckedModel
    from affidavit.study.models_file import ModelsFile


@click.command()
@click.argument("named", nargs=-1, type=click.Path(), metavar="[STUDY.toml | FILE.toml | URL]...")
@click.option(
    "--model",
    "more",
    multiple=True,
    type=click.Path(),
    metavar="FILE.toml|URL",
    help="The same as naming it without an option; may be given more than once.",
)
@click.option(
    "--key-env", metavar="NAME", help="With a URL: the environment variable that holds the key of the server."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def doctor(named: tuple[str, ...], more: tuple[str, ...], key_env: str | None, *, as_json: bool) -> None:
    """Say what is here, and what a model can do.

    Versions, extras, weights, limits, and what would be slow on this machine: for a report of a mistake. A study
    is checked first as `affidavit run STUDY --dry-run` does: contracts, items, prompts, examples. With a
    study, a file with [models.NAME] or the address of a server, every model there is asked about ten small
    questions: whether it answers, by which name it takes a limit of tokens, whether the same seed gives the same
    text, whether a grammar and a JSON schema hold, where its reasoning is, whether it gives logprobs. Of a URL the
    first model that it lists is asked. No secret is printed.

    \b
    Examples:
      affidavit doctor
      affidavit doctor study.toml
      affidavit doctor http://127.0.0.1:11434/v1 --json

    \b
    Exit codes: 0 all that was named can be asked; 2 the command, a file or a study is wrong; 4 a
    model that was named cannot be asked.
    """
    from affidavit.commands.doctor_report import as_json as report_as_json
    from affidavit.commands.doctor_report import lines_before_asking, model_lines, usable
    from affidavit.commands.machine import this_machine
    from affidavit.commands.output import show
    from affidavit.errors import InputError

    studies = [study for each in (*named, *more) if (study := _checked_study(each)) is not None]
    try:
        files = [_models_of(each, key_env) for each in (*named, *more)]
    except InputError as error:  # a study tells of that together with all else
        fault = next((study.fault for study in studies if study.fault is not None), None)
        if fault is None:
            raise
        raise fault from error
    machine = this_machine()
    if not as_json:
        click.echo("\n".join(map(plain, lines_before_asking(machine, studies))))
    models = [model for file in files for model in _checked(file)]
    if as_json:
        show(report_as_json(machine, models, studies))
    elif models:
        click.echo("\n".join(map(plain, model_lines(models, studies))))
    if not all(study.fits for study in studies):
        sys.exit(WRONG)
    sys.exit(DONE if usable(models) else ENDED_WITH_FAILURES)


def _checked_study(named: str) -> "CheckedStudy | None":
    """Whether a study fits, by the checks of a dry run; None for whatever is no study."""
    from affidavit.commands.doctor_report import CheckedStudy
    from affidavit.errors import InputError, UsageError
    from affidavit.study.dry_run import dry_run
    from affidavit.study.files import load
    from affidavit.study.models_file import is_study_file

    if "://" in named or not is_study_file(Path(named)):
        return None
    try:
        with redirect_stdout(sys.stderr):  # whatever a contract of the user's own prints is no result
            dry_run(load(Path(named), with_weights=False))
    except (InputError, UsageError) as error:
        return CheckedStudy(named, error)
    return CheckedStudy(named)


def _models_of(named: str, key_env: str | None) -> "ModelsFile":
    """The models of a file, or one at an address."""
    from affidavit.errors import UsageError
    from affidavit.study.models_file import models_at, read_models

    if "://" in named:
        return models_at(named, key_env)
    if key_env is not None:
        hint = 'In a file, each model names its own: key_env = "NAME" in [models.NAME].'
        raise UsageError("--key-env", expected="the address of a server", found=named, hint=hint)
    return read_models(Path(named))


def _checked(file: "ModelsFile") -> "list[CheckedModel]":
    import asyncio

    from affidavit.models.ability_trials import NamedModel, checked_model

    async def all_checked() -> "list[CheckedModel]":
        found = []
        for name, table in file.models.items():
            click.echo(plain_lines(f"asking {name}"), err=True)
            named = NamedModel(
                name=name,
                table=table,
                limits=file.limits,
                beside=file.beside,
                constrained=file.constrained,
                first_listed=file.is_address,
            )
            found += [await checked_model(each) for each in named.apart()]
        return found

    return asyncio.run(all_checked())
