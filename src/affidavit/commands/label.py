"""`affidavit label`: outputs drawn for people, what they said of them, and how many labels it takes."""

from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from affidavit.commands.given_code import contract_options
from affidavit.plain_text import counted_noun, plain_lines

if TYPE_CHECKING:
    from affidavit.running.label_draw import Drawn
    from affidavit.running.label_records import Added


@click.group(no_args_is_help=True)
def label() -> None:
    """Labels by people: draw outputs for them, add what they said, plan how many it takes.

    Labels are records like any other, under a digest of their own. `affidavit report` then shows how far people
    and judges agree, and the figures that labels correct. docs/people-and-judges.md says how.

    \b
    Examples:
      affidavit label draw my-study -n 100 --what correct
      affidavit label add my-study answers.csv

    \b
    Exit codes: 0 done; 2 the command or a file is wrong; 5 the disk refused or the archive is
    broken; 6 another run holds the directory.
    """


_what = click.option(
    "--what",
    "about",
    metavar="QUESTION",
    help="verdict, score:DIMENSION, correct, answer, or a name of your own with --scale.",
)
_scale = click.option("--scale", metavar="LOW,HIGH", help="Of a name of your own: a number between these.")


@label.command("draw", no_args_is_help=True)
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("-n", "count", type=click.IntRange(min=1), default=100, show_default=True, help="Outputs to draw.")
@_what
@_scale
@click.option("--by", default="", metavar="NAMES", help="As many of each: task, model, condition.")
@click.option("--task", "tasks", multiple=True, help="Draw from this task; may be given more than once.")
@click.option("--raters", type=click.IntRange(1, 100), default=1, show_default=True, help="How many people label.")
@click.option(
    "--shared",
    type=click.IntRange(min=0),
    help="Of the -n of the question: outputs that all raters get; a fifth of them unless given.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="A directory for the sheets; NAME-labels, -2, -3 … unless given.",
)
@click.option("--again", is_flag=True, help="Draw nothing: write all sheets of the frozen draw of this -n again.")
@contract_options
@click.option("--json", "as_json", is_flag=True, help="Print what was drawn as JSON.")
def draw(
    directory: Path,
    count: int,
    about: str | None,
    scale: str | None,
    by: str,
    tasks: tuple[str, ...],
    raters: int,
    shared: int | None,
    out: Path | None,
    contracts: tuple[str, ...],
    study: Path | None,
    *,
    again: bool,
    as_json: bool,
) -> None:
    """Draw outputs at random for people to label.

    The draw is by the study's seed, and is frozen in labels.json. For each rater it writes a CSV, and an HTML form
    that needs no network: both show task, output and scale, never who gave the output or what a judge said of it.
    With --by, as many are drawn of each; figures weigh them by how many there are. A further, larger draw of the
    same question holds the first, and writes only the outputs that are new. Sheets that were lost are written
    again by the same command, or, after a larger draw, with --again.

    \b
    Examples:
      affidavit label draw my-study -n 100 --what verdict
      affidavit label draw my-study -n 200 --what score:COMPLETENESS --by model --raters 2
      affidavit label draw my-study -n 100 --what answer --task quiz

    \b
    Exit codes: 0 done; 2 it cannot be drawn, or a sheet is there already; 5 the disk refused
    or the archive is broken; 6 another run holds the directory.
    """
    from affidavit.archive.disk import Disk
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.commands.output import show
    from affidavit.commands.sheet_folder import SheetFolder
    from affidavit.commands.study_place import refuse_study_file
    from affidavit.errors import UsageError
    from affidavit.judging.label_questions import parse_scale
    from affidavit.running.label_draw import WantedDraw, draw_labels
    from affidavit.study.files import given_contracts

    refuse_study_file(directory, "label draw")
    if about is None:
        expected = "what people are asked: verdict, score:DIMENSION, correct, answer or a name"
        raise UsageError("--what", expected=expected, found="nothing")
    names = tuple(name.strip() for name in by.split(",") if name.strip())
    wanted = WantedDraw(about, count, names, raters, shared, tasks, parse_scale(scale), again)
    opened = StudyDirectory(directory)
    folder = SheetFolder(directory, out)
    drawn = draw_labels(opened, wanted, given_contracts(contracts, study), Disk(), folder)
    written = folder.paths
    if as_json:
        show({**_facts(drawn), "sheets": [str(path) for path in written]})
        return
    _say_drawn(drawn, written)


def _facts(drawn: "Drawn") -> dict[str, object]:
    one = drawn.draw
    return {
        "what": one.about,
        "by": list(one.by),
        "n": one.n,
        "new": drawn.new,
        "outputs": one.size,
        "raters": one.raters,
        "shared": min(one.shared, drawn.new),
        "notes": _notes(drawn),
        "strata": [
            {"names": list(each.names), "outputs": each.size, "drawn": len(each.outputs)} for each in one.strata
        ],
        "root_sha256": drawn.root_sha256,
        "seal_sha256": drawn.seal_sha256,
    }


def _say_drawn(drawn: "Drawn", written: list[Path]) -> None:
    one = drawn.draw
    new = "" if drawn.new == one.n else f"; {drawn.new:,} are new"
    click.echo(plain_lines(f"{one.n:,} of {counted_noun(one.size, 'output')} drawn for {one.about}{new}"))
    if one.by:
        for each in one.strata:
            names = ", ".join(each.names)
            click.echo(plain_lines(f"  {names}: {len(each.outputs):,} of {each.size:,}"))
    if one.raters > 1:
        new = "" if drawn.new == one.n else "new "
        click.echo(f"  {one.raters} raters; {min(one.shared, drawn.new):,} {new}outputs are given to all of them")
    for path in written:
        click.echo(plain_lines(f"  {path}"))
    click.echo(f"  seal's digest {drawn.seal_sha256}")
    for note in _notes(drawn):
        click.echo(plain_lines(f"note: {note}"))


