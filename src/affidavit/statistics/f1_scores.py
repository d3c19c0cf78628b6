"""F1 of each label and its mean over labels, with intervals over clusters (rulings L7, L8).

F1 is 2 TP of 2 TP + FP + FN. It looks like a share and is none of outputs: one output may count in it twice, once
or not at all. So its interval is drawn: whole clusters, with replacement.
"""

from collections.abc import Sequence
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from affidavit.statistics.bootstrap import RESAMPLES, percentile_interval, resampled_totals
from affidavit.statistics.estimate import EQUAL, Estimate
from affidavit.statistics.shares import ClusterSums, share

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

    Floats = NDArray[float64]
    Counts = NDArray[int64]


class F1Scores(NamedTuple):
    """F1 of each label, None of one that never occurs, and the mean of those that there are."""

    labels: "tuple[Estimate | None, ...]"
    macro: Estimate | None


def f1_scores(counts: "Counts", times: "Counts", *, outputs: int, seed: int) -> F1Scores:
    """The scores of kinds of clusters, of each of which there are so many `times`.

    `counts` has, for every kind and label, TP, FP and FN. `outputs` is how many all of it is over.

    >>> import numpy as np
    >>> kinds = np.array([[[1, 0, 0], [0, 1, 0]], [[0, 0, 1], [1, 0, 0]]])
    >>> found = f1_scores(kinds, np.array([6, 2]), outputs=8, seed=1)
    >>> [str(each).partition(" [")[0] for each in (*found.labels, found.macro)]
    ['85.7%', '40.0%', '62.9%']
    """
    import numpy as np

    kinds, sizes = len(counts), _Sizes(outputs, int(times.sum()))
    totals = np.einsum("k,klc->lc", times, counts).astype(float)
    drawn = resampled_totals(counts.reshape(kinds, -1).astype(float), times.astype(float), seed=seed)
    values, resampled = _f1(totals[None])[0], _f1(drawn.reshape(len(drawn), -1, 3))
    occurring: list[int] = np.flatnonzero(~np.isnan(values)).tolist()
    if not occurring:
        return F1Scores((None,) * len(values), None)
    alike = {at: _alike(counts[:, at], times, sizes) for at in occurring}
    own = {at: _drawn("F1", float(values[at]), resampled[:, at], sizes) or alike[at] for at in occurring}
    macro = float(values[occurring].mean())
    whole = _drawn("macro-F1", macro, _means(resampled), sizes) or _mean_ends(macro, list(alike.values()), sizes)
    return F1Scores(tuple(own.get(at) for at in range(len(values))), whole)


_SAME = "every sample gives the same"


class _Sizes(NamedTuple):
    """What scores are over."""

    outputs: int
    clusters: int

    def estimate(self, value: float, low: float, high: float, method: str) -> Estimate:
        """The estimate over so many outputs and clusters."""
        clusters = None if self.clusters == self.outputs else self.clusters
        return Estimate(value, min(low, value), max(high, value), self.outputs, method, clusters)


def _f1(totals: "Floats") -> "Floats":
    """By sample and label: F1; NaN of a label that does not occur in a sample, which never leaves this file."""
    import numpy as np

    found, of = 2 * totals[:, :, 0], 2 * totals[:, :, 0] + totals[:, :, 1] + totals[:, :, 2]
    scores: Floats = np.divide(found, of, out=np.full(of.shape, np.nan), where=of > 0)
    return scores


def _means(resampled: "Floats") -> "Floats":
    """By sample: the mean over the labels that occur in it; NaN where none does."""
    import numpy as np

    there = ~np.isnan(resampled)
    labels = there.sum(axis=1)
    sums = np.where(there, resampled, 0.0).sum(axis=1)
    means: Floats = np.divide(sums, labels, out=np.full(len(sums), np.nan), where=labels > 0)
    return means


def _drawn(name: str, value: float, resampled: "Floats", sizes: _Sizes) -> Estimate | None:
    """The value with the middle 95 % of its samples; None where that has no width (ruling S11)."""
    import numpy as np

    defined = resampled[~np.isnan(resampled)]
    if not defined.size:
        return None
    low, high = percentile_interval(value, defined)
    if high - low <= EQUAL:
        return None
    without = RESAMPLES - defined.size
    undefined = f", {without} of {RESAMPLES} samples undefined" if without else ""
    return sizes.estimate(value, low, high, f"{name}, cluster bootstrap 95%, {sizes.clusters} clusters{undefined}")


def _alike(counts: "Counts", times: "Counts", sizes: _Sizes) -> Estimate:
    """F1 of one label with ruling S1's interval for 2 TP of 2 TP + FP + FN: agreement is no certainty."""
    kinds = zip(counts.tolist(), times.tolist(), strict=True)
    found = share(ClusterSums.counted((2 * tp, 2 * tp + fp + fn, many) for (tp, fp, fn), many in kinds))
    method = f"{_SAME}: Wilson 95% at the effective size for 2 TP of 2 TP + FP + FN"
    return sizes.estimate(found.value, found.low, found.high, method)


def _mean_ends(macro: float, labels: Sequence[Estimate], sizes: _Sizes) -> Estimate:
    """Macro-F1 from the mean of the lower ends of its labels to the mean of the upper ones."""
    low, high = (
        fsum(ends) / len(labels) for ends in zip(*((each.low, each.high) for each in labels), strict=True)
    )
    return sizes.estimate(macro, low, high, f"{_SAME}: the mean of the ends of its labels, by Wilson 95%")
