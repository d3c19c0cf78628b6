"""Many comparisons at once: p-values adjusted for how many there are, and what a whole family of them says."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from reprlib import repr as brief
from typing import TYPE_CHECKING, Literal, NamedTuple

from affidavit.statistics.arguments import row
from affidavit.statistics.differences import PairedDifference, Significance, Signs
from affidavit.statistics.estimate import Estimate, Form, digits_apart
from affidavit.statistics.power import LEVEL

if TYPE_CHECKING:
    from numpy import bool_, float64, intp
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[float64]


def holm(p_values: "ArrayLike") -> "Floats":
    """P-values adjusted by Holm: below 0.05, the chance of even one false alarm among all is at most 5 %.

    >>> holm([0.01, 0.04, 0.03, 0.005]).round(4).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    import numpy as np

    given, order = _ranked(p_values)
    steps = given[order] * np.arange(given.size, 0, -1)
    return _back(np.maximum.accumulate(steps), order)


class HolmSteps(NamedTuple):
    """What Holm's procedure says of each p-value, by position."""

    adjusted: "Floats"
    rejected: "NDArray[bool_]"
    levels: "Floats"
    """The level that the verdict used (ruling S3)."""


def holm_steps(p_values: "ArrayLike", level: float = LEVEL) -> HolmSteps:
    """Holm's procedure with the level of each verdict: the k-th rejected of m at level / (m - k + 1).

    All that are not rejected have the level of the step at which the procedure stopped. Equal p-values have one
    level, the strictest of their steps: the order of rows decides nothing.

    >>> steps = holm_steps([0.01, 0.04, 0.03, 0.005])
    >>> steps.rejected.tolist(), (0.05 / steps.levels).round().tolist()
    ([True, False, False, True], [3.0, 2.0, 2.0, 4.0])
    >>> (0.05 / holm_steps([0.001, 0.001, 0.5]).levels).round().tolist()
    [3.0, 3.0, 1.0]
    """
    import numpy as np

    if not 0 < level < 1:
        raise ValueError(f"level: expected a number between 0 and 1, found {level}")
    given, order = _ranked(p_values)
    levels = level / np.arange(given.size, 0, -1)
    levels = levels[np.searchsorted(given[order], given[order])]
    passed = np.minimum.accumulate(given[order] <= levels)
    if not passed.all():
        stopped = int(passed.argmin())
        levels[stopped:] = levels[stopped]
    rejected, used = np.empty_like(passed), np.empty_like(levels)
    rejected[order], used[order] = passed, levels
    return HolmSteps(holm(given), rejected, used)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said of one difference in a family, all of it at one level (rulings S2 and S3)."""

    significance: Significance
    adjusted: float
    """The p-value, adjusted by Holm for the whole family."""
    level: float
    estimate: Estimate
    """The difference, with its interval at that level."""
    direction: Literal["higher", "lower"] | None
    """Only if the test and the interval both exclude 0."""
    detectable: float | None
    """A true difference that would be found in 80 % of such studies at that level, where nothing was found."""
    signs: Signs

    def in_words(self, form: Form = Form.POINTS) -> str:
        """The verdict as it stands in a table, without more certainty than there is."""
        if self.direction is not None:
            return self.direction
        if not isfinite(self.estimate.low):
            higher, lower, equal = self.signs
            return f"{higher:,} higher, {lower:,} lower, {equal:,} equal; {self.estimate.method}"
        found = "no true difference" if self.detectable is None else f"a true difference of {self._points(form)}"
        return f"not distinguishable at this n{self._at_odds}; {found} would be found in 80 % of such studies"

    @property
    def _at_odds(self) -> str:
        """Why nothing is said beside an interval, or a p-value, that seems to say something (ruling S2)."""
        excludes = self.estimate.low > 0 or self.estimate.high < 0
        # What is not rejected has a p-value above the level at which Holm stopped, and the other way round.
        rejected = self.significance.p_value <= self.level
        if excludes == rejected:
            return ""
        one, other = ("interval", "test") if excludes else ("test", "interval")
        return f" (the {one} excludes 0, the {other} does not)"

    def _points(self, form: Form) -> str:
        fewest, scale = (2, 1) if form is Form.MEAN else (1, 100)
        least = scale * (self.detectable or 0.0)
        # What could be found is never nothing, and must not look like it.
        return f"{least:.{digits_apart((0.0, least), fewest)}f} points"


def family(
    differences: Sequence[PairedDifference], *, seed: int, level: float = LEVEL, mid_p: bool = False
) -> list[Verdict]:
    """The verdicts on all differences of one table, adjusted by Holm for all of them (ruling S3).

    >>> clear = PairedDifference.of_counts([0] * 20, [1] * 20, [1] * 20, [1] * 20)
    >>> same = PairedDifference.of_counts([0] * 20, [1] * 20, [0] * 20, [1] * 20)
    >>> [verdict.in_words() for verdict in family([clear, same], seed=0)][0]
    'higher'
    >>> family([same], seed=0)[0].in_words()
    'not distinguishable at this n; a true difference of 36.6 points would be found in 80 % of such studies'
    """
    tests = [difference.test(seed, mid_p=mid_p) for difference in differences]
    if not tests:
        return []
    steps = holm_steps([test.p_value for test in tests], level)
    columns = (differences, tests, steps.adjusted.tolist(), steps.rejected.tolist(), steps.levels.tolist())
    return [
        _verdict(difference, test, adjusted, used, rejected=rejected, mid_p=mid_p)
        for difference, test, adjusted, rejected, used in zip(*columns, strict=True)
    ]


def _verdict(  # noqa: PLR0913 - what Holm says of one test, and how
    difference: PairedDifference,
    significance: Significance,
    adjusted: float,
    level: float,
    *,
    rejected: bool,
    mid_p: bool,
) -> Verdict:
    estimate = difference.estimate(level)
    direction: Literal["higher", "lower"] | None = None
    if rejected and (estimate.low > 0 or estimate.high < 0):
        direction = "higher" if estimate.low > 0 else "lower"
    open_still = direction is None and isfinite(estimate.low)
    detectable = difference.detectable(level, mid_p=mid_p) if open_still else None
    return Verdict(significance, adjusted, level, estimate, direction, detectable, difference.signs)


def benjamini_hochberg(p_values: "ArrayLike") -> "Floats":
    """P-values adjusted by Benjamini and Hochberg: of those below 0.05, 5 % are expected to be false alarms.

    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.005]).round(4).tolist()
    [0.02, 0.04, 0.04, 0.02]
    """
    import numpy as np

    # scipy.stats has this one, and takes over a second to load; a test holds ours to it.
    given, order = _ranked(p_values)
    steps = given[order] * given.size / np.arange(1, given.size + 1)
    return _back(np.minimum.accumulate(steps[::-1])[::-1], order)


def _ranked(p_values: "ArrayLike") -> "tuple[Floats, NDArray[intp]]":
    import numpy as np

    given = np.atleast_1d(row("p_values", p_values))
    if given.ndim != 1 or not given.size or not ((given >= 0) & (given <= 1)).all():
        found = brief(given.tolist())
        raise ValueError(f"p_values: expected at least one p-value, each between 0 and 1, found {found}")
    return given, np.argsort(given, kind="stable")


def _back(steps: "Floats", order: "NDArray[intp]") -> "Floats":
    import numpy as np

    adjusted = np.empty_like(steps)
    adjusted[order] = np.minimum(1.0, steps)
    return adjusted
