"""Tables that leave the tool: printed for people or programs, or written to a file or, as CSV, to a directory."""

import csv
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from affidavit.errors import UsageError
from affidavit.plain_text import plain_lines

if TYPE_CHECKING:
    from affidavit.results.table import Table
    from affidavit.results.text_forms import Report

FORMS = ("text", "md", "json", "csv", "latex")
"""For people at a terminal, for pages, for programs, for spreadsheets, for papers."""
_BY_ENDING = {".md": "md", ".json": "json", ".csv": "csv", ".tex": "latex", ".txt": "text"}


def form_of(form: str | None, out: Path | None) -> str | None:
    """The form that was asked for, or else the one that the ending of a file says.

    >>> form_of(None, Path("tables.tex")), form_of("md", Path("tables.tex")), form_of(None, Path("page.html"))
    ('latex', 'md', None)
    """
    return form or (None if out is None else _BY_ENDING.get(out.suffix.lower()))


def refuse_no_page(out: Path | None) -> None:
    """Refuse a file for the page whose ending is that of something else: nobody would open it as a page.

    >>> refuse_no_page(Path("out.pdf"))
    Traceback (most recent call last):
    affidavit.errors.UsageError: --out: expected .html for the page, or .md, .json, .csv, .tex, .txt for tables, found out.pdf
    Write out.html; a browser prints it as PDF.
    """  # noqa: E501
    if out is None or out.suffix.lower() in (".html", ".htm", ""):
        return
    expected = f".html for the page, or {', '.join(_BY_ENDING)} for tables"
    printed = "; a browser prints it as PDF" if out.suffix.lower() == ".pdf" else ""
    hint = f"Write {out.with_suffix('.html')}{printed}."
    raise UsageError("--out", expected=expected, found=str(out), hint=hint)


def refuse_no_table(out: Path | None) -> None:
    """Refuse a file for tables, in no form that was asked for, whose ending is that of none.

    >>> refuse_no_table(Path("out.xlsx"))
    Traceback (most recent call last):
    affidavit.errors.UsageError: --out: expected .md, .json, .csv, .tex, .txt, found out.xlsx
    Write out.md, or say what it is, whatever its name: --format md.
    """
    if out is None or out.suffix.lower() in (*_BY_ENDING, ""):
        return
    hint = f"Write {out.with_suffix('.md')}, or say what it is, whatever its name: --format md."
    raise UsageError("--out", expected=", ".join(_BY_ENDING), found=str(out), hint=hint)


def write_tables(report: "Report", form: str | None, out: Path | None, mask: Callable[[str], str] = str) -> None:
    """Print the tables, or write them: as CSV into a directory unless the name is one of a file.

    Unless a form is given, a terminal gets tables, and a file Markdown. What is covered is covered before a text
    is wrapped or escaped.
    """
    report = _covered(report, mask)
    if out is None:
        _print(report, form or "text", mask)
    elif form == "csv" and is_directory(out):
        from affidavit.results.text_forms import as_csv_files

        write_csv_files(out, {name: mask(text) for name, text in as_csv_files(report).items()})
    else:
        from affidavit.archive.disk import new_file

        with new_file(out) as stream:
            stream.write(mask(_text(report, form or "md")).encode())


def _print(report: "Report", form: str, mask: Callable[[str], str]) -> None:
    text = mask(_text(report, form))
    # A terminal must not be commanded by a name; whatever else reads it gets what a file would hold.
    click.echo(plain_lines(text) if sys.stdout.isatty() else text, nl=False, color=True)


def _text(report: "Report", form: str) -> str:
    from affidavit.archive.json_bytes import indented
    from affidavit.commands.output import text_of
    from affidavit.results import text_forms
    from affidavit.results.terminal import shown_report

    match form:
        case "text":
            return text_of(shown_report(report)) + "\n"
        case "json":
            return indented(text_forms.as_json(report)) + "\n"
        case "csv":
            return text_forms.as_csv(report)
        case "latex":
            return text_forms.as_latex(report)
        case _:
            return text_forms.as_markdown(report)


def _covered(report: "Report", mask: Callable[[str], str]) -> "Report":
    tables = [_covered_table(table, mask) for table in report.tables]
    notes, warnings = ([mask(line) for line in lines] for lines in (report.notes, report.warnings))
    return replace(report, title=mask(report.title), tables=tables, notes=notes, warnings=warnings)


def _covered_table(table: "Table", mask: Callable[[str], str]) -> "Table":
    rows = tuple(tuple(mask(value) if isinstance(value, str) else value for value in row) for row in table.rows)
    return replace(
        table,
        name=mask(table.name),
        question=mask(table.question),
        columns=tuple(map(mask, table.columns)),
        rows=rows,
        foot=mask(table.foot),
        notes=tuple(map(mask, table.notes)),
    )


def is_directory(out: Path) -> bool:
    """Whether CSV goes into a directory of this name: not where a file is named, or something else is there.

    >>> is_directory(Path("tables")), is_directory(Path("tables.csv"))
    (True, False)
    """
    if out.is_file() and out.suffix.lower() != ".csv":
        hint = "CSV goes into a directory, or into one file that ends in .csv."
        raise UsageError(str(out), expected="a directory, or a file that ends in .csv", found="a file", hint=hint)
    return out.is_dir() or (out.suffix.lower() != ".csv" and not out.exists())


def write_csv_files(directory: Path, files: Mapping[str, str]) -> None:
    """Write files into a directory, each whole or not at all; tables of an earlier report that are none now go.

    What else is in the directory is left alone.
    """
    from affidavit.archive.disk import new_file, refuse_study, storage_errors
    from affidavit.results.text_forms import INDEX

    refuse_study(directory)

    earlier = _listed(directory / INDEX)
    with storage_errors(str(directory)):
        directory.mkdir(parents=True, exist_ok=True)
        for name in earlier - set(files):
            (directory / name).unlink(missing_ok=True)
    for name, text in files.items():
        with new_file(directory / name) as stream:
            stream.write(text.encode())


def _listed(index: Path) -> set[str]:
    """The files that an index of ours lists, of names that we give; none where there is no index."""
    from affidavit.archive.regular_files import open_to_read

    if not index.is_file() or index.is_symlink():
        return set()
    with open_to_read(index) as stream:
        text = stream.read().decode(errors="replace")
    rows = csv.reader(text.splitlines())
    if next(rows, [])[:2] != ["table", "file"]:
        return set()
    return {row[1] for row in rows if len(row) > 1 and re.fullmatch(r"[a-z0-9-]+\.csv", row[1])}
