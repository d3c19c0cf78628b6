"""Labels by people that stand in the rows of outputs: in which columns, to which question, by whom (ruling S10).

Named by whoever gives the rows, never guessed: `human_verdict=verdict`, `human_score=score:COMPLETENESS`,
`human_rating=helpfulness:1,5`. Null, an empty text and a missing column say that nobody labelled this output.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple
from unicodedata import normalize

from affidavit.contracts.rubric import Rubric
from affidavit.errors import InputError, UsageError, did_you_mean
from affidavit.json_values import Fields, shown
from affidavit.judging.label_questions import CORRECT, LabelQuestion, LabelValue, label_question, parse_scale
from affidavit.reading.column_path import ColumnPath

LONGEST_NAME = 200
"""Characters that the name of a rater may have."""
_TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ].*", re.DOTALL)
_SCALE = re.compile(r"(.*):([^:,]*,[^:]*)", re.DOTALL)
_LIKELY = re.compile(
    r"(?:human|annotator|expert|rater)(?:[_-]?[0-9]{1,2})?"
    r"(?:[_-]?(verdict|score|rating|grade|label|correct|judgement|judgment|answer))?",
    re.IGNORECASE,
)
_LIKELY_ABOUT = {"verdict": "verdict", "correct": CORRECT, "answer": "answer"}


@dataclass(frozen=True)
class LabelColumn:
    """One column of labels."""

    path: ColumnPath
    about: str
    """What people were asked."""
    ends: tuple[float, float] | None
    """Of the scale of a name of one's own."""
    rater: str
    """Who labelled, where no column says it of each row."""


@dataclass(frozen=True)
class LabelColumns:
    """All columns of labels that were named."""

    columns: Sequence[LabelColumn]
    rater: ColumnPath | None = None
    """Where rows say who labelled."""
    date: ColumnPath | None = None
    """Where rows say on which day."""

    def notes(self) -> list[str]:
        """What a person should be told of them: what was taken as what, and whose word it is."""
        said = (
            f"`{each.path.text}` as {each.about} by "
            + (f"`{each.rater}`" if self.rater is None else f"whom `{self.rater.text}` names")
            for each in self.columns
        )
        return [f"labels by people: {', '.join(said)}"]


def label_columns(
    given: Sequence[str],
    raters: Sequence[str] = (),
    rater_column: str | None = None,
    date_column: str | None = None,
) -> LabelColumns | None:
    """The columns as they were typed, each COLUMN=WHAT; None where none was named.

    `raters` are each NAME, of all columns, or COLUMN=NAME; a column whose rater nobody names has its own name.

    >>> found = label_columns(["human=verdict", "tone=tone:1,5"], ["human=anna"])
    >>> [(each.path.text, each.about, each.ends, each.rater) for each in found.columns]
    [('human', 'verdict', None, 'anna'), ('tone', 'tone', (1.0, 5.0), 'tone')]
    """
    if not given:
        for option, value in (
            ("--rater", raters),
            ("--rater-column", rater_column),
            ("--date-column", date_column),
        ):
            if value:
                raise UsageError(option, expected="--label COLUMN=WHAT beside it", found="none")
        return None
    typed = [_typed(text) for text in given]
    names = _raters(raters, [path.text for path, _, _ in typed])
    columns = [LabelColumn(*each, names.get(each[0].text, each[0].text)) for each in typed]
    for each in columns:
        checked_rater(each.rater, where="--rater")
    rater = None if rater_column is None else ColumnPath(rater_column)
    _refuse_doubles(columns, rater)
    return LabelColumns(columns, rater, None if date_column is None else ColumnPath(date_column))


def label_columns_of(
    labels: Mapping[str, str], rater: str | Mapping[str, str], rater_column: str | None, date_column: str | None
) -> LabelColumns | None:
    """The same from what each column is about, and one rater of all or one of each."""
    named = [rater] if isinstance(rater, str) else [f"{column}={name}" for column, name in rater.items()]
    typed = [f"{column}={about}" for column, about in labels.items()]
    return label_columns(typed, [name for name in named if name], rater_column, date_column)


def _typed(text: str) -> tuple[ColumnPath, str, tuple[float, float] | None]:
    column, _, about = (part.strip() for part in text.partition("="))
    if not column or not about:
        hint = "WHAT is verdict, score:DIMENSION, correct, answer, or a name with its scale, such as tone:1,5."
        raise UsageError("--label", expected="COLUMN=WHAT", found=repr(text), hint=hint)
    with_scale = _SCALE.fullmatch(about)
    if with_scale is None:
        return ColumnPath(column), about, None
    ends = parse_scale(with_scale[2], option="--label", found=text)
    return ColumnPath(column), with_scale[1].strip(), ends


def _raters(given: Sequence[str], columns: Sequence[str]) -> dict[str, str]:
    """The rater of each column that has one."""
    found: dict[str, str] = {}
    for text in given:
        column, sign, name = (part.strip() for part in text.partition("="))
        if sign and column not in columns:
            hint = did_you_mean(column, columns)
            raise UsageError(
                "--rater", expected=f"a column of --label: {', '.join(columns)}", found=repr(column), hint=hint
            )
        for each in [column] if sign else columns:
            if each in found:
                raise UsageError("--rater", expected=f"one rater of {each!r}", found=repr(text))
            found[each] = name if sign else column
    return found


