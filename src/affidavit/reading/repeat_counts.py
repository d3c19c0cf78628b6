"""How often each of many things was there before: 12 bytes for each at most, however long its name is, and 16 MB.

>>> repeats = RepeatCounts()
>>> repeats.before(hashes_of([["a", "b", "a"], ["x", "x", "x"]])).tolist()
[0, 0, 1]
>>> repeats.before(hashes_of([["a", "ax"], ["x", ""]])).tolist()
[2, 0]
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
_PLACES = 1 << 24
"""Of the marks of what was there. What shares one is looked for in vain: of a million things, one in seventeen."""
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


@dataclass(frozen=True, slots=True)
class _Counted:
    """Distinct things in order, and how often each was there; None: once each, as nearly all names are."""

    hashes: Hashes
    times: NDArray[np.int32] | None

    def times_of(self, others: Hashes) -> NDArray[np.int32]:
        """How often each of other things was there."""
        at = np.minimum(np.searchsorted(self.hashes, others), len(self.hashes) - 1)
        same = self.hashes[at] == others
        return same.astype(np.int32) if self.times is None else np.where(same, self.times[at], 0).astype(np.int32)

    def with_others(self, others: "_Counted") -> "_Counted":
        """All of both."""
        both = np.concatenate((self.hashes, others.hashes))
        if self.times is None and others.times is None:
            ordered = np.sort(both, kind="stable")  # two sorted halves: one pass
            if not (ordered[1:] == ordered[:-1]).any():
                return _Counted(ordered, None)
        order = np.argsort(both, kind="stable")
        distinct, starts = _runs(both[order])
        times = np.concatenate((self.all_times(), others.all_times()))
        return _Counted(distinct, np.add.reduceat(times[order], starts))

    def all_times(self) -> NDArray[np.int32]:
        """How often each was there, as numbers."""
        return np.ones(len(self.hashes), np.int32) if self.times is None else self.times


class RepeatCounts:
    """Things that were counted, batch by batch, in sorted arrays: each is twice as long as the one after it."""

    def __init__(self) -> None:
        self._levels: list[_Counted] = []
        self._seen = np.zeros(_PLACES, np.bool_)

    def before(self, hashes: Hashes) -> NDArray[np.int64]:
        """Of each thing in its turn, how often it was there before; then it was there once more."""
        if not len(hashes):
            return np.zeros(0, np.int64)
        distinct, starts = _runs(np.sort(hashes))
        earlier = self._earlier(distinct)
        once = len(distinct) == len(hashes)
        counts = np.diff(starts, append=len(hashes))
        self._add(_Counted(distinct, None if once else counts.astype(np.int32)))
        if once and not earlier.any():
            return earlier
        order = np.argsort(hashes, kind="stable")
        found = np.empty(len(order), np.int64)
        found[order] = np.repeat(earlier - starts, counts) + np.arange(len(order))
        return found

    def _earlier(self, distinct: Hashes) -> NDArray[np.int64]:
        """How often each was there; only what may have been there is looked for."""
        places = (distinct % _PLACES).astype(np.int64)
        perhaps = np.flatnonzero(self._seen[places])
        self._seen[places] = True
        earlier = np.zeros(len(distinct), np.int64)
        if len(perhaps):
            looked_for = distinct[perhaps]
            earlier[perhaps] = np.sum([level.times_of(looked_for) for level in self._levels], axis=0)
        return earlier

    def _add(self, counted: _Counted) -> None:
        self._levels.append(counted)
        while len(self._levels) > 1 and len(self._levels[-2].hashes) < 2 * len(self._levels[-1].hashes):
            right = self._levels.pop()
            self._levels.append(self._levels.pop().with_others(right))


def _runs(hashes: Hashes) -> tuple[Hashes, NDArray[np.int64]]:
    """The distinct numbers of a sorted array, and where each of them begins."""
    starts = np.flatnonzero(np.concatenate(([True], hashes[1:] != hashes[:-1])))
    return hashes[starts], starts
