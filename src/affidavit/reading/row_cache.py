"""Rows one by one, but equal rows only once.

What a row gains is decided by its text and by the few fields that make its item. Files repeat both: samples
of one model on one item are often the same to the letter.
"""

from affidavit.json_values import Fields
from affidavit.reading.jsonl import members_of
from affidavit.reading.rows import RowReader, RowResult

MEMORY = 32 * 1024 * 1024
"""Characters of distinct rows that are remembered before all of them are forgotten."""


class Gained:
    """What a row gained: shared by all rows that gained the same, and counted by identity."""

    __slots__ = ("end", "fields", "has_key")

    def __init__(self, fields: Fields, *, has_key: bool) -> None:
        self.fields = fields
        self.has_key = has_key
        self.end = f", {members_of(fields)}}}\n".encode()


class OnceReader:
    """Rows one by one; equal rows are read once."""

    def __init__(self, reader: RowReader) -> None:
        self._reader = reader
        self._known: dict[tuple[object, ...], tuple[RowResult, Gained]] = {}
        self._size = 0

    def read(self, row: Fields, *, where: str) -> tuple[RowResult, Gained]:
        """What is said of the row, and what it gains."""
        key = self._key(row)
        known = self._known.get(key) if key is not None else None
        if known is None:
            result = self._reader.read(row, where=where)
            known = result, Gained(result.added, has_key=result.right_answer_known)
            if key is not None:
                self._remember(key, known)
        return known

    def _key(self, row: Fields) -> tuple[object, ...] | None:
        """Everything that decides what the row gains; None if that cannot be told."""
        reads = self._reader.parts.item_fields
        if reads is None or self._reader.field not in row:
            return None
        # Whether a field is there matters too: an `answer` of null gives `correct`, no `answer` does not.
        return tuple((name in row, repr(row.get(name))) for name in (*reads, self._reader.field))

    def _remember(self, key: tuple[object, ...], known: tuple[RowResult, Gained]) -> None:
        self._size += sum(len(str(part)) for part in key)
        if self._size > MEMORY:
            self._known.clear()
            self._size = 0
        self._known[key] = known
