"""Rows one by one, but equal rows only once.

What a row gets is decided by its text and by the few fields that make its item. Files repeat both: samples
of one model on one item are often the same to the letter.
"""

from affidavit.json_values import Fields
from affidavit.reading.column_path import ColumnPath
from affidavit.reading.output_columns import ANSWER
from affidavit.reading.row_lines import members_of
from affidavit.reading.rows import RowReader, RowResult

MEMORY = 32 * 1024 * 1024
"""Characters of distinct rows that are remembered before all of them are forgotten."""


class AddedFields:
    """The fields that a row gets: shared by all rows that get the same, and counted by identity."""

    __slots__ = ("end", "fields", "right_answer_known", "right_readings")

    def __init__(
        self, fields: Fields, *, right_answer_known: bool | None, right_readings: frozenset[str] = frozenset()
    ) -> None:
        self.fields = fields
        self.right_answer_known = right_answer_known
        self.right_readings = right_readings
        self.end = f", {members_of(fields)}}}\n".encode()


class RowCache:
    """Rows one by one; equal rows are read once."""

    def __init__(self, reader: RowReader) -> None:
        self._reader = reader
        self._reads = reader.item_fields
        reads = self._reads or ()
        paths = (reader.answer if name == ANSWER else ColumnPath(name) for name in reads)
        self._paths = (*paths, reader.text)
        self._known: dict[tuple[object, ...], tuple[RowResult, AddedFields]] = {}
        self._size = 0

    def read(self, row: Fields, *, where: str) -> tuple[RowResult, AddedFields]:
        """What is said of the row, and what it gets."""
        key = self._key(row)
        known = self._known.get(key) if key is not None else None
        if known is None:
            result = self._reader.read(row, where=where)
            keyed, right = result.right_answer_known, result.right_readings
            known = result, AddedFields(result.added, right_answer_known=keyed, right_readings=right)
            if key is not None:
                self._remember(key, known)
        return known

    def _key(self, row: Fields) -> tuple[object, ...] | None:
        """Everything that decides what the row gets; None if nobody can say."""
        if self._reads is None or not self._reader.text.is_in(row):
            return None
        # Whether a field is there matters too: an `answer` of null gives `correct`, no `answer` does not.
        return tuple((path.is_in(row), repr(path.of(row))) for path in self._paths)

    def _remember(self, key: tuple[object, ...], known: tuple[RowResult, AddedFields]) -> None:
        self._size += sum(len(str(part)) for part in key)
        if self._size > MEMORY:
            self._known.clear()
            self._size = 0
        self._known[key] = known
