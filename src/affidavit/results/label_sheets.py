"""What one rater is given, as a table for a spreadsheet: a row for each output, its value still to be filled in.

It shows the task and the output, never who gave it, nor what a judge said of it.
"""

from affidavit.judging.label_questions import VERDICT
from affidavit.judging.plan import Output
from affidavit.results.text_forms import csv_text
from affidavit.running.label_draw import LabelSheet

HEAD = ("output", "what", "value", "rater", "date", "scale", "task", "text")


def sheet_csv(sheet: LabelSheet) -> str:
    """The sheet; a text that a spreadsheet would take for a formula has an apostrophe before it."""
    about = sheet.question.about
    rows = [
        (output.key, about, None, None, None, _scale(sheet, output), output.task, output.text)
        for output in sheet.outputs
    ]
    return csv_text([HEAD, *rows])


def _scale(sheet: LabelSheet, output: Output) -> str:
    """What may be answered, with what it means where that is short; a whole rubric is in a file of its own."""
    question = sheet.asked_of(output)
    if sheet.levels and question.about == VERDICT:
        return f"{question.scale}; by {rubric_name(question.about, sheet.draw)}"
    return " | ".join(sheet.levels) or question.scale


def rubric_text(sheet: LabelSheet) -> str:
    """What the values mean, for who fills in a table; empty where they explain themselves."""
    lines = (sheet.question.words, *sheet.levels)
    return "".join(f"{line}\n" for line in lines) if sheet.levels else ""


def sheet_name(about: str, rater: int, raters: int, draw: int = 1) -> str:
    """What the files of a sheet are called, without an ending; a further draw of the question has its number.

    >>> sheet_name("score:D", 2, 3), sheet_name("verdict", 1, 1), sheet_name("verdict", 1, 1, draw=2)
    ('score-D-rater-2', 'verdict', 'verdict-draw-2')
    """
    name = _base(about, draw)
    return f"{name}-rater-{rater}" if raters > 1 else name


def rubric_name(about: str, draw: int = 1) -> str:
    """The file that says what the values mean.

    >>> rubric_name("verdict")
    'verdict-rubric.txt'
    """
    return f"{_base(about, draw)}-rubric.txt"


def _base(about: str, draw: int) -> str:
    name = "".join(each if each.isalnum() and each.isascii() else "-" for each in about)
    return f"{name}-draw-{draw}" if draw > 1 else name


def file_names(about: str, raters: int, draw: int = 1) -> list[str]:
    """All files of a draw that somebody may have filled in."""
    names = [sheet_name(about, rater, raters, draw) for rater in range(1, raters + 1)]
    return [f"{name}.{ending}" for name in names for ending in ("csv", "html")]
