"""Observations that belong together, such as the samples of one question: sums and counts for each cluster.

The rows are put in an order that depends on nothing but what they hold, so that the same seed gives the same
interval in whichever order the records came.
"""

from typing import TYPE_CHECKING

from affidavit.statistics.arguments import numbers, together, whole_numbers

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[float64]

NO_INTERVAL = "one cluster: no interval"
"""The method of an estimate from a single cluster, which says nothing about others."""


def cluster_columns(sums: "ArrayLike", counts: "ArrayLike") -> "Floats":
    """Sums and counts as one row for each cluster that has an observation, in an order of their own.

    >>> cluster_columns([3, 0, 1], [2, 0, 1]).tolist()
    [[1.0, 1.0], [3.0, 2.0]]
    """
    import numpy as np

    sum_of, count_of = together(sums=numbers("sums", sums), counts=whole_numbers("counts", counts))
    rows = np.column_stack([sum_of, count_of]) + 0.0
    alone = np.flatnonzero((rows[:, 0] != 0) & (rows[:, 1] == 0))
    if alone.size:
        raise ValueError(f"counts: expected no sum without a count, found one at position {alone[0]}")
    rows = rows[rows[:, 1] > 0]
    if not len(rows):
        raise ValueError("counts: no mean of nothing, found no observation")
    return ordered(rows)


def ordered(rows: "Floats") -> "Floats":
    """The same rows, in an order that depends on nothing but what they hold.

    >>> import numpy as np
    >>> ordered(np.array([[2.0, 1.0], [1.0, 3.0], [1.0, 2.0]])).tolist()
    [[1.0, 2.0], [1.0, 3.0], [2.0, 1.0]]
    """
    import numpy as np

    return rows[np.lexsort(rows.T[::-1])]


def distinct(rows: "Floats", times: "Floats | None" = None) -> "tuple[Floats, Floats]":
    """Different rows in order, and how often each is there.

    >>> import numpy as np
    >>> kinds, times = distinct(np.array([[1.0, 2.0], [0.0, 2.0], [1.0, 2.0]]))
    >>> kinds.tolist(), times.tolist()
    ([[0.0, 2.0], [1.0, 2.0]], [1.0, 2.0])
    """
    import numpy as np

    order = np.lexsort(rows.T[::-1])
    arranged = rows[order]
    often = np.ones(len(rows)) if times is None else np.asarray(times, dtype=float)[order]
    first = np.flatnonzero(np.r_[True, (arranged[1:] != arranged[:-1]).any(axis=1)])
    return arranged[first], np.add.reduceat(often, first)
