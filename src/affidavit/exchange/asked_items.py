"""What the outputs of a study answer, as far as it is known: what a contract needs beside a text to read it again.

Of a planned study that is the item as it was shown; of outputs from elsewhere, whose rows stand in their records,
it is the right answer, which may have had any name there.
"""

from collections.abc import Mapping

from affidavit.archive.record import Failed, ImportIdentity, JudgementIdentity, Label, Record, Response
from affidavit.archive.study_directory import FrozenStudy, ImportedStudy, StudyDirectory
from affidavit.contracts.mcqa import LETTERS
from affidavit.json_values import Fields
from affidavit.reading.imported_records import frozen_columns
from affidavit.reading.output_columns import ANSWER


class AskedItems:
    """The items of a plan, or the column of right answers of outputs from elsewhere."""

    def __init__(self, directory: StudyDirectory, frozen: FrozenStudy) -> None:
        self._items: Mapping[tuple[str, str], Mapping[str, object]] = {}
        self._columns = frozen_columns(frozen) if isinstance(frozen, ImportedStudy) else None
        if self._columns is None:
            self._items = {(each.task, each.id): each.fields for each in directory.items()}

    def of(self, record: Record) -> Fields | None:
        """What an output answers; None where nothing is known, or the record is no output."""
        if isinstance(record, Label) or isinstance(record.subject, JudgementIdentity):
            return None
        assert isinstance(record, Response | Failed)  # noqa: S101 - judgements are of judgements
        subject = record.subject
        if isinstance(subject, ImportIdentity):
            row = {} if self._columns is None else self._columns.item_row(subject.row)
            return {ANSWER: row[ANSWER]} if row.get(ANSWER) is not None else None
        item = self._items.get((subject.task, subject.item_id))
        return None if item is None else _as_shown(dict(item), record)


def _as_shown(item: Fields, record: Response | Failed) -> Fields:
    """The item with its options, and the letter of the right one, in the order in which they were shown."""
    order = None if isinstance(record, Failed) else record.fields.get("option_order")
    options, answer = item.get("options"), item.get(ANSWER)
    if not isinstance(order, str) or not isinstance(options, list):
        return item
    shown: Fields = {**item, "options": [options[LETTERS.index(letter)] for letter in order]}
    if isinstance(answer, str) and answer in order:
        shown[ANSWER] = LETTERS[order.index(answer)]
    return shown
