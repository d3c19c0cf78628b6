"""The cluster bootstrap: whole clusters are drawn with replacement, and the middle 95 % of what they give is kept.

Observations of one cluster are not independent, so they are never drawn one by one. The sums of each cluster are
all that it needs.
"""

from typing import TYPE_CHECKING

from affidavit.statistics.clusters import distinct
from affidavit.statistics.estimate import EQUAL, Estimate, without_interval

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Floats = NDArray[float64]

RESAMPLES = 2000
CELLS_AT_ONCE = 200_000
"""Cells of the matrix of draws that are held at once: more does not fit the caches."""
MOST_DRAWN_BY_BINOMIALS = 1_000
"""Above this many kinds of clusters, drawing them one by one is faster than counting how often each is drawn."""


def resampled_totals(
    rows: "Floats", times: "Floats | None" = None, *, seed: int, resamples: int = RESAMPLES
) -> "Floats":
    """The column totals of samples of whole rows, drawn with replacement, as many as there are rows.

    A sample is held as how often each row is in it, a few samples at a time, so that memory does not grow with
    their number. Equal rows are drawn together, which is the same lottery; they may be given once, with how many
    `times` there are.

    >>> import numpy as np
    >>> resampled_totals(np.array([[1.0, 2.0], [1.0, 2.0]]), seed=0, resamples=2).tolist()
    [[2.0, 4.0], [2.0, 4.0]]
    """
    import numpy as np

    draws, (kinds, often) = np.random.default_rng(seed), distinct(rows, times)
    count, totals = int(often.sum()), np.empty((resamples, rows.shape[1]))
    by_binomials = len(kinds) <= MOST_DRAWN_BY_BINOMIALS
    if not by_binomials:
        kinds = np.repeat(kinds, often.astype(np.intp), axis=0)
    at_once = max(1, CELLS_AT_ONCE // len(kinds))
    for start in range(0, resamples, at_once):
        size = min(at_once, resamples - start)
        if by_binomials:
            drawn = draws.multinomial(count, often / count, size=size)
        else:
            cells = draws.integers(0, count, size=(size, count))
            cells += count * np.arange(size)[:, None]
            drawn = np.bincount(cells.ravel(), minlength=cells.size).reshape(cells.shape)
        totals[start : start + size] = drawn.astype(float) @ kinds
    return totals


def percentile_interval(value: float, resampled: "Floats") -> tuple[float, float]:
    """The middle 95 % of what the samples gave; it holds the value itself, whatever the rounding.

    >>> import numpy as np
    >>> percentile_interval(50.0, np.arange(101.0))
    (2.5, 97.5)
    """
    import numpy as np

    low, high = np.quantile(resampled, [0.025, 0.975])
    return min(float(low), value), max(float(high), value)


def bootstrapped(value: float, resampled: "Floats", n: int, method: str, *, scale: float) -> Estimate:
    """The value with its percentile interval; without one where all samples give the same, up to rounding.

    What is equal is equal on a `scale`, the size of the numbers that the value was made of (ruling S11).

    >>> import numpy as np
    >>> bootstrapped(1.0, np.ones(99), 20, "kappa", scale=1.0).method
    'every sample gives the same: no interval'
    """
    if resampled.size:
        low, high = percentile_interval(value, resampled)
        if high - low > EQUAL * scale:
            return Estimate(value, low, high, n, method)
    return without_interval(value, n, "every sample gives the same: no interval")