def _refuse_doubles(columns: Sequence[LabelColumn], rater: ColumnPath | None) -> None:
    """One rater says one thing to a question; several columns to one are several raters'."""
    paths: set[str] = set()
    raters: dict[tuple[str, str], str] = {}
    for each in columns:
        if each.path.text in paths:
            raise UsageError("--label", expected="each column once", found=repr(each.path.text))
        paths.add(each.path.text)
        by = "" if rater is not None else each.rater
        other = raters.setdefault((each.about, by), each.path.text)
        if other != each.path.text:
            expected = f"a rater for each column of {each.about}: {other}, {each.path.text}"
            hint = (
                f"Say who each is: --rater {other}=NAME --rater {each.path.text}=NAME; or leave --rater out, and "
                "each has the name of its column."
            )
            raise UsageError("--rater", expected=expected, found="the same one", hint=hint)


# --- of a row ---


class RowLabel(NamedTuple):
    """What one column of a row says."""

    about: str
    value: LabelValue
    rater: str
    date: str
    """The day; empty where the row says none."""
    column: str
    """Where it stands."""


class RowLabels:
    """Reads the labels of rows; what is off its scale is refused with its place."""

    def __init__(self, columns: LabelColumns, rubric: Rubric | None) -> None:
        """`rubric`: the frozen one, whose scores can be given; None where nothing is judged yet."""
        self._columns = columns
        self._asked = [(each, _question(each, rubric)) for each in columns.columns]

    def of(self, row: Fields, *, where: str) -> Iterator[RowLabel]:
        """Every label of a row, in the order of the columns."""
        for column, question in self._asked:
            given = column.path.of(row)
            if not is_blank(given):
                value = question.value(given, where=where, column=column.path.text)
                rater, day = self._rater(row, column, where), self._day(row, where)
                yield RowLabel(question.about, value, rater, day, column.path.text)

    def _rater(self, row: Fields, column: LabelColumn, where: str) -> str:
        path = self._columns.rater
        said = None if path is None else path.of(row)
        if path is None:
            return column.rater
        if isinstance(said, bool) or not isinstance(said, str | int) or is_blank(said):
            raise InputError(where, expected=f"who labelled, in {path.text!r}", found=shown(said))
        return checked_rater(str(said).strip(), where=where)

    def _day(self, row: Fields, where: str) -> str:
        path = self._columns.date
        said = None if path is None else path.of(row)
        if path is None or is_blank(said):
            return ""
        text = str(said).strip() if isinstance(said, str) else ""
        # Of a time its day.
        day = time[1] if (time := _TIME.fullmatch(text)) else text
        return checked_day(day, where=where, column=path.text)

    @property
    def paths(self) -> list[tuple[str, ColumnPath]]:
        """All columns that it looks into, each with the option that named it."""
        named = [("--label", each.path) for each, _ in self._asked]
        others = ("--rater-column", self._columns.rater), ("--date-column", self._columns.date)
        return [*named, *((option, path) for option, path in others if path is not None)]


def _question(column: LabelColumn, rubric: Rubric | None) -> LabelQuestion:
    try:
        return label_question(column.about, rubric, column.ends)
    except UsageError as error:
        name = column.path.text
        hint = error.hint
        if error.where == "--scale":
            hint = f"Write the scale behind the name: --label {name}={column.about}:1,5. {hint}"
        elif rubric is None:
            hint = f"A score is one of a rubric: name it where outputs are judged: --label {name}={column.about}"
        raise UsageError("--label", expected=error.expected, found=error.found, hint=hint) from error


def is_blank(value: object) -> bool:
    """Whether a value says that nobody labelled this."""
    return value is None or (isinstance(value, str) and not value.strip())


# Characters that count as printable and show nothing: two names that differ in one would look alike.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def rater_name(typed: str) -> str:
    """A name as it is kept: composed, with single blanks.

    >>> rater_name(" Anna  Ou\u0308r ")
    'Anna O\xfcr'
    """
    return " ".join(normalize("NFC", typed).split())


def checked_rater(name: str, *, where: str) -> str:
    """The name of a rater; refused if no table could hold it."""
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable() or _UNSEEN.search(name):
        expected = f"a name of at most {LONGEST_NAME} printable characters"
        raise InputError(where, expected=expected, found=shown(name))
    return name


def checked_day(text: str, *, where: str, column: str = "date") -> str:
    """A day such as 2026-01-31; anything else is refused."""
    try:
        is_day = date.fromisoformat(text).isoformat() == text
    except ValueError:
        is_day = False
    if not is_day:
        expected = f"a day such as 2026-01-31 in {column!r}"
        raise InputError(where, expected=expected, found=shown(text), hint="Or leave the column empty.")
    return text


def likely_labels(first: Mapping[str, object], columns: LabelColumns | None) -> list[str]:
    """Columns that may hold labels by people and were not named, each with the option that names it.

    >>> likely_labels({"human_verdict": "PASS", "human_score": 4, "humans": ["a"], "answer": "B"}, None)[0]
    'a column `human_verdict` may hold labels by people: name it with --label human_verdict=verdict'
    >>> len(likely_labels({"human_verdict": "PASS", "human_score": 4, "humans": ["a"], "answer": "B"}, None))
    2
    """
    named = set() if columns is None else {str(each.path.steps[:1] or each.path.text) for each in columns.columns}
    notes = []
    for name, value in first.items():
        like = _LIKELY.fullmatch(name)
        if like is None or str((name,)) in named or not isinstance(value, str | int | float | None):
            continue
        about = _LIKELY_ABOUT.get((like[1] or "").lower(), "WHAT")
        notes.append(f"a column `{name}` may hold labels by people: name it with --label {name}={about}")
    return notes
