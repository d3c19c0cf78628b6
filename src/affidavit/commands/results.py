"""`affidavit report`, `affidavit compare`, `affidavit gate`: from an archive to figures that can be defended."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from affidavit.commands.exit_codes import DONE, NOT_MET
from affidavit.commands.study_place import refuse_study_file
from affidavit.commands.table_files import FORMS, form_of, refuse_no_page, refuse_no_table, write_tables
from affidavit.errors import UsageError
from affidavit.plain_text import plain_lines

if TYPE_CHECKING:
    from affidavit.results.comparison import Side
    from affidavit.results.gate import GateResult
    from affidavit.results.page.content import PageOptions

_BY = "task,model,condition"
_cluster = click.option(
    "--cluster",
    metavar="metadata.NAME",
    help="What varies independently, where items do not: passages, subjects, templates.",
)


class _TableForm(click.Choice):  # type: ignore[type-arg]  # not generic before click 8.2
    """One of the forms of tables; whoever asks for HTML is told how the page is written."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value.lower() == "html":
            self.fail("'html' is the page: leave out --format; -o FILE.html says where.", param, ctx)
        return str(super().convert(value, param, ctx))


@click.command(no_args_is_help=True)
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=_TableForm(FORMS),
    help="The tables in this form instead of the page; unless given, by the ending of --out.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="Write to this file; as CSV, unless it ends in .csv, to this directory: a file for each table.",
)
@click.option("--by", default=_BY, show_default=True, help="Columns to group by; also metadata.NAME of the items.")
@_cluster
@click.option("--include-self", is_flag=True, help="Pool self-judging with cross-judging; the tables say so.")
@click.option(
    "--mask",
    "masked",
    multiple=True,
    metavar="NAME",
    help="Cover the value of this environment variable; may be given more than once.",
)
@click.option(
    "--samples",
    type=click.IntRange(0, 1000),
    help="Outputs of each outcome that the page shows.  [default: 3]",
)
@click.option("--all", "every", is_flag=True, help="Show every output on the page, in full; up to 5,000.")
@click.option("--text", "as_text", is_flag=True, help="Print the page for a pager, without charts and samples.")
def report(
    directory: Path,
    form: str | None,
    out: Path | None,
    by: str,
    cluster: str | None,
    masked: tuple[str, ...],
    samples: int | None,
    *,
    include_self: bool,
    every: bool,
    as_text: bool,
) -> None:
    """The results of a study as one page, DIRECTORY/report.html, or as its tables alone.

    The page is self-contained: no script, no server, no other file. Every table has its accounting identity, and
    every figure its interval, n and method. The title says whether the study is not sealed yet.

    \b
    Examples:
      affidavit report my-study
      affidavit report my-study --text | less
      affidavit report my-study --samples 20 -o samples.html
      affidavit report my-study --format text
      affidavit report my-study --format latex -o tables.tex
      affidavit report my-study --by model,metadata.subject --format csv -o tables

    \b
    Exit codes: 0 done; 2 this is no study, --by is wrong, or the ending of --out says no
    form; 5 the disk refused or the archive is broken.
    """
    from affidavit.models.environment_values import mask_of

    _refuse_part(directory)
    refuse_study_file(directory, "report")
    _refuse_both(form, out, samples=samples is not None or every, as_text=as_text)
    mask, form = mask_of(masked), form_of(form, out)
    if form is None:
        refuse_no_page(out)
        from affidavit.results.page.content import PageOptions

        options = PageOptions(by=_groups(by), cluster=cluster, include_self=include_self, every=every, mask=mask)
        options = options if samples is None else replace(options, samples=samples)
        (_print_page if as_text else _write_page)(directory, options, out)
        return
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.results.study_results import StudyResults

    opened = StudyResults(StudyDirectory(directory), _groups(by), cluster=cluster)
    found = opened.report(include_self=include_self)
    write_tables(found, form, out, mask)


def _refuse_part(directory: Path) -> None:
    """Refuse a choice such as DIR@task=NAME, which other commands take, and say what there is instead."""
    whole, at, _ = str(directory).rpartition("@")
    if at and not directory.exists() and Path(whole).is_dir():
        raise UsageError(
            str(directory),
            expected="the directory of a whole study",
            found="a part of one",
            hint=f"A report is of a whole study: `affidavit report {quote(whole)} --by task` has a row for each "
            "task, and --by takes model, condition and metadata.NAME too. `compare` and `gate` take parts.",
        )


