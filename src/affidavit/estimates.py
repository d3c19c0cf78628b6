"""Numbers that say how sure they are: a value, its interval, its n and its method."""

from dataclasses import dataclass
from math import sqrt

Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Estimate:
    """One figure that can be defended."""

    value: float
    low: float
    high: float
    n: int
    method: str

    def __str__(self) -> str:
        return f"{self.value:.1%} [{self.low:.1%}, {self.high:.1%}]"


def wilson(successes: int, n: int) -> Estimate:
    """The share of successes with its 95 % Wilson score interval.

    >>> print(wilson(22, 30))
    73.3% [55.6%, 85.8%]
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
