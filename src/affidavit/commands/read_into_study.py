"""`affidavit read … --out DIR`: outputs that exist already become a study's directory."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from affidavit.commands.given_code import code_options
from affidavit.errors import UsageError
from affidavit.plain_text import plain_lines

if TYPE_CHECKING:
    from affidavit.contracts.frozen_contract import NamedContract
    from affidavit.judging.label_columns import LabelColumns
    from affidavit.reading.output_columns import Role
    from affidavit.reading.source import Source
    from affidavit.reading.worker_process import WorkerProcess
    from affidavit.results.text_forms import Report
    from affidavit.running.import_files import OutputFiles
    from affidavit.running.import_outputs import Kept
    from affidavit.running.row_labels import KeptLabels


def read_into_study(
    sources: "Sequence[Source]",
    out: Path,
    read_by: "NamedContract",
    given: "Mapping[Role, str]",
    workers: "Sequence[WorkerProcess]" = (),
    labels: "LabelColumns | None" = None,
) -> "tuple[Kept, OutputFiles, KeptLabels | None]":
    """Take the rows of these files, which can be opened again, into a directory, sealed; and labels in them."""
    from affidavit.archive.disk import Disk
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.commands.modules_ahead import TABLES, loaded_meanwhile
    from affidavit.judging.label_columns import RowLabels, likely_labels
    from affidavit.running.import_files import output_files
    from affidavit.running.import_outputs import keep_outputs, name_in
    from affidavit.running.import_workers import ImportWorkers
    from affidavit.running.row_labels import check_rows, frozen_rubric, keep_row_labels

    _refuse_evaluations(read_by, "--out")
    refuse_file(out)
    directory, disk = StudyDirectory(out), Disk()
    with redirect_stdout(sys.stderr):
        outputs = output_files(sources, given, read_by)
        # Before anything is sealed: a column may have to be named.
        _say([*outputs.notes(), *likely_labels(outputs.first, labels)])
        if labels is not None:
            _say(labels.notes())
            check_rows(outputs.rows(), RowLabels(labels, frozen_rubric(directory)))
        with directory.made(disk):
            shared = ImportWorkers(workers) if workers else None
            taken = outputs.imported(name_in(directory), read_by, shared)
            with loaded_meanwhile(TABLES if workers else ()):  # while workers read, this process mostly waits
                kept = keep_outputs(directory, taken, disk)
            if labels is None:
                return kept, outputs, None
            said = keep_row_labels(directory, labels, disk)
            return replace(kept, seal=said.seal), outputs, said


def _refuse_evaluations(read_by: "NamedContract", option: str) -> None:
    from affidavit.contracts.parts import parts_of

    if parts_of(read_by.contract).evaluates:
        hint = "Evaluations are sorted into two trees: affidavit read judge FILE --archive DIR."
        raise UsageError(option, expected="a contract that reads answers", found=read_by.name, hint=hint)


def refuse_file(out: Path, *, for_import: bool = False) -> None:
    """Refuse a name that is meant for rows: a file is there, or would be by its ending.

    `for_import`: the command is `import`, whose -o is the directory.
    """
    from affidavit.reading.sources import FORMATS, ending_of

    endings = {ending for row_format in FORMATS.values() for ending in row_format.endings}
    with suppress(OSError):  # what is wrong with the name is told when it is opened
        if out.is_file() or (not out.is_dir() and ending_of(out.name) in endings):
            option, hint = "--out", f"--out makes a study. Rows go to a file with -o: -o {out}."
            if for_import:
                option = "-o"
                hint = f"`import` makes a study. Rows go to a file with `affidavit read CONTRACT LOG -o {out}`."
            raise UsageError(option, expected="a directory for a study", found=f"the file {out}", hint=hint)


def refuse_directory(rows_file: Path) -> None:
    """Refuse a name that is meant for a study: a directory is there."""
    with suppress(OSError):
        if rows_file.is_dir():
            hint = f"-o writes rows to a file. A study is made with --out: --out {rows_file}."
            raise UsageError("-o", expected="a file for the rows", found=f"the directory {rows_file}", hint=hint)


def report_groups(
    sources: "Sequence[Source]",
    by: Sequence[str],
    read_by: "NamedContract",
    given: "Mapping[Role, str]",
    *,
    as_json: bool,
) -> int:
    """Print the figures of rows by group, and nothing is kept; how many of them are unread."""
    from affidavit.contracts.parts import is_ours
    from affidavit.contracts.read_by import ReadBy
    from affidavit.contracts.registry import frozen_parts
    from affidavit.results.read_groups import group_columns, grouped_report
    from affidavit.results.text_forms import READ_BY
    from affidavit.running.import_files import output_files

    _refuse_evaluations(read_by, "--by")
    with redirect_stdout(sys.stderr):
        outputs = output_files(sources, given, read_by)
        columns = group_columns(by, outputs.first, outputs.columns)
        parts = dict.fromkeys(outputs.tasks(), frozen_parts(read_by.name, read_by.described()))
        records = outputs.records("", read_by)
        report = grouped_report(records, columns, outputs.columns, parts, own=not is_ours(read_by.contract))
    report = replace(report, facts={READ_BY: str(ReadBy.of(read_by.contract))})
    _show_report(report, as_json=as_json)
    _say([*outputs.notes(), *outputs.advice(), *_empty_cells(outputs)])
    (table,) = (each for each in report.tables if each.name == "compliance")
    return sum(int(str(count)) for count in table.column("unread"))


def _show_report(report: "Report", *, as_json: bool) -> None:
    from affidavit.commands.output import show
    from affidavit.results.terminal import shown_report
    from affidavit.results.text_forms import as_json as json_of

    show(json_of(report) if as_json else shown_report(report))


def report_study(
    kept: "Kept",
    outputs: "OutputFiles",
    contract: str,
    by: Sequence[str] = (),
    labels: "KeptLabels | None" = None,
    *,
    as_json: bool,
) -> None:
    """Print what was read, by task, model and condition or by other columns, and what to type next."""
    from affidavit.commands.judge import say_digests
    from affidavit.commands.output import show
    from affidavit.contracts.own_file import is_in_file
    from affidavit.results.closing import as_json as figures_of
    from affidavit.results.closing import as_tables, closed_import, notes

    run = closed_import(kept, with_tasks=as_json)
    directory, seal = kept.directory.path, kept.seal
    if by:
        _show_report(_grouped(kept, outputs, by), as_json=as_json)
    elif as_json:
        digests = {"root_sha256": seal.root_sha256, "seal_sha256": seal.sha256}
        said = {} if labels is None else {"labels": labels.as_json()}
        show(
            {"directory": str(directory), **digests, "columns": outputs.columns.names(), **said, **figures_of(run)}
        )
    else:
        show(as_tables(run))
    if not as_json:
        for line in () if labels is None else labels.in_words():
            click.echo(plain_lines(line))
        say_digests(directory, seal.root_sha256, seal.sha256)
        click.echo(plain_lines(f"the page: affidavit report {directory}"))
        code = code_options([contract]) if is_in_file(contract) else []
        click.echo(plain_lines(" ".join(["to verify: affidavit verify", str(directory), *code])))
    _say([*outputs.advice(), *notes(run), *_empty_cells(outputs)])


def _grouped(kept: "Kept", outputs: "OutputFiles", by: Sequence[str]) -> "Report":
    from affidavit.results.read_groups import chosen_tables, group_columns
    from affidavit.results.study_results import StudyResults

    columns = group_columns(by, outputs.first, outputs.columns)
    return chosen_tables(StudyResults(kept.directory, columns).report())


def _say(notes: Sequence[str]) -> None:
    for note in notes:
        click.echo(f"note: {plain_lines(note)}", err=True)


def _empty_cells(outputs: "OutputFiles") -> list[str]:
    if not (count := outputs.counted["empty_cells"]):
        return []
    return [
        f"{count:,} cells without a text were read as empty outputs: CSV cannot say that none arrived; JSON Lines "
        "and Parquet can, with null"
    ]
