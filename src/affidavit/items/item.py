"""Items: what models are asked about, each with an id and, where it is known, the answer.

    {"id": "q1", "question": "Capital of France?", "options": ["Rome", "Paris", "Bonn", "Oslo"], "answer": "B"}
    {"id": "h1", "numbers": [4, 9, 10, 13], "target": 24}

An item that does not fit its contract is refused before the first request (ruling M3).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from affidavit.contracts.contract import RAW_OUTPUT, AnyContract, Unread
from affidavit.contracts.parts import no_field
from affidavit.errors import InputError
from affidavit.json_values import Fields, shown
from affidavit.reading.rows import RowReader


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to ask about."""

    id: str
    fields: Mapping[str, object]
    """Question, options, answer or numbers and target; whatever else the row held stays with them."""

    @property
    def row(self) -> Fields:
        """The item as a row of its file held it, with its id: what a contract is told of it."""
        return {"id": self.id, **self.fields}


def items_of(rows: Iterable[tuple[str, Fields]], contract: AnyContract) -> Iterator[tuple[str, Item]]:
    """Place and item of rows of our own shape; refused if one does not fit the contract."""
    seen, reader = _Ids(), RowReader(contract)
    for where, row in rows:
        item_id = row.pop("id", None)
        if type(item_id) is int:
            item_id = str(item_id)
        if not isinstance(item_id, str) or not item_id.strip():
            expected = "an 'id': a text or a whole number"
            if item_id is not None:
                raise InputError(where, expected=expected, found=shown(item_id))
            raise no_field("id", row, expected=expected, where=where)
        if not seen.is_new(item_id):
            hint = "Answers are kept by id: each item needs its own."
            raise InputError(where, expected="an 'id' that no other item has", found=shown(item_id), hint=hint)
        item = Item(item_id, row)
        fitting = reader.parts.for_item(item.row, where=where)
        # Most items share one contract: a reader of it is made once.
        _check(item.row, reader if fitting is contract else RowReader(fitting), where=where)
        yield where, item


class _Ids:
    """Ids that were met, at 16 bytes each: a set of a hundred thousand texts would be most of a run's memory."""

    def __init__(self) -> None:
        self._buckets: list[bytearray] = [bytearray() for _ in range(4096)]

    def is_new(self, item_id: str) -> bool:
        """Whether an id is met for the first time."""
        entry = sha256(item_id.encode("utf-8", "surrogatepass")).digest()[:16]
        bucket = self._buckets[int.from_bytes(entry[:2], "big") >> 4]
        at = bucket.find(entry)
        while at % 16 and at >= 0:
            at = bucket.find(entry, at + 1)
        if at >= 0:
            return False
        bucket += entry
        return True


def check(row: Fields, contract: AnyContract, *, where: str) -> None:
    """Refuse an item that its contract could not ask about."""
    _check(row, RowReader(contract), where=where)


def _check(row: Fields, reader: RowReader, *, where: str) -> None:
    if RAW_OUTPUT in row:
        raise InputError(where, expected="an item to ask about", found=f"a field {RAW_OUTPUT!r}: an output")
    if isinstance(item := reader.item(row, where=where), Unread):
        raise InputError(where, expected="an item that the contract takes", found=item.error)
    reader.parts.check(row, where=where)
