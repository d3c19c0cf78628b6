"""What one rater is given, as a table for a spreadsheet: a row for each output, its value still to be filled in.

It shows the task and the output, never who gave it, nor what a judge said of it.
"""

from affidavit.results.text_forms import csv_text
from affidavit.running.label_draw import LabelSheet

HEAD = ("output", "what", "value", "rater", "date", "scale", "task", "text")


def sheet_csv(sheet: LabelSheet) -> str:
    """The sheet; a text that a spreadsheet would take for a formula has an apostrophe before it."""
    about, scale = sheet.question.about, sheet.question.scale
    rows = [(output.key, about, None, None, None, scale, output.task, output.text) for output in sheet.outputs]
    return csv_text([HEAD, *rows])


def sheet_name(about: str, rater: int, raters: int) -> str:
    """What the files of a sheet are called, without an ending.

    >>> sheet_name("score:D", 2, 3), sheet_name("verdict", 1, 1)
    ('score-D-rater-2', 'verdict')
    """
    name = "".join(each if each.isalnum() and each.isascii() else "-" for each in about)
    return f"{name}-rater-{rater}" if raters > 1 else name


def file_names(about: str, raters: int) -> list[str]:
    """All files of a draw."""
    names = [sheet_name(about, rater, raters) for rater in range(1, raters + 1)]
    return [f"{name}.{ending}" for name in names for ending in ("csv", "html")]
