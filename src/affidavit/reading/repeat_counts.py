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
        distinct, places, counts = np.unique(hashes, return_inverse=True, return_counts=True)
        earlier = np.zeros(len(distinct), np.int64)
        for known, times in self._levels:
            at = np.minimum(np.searchsorted(known, distinct), len(known) - 1)
            earlier += np.where(known[at] == distinct, times[at], 0)
        if len(distinct):
            self._add(distinct, counts.astype(np.int32))
        return earlier[places] + _rank_within(places, counts)

    def _add(self, distinct: Hashes, counts: NDArray[np.int32]) -> None:
        self._levels.append((distinct, counts))
        while len(self._levels) > 1 and len(self._levels[-2][0]) < 2 * len(self._levels[-1][0]):
            (left, more), (right, others) = self._levels.pop(), self._levels.pop()
            both, places = np.unique(np.concatenate((left, right)), return_inverse=True)
            total = np.bincount(places, weights=np.concatenate((more, others)))
            self._levels.append((both, total.astype(np.int32)))


def _rank_within(places: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each thing, how many of the same come before it."""
    order = np.argsort(places, kind="stable")
    first = np.repeat(np.cumsum(counts) - counts, counts)
    ranks = np.empty(len(places), np.int64)
    ranks[order] = np.arange(len(places)) - first
    return ranks
