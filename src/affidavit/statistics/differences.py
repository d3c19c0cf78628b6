"""Two sides over the same items: how large the difference is, and whether chance alone would give it.

Differences are the second less the first. Value, interval and test are about one quantity, the mean over items of
the second side's mean less the first's (ruling S2), so that none of them can say what another denies.
"""

from dataclasses import dataclass
from math import floor, fsum, isclose, log10, sqrt
from typing import TYPE_CHECKING, NamedTuple

from affidavit.statistics.arguments import level_of_interval, numbers, together, whole, whole_numbers
from affidavit.statistics.bootstrap import CELLS_AT_ONCE
from affidavit.statistics.estimate import EQUAL, LEAST_CHANCE, Estimate, without_interval
from affidavit.statistics.power import LEVEL, POWER, detectable_by_mcnemar, detectable_mean

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[float64]

FEWEST = 10
"""Items from which on the spread of their differences says something about other items."""
MOST_FLIPPED_EXACTLY = 20
"""So many differences have half a million patterns of signs, up to all signs turned, which are all tried."""
SIGN_PATTERNS = 9_999
"""Patterns of signs that are drawn where there are too many to try them all."""
EXACT = 2**53
"""Up to this every whole number is a float."""
LONGEST_SCALE = 1e100
"""Of what is compared: squares on a longer one, or on one as short, are not told from infinity or 0."""


@dataclass(frozen=True, slots=True)
class Significance:
    """How often chance alone would give a difference at least as large."""

    p_value: float
    n: int
    method: str

    def __str__(self) -> str:
        return f"p={self.p_value:.3g}"


class Signs(NamedTuple):
    """How many units are higher on the second side, how many lower, and how many equal."""

    higher: int
    lower: int
    equal: int