def _refuse_both(form: str | None, out: Path | None, *, samples: bool, as_text: bool) -> None:
    """Refuse what is of the page where something else is asked for."""
    if as_text and (form is not None or out is not None or samples):
        found = "--format" if form is not None else "-o" if out is not None else "--samples or --all"
        hint = "--text prints; `affidavit report DIR --text > FILE` writes it to a file."
        raise UsageError("--text", expected="to be alone with --by, --cluster, --include-self and --mask",
                         found=found, hint=hint)  # fmt: skip
    if samples and form_of(form, out) is not None:
        raise UsageError(
            "--samples, --all",
            expected="the page",
            found=f"--format {form_of(form, out)}",
            hint="Tables have no samples: leave out --format, or give -o a file that ends in .html.",
        )


def _write_page(directory: Path, options: "PageOptions", out: Path | None) -> None:
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.results.page.headline import as_lines
    from affidavit.results.page.study_page import write_page

    written = write_page(StudyDirectory(directory), options, out=out)
    said = "".join(f"{warning}\n" for warning in written.warnings)
    click.echo(plain_lines(options.mask(f"{said}{as_lines(written.summaries)}the page: {written.path}")))


def _print_page(directory: Path, options: "PageOptions", out: Path | None) -> None:
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.commands.output import text_of
    from affidavit.results.page.study_page import content
    from affidavit.results.page.text_page import WIDTH, text_page

    found = content(StudyDirectory(directory), replace(options, samples=0))
    click.echo(plain_lines(options.mask(text_of(text_page(found), width=WIDTH))))


@click.command(no_args_is_help=True)
@click.argument("first")
@click.argument("second")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    help="Unless given, by the ending of --out, or else text; md in a file.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="Write to this file; as CSV, unless it ends in .csv, to this directory: a file for each table.",
)
@_cluster
@click.option(
    "--mid-p", is_flag=True, help="McNemar's mid-p test of single samples: less careful than the exact one."
)
def compare(
    first: str, second: str, form: str | None, out: Path | None, cluster: str | None, *, mid_p: bool
) -> None:
    """Compare two studies, or two parts of one, item by item.

    FIRST and SECOND are directories, each with an optional choice: DIR@model=NAME,condition=NAME,task=NAME.
    Items are paired; p-values are adjusted by Holm over the whole table, and each interval is at the level that
    its verdict used. A difference is called higher or lower only if test and interval exclude zero; otherwise the
    true difference is named that would be found in 80 % of such studies. Outputs that both sides hold word for
    word and read differently are listed.

    \b
    Examples:
      affidavit compare before after
      affidavit compare my-study@condition=free my-study@condition=grammar

    \b
    Exit codes: 0 done, whatever the differences; 2 there is nothing to compare, or the ending
    of --out says no form; 5 the disk refused or an archive is broken.
    """
    from affidavit.results.comparison import comparison_tables, read_otherwise
    from affidavit.results.counting import ITEM
    from affidavit.results.text_forms import Report

    if (form := form_of(form, out)) is None:
        refuse_no_table(out)
    sides = _side(first, cluster), _side(second)
    tables = comparison_tables(*sides, mid_p=mid_p, cluster=cluster or ITEM)
    write_tables(Report(f"{first} and {second}", {}, tables, warnings=read_otherwise(*sides)), form, out)


def _side(text: str, cluster: str | None = None) -> "Side":
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.results.comparison import parse_side
    from affidavit.results.study_results import StudyResults

    directory, chosen = (text, {}) if Path(text).exists() else parse_side(text)
    refuse_study_file(Path(directory), "report")
    return StudyResults(StudyDirectory(Path(directory)), cluster=cluster).side(text, chosen)


