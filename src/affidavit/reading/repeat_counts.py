"""How often each of many things was there before: 12 bytes for each, however long its name is.

>>> repeats = RepeatCounts()
>>> repeats.before(hashes_of([["a", "b", "a"], ["x", "x", "x"]])).tolist()
[0, 0, 1]
>>> repeats.before(hashes_of([["a", "ax"], ["x", ""]])).tolist()
[2, 0]
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
ALL_BITS = 2**64 - 1
"""Of a number of these; what Python has for a hash may be negative."""


def hashes_of(columns: Sequence[pl.Series | Sequence[str]]) -> Hashes:
    """A number for each row of names: equal ones for equal names, and others for others.

    There are 2**64 of them: of a million names two meet by chance in one file of forty million.
    """
    series = [each if isinstance(each, pl.Series) else _series(each) for each in columns]
    frame = pl.DataFrame([each.alias(str(place)) for place, each in enumerate(series)])
    return frame.hash_rows(seed=24).to_numpy()


def _series(names: Sequence[str]) -> pl.Series:
    try:
        return pl.Series(names, dtype=pl.String)
    except UnicodeEncodeError:  # half of a surrogate pair, which no column can hold
        return pl.Series([name.encode("utf-8", "surrogatepass") for name in names], dtype=pl.Binary)


class RepeatCounts:
    """Things that were counted, batch by batch, in sorted arrays: each is twice as long as the one after it."""

    def __init__(self) -> None:
        self._levels: list[tuple[Hashes, NDArray[np.int32]]] = []

    def before(self, hashes: Hashes) -> NDArray[np.int64]:
        """Of each thing in its turn, how often it was there before; then it was there once more."""
        if not len(hashes):
            return np.zeros(0, np.int64)
        order = np.argsort(hashes, kind="stable")
        distinct, starts = _runs(hashes[order])
        counts = np.diff(starts, append=len(order))
        earlier = np.zeros(len(distinct), np.int64)
        for known, times in self._levels:
            at = np.minimum(np.searchsorted(known, distinct), len(known) - 1)
            earlier += np.where(known[at] == distinct, times[at], 0)
        self._add(distinct, counts.astype(np.int32))
        found = np.empty(len(order), np.int64)
        found[order] = np.repeat(earlier - starts, counts) + np.arange(len(order))
        return found

    def _add(self, distinct: Hashes, counts: NDArray[np.int32]) -> None:
        self._levels.append((distinct, counts))
        while len(self._levels) > 1 and len(self._levels[-2][0]) < 2 * len(self._levels[-1][0]):
            (left, more), (right, others) = self._levels.pop(), self._levels.pop()
            both, times = np.concatenate((left, right)), np.concatenate((more, others))
            order = np.argsort(both, kind="stable")  # two sorted halves: one pass
            known, starts = _runs(both[order])
            self._levels.append((known, np.add.reduceat(times[order], starts)))


def _runs(hashes: Hashes) -> tuple[Hashes, NDArray[np.int64]]:
    """The distinct numbers of a sorted array, and where each of them begins."""
    starts = np.flatnonzero(np.concatenate(([True], hashes[1:] != hashes[:-1])))
    return hashes[starts], starts
