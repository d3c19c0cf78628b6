"""`affidavit export`: a study's records, written out for other tools."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from affidavit.commands.study_place import refuse_study_file
from affidavit.errors import UsageError
from affidavit.plain_text import plain_lines

if TYPE_CHECKING:
    from affidavit.exchange.export_format import ExportFormat, Written

_RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")


@click.command(no_args_is_help=True)
@click.argument("study", metavar="DIRECTORY")
@click.option(
    "--format",
    "form",
    required=True,
    metavar="NAME",
    help="What to write: parquet, csv, jsonl, inspect-scores or eee.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Where to write it; unless given, here, under the directory's name.",
)
@click.option("--organization", metavar="NAME", help="eee: whose evaluation it is; `unknown` unless given.")
@click.option(
    "--relationship",
    type=click.Choice(_RELATIONSHIPS),
    help="eee: how that organization is related to the models; `other` unless given.",
)
def export(study: str, form: str, out: Path | None, organization: str | None, relationship: str | None) -> None:
    """Write the records of a study out for other tools.

    Each question, judgement and label is one row: the answer, or else why there is none. Raw texts are verbatim.

    \b
    parquet         a row for each record, typed columns
    csv             the same columns; texts that a spreadsheet might compute have an
                    apostrophe before them
    jsonl           JSON Lines, every field of every record under its own name
    inspect-scores  scores that `inspect score` puts beside those of the log that the study
                    was imported from
    eee             Every Eval Ever 0.3.0: an aggregate file and an instance file for each
                    task, model and condition, in the directory PATH

    What a format cannot say is left out and counted by kind, never written as something else. A file appears
    whole or not at all, and what was there under the name of --out is replaced; nothing is written over a
    directory. With inspect-scores DIRECTORY may be a part of a study: DIR@model=NAME,condition=NAME,task=NAME.

    \b
    Examples:
      affidavit export my-study --format parquet
      affidavit export my-study --format csv -o records.csv
      affidavit export from-a-log --format inspect-scores -o scores.jsonl
      affidavit export my-study --format eee -o every-eval-ever --organization 'Our lab'

    \b
    Exit codes: 0 done; 2 the command is wrong, or this is no study; 5 the disk refused or the
    archive is broken.
    """
    from datetime import UTC, datetime

    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.exchange.export_format import ExportOrder
    from affidavit.exchange.study_records import StudyRecords
    from affidavit.integrations.export_formats import export_format

    wanted = export_format(form)
    directory, chosen = _part(study, wanted)
    refuse_study_file(directory, "report")
    _refuse_names_of_nobody(wanted, organization, relationship)
    records = StudyRecords(StudyDirectory(directory))
    records.frozen  # noqa: B018 - what is no study is refused before anything else
    sealed = records.check()
    place = _free_place(directory, wanted) if out is None else out
    written = wanted.write(
        ExportOrder(
            records=records,
            out=place,
            at=datetime.now(UTC),
            chosen=chosen,
            organization=organization or "unknown",
            relationship=relationship or "other",
        )
    )
    _tell(place, written, sealed=sealed)


def _part(study: str, wanted: "ExportFormat") -> tuple[Path, dict[str, str]]:
    """The directory, and what was chosen of it."""
    from affidavit.results.comparison import parse_side

    directory, chosen = (study, {}) if Path(study).exists() else parse_side(study)
    if chosen and not wanted.takes_a_part:
        hint = f"Rows say of which task, model and condition they are: affidavit export {directory}"
        raise UsageError(study, expected=f"a whole study for {wanted.name}", found="a part of one", hint=hint)
    return Path(directory), chosen


def _refuse_names_of_nobody(wanted: "ExportFormat", organization: str | None, relationship: str | None) -> None:
    given = {"--organization": organization, "--relationship": relationship}
    for option, value in given.items():
        if value is not None and not wanted.names_who_evaluates:
            raise UsageError(option, expected="--format eee, which says whose evaluation it is", found=wanted.name)


def _free_place(directory: Path, wanted: "ExportFormat") -> Path:
    """A name here after the directory's, which nothing has: what nobody named is not written over."""
    tail = wanted.ending if wanted.ending == f".{wanted.name}" else f"-{wanted.name}{wanted.ending}"
    place = Path(f"{directory.resolve().name}{tail}")
    if place.exists():
        hint = f"To write over it, name it: -o {place}." if wanted.ending else "Name another directory with -o."
        raise UsageError(str(place), expected="a name that is free", found="something there already", hint=hint)
    return place


def _tell(place: Path, written: "Written", *, sealed: bool) -> None:
    said = ", ".join(f"{count:,} {name}" for name, count in written.rows.items()) or "no rows"
    click.echo(plain_lines(f"{place}: {said}"))
    for name, count in sorted(written.left_out.items()):
        click.echo(f"note: left out: {count:,} {plain_lines(name)}", err=True)
    if not sealed:
        click.echo("note: the study is not sealed; these are its records as they stand", err=True)
