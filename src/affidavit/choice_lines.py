"""JSON Lines of multiple-choice outputs, the fast way.

Only the fields that the contract looks at are decoded, and the texts are read in columns. A batch takes the
careful way, line by line with the standard library, when anything about it is out of the ordinary: an escaped
lone surrogate, a field of a name that is added, a value of another type, `NaN`.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec
import polars as pl

from affidavit import columns
from affidavit.contract import Fields
from affidavit.contracts.mcqa import MultipleChoice
from affidavit.jsonl import Batch
from affidavit.once import Gained
from affidavit.rows import CHOICE_FIELDS, COMPLIANT, RAW_OUTPUT


class ChoiceRow(Protocol):
    """The fields of a line that multiple choice looks at."""

    raw: str | None
    answer: str | msgspec.UnsetType | None


class ChoiceReader:
    """Lines of multiple-choice outputs: decoded as they come, read in columns."""

    def __init__(self, contract: MultipleChoice, field: str) -> None:
        self._contract = contract
        self._field = field
        self._decoder: msgspec.json.Decoder[ChoiceRow] = msgspec.json.Decoder(_row_type(field))
        self._gained: dict[tuple[object, ...], Gained] = {}

    def decode(self, batch: Batch) -> Sequence[ChoiceRow] | None:
        """A row for each line; None if any of the lines needs the careful way."""
        try:
            if not batch.content.isascii():
                batch.content.decode("utf-8")
            rows: list[ChoiceRow] = self._decoder.decode_lines(batch.content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        return rows if len(rows) == batch.height else None

    def read(self, rows: Sequence[ChoiceRow]) -> list[Gained | None]:
        """What each row gains; None for every one that needs the careful way."""
        texts = pl.Series([row.raw for row in rows], dtype=pl.String)
        frame = columns.mcqa(texts, options=self._contract.options)
        answers, deviations = frame["extracted_answer"].to_list(), frame["deviation"].to_list()
        keys = [row.answer for row in rows]
        # Most rows gain what another has gained before.
        known = list(map(self._gained.get, zip(answers, deviations, keys, strict=True)))
        return list(map(self._gain, rows, answers, deviations)) if None in known else known

    def _gain(self, row: ChoiceRow, answer: str | None, deviation: str | None) -> Gained | None:
        """What a row gains; None if the careful way has to say what is wrong with it."""
        if isinstance(row.answer, str) and not self._contract.can_answer(row.answer):
            return None
        if self._field != RAW_OUTPUT:
            return self._new(row, answer, deviation)
        # A row without an output has neither answer nor deviation, so it is never taken for one with an output.
        key = answer, deviation, row.answer
        if key not in self._gained:
            self._gained[key] = self._new(row, answer, deviation)
        return self._gained[key]

    def _new(self, row: ChoiceRow, answer: str | None, deviation: str | None) -> Gained:
        arrived = row.raw is not None
        fields: Fields = {} if self._field == RAW_OUTPUT else {RAW_OUTPUT: row.raw}
        fields[COMPLIANT] = (answer is not None) if arrived else None
        fields.update(extracted_answer=answer, deviation=deviation)
        if row.answer is not msgspec.UNSET:
            fields["correct"] = None if answer is None or row.answer is None else answer == row.answer
        return Gained(fields, has_key=row.answer is not msgspec.UNSET and row.answer is not None)


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
