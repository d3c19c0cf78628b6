"""The options that name columns of labels by people in rows of outputs: nothing is taken for one by a guess."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from affidavit.judging.label_columns import LabelColumns

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--label",
        "label_columns",
        multiple=True,
        metavar="COLUMN=WHAT",
        help="A column of labels by people, given for each: WHAT is verdict, score:DIMENSION, correct, answer, or "
        "NAME:LOW,HIGH.",
    ),
    click.option(
        "--rater",
        "label_raters",
        multiple=True,
        metavar="NAME",
        help="Who gave these labels; COLUMN=NAME of one column. Each has the name of its column unless given.",
    ),
    click.option("--rater-column", "label_rater_column", metavar="COLUMN", help="Who gave them, row by row."),
    click.option("--date-column", "label_date_column", metavar="COLUMN", help="On which day, row by row."),
)


def label_options(command: CommandT) -> CommandT:
    """Add these options to a command; it gets them under names that begin with `label_`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def given_labels(given: Mapping[str, Any]) -> "LabelColumns | None":
    """The columns that were named; None if there were none."""
    from affidavit.judging.label_columns import label_columns

    names = ("label_columns", "label_raters", "label_rater_column", "label_date_column")
    columns, raters, rater_column, date_column = (given[name] for name in names)
    if not (columns or raters or rater_column or date_column):
        return None  # nothing is loaded for it
    return label_columns(columns, raters, rater_column, date_column)
