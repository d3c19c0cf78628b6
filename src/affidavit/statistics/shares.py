"""How large a share is: its Wilson score interval, and its bounds where observations are missing.

Every share is one of independent observations here; means over clusters, such as the samples of one question, are
in `means.py`. docs/statistics.md says what each figure assumes, and how often its interval was right when that was
measured.
"""

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from affidavit.statistics.estimate import Estimate

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[float64]

Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


class Shares(NamedTuple):
    """Many shares with their intervals, by position."""

    value: "Floats"
    low: "Floats"
    high: "Floats"


class Bounds(NamedTuple):
    """A share under the two extreme guesses about what is missing."""

    if_wrong: Estimate
    if_right: Estimate


def wilson(successes: int, n: int) -> Estimate:
    """The share of successes with its 95 % Wilson score interval.

    >>> print(wilson(22, 30))
    73.3% [55.6, 85.8] n=30
    """
    if not 0 <= successes <= n or n == 0:
        raise ValueError(f"no share of {successes} in {n}")
    share, z2 = successes / n, Z95 * Z95
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    reach = Z95 * sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    # At the ends the interval touches the share exactly; rounding must not take it beyond.
    low = 0.0 if successes == 0 else max(0.0, middle - reach)
    high = 1.0 if successes == n else min(1.0, middle + reach)
    return Estimate(share, low, high, n, "Wilson 95%")


def wilson_shares(successes: "ArrayLike", n: "ArrayLike") -> Shares:
    """The same for whole columns at once.

    A share of nothing has no value, here as in `wilson`: one position with n = 0 raises ValueError for all, and
    says which. Leave such rows out first; there is no null and no NaN in what comes back.

    >>> shares = wilson_shares([22, 0], [30, 20])
    >>> shares.value.round(3).tolist(), shares.low.round(3).tolist(), shares.high.round(3).tolist()
    ([0.733, 0.0], [0.556, 0.0], [0.858, 0.161])
    """
    import numpy as np

    right, total = np.broadcast_arrays(np.asarray(successes, dtype=float), np.asarray(n, dtype=float))
    wrong = ~((right >= 0) & (right <= total) & (total > 0))
    if right.size == 0 or wrong.any():
        raise ValueError(f"no share at positions {np.flatnonzero(wrong)[:10].tolist()}")
    share, z2 = right / total, Z95 * Z95
    middle = (share + z2 / (2 * total)) / (1 + z2 / total)
    reach = Z95 * np.sqrt(share * (1 - share) / total + z2 / (4 * total * total)) / (1 + z2 / total)
    low = np.where(right == 0, 0.0, np.maximum(0.0, middle - reach))
    high = np.where(right == total, 1.0, np.minimum(1.0, middle + reach))
    return Shares(share, low, high)


def bounds_of_share(successes: int, observed: int, missing: int) -> Bounds:
    """The share if all that is missing were wrong, and if it were all right, each with its interval.

    Whatever the missing ones were, the share lies between the two values.

    >>> bounds = bounds_of_share(60, 80, 20)
    >>> print(bounds.if_wrong, "to", bounds.if_right)
    60.0% [50.2, 69.1] n=100 to 80.0% [71.1, 86.7] n=100
    """
    if not 0 <= successes <= observed or missing < 0:
        raise ValueError(f"no bounds of {successes} in {observed} with {missing} missing")
    return Bounds(wilson(successes, observed + missing), wilson(successes + missing, observed + missing))
