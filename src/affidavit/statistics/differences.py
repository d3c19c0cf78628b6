"""Two conditions over the same clusters: how large the difference is, whether chance would do, how often we asked.

Differences are the second less the first: what the second condition added.
"""

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from affidavit.statistics.estimates import (
    CELLS_AT_ONCE,
    NO_INTERVAL,
    RESAMPLES,
    Estimate,
    cluster_columns,
    percentile_interval,
    resampled_totals,
)

if TYPE_CHECKING:
    from numpy import float64, intp
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[float64]

MOST_FLIPPED_EXACTLY = 20
"""So many differences have half a million patterns of signs, up to all signs turned, which are all tried."""
SIGN_PATTERNS = 9_999


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
        for index, each in enumerate(moved):
            # A pattern and its opposite are equally far from zero: the first sign stays.
            sums = sums + each if index == 0 else np.concatenate([sums + each, sums - each])
        return Significance(float((np.abs(sums) >= least).mean()), given.size, "sign flips, all patterns")
    far = int((np.abs(_flipped_sums(moved, seed, patterns)) >= least).sum())
    return Significance((1 + far) / (1 + patterns), given.size, f"sign flips, {patterns:,} patterns drawn")


def _flipped_sums(moved: "Floats", seed: int, patterns: int) -> "Floats":
    """The sums of differences whose signs are drawn, one for each pattern."""
    import numpy as np

    draws, found = np.random.default_rng(seed), np.empty(patterns)
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
        found[start : start + rows] = drawn
    return found


def holm(p_values: "ArrayLike") -> "Floats":
    """P-values adjusted by Holm: below 0.05, the chance of even one false alarm among all is at most 5 %.

    >>> holm([0.01, 0.04, 0.03, 0.005]).round(4).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    import numpy as np

    given, order = _ranked(p_values)
    steps = given[order] * np.arange(given.size, 0, -1)
    return _back(np.maximum.accumulate(steps), order)


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

    given = np.asarray(p_values, dtype=float)
    if given.ndim != 1 or not given.size or not ((given >= 0) & (given <= 1)).all():
        raise ValueError("expected at least one p-value, each between 0 and 1")
    return given, np.argsort(given, kind="stable")


def _back(steps: "Floats", order: "NDArray[intp]") -> "Floats":
    import numpy as np

    adjusted = np.empty_like(steps)
    adjusted[order] = np.minimum(1.0, steps)
    return adjusted