class Unit(NamedTuple):
    """What varies independently: an item, or a cluster of items (ruling S8)."""

    total: float
    """The sum of its items' differences."""
    items: int


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The differences of two sides over the items that both have, and all that is said of their mean.

    >>> change = PairedDifference.of_counts([1, 0, 2, 1], [2, 2, 2, 2], [2, 0, 2, 1], [2, 2, 2, 2])
    >>> change.value, change.signs
    (0.125, Signs(higher=1, lower=0, equal=3))
    >>> print(change.estimate(), change.test(seed=0), sep=", ")
    12.5% n=4, fewer than 10 items: only the counts, p=1
    """

    units: tuple[tuple[Unit, int], ...]
    """Different units in order, and how often each is there."""
    single: bool
    """Whether each side has one sample of each item, 0 or 1, and each item is a unit of its own."""
    scale: float
    """The largest difference that there can be: 1 of shares, the length of the scale of scores."""

    @classmethod
    def of_counts(
        cls,
        first_successes: "ArrayLike",
        first_samples: "ArrayLike",
        second_successes: "ArrayLike",
        second_samples: "ArrayLike",
        *,
        clusters: "Sequence[Hashable] | None" = None,
    ) -> "PairedDifference":
        """Of shares: each item's successes and samples on both sides, whole numbers."""
        import numpy as np

        s1, n1, s2, n2 = map(np.atleast_1d, together(
            first_successes=whole_numbers("first_successes", first_successes),
            first_samples=whole_numbers("first_samples", first_samples),
            second_successes=whole_numbers("second_successes", second_successes),
            second_samples=whole_numbers("second_samples", second_samples),
        ))  # fmt: skip
        if not len(s1):
            raise ValueError("first_successes: expected four counts for each of at least one item, found none")
        wrong = np.flatnonzero((np.minimum(n1, n2) < 1) | (s1 > n1) | (s2 > n2))
        if wrong.size:
            expected = "expected samples of every item on both sides, and no more successes than samples"
            found = ", ".join(f"{column[wrong[0]]:.0f}" for column in (s1, n1, s2, n2))
            raise ValueError(f"first_samples, second_samples: {expected}, found {found} at position {wrong[0]}")
        units = _units(_share_differences(s1, n1, s2, n2), clusters, 1.0)
        alone = all(unit.items == 1 for unit, _ in units)
        return cls(units, alone and int(n1.max()) == int(n2.max()) == 1, 1.0)

    @classmethod
    def of_means(
        cls, first: "ArrayLike", second: "ArrayLike", *, scale: float, clusters: "Sequence[Hashable] | None" = None
    ) -> "PairedDifference":
        """Of anything else, such as scores: each item's mean on both sides, on a scale of this length."""
        import numpy as np

        if not 1 / LONGEST_SCALE <= scale <= LONGEST_SCALE:
            expected = f"expected a length from {1 / LONGEST_SCALE:g} to {LONGEST_SCALE:g}"
            raise ValueError(f"scale: {expected}, found {scale}")
        one, other = map(np.atleast_1d, together(first=numbers("first", first), second=numbers("second", second)))
        if not len(one):
            raise ValueError("first: expected two finite means for each of at least one item, found none")
        # Means of a few whole numbers differ by rounding where they are equal.
        differences = np.round(other - one, _decimals(scale)) + 0.0
        if np.abs(differences).max() > scale:
            raise ValueError(
                f"first, second: expected differences of at most {scale}, found {np.abs(differences).max()}"
            )
        return cls(_units(differences, clusters, scale), single=False, scale=scale)

    # --- what is there ---

    @property
    def items(self) -> int:
        """How many items both sides have."""
        return sum(unit.items * times for unit, times in self.units)

    @property
    def size(self) -> int:
        """How many units there are: items, or clusters of them."""
        return sum(times for _, times in self.units)

    @property
    def value(self) -> float:
        """The mean difference over items."""
        mean = fsum(unit.total * times for unit, times in self.units) / self.items
        if abs(mean) <= EQUAL * self.scale:
            return 0.0  # what is left of sums that cancel has no sign
        return max(-self.scale, min(self.scale, mean))

    @property
    def signs(self) -> Signs:
        """How many units are higher, lower and equal on the second side."""
        higher = sum(times for unit, times in self.units if unit.total > 0)
        lower = sum(times for unit, times in self.units if unit.total < 0)
        return Signs(higher, lower, self.size - higher - lower)

    @property
    def _all_equal(self) -> bool:
        means = [unit.total / unit.items for unit, _ in self.units]
        return max(means) - min(means) <= EQUAL * self.scale

    @property
    def _tango(self) -> bool:
        """Whether each unit is as good as one toss: 0, or the whole scale up or down."""
        if self.single or self.size < FEWEST or not self._all_equal:
            return self.single
        return self.value == 0 or isclose(abs(self.value), self.scale, rel_tol=EQUAL)

    @property
    def standard_error(self) -> float:
        """The standard error of the mean difference, with whole units as what varies."""
        mean, size = self.value, self.size
        if size < 2:
            raise ValueError("no standard error of one difference")
        squares = fsum(times * (unit.total - mean * unit.items) ** 2 for unit, times in self.units)
        return sqrt(size / (size - 1) * squares) / self.items

    # --- what is said ---

    def estimate(self, level: float = LEVEL) -> Estimate:
        """The mean difference with its interval at a level; where it has none, the method says why."""
        from scipy.special import stdtrit

        level_of_interval(level)
        value, size = self.value, self.size
        clusters = None if size == self.items else size
        what = "items" if clusters is None else "clusters"
        if self._tango:
            signs = self.signs
            low, high = tango(signs.lower, signs.higher, pairs=size, level=level)
            over = "" if self.single else f" over {what}"
            method = f"Tango's score interval{over} {_confidence(level)}"
            return Estimate(value, low * self.scale, high * self.scale, self.items, method, clusters)
        if size < FEWEST:
            return without_interval(value, self.items, f"fewer than {FEWEST} {what}: only the counts", clusters)
        reach = -float(stdtrit(size - 1, level / 2)) * self.standard_error
        if self._all_equal or reach <= EQUAL * self.scale:
            return without_interval(value, self.items, f"all {size:,} differences are equal", clusters)
        low, high = max(-self.scale, value - reach), min(self.scale, value + reach)
        return Estimate(value, low, high, self.items, f"t over {what} {_confidence(level)}", clusters)

    def test(self, seed: int, *, mid_p: bool = False) -> Significance:
        """Whether the mean difference is around zero: McNemar's exact test of single samples, else sign flips."""
        import numpy as np

        if self.single:
            signs = self.signs
            return mcnemar(signs.lower, signs.higher, pairs=self.size, mid_p=mid_p)
        totals = np.repeat([unit.total for unit, _ in self.units], [times for _, times in self.units])
        return sign_flip_test(totals, seed=seed)

    def detectable(self, level: float = LEVEL, power: float = POWER, *, mid_p: bool = False) -> float | None:
        """The least true difference that would be found in so many of such studies; None if none would be.

        Units that differ are taken to do so by one size, the root of their mean square, which makes the test
        McNemar's; of means, what the spread of the differences asks for is needed too. The second alone would
        promise too much where few units differ at all.
        """
        differing = sum(self.signs[:2])
        squares = fsum(times * unit.total**2 for unit, times in self.units)
        step = sqrt(squares / differing) * self.size / self.items if differing else self.scale
        tossed = detectable_by_mcnemar(differing / self.size, self.size, level=level, power=power, mid_p=mid_p)
        if tossed is None:
            return None
        least = tossed * step
        if not self.single and self.size > 1 and not self._all_equal:
            least = max(least, detectable_mean(self.standard_error, self.size, level=level, power=power))
        return least if least <= self.scale else None


