"""F1 of each label and its mean over labels, with intervals over clusters (rulings L7, L8).

F1 is 2 TP of 2 TP + FP + FN. It looks like a share and is none of outputs: one output may count in it twice, once
or not at all. Its interval is drawn, whole clusters with replacement; but a label that is right in all of a few
outputs is right in every sample, so that no end lies within the interval that ruling S1 would give.
"""

from collections.abc import Sequence
from math import fsum, sqrt
from typing import TYPE_CHECKING, NamedTuple

from affidavit.statistics.bootstrap import RESAMPLES, percentile_interval, resampled_totals
from affidavit.statistics.estimate import Estimate
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

    totals = np.einsum("k,klc->lc", times, counts).astype(float)
    drawn = resampled_totals(counts.reshape(len(counts), -1).astype(float), times.astype(float), seed=seed)
    values, resampled = _f1(totals[None])[0], _f1(drawn.reshape(len(drawn), -1, 3))
    occurring: list[int] = np.flatnonzero(~np.isnan(values)).tolist()
    if not occurring:
        return F1Scores((None,) * len(values), None)
    by_share = {at: _by_share(counts[:, at], times) for at in occurring}
    own = {at: by_share[at].beside(_drawn(by_share[at].value, resampled[:, at]), "F1") for at in occurring}
    mean = _mean(list(by_share.values()), outputs=outputs, clusters=int(times.sum()))
    macro = mean.beside(_drawn(mean.value, _means(resampled)), "macro-F1")
    return F1Scores(tuple(own.get(at) for at in range(len(values))), macro)


class _Drawn(NamedTuple):
    """The middle 95 % of samples, and how many samples had no value."""

    low: float
    high: float
    undefined: int


class _ByShare(NamedTuple):
    """A value with the ends that ruling S1 gives it, and what it is over."""

    value: float
    low: float
    high: float
    outputs: int
    clusters: int

    def beside(self, drawn: _Drawn, name: str) -> Estimate:
        """The estimate whose ends are the outer ones of both (ruling L8)."""
        undefined = f", {drawn.undefined} of {RESAMPLES} samples undefined" if drawn.undefined else ""
        method = f"{name}, outer ends of cluster bootstrap 95% and Wilson 95%, {self.clusters} clusters{undefined}"
        clusters = None if self.clusters == self.outputs else self.clusters
        low, high = min(drawn.low, self.low, self.value), max(drawn.high, self.high, self.value)
        return Estimate(self.value, low, high, self.outputs, method, clusters)


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


def _drawn(value: float, resampled: "Floats") -> _Drawn:
    """The middle 95 % of the samples that have a value; of none, the value itself."""
    import numpy as np

    defined = resampled[~np.isnan(resampled)]
    low, high = percentile_interval(value, defined) if defined.size else (value, value)
    return _Drawn(low, high, RESAMPLES - defined.size)


def _by_share(counts: "Counts", times: "Counts") -> _ByShare:
    """F1 of one label with ruling S1's interval for 2 TP of 2 TP + FP + FN: agreement is no certainty."""
    kinds = [(*each, many) for each, many in zip(counts.tolist(), times.tolist(), strict=True) if any(each)]
    found = share(ClusterSums.counted((2 * tp, 2 * tp + fp + fn, many) for tp, fp, fn, many in kinds))
    outputs = sum((tp + fp + fn) * many for tp, fp, fn, many in kinds)
    return _ByShare(found.value, found.low, found.high, outputs, sum(many for *_, many in kinds))


def _mean(labels: Sequence[_ByShare], *, outputs: int, clusters: int) -> _ByShare:
    """Macro-F1: the distances to the ends of its labels are squared and added, as of independent figures."""
    value = fsum(each.value for each in labels) / len(labels)
    below = sqrt(fsum((each.value - each.low) ** 2 for each in labels)) / len(labels)
    above = sqrt(fsum((each.high - each.value) ** 2 for each in labels)) / len(labels)
    return _ByShare(value, max(0.0, value - below), min(1.0, value + above), outputs, clusters)
