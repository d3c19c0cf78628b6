"""`affidavit report`, `affidavit compare`, `affidavit gate`: from an archive to figures that can be defended."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from affidavit.commands.exit_codes import DONE, NOT_MET
from affidavit.plain_text import plain_lines

if TYPE_CHECKING:
    from affidavit.results.text_forms import Report

_BY = "task,model,condition"


@click.command(no_args_is_help=True)
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["md", "json", "csv"]),
    help="Print the tables in this form instead of writing the page.",
)
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Write to this file.")
@click.option("--by", default=_BY, show_default=True, help="Columns to group by; also metadata.NAME of the items.")
@click.option("--include-self", is_flag=True, help="Pool self-judging with cross-judging; the tables say so.")
@click.option(
    "--mask",
    "masked",
    multiple=True,
    metavar="NAME",
    help="Cover the value of this environment variable; may be given more than once.",
)
def report(
    directory: Path, form: str | None, out: Path | None, by: str, masked: tuple[str, ...], *, include_self: bool
) -> None:
    """The results of a study as one page, DIRECTORY/report.html, or as its tables alone.

    The page is self-contained: no script, no server, no other file. Every table has its accounting identity, and
    every figure its interval, n and method. The title says whether the study is not sealed yet.

    \b
    Examples:
      affidavit report my-study
      affidavit report my-study --format md
      affidavit report my-study --by model,metadata.subject --format csv -o results.csv

    \b
    Exit codes: 0 done; 2 this is no study, or --by is wrong; 5 the disk refused or the
    archive is broken.
    """
    from affidavit.models.environment_values import mask_of

    mask = mask_of(masked)
    if form is None:
        _write_page(directory, _groups(by), out, mask, include_self=include_self)
        return
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.results.study_results import StudyResults

    found = StudyResults(StudyDirectory(directory), _groups(by)).report(include_self=include_self)
    _write(found, form, out, mask)


def _write_page(
    directory: Path, by: tuple[str, ...], out: Path | None, mask: Callable[[str], str], *, include_self: bool
) -> None:
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.results.page.headline import as_lines
    from affidavit.results.page.study_page import write_page

    written = write_page(StudyDirectory(directory), by=by, include_self=include_self, out=out, mask=mask)
    click.echo(plain_lines(mask(f"{as_lines(written.answers)}the page: {written.path}")))


def _write(found: "Report", form: str, out: Path | None, mask: Callable[[str], str] = str) -> None:
    from affidavit.archive.disk import new_file
    from affidavit.results.text_forms import as_csv, as_json, as_markdown

    if form == "json":
        text = json.dumps(as_json(found), indent=2) + "\n"
    else:
        text = as_csv(found) if form == "csv" else as_markdown(found)
    text = mask(text)
    if out is None:
        # A terminal must not be commanded by a name; whatever else reads it gets what a file would hold.
        click.echo(plain_lines(text) if sys.stdout.isatty() else text, nl=False, color=True)
        return
    with new_file(out) as stream:
        stream.write(text.encode())


@click.command(no_args_is_help=True)
@click.argument("first")
@click.argument("second")
@click.option("--format", "form", type=click.Choice(["md", "json", "csv"]), default="md", show_default=True)
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Write to this file instead of printing.")
def compare(first: str, second: str, form: str, out: Path | None) -> None:
    """Compare two studies, or two parts of one, item by item.

    FIRST and SECOND are directories, each with an optional choice: DIR@model=NAME,condition=NAME,task=NAME.
    Items are paired; differences come with intervals, and with p-values adjusted for their number. A difference
    that is not distinguishable at this n is called so, with the smallest difference that would be. Outputs that
    both sides hold word for word and read differently are listed.

    \b
    Examples:
      affidavit compare before after
      affidavit compare my-study@condition=free my-study@condition=grammar

    \b
    Exit codes: 0 done, whatever the differences; 2 there is nothing to compare; 5 the disk
    refused or an archive is broken.
    """
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.results.comparison import comparison_tables, parse_side
    from affidavit.results.study_results import StudyResults
    from affidavit.results.text_forms import Report

    sides = []
    for text in (first, second):
        directory, chosen = parse_side(text)
        sides.append(StudyResults(StudyDirectory(Path(directory))).side(text, chosen))
    _write(Report(f"{first} and {second}", {}, comparison_tables(*sides)), form, out)


@click.command(no_args_is_help=True)
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--min-compliance", type=float, help="Least compliance: share of outputs that follow the format.")
@click.option("--min-accuracy", type=float, help="Least accuracy over compliant outputs.")
@click.option(
    "--min-yield", type=float, help="Least accuracy over all outputs (a non-compliant one is not right)."
)
@click.option("--max-invalid", type=float, help="Largest share of invalid evaluations of a judge.")
@click.option(
    "--max-fabricated", type=float, help="Largest share of a judge's quotes that are not in the judged text."
)
@click.option("--max-failed", type=float, help="Largest share of planned questions that failed.")
@click.option(
    "--on",
    type=click.Choice(["value", "interval"]),
    default="value",
    show_default=True,
    help="Compare thresholds with the value, or with the less favourable end of its interval.",
)
@click.option(
    "--by", default=_BY, show_default=True, help="Columns to group by; every group must meet the thresholds."
)
@click.option("--junit", "junit_file", type=click.Path(path_type=Path), help="Write JUnit XML to this file.")
@click.option(
    "--summary",
    "summary_file",
    type=click.Path(path_type=Path),
    help="Write the Markdown summary to this file too.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def gate(
    directory: Path,
    on: str,
    by: str,
    junit_file: Path | None,
    summary_file: Path | None,
    *,
    as_json: bool,
    **thresholds: float | None,
) -> None:
    """Check a study against thresholds, for CI.

    Every group (by task, model and condition unless --by says otherwise) must meet every threshold that is given.
    A figure that does not exist meets none, and a study with pending questions or unread outputs passes no gate.

    \b
    Examples:
      affidavit gate my-study --min-compliance 0.95
      affidavit gate my-study --min-accuracy 0.8 --on interval --junit gate.xml

    \b
    Exit codes: 0 all thresholds are met; 2 none was given, or this is no study; 3 some are
    not met; 5 the disk refused or the archive is broken.
    """
    from affidavit.archive.disk import new_file
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.commands.output import show
    from affidavit.results import gate as gates
    from affidavit.results.study_results import StudyResults

    result = gates.gate(
        StudyResults(StudyDirectory(directory), _groups(by)), thresholds, on_interval=on == "interval"
    )
    page = result.to_markdown()
    for file, content in ((junit_file, gates.junit(result.name, result.checks)), (summary_file, page.encode())):
        if file is not None:
            with new_file(file) as stream:
                stream.write(content)
    if as_json:
        show(result.as_json())
    else:
        click.echo(plain_lines(page), nl=False)
    sys.exit(DONE if result else NOT_MET)


def _groups(by: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in by.split(",") if part.strip())