def _share_differences(s1: "Floats", n1: "Floats", s2: "Floats", n2: "Floats") -> "Floats":
    """The second share less the first, by one division of whole numbers: equal ones are equal to the last bit."""
    import numpy as np

    if n1.max() * n2.max() <= EXACT:
        exactly: Floats = (s2 * n1 - s1 * n2) / (n1 * n2)
        return exactly + 0.0
    rows = np.array([s1, n1, s2, n2]).T.tolist()
    counts = (tuple(map(int, row)) for row in rows)
    return np.array([(c2 * m1 - c1 * m2) / (m1 * m2) for c1, m1, c2, m2 in counts])


def _decimals(scale: float) -> int:
    """Digits after the point that twelve digits of a scale come to."""
    return 12 - floor(log10(scale))


def _units(
    differences: "Floats", clusters: "Sequence[Hashable] | None", scale: float
) -> tuple[tuple[Unit, int], ...]:
    """Items or clusters by what they hold, and how often."""
    import numpy as np

    if clusters is None:
        values, times = np.unique(differences, return_counts=True)
        return tuple((Unit(value, 1), often) for value, often in zip(values.tolist(), times.tolist(), strict=True))
    if len(clusters) != len(differences):
        expected = f"expected a cluster for each of {len(differences)} items"
        raise ValueError(f"clusters: {expected}, found {len(clusters)}")
    held: dict[Hashable, list[float]] = {}
    for cluster, difference in zip(clusters, differences.tolist(), strict=True):
        held.setdefault(cluster, []).append(difference)
    counted: dict[Unit, int] = {}
    for each in held.values():
        unit = Unit(round(fsum(each), _decimals(scale)) + 0.0, len(each))
        counted[unit] = counted.get(unit, 0) + 1
    return tuple(sorted(counted.items()))


def _confidence(level: float) -> str:
    """A level as the confidence of an interval.

    >>> _confidence(0.05), _confidence(0.05 / 9), _confidence(0.05 / 1000)
    ('95%', '99.4%', '99.995%')
    """
    for digits in range(10):
        text = f"{100 * (1 - level):.{digits}f}"
        if abs(100 - float(text) - 100 * level) <= 10 * level:
            return f"{text}%"
    return f"{100 * (1 - level)}%"


