"""JSON Lines of multiple-choice outputs, the fast way.

Only the fields that the contract looks at are decoded, and the texts are read in columns. A batch takes the
careful way, line by line with the standard library, when anything about it is out of the ordinary: an escaped
lone surrogate, a field of a name that is added, a value of another type, `NaN`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import msgspec
import polars as pl

from affidavit import columns
from affidavit.contract import Fields
from affidavit.contracts.mcqa import MultipleChoice
from affidavit.jsonl import Batch
from affidavit.once import Gained
from affidavit.rows import CHOICE_FIELDS, COMPLIANT, RAW_OUTPUT


class _Row(Protocol):
    """The fields of a line that multiple choice looks at."""

    raw: str | None
    answer: str | msgspec.UnsetType | None


class Choices(NamedTuple):
    """The texts of a batch as a column, and the key that each line has beside its text."""

    texts: pl.Series
    keys: list[str | msgspec.UnsetType | None]


class ChoiceReader:
    """Lines of multiple-choice outputs: decoded as they come, read in columns."""

    def __init__(self, contract: MultipleChoice, field: str) -> None:
        self._contract = contract
        self._field = field
        self._decoder: msgspec.json.Decoder[_Row] = msgspec.json.Decoder(_row_type(field))
        self._gained: dict[tuple[object, ...], Gained] = {}

    def decode(self, batch: Batch) -> Choices | None:
        """Text and key of each line; None if any of the lines needs the careful way."""
        try:
            if not batch.content.isascii():
                # The decoder looks at no more than it needs; Polars checks faster than Python.
                pl.Series([batch.content], dtype=pl.Binary).cast(pl.String)
            rows = self._decoder.decode_lines(batch.content)
        except (msgspec.DecodeError, pl.exceptions.PolarsError, RecursionError):
            return None
        if len(rows) != batch.height:
            return None
        texts = pl.Series([row.raw for row in rows], dtype=pl.String)
        return Choices(texts, [row.answer for row in rows])

    def read(self, parts: Sequence[Choices]) -> list[Gained | None]:
        """What each line gains; None for every one that needs the careful way."""
        texts = pl.concat([part.texts for part in parts])
        frame = columns.mcqa(texts, options=self._contract.options)
        answers, deviations = frame["extracted_answer"].to_list(), frame["deviation"].to_list()
        keys = [key for part in parts for key in part.keys]
        if self._field != RAW_OUTPUT:
            return list(map(self._gain, answers, deviations, keys, texts))
        # Most rows gain what another has gained before.
        known = list(map(self._gained.get, zip(answers, deviations, keys, strict=True)))
        return list(map(self._gain, answers, deviations, keys)) if None in known else known

    def _gain(
        self, answer: str | None, deviation: str | None, key: object, raw: str | None = None
    ) -> Gained | None:
        """What a row gains; None if the careful way has to say what is wrong with it."""
        if isinstance(key, str) and not self._contract.can_answer(key):
            return None
        # A row without an output has neither answer nor deviation, so it is never taken for one with an output.
        arrived = answer is not None or deviation is not None
        fields: Fields = {} if self._field == RAW_OUTPUT else {RAW_OUTPUT: raw}
        fields[COMPLIANT] = (answer is not None) if arrived else None
        fields.update(extracted_answer=answer, deviation=deviation)
        if key is not msgspec.UNSET:
            fields["correct"] = None if answer is None or key is None else answer == key
        has_key = isinstance(key, str)
        if self._field != RAW_OUTPUT:
            return Gained(fields, has_key=has_key)
        known = self._gained.get((answer, deviation, key))
        if known is None:
            known = self._gained[answer, deviation, key] = Gained(fields, has_key=has_key)
        return known


def _row_type(field: str) -> type:
    """The fields that are decoded. A line that has a field which will be added is not of this type."""
    added = [name for name in (*CHOICE_FIELDS, RAW_OUTPUT) if name != field]
    key: Any = str | msgspec.UnsetType | None
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