@click.command(no_args_is_help=True)
@click.argument("study")
@click.option("--min-compliance", type=float, help="Least compliance: share of outputs that follow the format.")
@click.option("--min-accuracy", type=float, help="Least accuracy over answers.")
@click.option(
    "--min-yield", type=float, help="Least accuracy over all outputs (a non-compliant one is not right)."
)
@click.option("--max-invalid", type=float, help="Largest share of invalid evaluations of a judge.")
@click.option(
    "--max-fabricated", type=float, help="Largest share of a judge's quotes that are not in the judged text."
)
@click.option("--max-failed", type=float, help="Largest share of planned questions that failed.")
@click.option(
    "--baseline",
    metavar="DIR",
    help="Another study, or a part of one: compliance and accuracy over all outputs may not be lower.",
)
@click.option(
    "--margin",
    type=float,
    default=0.02,
    show_default=True,
    help="How much lower than the baseline the lower end of the paired difference may be.",
)
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
@_cluster
@click.option("--junit", "junit_file", type=click.Path(path_type=Path), help="Write JUnit XML to this file.")
@click.option(
    "--summary",
    "summary_file",
    type=click.Path(path_type=Path),
    help="Write the Markdown summary to this file too.",
)
@click.option("--format", "form", type=click.Choice(["text", "md", "json"]), default="text", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def gate(
    study: str,
    baseline: str | None,
    margin: float,
    on: str,
    by: str,
    cluster: str | None,
    form: str,
    junit_file: Path | None,
    summary_file: Path | None,
    *,
    as_json: bool,
    **thresholds: float | None,
) -> None:
    """Check a study against thresholds or against a baseline, for CI.

    STUDY is a directory with an optional choice: DIR@model=NAME,condition=NAME,task=NAME. Every group (by task,
    model and condition unless --by says otherwise) must meet every threshold that is given. A figure that does not
    exist meets none, and a study with pending questions or unread outputs passes no gate. With --baseline, items
    are paired, and the lower end of the difference decides. Where GITHUB_STEP_SUMMARY names a file, the Markdown
    summary is added to it.

    \b
    Examples:
      affidavit gate my-study --min-compliance 0.95
      affidavit gate my-study@condition=free --min-accuracy 0.8 --on interval --junit gate.xml
      affidavit gate my-study --baseline last-week --margin 0.02

    \b
    Exit codes: 0 all thresholds are met; 2 none was given, or this is no study; 3 some are
    not met; 5 the disk refused or the archive is broken.
    """
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.results import gate as gates
    from affidavit.results.comparison import parse_side
    from affidavit.results.study_results import StudyResults

    directory, chosen = (study, {}) if Path(study).exists() else parse_side(study)
    refuse_study_file(Path(directory), "gate")
    result = gates.gate(
        StudyResults(StudyDirectory(Path(directory)), _groups(by), cluster=cluster),
        thresholds,
        on_interval=on == "interval",
        chosen=chosen,
        baseline=None if baseline is None else gates.Baseline(_side(baseline, cluster), margin),
    )
    _write_gate(result, junit_file, summary_file)
    _show_gate(result, "json" if as_json else form)
    sys.exit(DONE if result else NOT_MET)


def _write_gate(result: "GateResult", junit_file: Path | None, summary_file: Path | None) -> None:
    from affidavit.archive.disk import new_file, storage_errors
    from affidavit.results.gate import junit

    page = result.to_markdown().encode()
    for file, content in ((junit_file, junit(result.name, result.checks)), (summary_file, page)):
        if file is not None:
            with new_file(file) as stream:
                stream.write(content)
    # GitHub shows what the steps of a job have added to this file.
    if step := os.environ.get("GITHUB_STEP_SUMMARY"):
        with storage_errors(step), Path(step).open("ab") as stream:
            stream.write(page)


def _show_gate(result: "GateResult", form: str) -> None:
    from rich.text import Text

    from affidavit.commands.output import show
    from affidavit.results.terminal import shown

    match form:
        case "json":
            show(result.as_json())
        case "md":
            click.echo(plain_lines(result.to_markdown()), nl=False)
        case _:
            # What must be known first stands before the figures here, so it is no note behind them.
            for warning in result.warnings:
                show(Text(plain_lines(warning), "bold"))
            show(shown(replace(result.table, notes=result.notes), title=result.heading))


def _groups(by: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in by.split(",") if part.strip())