def tango(first_only: int, second_only: int, *, pairs: int, level: float = LEVEL) -> tuple[float, float]:
    """Tango's score interval for a difference of paired shares: all differences that a score test does not reject.

    >>> low, high = tango(7, 1, pairs=21)
    >>> round(low, 4), round(high, 4)
    (-0.5172, -0.026)
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    level_of_interval(level)
    first_only, second_only, pairs = _whole_pairs(first_only, second_only, pairs)
    z2, n, gained = float(ndtri(level / 2)) ** 2, float(pairs), float(second_only - first_only)

    def beyond(difference: float) -> float:
        """Above zero where the score test rejects."""
        b = -first_only - second_only + (2 * n - second_only + first_only) * difference
        c = -first_only * difference * (1 - difference)
        # The share of pairs in which only the first is right that fits best to this difference.
        only_first = (sqrt(max(0.0, b * b - 8 * n * c)) - b) / (4 * n)
        variance = n * max(0.0, 2 * only_first + difference * (1 - difference))
        return (gained - n * difference) ** 2 - z2 * variance

    value = gained / n
    # At the value itself nothing is rejected, and the variance may be nought there: the roots are beyond it, by
    # z² / (n + z²) if no pair is discordant, which is the least.
    apart = min(1e-9, 1e-3 * z2 / (n + z2))
    closely = {"xtol": min(1e-12, apart / 1000), "maxiter": 500}
    low = -1.0 if value == -1 else float(brentq(beyond, -1.0, value - apart, **closely))
    high = 1.0 if value == 1 else float(brentq(beyond, value + apart, 1.0, **closely))
    return low, high


def _whole_pairs(first_only: int, second_only: int, pairs: int) -> tuple[int, int, int]:
    first, second = whole("first_only", first_only), whole("second_only", second_only)
    if first + second > whole("pairs", pairs) or pairs == 0:
        raise ValueError(f"pairs: no comparison of {first} against {second} in {pairs} pairs")
    return first, second, int(pairs)


def mcnemar(first_only: int, second_only: int, *, pairs: int, mid_p: bool = False) -> Significance:
    """Whether two conditions are right equally often on the same items: McNemar's exact test.

    `first_only` items are right under the first condition only, `second_only` under the second only, of `pairs` in
    all. If neither is better, each of those falls to either side like a coin. The mid-p form counts what was found
    by half: less careful, and on average nearer to its level.

    >>> print(mcnemar(4, 14, pairs=100), mcnemar(4, 14, pairs=100, mid_p=True))
    p=0.0309 p=0.0192
    """
    first_only, second_only, pairs = _whole_pairs(first_only, second_only, pairs)
    fewer, discordant = min(first_only, second_only), first_only + second_only
    below, up_to = _tail(fewer - 1, discordant), _tail(fewer, discordant)
    p_value = (below + up_to if mid_p else 2 * up_to) if discordant else 1.0
    kind = "mid-p" if mid_p else "exact"
    method = f"McNemar, {kind}, {discordant} discordant pairs"
    return Significance(max(LEAST_CHANCE, min(1.0, p_value)), pairs, method)


def _tail(most: int, tosses: int) -> float:
    """The chance of so many heads or fewer."""
    from scipy.special import bdtr, betainc

    if most < 0:
        return 0.0
    # The library's own tail ends at 2³¹ tosses, without a word.
    return float(bdtr(most, tosses, 0.5) if tosses < 2**31 else betainc(tosses - most, most + 1, 0.5))


def sign_flip_test(differences: "ArrayLike", *, seed: int, patterns: int = SIGN_PATTERNS) -> Significance:
    """Whether differences, one of each cluster, are around zero: a paired permutation test.

    If the condition makes no difference, its name is a label, and every difference could have had the other sign.
    The p-value is the share of sign patterns whose sum is at least as far from zero. Up to 20 differences that are
    not zero all patterns are tried. Of more that have all one sign, just that pattern and its opposite are as far;
    else some are drawn, and what was found counts as one of them, so that no p-value is 0.

    >>> sign_flip_test([1.0, 2.0, 3.0, 4.0], seed=0)
    Significance(p_value=0.125, n=4, method='sign flips, all patterns')
    """
    import numpy as np

    whole("patterns", patterns, least=1)
    given = np.sort(np.atleast_1d(numbers("differences", differences)))
    if not given.size:
        raise ValueError("differences: no test over no differences")
    moved = given[given != 0]
    # Sums of the same numbers in another order differ by rounding; that must not decide.
    least = abs(moved.sum()) - 1e-9 * np.abs(moved).sum()
    if len(moved) <= MOST_FLIPPED_EXACTLY:
        sums = np.zeros(1)
        for index, difference in enumerate(moved):
            # A pattern and its opposite are equally far from zero: the first sign stays.
            both = [sums + difference] if index == 0 else [sums + difference, sums - difference]
            sums = np.concatenate(both)
        return Significance(float((np.abs(sums) >= least).mean()), given.size, "sign flips, all patterns")
    if moved[0] > 0 or moved[-1] < 0:  # they are sorted
        return Significance(max(LEAST_CHANCE, 2.0 ** (1 - len(moved))), given.size, "sign flips, all patterns")
    far = int((np.abs(_flipped_sums(moved, seed, patterns)) >= least).sum())
    return Significance((1 + far) / (1 + patterns), given.size, f"sign flips, {patterns:,} patterns drawn")


def _flipped_sums(moved: "Floats", seed: int, patterns: int) -> "Floats":
    """The sums of differences whose signs are drawn, one for each pattern."""
    import numpy as np

    draws, sums = np.random.default_rng(seed), np.zeros(patterns)
    # Differences of one size can turn their signs together by a binomial draw, which is the same lottery.
    sizes, often = np.unique(np.abs(moved), return_counts=True)
    if 4 * len(sizes) <= len(moved):
        for size, times in zip(sizes.tolist(), often.tolist(), strict=True):
            sums += size * (2.0 * draws.binomial(times, 0.5, size=patterns) - times)
        return sums
    at_once = max(1, CELLS_AT_ONCE // len(moved))
    for start in range(0, patterns, at_once):
        rows = min(at_once, patterns - start)
        kept = draws.integers(0, 2, size=(rows, len(moved)), dtype=np.int8).astype(float)
        sums[start : start + rows] = 2 * (kept @ moved) - moved.sum()
    return sums