def _notes(drawn: "Drawn") -> list[str]:
    """What no label of this draw will do."""
    from affidavit.statistics.corrected_means import FEWEST_LABELS

    notes = []
    several = len({target.task for target in drawn.targets}) > 1
    few = [target for target in drawn.targets if target.drawn < FEWEST_LABELS]
    if few:
        listed = ", ".join(
            f"{f'{target.task}, ' if several else ''}{target.model} {target.drawn:,} of {target.size:,}"
            for target in few
        )
        more, least = "", min(target.drawn for target in few)
        if all(target.size >= FEWEST_LABELS for target in few):
            wanted = min(drawn.draw.size, ceil(drawn.draw.n * FEWEST_LABELS / max(1, least)))
            more = f"; a further draw of some -n {wanted:,} would have them"
        notes.append(f"fewer than {FEWEST_LABELS} drawn of {listed}: too few for figures of their own{more}")
    return notes


@label.command("add", no_args_is_help=True)
@click.argument("directory", type=click.Path(path_type=Path))
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@_what
@_scale
@click.option("--rater", metavar="NAME", help="Who labelled, where rows do not say.")
@click.option("--corrections", is_flag=True, help="Take labels that differ from earlier ones of the same rater.")
@click.option("--no-page", is_flag=True, help="Do not write report.html at the end.")
@click.option("--json", "as_json", is_flag=True, help="Print what was added as JSON.")
def add(
    directory: Path,
    files: tuple[Path, ...],
    about: str | None,
    scale: str | None,
    rater: str | None,
    *,
    corrections: bool,
    no_page: bool,
    as_json: bool,
) -> None:
    """Add labels to the record of a study.

    FILES are sheets that were filled in, or rows (CSV, JSON Lines, Parquet) with output, what, value and rater.
    All are checked before the first is written: missing columns, unknown outputs, values off the scale and doubles
    are refused by their place, up to ten at once. Rows without a value are passed over, and so are labels that are
    on the record already, so that the same files may be added again. A label is never changed: with --corrections
    a new one takes its place.

    \b
    Examples:
      affidavit label add my-study my-study-labels/verdict-filled.csv
      affidavit label add my-study earlier.csv --what correct --rater anna

    \b
    Exit codes: 0 done; 2 a label is wrong: nothing was written; 5 the disk refused or the
    archive is broken; 6 another run holds the directory.
    """
    from affidavit.archive.disk import Disk
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.commands.judge import say_where_results_are
    from affidavit.commands.output import show
    from affidavit.commands.study_place import refuse_study_file
    from affidavit.judging.label_questions import parse_scale
    from affidavit.reading.source import file_source
    from affidavit.running.label_records import LabelTerms, add_labels

    refuse_study_file(directory, "label add")
    terms = LabelTerms(about, rater, parse_scale(scale), corrections)
    added = add_labels(StudyDirectory(directory), [file_source(path) for path in files], terms, Disk())
    if as_json:
        from dataclasses import asdict

        show({"directory": str(directory), **asdict(added)})
    else:
        _say_added(added)
    say_where_results_are(directory, asked=added.added, left=0, page=not no_page, as_json=as_json)


def _say_added(added: "Added") -> None:
    parts = [f"{counted_noun(added.added, 'label')} added"]
    parts += [f"{added.corrected:,} of them corrections"] if added.corrected else []
    parts += [f"{added.there:,} on the record already"] if added.there else []
    parts += [f"{counted_noun(added.blank, 'row')} without a value"] if added.blank else []
    click.echo("; ".join(parts))
    if added.not_drawn:
        click.echo(f"  {added.not_drawn:,} are of outputs that were not drawn: they count for agreement alone")
    for note in added.notes:
        click.echo(plain_lines(f"  note: {note}"))
    click.echo(f"  labels' digest {added.labels_sha256 or 'of none'}")
    click.echo(f"  root digest    {added.root_sha256}")
    click.echo(f"  seal's digest  {added.seal_sha256}")


@label.command("plan", no_args_is_help=True)
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--width",
    type=click.FloatRange(min=0, min_open=True),
    default=0.1,
    show_default=True,
    help="Of the intervals, from end to end: 0.1 is ten points of a share.",
)
@click.option("--by", default="task,model,condition", show_default=True, help="Columns to group outputs by.")
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
def plan(directory: Path, width: float, by: str, *, as_json: bool) -> None:
    """Say how many labels it takes, from a pilot.

    A pilot is a draw of thirty labels or more for a figure. Each figure that they correct has a row: how wide its
    interval is now, and how many labels would make it as narrow as --width, if people and judges go on as they do.

    \b
    Example:
      affidavit label plan my-study --width 0.1

    \b
    Exit codes: 0 done; 2 nothing was drawn or labelled; 5 the archive is broken.
    """
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.commands.output import show
    from affidavit.commands.study_place import refuse_study_file
    from affidavit.errors import UsageError
    from affidavit.results.study_results import StudyResults
    from affidavit.results.terminal import shown
    from affidavit.results.text_forms import json_value

    refuse_study_file(directory, "label plan")
    names = tuple(name.strip() for name in by.split(",") if name.strip())
    found = StudyResults(StudyDirectory(directory), names).label_plan(width)
    if not found.rows:
        hint = "Draw some first: `affidavit label draw`, then `affidavit label add`."
        raise UsageError(str(directory), expected="a figure that labels correct", found="none", hint=hint)
    if as_json:
        rows = [dict(zip(found.columns, map(json_value, row), strict=True)) for row in found.rows]
        show({"width": width, "rows": rows})
    else:
        show(shown(found))
