"""The fast path for multiple choice: outputs of any kind of file, read in columns.

Of JSON Lines only the fields that the contract looks at are decoded. A batch takes the careful way, line by line
with the standard library, when anything about it is out of the ordinary: an escaped lone surrogate, a field of a
name that is added, a value of another type, `NaN`.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple, Protocol

import msgspec
import polars as pl

from affidavit.contracts.contract import COMPLIANT, RAW_OUTPUT
from affidavit.contracts.parts import Parts
from affidavit.json_values import Fields
from affidavit.reading.row_cache import AddedFields
from affidavit.reading.row_lines import Batch, Heads
from affidavit.reading.rows import LENIENT_READINGS, UNREAD, RowReader

Key = str | msgspec.UnsetType | None
"""The key beside a text: unknown (null) is not the same as not there at all."""


class ChoiceColumns:
    """What rows get under one contract."""

    def __init__(self, reader: RowReader) -> None:
        self._parts = reader.parts
        self._field = reader.field
        self._known = _Known(self._parts)

    def of(self, texts: pl.Series, keys: Iterable[Key]) -> list[AddedFields | None]:
        """What each row gets; None for every one that has to be read by itself, to say what is wrong with it."""
        frame = self._parts.read_texts(texts)
        if frame is None:
            raise TypeError("only contracts that read whole columns are read in columns")
        found = zip(*(frame[name].to_list() for name in self._known.names), keys, strict=True)
        if self._field == RAW_OUTPUT:
            return list(map(self._known.__getitem__, found))
        return [self._known.added_fields(each, {RAW_OUTPUT: raw}) for each, raw in zip(found, texts, strict=True)]


_Found = tuple[Any, ...]
"""What the contract read, in the order of its fields, and the key of a row."""
_MOST_KNOWN = 65_536
"""What rows got that is remembered: more is made anew. Places of answers are many."""


class _Known(dict[_Found, AddedFields | None]):
    """What rows get: most get what another has got before."""

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self._parts = parts
        self.names = tuple(parts.fields_added({}))
        """The fields that a reading has beside compliance."""
        self._answer = self.names.index("extracted_answer")

    def __missing__(self, found: _Found) -> AddedFields | None:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        added = self[found] = self.added_fields(found, {})
        return added

    def added_fields(self, found: _Found, before: Fields) -> AddedFields | None:
        """What a row gets; None if no output could ever give its key."""
        *read, key = found
        answer = read[self._answer]
        if isinstance(key, str) and not self._parts.can_answer(key):
            return None
        # A row without an output has neither answer nor deviation, so it is never taken for one with an output.
        arrived = any(value is not None for value in read)
        compliant = (answer is not None) if arrived else None
        fields = {**before, COMPLIANT: compliant, **dict(zip(self.names, read, strict=True))}
        if key is not msgspec.UNSET:
            fields["correct"] = None if answer is None or key is None else answer == key
        return AddedFields(fields, right_answer_known=isinstance(key, str))


# --- JSON Lines ---


class _Row(Protocol):
    """The fields of a line that multiple choice looks at."""

    raw: str | None
    answer: Key


class Choices(NamedTuple):
    """The lines of a batch without their ends, their texts as a column, and the key that each has beside it."""

    heads: Heads
    texts: pl.Series
    keys: list[Key]


_raw, _answer = attrgetter("raw"), attrgetter("answer")


class ChoiceReader:
    """Lines of multiple-choice outputs: decoded as they come, read in columns."""

    def __init__(self, reader: RowReader) -> None:
        self._columns = ChoiceColumns(reader)
        self._decoder: msgspec.json.Decoder[_Row] = msgspec.json.Decoder(_row_type(reader))

    def decode(self, batch: Batch) -> Choices | None:
        """Text and key of each line; None if any of the lines needs the careful way."""
        try:
            if not batch.content.isascii():
                # The decoder looks at no more than it needs; Polars checks faster than Python.
                pl.Series([batch.content], dtype=pl.Binary).cast(pl.String)
            rows = self._decoder.decode_lines(batch.content)
        except (msgspec.DecodeError, pl.exceptions.PolarsError, RecursionError):
            return None
        heads = batch.heads(len(rows))
        if heads is None:
            return None
        texts = pl.Series(list(map(_raw, rows)), dtype=pl.String)
        return Choices(heads, texts, list(map(_answer, rows)))

    def read(self, parts: Sequence[Choices]) -> list[AddedFields | None]:
        """What each line gets; None for every one that needs the careful way."""
        texts = pl.concat([part.texts for part in parts])
        return self._columns.of(texts, chain.from_iterable(part.keys for part in parts))


def _row_type(reader: RowReader) -> type:
    """The fields that are decoded. A line that has a field which will be added is not of this type."""
    field, fields = reader.field, reader.parts.fields_added({"answer": None})
    added = [name for name in (COMPLIANT, *fields, UNREAD, LENIENT_READINGS, RAW_OUTPUT) if name != field]
    key: Any = Key
    return msgspec.defstruct(
        "Row",
        [
            ("raw", str | None),
            ("answer", key, msgspec.UNSET),
            *((name, msgspec.UnsetType, msgspec.UNSET) for name in added),
        ],
        rename={"raw": field, "answer": reader.answer.text},
        gc=False,
    )
