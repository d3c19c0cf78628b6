"""Two conditions over the same clusters: how large the difference is, and whether chance alone would give it.

Differences are the second less the first: what the second condition added.
"""

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from affidavit.statistics.bootstrap import CELLS_AT_ONCE, RESAMPLES, percentile_interval, resampled_totals
from affidavit.statistics.clusters import NO_INTERVAL, cluster_columns
from affidavit.statistics.estimate import Estimate

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[float64]

MOST_FLIPPED_EXACTLY = 20
"""So many differences have half a million patterns of signs, up to all signs turned, which are all tried."""
SIGN_PATTERNS = 9_999
"""Patterns of signs that are drawn where there are too many to try them all."""


@dataclass(frozen=True, slots=True)
class Significance:
    """How often chance alone would give a difference at least as large."""

    p_value: float
    n: int
    method: str

    def __str__(self) -> str:
        return f"p={self.p_value:.3g}"


def difference_of_clusters(  # noqa: PLR0913 - two conditions with two columns each
    first_sums: "ArrayLike",
    first_counts: "ArrayLike",
    second_sums: "ArrayLike",
    second_counts: "ArrayLike",
    *,
    seed: int,
    resamples: int = RESAMPLES,
) -> Estimate:
    """The mean under the second condition less that under the first, with a percentile bootstrap over clusters.

    A cluster is drawn with everything it has under both, so what the conditions share cancels out. One without
    observations under a condition adds nothing to that condition's mean; clusters without any are left out, and so
    are the rare samples in which a condition has no observation. `n` counts clusters.

    >>> change = difference_of_clusters([1, 0, 1, 0], [2, 2, 2, 2], [2, 1, 2, 1], [2, 2, 2, 2], seed=0)
    >>> change.value, change.low, change.high, change.n
    (0.5, 0.5, 0.5, 4)
    """
    columns = cluster_columns(first_sums, first_counts, second_sums, second_counts)
    total, clusters = columns.sum(axis=0), len(columns)
    value = float(total[2] / total[3] - total[0] / total[1])
    if min((columns[:, 1] > 0).sum(), (columns[:, 3] > 0).sum()) == 1:
        return Estimate(value, -inf, inf, clusters, NO_INTERVAL)
    drawn = resampled_totals(columns, seed=seed, resamples=resamples)
    drawn = drawn[(drawn[:, 1] > 0) & (drawn[:, 3] > 0)]
    low, high = percentile_interval(value, drawn[:, 2] / drawn[:, 3] - drawn[:, 0] / drawn[:, 1])
    return Estimate(value, low, high, clusters, f"paired cluster bootstrap 95%, {clusters} clusters")


def mcnemar(first_only: int, second_only: int, *, pairs: int) -> Significance:
    """Whether two conditions are right equally often on the same items: McNemar's exact test.

    `first_only` items are right under the first condition only, `second_only` under the second only, of `pairs` in
    all. If neither is better, each of those falls to either side like a coin.

    >>> print(mcnemar(4, 14, pairs=100))
    p=0.0309
    """
    from scipy.special import bdtr

    discordant = first_only + second_only
    if min(first_only, second_only) < 0 or discordant > pairs or pairs == 0:
        raise ValueError(f"no comparison of {first_only} against {second_only} in {pairs} pairs")
    p_value = min(1.0, 2 * float(bdtr(min(first_only, second_only), discordant, 0.5))) if discordant else 1.0
    return Significance(p_value, pairs, f"McNemar, exact, {discordant} discordant pairs")


def sign_flip_test(differences: "ArrayLike", *, seed: int, patterns: int = SIGN_PATTERNS) -> Significance:
    """Whether differences, one of each cluster, are around zero: a paired permutation test.

    If the condition makes no difference, its name is a label, and every difference could have had the other sign.
    The p-value is the share of sign patterns whose sum is at least as far from zero. Up to 20 differences that are
    not zero all patterns are tried; else some are drawn, and what was found counts as one of them, so that no
    p-value is 0.

    >>> sign_flip_test([1.0, 2.0, 3.0, 4.0], seed=0)
    Significance(p_value=0.125, n=4, method='sign flips, all patterns')
    """
    import numpy as np

    given = np.sort(np.asarray(differences, dtype=float).ravel())
    if not given.size or not np.isfinite(given).all():
        raise ValueError("no test over no differences, and none that is not finite")
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
    far = int((np.abs(_flipped_sums(moved, seed, patterns)) >= least).sum())
    return Significance((1 + far) / (1 + patterns), given.size, f"sign flips, {patterns:,} patterns drawn")


def _flipped_sums(moved: "Floats", seed: int, patterns: int) -> "Floats":
    """The sums of differences whose signs are drawn, one for each pattern."""
    import numpy as np

    draws, sums = np.random.default_rng(seed), np.empty(patterns)
    # Differences of one size can turn their signs together by a binomial draw, which is the same lottery.
    sizes, often = np.unique(np.abs(moved), return_counts=True)
    together = 4 * len(sizes) <= len(moved)
    at_once = max(1, CELLS_AT_ONCE // (len(sizes) if together else len(moved)))
    for start in range(0, patterns, at_once):
        rows = min(at_once, patterns - start)
        if together:
            drawn = (2.0 * draws.binomial(often, 0.5, size=(rows, len(sizes))) - often) @ sizes
        else:
            kept = draws.integers(0, 2, size=(rows, len(moved)), dtype=np.int8).astype(float)
            drawn = 2 * (kept @ moved) - moved.sum()
        sums[start : start + rows] = drawn
    return sums
