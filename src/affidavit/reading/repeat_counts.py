"""How often each of many things was there before: 20 bytes for each, however long its name is.

>>> repeats = RepeatCounts()
>>> repeats.before([("a", "b"), ("c",), ("a", "b")]).tolist(), repeats.before([("a", "b"), ("ab",)]).tolist()
([0, 0, 1], [2, 0])
"""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

_HASH = np.dtype("S16")
"""128 bits: among so many, no two of a million million names are the same by chance."""


def hash_of(names: tuple[object, ...]) -> bytes:
    """The hash of some names together."""
    return blake2b(repr(names).encode("utf-8", "surrogatepass"), digest_size=16).digest()


class RepeatCounts:
    """Things that were counted, batch by batch, in sorted arrays: each is twice as long as the one after it."""

    def __init__(self) -> None:
        self._levels: list[tuple[NDArray[np.bytes_], NDArray[np.int32]]] = []
        self.most = 0
        """How often the most frequent one was there."""

    def before(self, things: Iterable[tuple[object, ...]]) -> NDArray[np.int64]:
        """Of each thing in its turn, how often it was there before; then it was there once more."""
        return self.before_hashed(b"".join(map(hash_of, things)))

    def before_hashed(self, hashes: bytes) -> NDArray[np.int64]:
        """The same of their hashes, one behind the other."""
        found = np.frombuffer(hashes, _HASH)
        distinct, places, counts = np.unique(found, return_inverse=True, return_counts=True)
        earlier = np.zeros(len(distinct), np.int64)
        for known, times in self._levels:
            at = np.minimum(np.searchsorted(known, distinct), len(known) - 1)
            earlier += np.where(known[at] == distinct, times[at], 0)
        if len(distinct):
            self.most = max(self.most, int((earlier + counts).max()))
            self._add(distinct, counts.astype(np.int32))
        return earlier[places] + _rank_within(places, counts)

    def _add(self, distinct: NDArray[np.bytes_], counts: NDArray[np.int32]) -> None:
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
