"""Labels from files onto the record: each a record of its own, none ever changed (ruling S10).

All rows are checked before the first is written. A row that says what is on the record already is passed over, so
that whoever was killed while adding adds the same files again.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from affidavit.archive.disk import Disk
from affidavit.archive.record import Label
from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import InputError, Mistakes, UsageError, did_you_mean
from affidavit.json_values import shown
from affidavit.judging.label_columns import checked_day, checked_rater, is_blank, rater_name
from affidavit.judging.label_draws import last_draw
from affidavit.judging.label_names import is_name_on_sheet
from affidavit.judging.label_questions import LabelQuestion
from affidavit.reading.source import Row, Source
from affidavit.reading.sources import rows_of
from affidavit.running.labelled_study import FEWEST_DIGITS, LabelledStudy, LabelPlace, labelled_study

COLUMNS = ("output", "what", "value", "rater", "date")


@dataclass(frozen=True)
class LabelTerms:
    """What rows need not say themselves."""

    about: str | None = None
    rater: str | None = None
    scale: tuple[float, float] | None = None
    corrections: bool = False
    """Whether a rater may have changed a label that is on the record."""


@dataclass(frozen=True)
class Added:
    """What came of adding labels."""

    added: int
    corrected: int
    """Of these: how many take the place of another label of the same rater."""
    there: int
    """Rows that say what was on the record already."""
    blank: int
    """Rows without a value: not labelled."""
    not_drawn: int
    """Of all labels that came: those of outputs that were never drawn for this question."""
    labels: int
    """On the record now, corrected ones included."""
    root_sha256: str
    labels_sha256: str
    seal_sha256: str
    notes: Sequence[str] = ()
    """What may not be as it was meant."""


class _Wanted(NamedTuple):
    where: str
    label: Label
    by_sheet: bool
    """Whether the row names the output as a sheet does, and so answers a draw."""


FIRST_DAY = "1990-01-01"
"""No label is older: an earlier day is a slip."""
MOST_MISTAKES = 10
"""Of a file's mistakes, how many are told at once."""


def add_labels(directory: StudyDirectory, sources: Sequence[Source], terms: LabelTerms, disk: Disk) -> Added:
    """Add every label of the files; nothing is written if one of them cannot be."""
    rows = [row for source in sources for row in _rows(source, terms)]
    with labelled_study(directory, disk) as labelled:
        wanted, mistakes = [], Mistakes()
        today = datetime.now(UTC).date()
        for row in rows:
            with mistakes.gathered():
                if is_blank(_given(row)):
                    _key(row, labelled)
                else:
                    wanted.append(_wanted(row, labelled, terms, today))
        wanted = _first_of_each(wanted, mistakes)
        new, corrected = _new(wanted, labelled, terms, mistakes)
        mistakes.refuse(MOST_MISTAKES)
        raters = {each.label.rater for each in wanted} | {rater for _, _, rater in labelled.labels}
        labelled.append(new)
        seal = labelled.sealed()
        drawn = {about: _drawn(labelled, about) for about in {each.label.about for each in wanted}}
        kept = {(each.labelled_key, each.about, each.rater) for each in new} | labelled.labels.keys()
    return Added(
        len(new),
        corrected,
        len(wanted) - len(new),
        sum(is_blank(row.fields["value"]) for row in rows),
        sum(each.label.labelled_key not in drawn[each.label.about] for each in wanted),
        len(kept),
        seal.root_sha256,
        seal.labels_sha256,
        seal.sha256,
        _alike_names(raters),
    )


def _alike_names(raters: Iterable[str]) -> list[str]:
    """A note for each group of names that only case and blanks tell apart."""
    alike: dict[str, list[str]] = {}
    for name in sorted(raters):
        alike.setdefault("".join(name.split()).casefold(), []).append(name)
    return [
        f"raters {' and '.join(map(shown, names))} count as {len(names)} people: only case and blanks differ"
        for names in alike.values()
        if len(names) > 1
    ]


def _rows(source: Source, terms: LabelTerms) -> list[Row]:
    """The rows of a file by our names of columns, in whichever case they are; refused if it lacks one."""
    rows = [
        Row(_place(row), row.number, {_column(name): value for name, value in row.fields.items()})
        for row in rows_of(source, _columns)
    ]
    there = dict.fromkeys(name for row in rows for name in row.fields)
    said = {"what": terms.about, "rater": terms.rater, "date": ""}
    for name in COLUMNS:
        if rows and name not in there and said.get(name) is None:
            hint = did_you_mean(name, there)
            if name in said:
                hint = f"Or say it for all rows: --{name}."
            elif not hint:
                hint = f"The columns are {', '.join(COLUMNS)}; others are passed over."
            expected = f"a column {name!r}"
            raise InputError(source.name, expected=expected, found=f"columns {', '.join(there)}", hint=hint)
    return rows


def _column(name: str) -> str:
    return known if (known := name.strip().lower()) in COLUMNS else name


def _columns(cells: list[str]) -> list[str] | None:
    return cells if {"output", "value"} <= set(map(_column, cells)) else None


def _place(row: Row) -> str:
    """File and line, and what a spreadsheet shows: texts of several lines make these differ."""
    output = next((value for name, value in row.fields.items() if _column(name) == "output"), None)
    if not isinstance(output, str) or not output.strip():
        return f"{row.where} (row {row.number:,})"
    name = output.strip()
    return f"{row.where} (row {row.number:,}, output {shown(name[:16])[1:-1]}{'…' if name[16:] else ''})"


