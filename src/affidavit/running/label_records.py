"""Labels from files onto the record: each a record of its own, none ever changed (ruling S10).

All rows are checked before the first is written. A row that says what is on the record already is passed over, so
that whoever was killed while adding adds the same files again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from affidavit.archive.disk import Disk
from affidavit.archive.record import Label
from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import InputError, UsageError
from affidavit.json_values import shown
from affidavit.judging.label_columns import checked_day, checked_rater, is_blank
from affidavit.judging.label_draws import last_draw
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


class _Wanted(NamedTuple):
    where: str
    label: Label


def add_labels(directory: StudyDirectory, sources: Sequence[Source], terms: LabelTerms, disk: Disk) -> Added:
    """Add every label of the files; nothing is written if one of them cannot be."""
    rows = [row for source in sources for row in rows_of(source, _columns)]
    filled = [row for row in rows if not is_blank(row.fields.get("value"))]
    today = datetime.now(UTC).date().isoformat()
    with labelled_study(directory, disk) as labelled:
        wanted = _first_of_each([_wanted(row, labelled, terms, today) for row in filled])
        new, corrected = _new(wanted, labelled, terms)
        labelled.append(new)
        seal = labelled.sealed()
        drawn = {about: _drawn(labelled, about) for about in {each.label.about for each in wanted}}
        kept = {(each.labelled_key, each.about, each.rater) for each in new} | labelled.labels.keys()
    return Added(
        len(new),
        corrected,
        len(wanted) - len(new),
        len(rows) - len(filled),
        sum(each.label.labelled_key not in drawn[each.label.about] for each in wanted),
        len(kept),
        seal.root_sha256,
        seal.labels_sha256,
        seal.sha256,
    )


def _columns(cells: list[str]) -> list[str] | None:
    return cells if "output" in cells and "value" in cells else None


def _drawn(labelled: LabelledStudy, about: str) -> frozenset[str]:
    draw = last_draw(labelled.draws, about)
    return frozenset(() if draw is None else draw.outputs)


def _wanted(row: Row, labelled: LabelledStudy, terms: LabelTerms, today: str) -> _Wanted:
    name = _text(row, "output", None)
    key = labelled.key_of(name)
    if key is None:
        expected = f"in 'output' the key of an output of the study, or its first {FEWEST_DIGITS} digits or more"
        hint = "An id that outputs came with will do too, where no other output has it."
        raise InputError(row.where, expected=expected, found=shown(name), hint=hint)
    question = _question(row, labelled, terms)
    value = question.value(row.fields["value"], where=row.where)
    rater = checked_rater(_text(row, "rater", terms.rater), where=row.where)
    day = checked_day(_text(row, "date", today), where=row.where)
    return _Wanted(row.where, Label(key, question.about, value, rater, day))


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


def _first_of_each(wanted: Iterable[_Wanted]) -> list[_Wanted]:
    """Each label once; a rater who labels an output twice in the same files is refused."""
    seen: dict[LabelPlace, str] = {}
    found = []
    for each in wanted:
        label = each.label
        place = label.labelled_key, label.about, label.rater
        if (before := seen.setdefault(place, each.where)) != each.where:
            expected = f"one label of {label.about} by {shown(label.rater)} for an output"
            raise InputError(each.where, expected=expected, found=f"a second one: the first is at {before}")
        found.append(each)
    return found


def _new(wanted: Iterable[_Wanted], labelled: LabelledStudy, terms: LabelTerms) -> tuple[list[Label], int]:
    """What is not on the record yet, and how much of it takes the place of something that is."""
    new, corrected = [], 0
    wanted = list(wanted)
    drawn = {about: _drawn(labelled, about) for about in {each.label.about for each in wanted}}
    for where, label in wanted:
        before = labelled.labels.get((label.labelled_key, label.about, label.rater))
        same = before is not None and (type(before.value), before.value) == (type(label.value), label.value)
        # Who says of an output that was drawn what stood beside it anyway has labelled it now.
        if before is not None and same and (before.column is None or label.labelled_key not in drawn[label.about]):
            continue
        if before is not None and not same and not terms.corrections:
            expected = (
                f"no label that differs from one of {shown(label.rater)} on the record: {shown(before.value)}"
            )
            hint = (
                "If it is a correction, say so: --corrections. Both stay on the record, and the last one counts."
            )
            raise InputError(where, expected=expected, found=shown(label.value), hint=hint)
        corrected += before is not None and not same
        new.append(label)
    return new, corrected
