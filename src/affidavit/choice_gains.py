"""What rows of multiple-choice outputs gain, read in columns; rows of any kind of file."""

from collections.abc import Iterable

import msgspec
import polars as pl

from affidavit import columns
from affidavit.contract import Fields
from affidavit.contracts.mcqa import MultipleChoice
from affidavit.once import Gained
from affidavit.rows import COMPLIANT, RAW_OUTPUT

Key = str | msgspec.UnsetType | None
"""The key beside a text: unknown (null) is not the same as not there at all."""


class ChoiceGains:
    """What rows gain under one contract."""

    def __init__(self, contract: MultipleChoice, field: str) -> None:
        self._contract = contract
        self._field = field
        self._known = _Known(contract)

    def of(self, texts: pl.Series, keys: Iterable[Key]) -> list[Gained | None]:
        """What each row gains; None for every one that has to be read by itself, to say what is wrong with it."""
        frame = columns.mcqa(texts, options=self._contract.options)
        answers, deviations = frame["extracted_answer"].to_list(), frame["deviation"].to_list()
        found = zip(answers, deviations, keys, strict=True)
        if self._field == RAW_OUTPUT:
            return list(map(self._known.__getitem__, found))
        return [_gain(self._contract, each, {RAW_OUTPUT: raw}) for each, raw in zip(found, texts, strict=True)]


_Found = tuple[str | None, str | None, Key]
"""Answer, deviation and key of a row."""


class _Known(dict[_Found, Gained | None]):
    """What rows gain: most gain what another has gained before."""

    def __init__(self, contract: MultipleChoice) -> None:
        super().__init__()
        self._contract = contract

    def __missing__(self, found: _Found) -> Gained | None:
        gained = self[found] = _gain(self._contract, found, {})
        return gained


def _gain(contract: MultipleChoice, found: _Found, before: Fields) -> Gained | None:
    """What a row gains; None if no output could ever give its key."""
    answer, deviation, key = found
    if isinstance(key, str) and not contract.can_answer(key):
        return None
    # A row without an output has neither answer nor deviation, so it is never taken for one with an output.
    arrived = answer is not None or deviation is not None
    fields = {
        **before,
        COMPLIANT: (answer is not None) if arrived else None,
        "extracted_answer": answer,
        "deviation": deviation,
    }
    if key is not msgspec.UNSET:
        fields["correct"] = None if answer is None or key is None else answer == key
    return Gained(fields, has_key=isinstance(key, str))