def _drawn(labelled: LabelledStudy, about: str) -> frozenset[str]:
    draw = last_draw(labelled.draws, about)
    return frozenset(() if draw is None else draw.outputs)


def _given(row: Row) -> object:
    if "value" not in row.fields:
        raise InputError(row.where, expected="a field 'value'", found=f"fields {', '.join(row.fields)}")
    return row.fields["value"]


_A_NUMBER = re.compile(r"[0-9.,]+[eE][+][0-9]+")


def _key(row: Row, labelled: LabelledStudy) -> str:
    name = _text(row, "output", None)
    key = labelled.key_of(name)
    if key is None and is_name_on_sheet(name):
        expected, found = "in 'output' the name of an output on a sheet of this study", f"{name}, which is none"
        hint = "The sheet is of another study, or of another run of this one, whose outputs have other texts."
        raise InputError(row.where, expected=expected, found=found, hint=hint)
    if key is None:
        expected = f"in 'output' the key of an output of the study, or its first {FEWEST_DIGITS} digits or more"
        hint = "An id that outputs came with will do too, where no other output has it."
        if _A_NUMBER.fullmatch(name):
            hint = "A spreadsheet has made a number of it: have the column hold text, and copy the keys in again."
        raise InputError(row.where, expected=expected, found=shown(name), hint=hint)
    return key


def _wanted(row: Row, labelled: LabelledStudy, terms: LabelTerms, today: date) -> _Wanted:
    key = _key(row, labelled)
    question = labelled.question_of(_question(row, labelled, terms), key)
    value = question.value(row.fields["value"], where=row.where)
    rater = checked_rater(rater_name(_text(row, "rater", terms.rater)), where=row.where)
    day = checked_day(_text(row, "date", today.isoformat()), where=row.where)
    # West of Greenwich it may be tomorrow there already.
    if day < FIRST_DAY or day > (today + timedelta(days=1)).isoformat():
        expected = "a day that has come in 'date'"
        raise InputError(row.where, expected=expected, found=shown(day), hint="Or leave the column empty.")
    label = Label(key, question.about, value, rater, day, labelled.texts[key])
    return _Wanted(row.where, label, is_name_on_sheet(_text(row, "output", None)))


def _question(row: Row, labelled: LabelledStudy, terms: LabelTerms) -> LabelQuestion:
    about = _text(row, "what", terms.about)
    try:
        return labelled.question(about, terms.scale)
    except (InputError, UsageError) as error:
        raise InputError(row.where, expected=error.expected, found=error.found, hint=error.hint) from error


def _text(row: Row, name: str, otherwise: str | None) -> str:
    value = row.fields.get(name)
    if is_blank(value) and otherwise is not None:
        return otherwise
    if not isinstance(value, str | int) or isinstance(value, bool) or is_blank(value):
        hint = {"what": "Or say it for all rows: --what.", "rater": "Or say it for all rows: --rater."}.get(
            name, ""
        )
        raise InputError(row.where, expected=f"a text in {name!r}", found=shown(value), hint=hint)
    return str(value).strip()


def _first_of_each(wanted: Iterable[_Wanted], mistakes: Mistakes) -> list[_Wanted]:
    """Each label once; a rater who labels an output twice in the same files is a mistake."""
    seen: dict[LabelPlace, str] = {}
    found = []
    for each in wanted:
        label = each.label
        place = label.labelled_key, label.about, label.rater
        before = seen.get(place)
        if before == each.where:
            continue  # a file that was named twice
        if before is not None:
            expected = f"one label of {label.about} by {shown(label.rater)} for an output"
            hint = "Are they two people's? Give each a name of their own. One person's? Keep the row that counts."
            found_there = f"a second one: the first is at {before}"
            mistakes.add(InputError(each.where, expected=expected, found=found_there, hint=hint))
            continue
        seen[place] = each.where
        found.append(each)
    return found


def _new(
    wanted: Iterable[_Wanted], labelled: LabelledStudy, terms: LabelTerms, mistakes: Mistakes
) -> tuple[list[Label], int]:
    """What is not on the record yet, and how much of it takes the place of something that is."""
    new, corrected = [], 0
    wanted = list(wanted)
    drawn = {about: _drawn(labelled, about) for about in {each.label.about for each in wanted}}
    for where, label, by_sheet in wanted:
        place = label.labelled_key, label.about, label.rater
        before = labelled.labels.get(place)
        same = before is not None and (type(before.value), before.value) == (type(label.value), label.value)
        if same and by_sheet and labelled.precedes_its_draw(place):
            new.append(label)  # said before it was drawn: only what answers the draw counts as drawn
            continue
        # Who says of an output that was drawn what stood beside it anyway has labelled it now.
        if before is not None and same and (before.column is None or label.labelled_key not in drawn[label.about]):
            continue
        if label in labelled.all_labels:
            continue  # of that very day, and corrected since: the file is an older one
        if before is not None and not same and not terms.corrections:
            expected = (
                f"no label that differs from one of {shown(label.rater)} on the record: {shown(before.value)}"
            )
            mistakes.add(InputError(where, expected=expected, found=shown(label.value), hint=_CORRECT))
        corrected += before is not None and not same
        new.append(label)
    return new, corrected


_CORRECT = (
    "If it is a correction, say so: --corrections. Both stay on the record, and the last one counts; so give it "
    "the newest files alone: an older file would put its values back."
)
