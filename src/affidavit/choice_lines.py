"""JSON Lines of multiple-choice outputs, the fast way.

Only the fields that the contract looks at are decoded, and the texts are read in columns. A batch takes the
careful way, line by line with the standard library, when anything about it is out of the ordinary: an escaped
lone surrogate, a field of a name that is added, a value of another type, `NaN`.
"""

from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple, Protocol

import msgspec
import polars as pl

from affidavit.choice_gains import ChoiceGains, Key
from affidavit.contracts.mcqa import MultipleChoice
from affidavit.jsonl import Batch, Heads
from affidavit.once import Gained
from affidavit.rows import CHOICE_FIELDS, RAW_OUTPUT


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

    def __init__(self, contract: MultipleChoice, field: str) -> None:
        self._gains = ChoiceGains(contract, field)
        self._decoder: msgspec.json.Decoder[_Row] = msgspec.json.Decoder(_row_type(field))

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

    def read(self, parts: Sequence[Choices]) -> list[Gained | None]:
        """What each line gains; None for every one that needs the careful way."""
        texts = pl.concat([part.texts for part in parts])
        return self._gains.of(texts, chain.from_iterable(part.keys for part in parts))


def _row_type(field: str) -> type:
    """The fields that are decoded. A line that has a field which will be added is not of this type."""
    added = [name for name in (*CHOICE_FIELDS, RAW_OUTPUT) if name != field]
    key: Any = Key
    return msgspec.defstruct(
        "Row",
        [
            ("raw", str | None),
            ("answer", key, msgspec.UNSET),
            *((name, msgspec.UnsetType, msgspec.UNSET) for name in added),
        ],
        rename={"raw": field},
        gc=False,
    )
