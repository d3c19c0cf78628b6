"""A judge's figures, corrected by what people said of some of its outputs (ruling S10).

A judge has a value f for every output; people have a value y for a few, drawn at random. The corrected mean is
PPI++ (Angelopoulos, Duchi and Zrnic, 2023): λ·mean f over the unlabelled outputs, and mean (y − λf) over the
labelled ones. λ says how far the judge is of use, and comes from the data: 0 leaves people alone, 1 is plain
prediction-powered inference. Whatever the judge's errors are, they are in the labelled outputs too, and cancel.

The variance adds up by clusters, such as the outputs to one question, and is never below that of outputs which are
clusters of their own; there, two residuals more, the worst that the scale allows, keep agreement from looking like
certainty. Clusters, that second variance and its residuals are ours, and so is what becomes of outputs that the
judge has not judged, and that ten clusters are needed; docs/statistics.md has the measured coverage.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, fsum, isfinite, sqrt
from typing import TYPE_CHECKING, Literal, NamedTuple

from affidavit.statistics.arguments import finite, level_of_interval, numbers
from affidavit.statistics.differences import Significance, Signs
from affidavit.statistics.estimate import EQUAL, LEAST_CHANCE, Estimate, without_interval
from affidavit.statistics.means import FEWEST_CLUSTERS
from affidavit.statistics.multiplicity import Verdict, holm_steps
from affidavit.statistics.power import LEVEL, POWER
from affidavit.statistics.shares import Z95

if TYPE_CHECKING:
    from numpy import bool_, float64, int_
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[float64]
    Mask = NDArray[bool_]
    Codes = NDArray[int_]

FEWEST_LABELS = 30
"""Behind a corrected figure: below, there is none (ruling S10)."""
FEWEST_IN_STRATUM = 2
"""Of one label alone nobody knows how far labels differ."""
METHOD, ALONE = "PPI++", "people alone"


class TooFewLabelsError(ValueError):
    """There is no corrected figure, and the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A mean with its interval, and what it was made of."""

    estimate: Estimate
    weight: float
    """λ: how much of the judge is in it; the mean over strata by their sizes."""
    labelled: int
    unlabelled: int
    variance: float
    degrees: float
    labelled_in: frozenset[Hashable]
    """The clusters that have a label."""
    by_cluster: Mapping[Hashable, float]
    """What each cluster moves the mean by."""
    beyond_clusters: float
    """How much of the variance is not in the clusters: what the floor added."""


class _Stratum(NamedTuple):
    """Outputs that were drawn from by themselves."""

    name: Hashable
    judged: "Floats"
    labels: "Floats"
    clusters: "Codes"


class _Part(NamedTuple):
    """The mean of a stratum, and the variance of that."""

    value: float
    weight: float
    by_cluster: "Floats"
    """What each cluster of the whole moves it by."""
    alone: float
    labelled: int
    unlabelled: int
    said: list[tuple[int, float]]
    """Its labels, each with its cluster."""


def corrected_mean(  # noqa: PLR0913 - what judge and people said, and how it was drawn
    judged: "Sequence[float | None] | ArrayLike",
    labels: Sequence[float | None],
    *,
    scale: tuple[float, float] = (0.0, 1.0),
    clusters: Sequence[Hashable] | None = None,
    strata: Sequence[Hashable] | None = None,
    weight: float | None = None,
) -> Correction:
    """The mean of what people would say of all outputs, from a judge's values and the labels of some.

    `labels` has None where there is none; of an output that several people labelled, their mean is the label.
    `judged` has None where there is no valid judgement: the judge's mean over the others stands there, which says
    nothing of that output, and the figure is over it all the same. Labels drawn by strata are taken together by
    their sizes. `weight` is λ where it is not to be tuned. Labels in fewer than ten clusters give no figure.

    >>> judged = [1, 1, 1, 0] * 50
    >>> labels = [1, 1, 0, 0] * 10 + [None] * 160
    >>> print(corrected_mean(judged, labels).estimate)
    50.0% [35.4, 64.6] n=40
    >>> print(people_alone(judged, labels).estimate)
    50.0% [33.8, 66.2] n=40
    """
    import numpy as np

    low, high = (finite("scale", end) for end in scale)
    if not high - low > EQUAL * max(abs(low), abs(high)):
        raise ValueError(f"scale: expected two numbers, the second one larger, found {low:g} and {high:g}")
    if weight is not None and not 0 <= weight <= 1:
        raise ValueError(f"weight: expected a number from 0 to 1, found {weight}")
    values, said = _or_nan("judged", judged), _or_nan("labels", labels)
    if len(said) != len(values):
        raise ValueError(f"labels: expected a label or None for each of {len(values)} outputs, found {len(said)}")
    for name, given in (("judged", values[~np.isnan(values)]), ("labels", said[~np.isnan(said)])):
        if given.size and (given.min() < low or given.max() > high):
            raise ValueError(f"{name}: expected values from {low:g} to {high:g}, found others")
    names, codes = _coded(_names("clusters", clusters, len(values)))
    parts = [
        _part(_Stratum(stratum, values[chosen], said[chosen], codes[chosen]), len(names), scale, weight)
        for stratum, chosen in _strata(strata, len(values))
    ]
    return _together(parts, names, ALONE if weight == 0 else METHOD)


def people_alone(
    judged: "Sequence[float | None] | ArrayLike",
    labels: Sequence[float | None],
    *,
    scale: tuple[float, float] = (0.0, 1.0),
    clusters: Sequence[Hashable] | None = None,
    strata: Sequence[Hashable] | None = None,
) -> Correction:
    """The mean of the labels, by the same formula with λ = 0: what there is without the judge."""
    return corrected_mean(judged, labels, scale=scale, clusters=clusters, strata=strata, weight=0.0)


@dataclass(frozen=True, slots=True)
class CorrectedDifference:
    """One corrected mean less another."""

    value: float
    variance: float
    degrees: float
    n: int
    """The labels behind both."""
    clusters: int | None = None
    """The clusters that these are in, where there are fewer."""

    def estimate(self, level: float = LEVEL) -> Estimate:
        """The difference with its interval; none where every cluster moves both alike (ruling S11)."""
        half = -_t(self.degrees, level_of_interval(level) / 2) * sqrt(self.variance)
        if half <= EQUAL * max(1.0, abs(self.value)):
            why = "every cluster moves both alike: no interval"
            return without_interval(self.value, self.n, why, self.clusters)
        method = f"difference of two means by {METHOD}, t {1 - level:.4g}"
        return Estimate(self.value, self.value - half, self.value + half, self.n, method, self.clusters)

    @property
    def p_value(self) -> float:
        """Of the t test that there is no difference."""
        from scipy.special import stdtr

        if self.value == 0 or self.variance == 0:
            return 1.0
        return max(LEAST_CHANCE, 2 * float(stdtr(self.degrees, -abs(self.value) / sqrt(self.variance))))

    def detectable(self, level: float = LEVEL) -> float:
        """The true difference that would be found in 80 % of such studies."""
        return (-_t(self.degrees, level / 2) - _t(self.degrees, 1 - POWER)) * sqrt(self.variance)


def corrected_difference(first: Correction, second: Correction) -> CorrectedDifference:
    """The second corrected mean less the first; where they share clusters, these are paired.

    >>> judged, labels = [1, 1, 1, 0] * 50, [1, 1, 0, 0] * 10 + [None] * 160
    >>> one = corrected_mean(judged, labels, clusters=range(200))
    >>> other = corrected_mean(judged, [1, 1, 1, 0] * 10 + [None] * 160, clusters=range(200))
    >>> print(corrected_difference(one, other).estimate())
    25.0% [9.7, 40.3] n=80 (40 clusters)
    """
    places = {*first.by_cluster, *second.by_cluster}
    moved = (second.by_cluster.get(each, 0.0) - first.by_cluster.get(each, 0.0) for each in places)
    variance = fsum([*(each * each for each in moved), first.beyond_clusters, second.beyond_clusters])
    clusters, n = len(first.labelled_in | second.labelled_in), first.labelled + second.labelled
    degrees = _satterthwaite([(first.variance, first.degrees), (second.variance, second.degrees)])
    value = second.estimate.value - first.estimate.value
    said_of = None if clusters == n else clusters
    return CorrectedDifference(value, variance, degrees, n, said_of)


def corrected_verdicts(differences: Sequence[CorrectedDifference]) -> list[Verdict]:
    """What is said of all differences of one table, adjusted by Holm for all of them (ruling S3)."""
    if not differences:
        return []
    steps = holm_steps([each.p_value for each in differences])
    columns = differences, steps.adjusted.tolist(), steps.levels.tolist(), steps.rejected.tolist()
    return [_verdict(*each) for each in zip(*columns, strict=True)]


def _verdict(difference: CorrectedDifference, adjusted: float, level: float, rejected: bool) -> Verdict:  # noqa: FBT001
    estimate = difference.estimate(level)
    told = rejected and (estimate.low > 0 or estimate.high < 0)
    direction: Literal["higher", "lower"] = "higher" if difference.value > 0 else "lower"
    detectable = None if told or not isfinite(estimate.low) else difference.detectable(level)
    significance = Significance(difference.p_value, difference.n, "t")
    return Verdict(
        significance, adjusted, level, estimate, direction if told else None, detectable, Signs(0, 0, 0)
    )


def labels_for_width(pilot: Correction, width: float) -> int | None:
    """How many labels a corrected mean needs for an interval of that width, if they go on as in a pilot.

    None if labelling every output would not be enough. At least `FEWEST_LABELS`.
    """
    if not (isfinite(width) and width > 0):
        raise ValueError(f"width: expected a number above 0, found {width}")
    every = pilot.labelled + pilot.unlabelled
    needed = ceil(pilot.labelled * pilot.variance * (2 * Z95 / width) ** 2)
    while needed <= every and 2 * _t(needed - 1) * sqrt(pilot.variance * pilot.labelled / needed) > width:
        needed += 1  # t is so near to z that it is a few steps
    needed = max(needed, FEWEST_LABELS)
    return needed if needed <= every else None


# --- one stratum ---


def _part(stratum: _Stratum, clusters: int, scale: tuple[float, float], weight: float | None) -> _Part:
    import numpy as np

    # In an order of their own, so that the same outputs give the same digits in whichever order they came.
    every = _filled(stratum.judged, scale)
    order = np.lexsort((stratum.labels, every))
    values, labels = every[order], stratum.labels[order]
    labelled = ~np.isnan(labels)
    n, others = int(labelled.sum()), int((~labelled).sum())
    if n < FEWEST_IN_STRATUM:
        where = "" if stratum.name is None else f" in the stratum {stratum.name}"
        raise TooFewLabelsError(f"{n} of {n + others:,} outputs are labelled{where}: at least two are needed")
    there, unlabelled, said = values[labelled], values[~labelled], labels[labelled]
    lam = _tuned(said, there, values, n / others if others else None) if weight is None else weight
    residuals = said - lam * there
    value = float(residuals.mean()) + (lam * float(unlabelled.mean()) if others else 0.0)
    moved = np.zeros(len(values))
    moved[labelled] = (residuals - residuals.mean()) / n
    if others:
        moved[~labelled] = lam * (unlabelled - unlabelled.mean()) / others
    places = stratum.clusters[order]
    by_cluster = np.bincount(places, weights=moved, minlength=clusters).astype(np.float64)
    low, high = scale
    worst = np.append(residuals, [high - lam * low, low - lam * high])
    alone = float(np.var(worst, ddof=1)) / n + (lam**2 * float(np.var(unlabelled)) / others if others else 0.0)
    return _Part(
        value, lam, by_cluster, alone, n, others, list(zip(places[labelled].tolist(), said.tolist(), strict=True))
    )


def _filled(judged: "Floats", scale: tuple[float, float]) -> "Floats":
    """The judge's values, with their mean where there is none: no deviation, of which λ makes nothing."""
    import numpy as np

    there = judged[~np.isnan(judged)].tolist()
    return np.where(np.isnan(judged), fsum(there) / len(there) if there else scale[0], judged)


def _tuned(labels: "Floats", judged: "Floats", every: "Floats", ratio: float | None) -> float:
    """λ: the covariance of people and judge over the judge's variance, between 0 and 1."""
    import numpy as np

    variance = float(np.var(every, ddof=1))
    if ratio is None or variance == 0:
        return 0.0
    together = float(np.mean((labels - labels.mean()) * (judged - judged.mean())))
    return min(1.0, max(0.0, together / ((1 + ratio) * variance)))


# --- strata together ---


def _together(parts: Sequence[_Part], names: Sequence[Hashable], method: str) -> Correction:
    if (labelled := sum(part.labelled for part in parts)) < FEWEST_LABELS:
        raise TooFewLabelsError(f"{labelled} labels: fewer than {FEWEST_LABELS}")
    labelled_in = frozenset(names[place] for part in parts for place, _ in part.said)
    if (clusters := len(labelled_in)) < FEWEST_CLUSTERS:
        raise TooFewLabelsError(
            f"{labelled} labels in {clusters} cluster{'s' * (clusters != 1)}: fewer than {FEWEST_CLUSTERS}"
        )
    unlabelled = sum(part.unlabelled for part in parts)
    weighted = [((part.labelled + part.unlabelled) / (labelled + unlabelled), part) for part in parts]
    moves = [(size * part.by_cluster).tolist() for size, part in weighted]
    moved = moves[0] if len(moves) == 1 else [fsum(each) for each in zip(*moves, strict=True)]
    clustered = fsum(each * each for each in moved)
    alone = [(size**2 * part.alone, part.labelled - 1.0) for size, part in weighted]
    variance = max(clustered, fsum(each for each, _ in alone))
    degrees = _satterthwaite(alone)
    value, half = fsum(size * part.value for size, part in weighted), _t(degrees) * sqrt(variance)
    weight = fsum(size * part.weight for size, part in weighted)
    strata = f", {len(parts)} strata" if len(parts) > 1 else ""
    said_of = None if clusters == labelled else clusters
    return Correction(
        Estimate(value, value - half, value + half, labelled, f"{method}, t 95%{strata}", said_of),
        weight,
        labelled,
        unlabelled,
        variance,
        degrees,
        labelled_in,
        dict(zip(names, moved, strict=True)),
        variance - clustered,
    )


def _satterthwaite(variances: Sequence[tuple[float, float]]) -> float:
    """The degrees of freedom of a sum, each variance given with its own."""
    return fsum(each for each, _ in variances) ** 2 / fsum(each**2 / degrees for each, degrees in variances)


def _t(degrees: float, chance: float = 0.975) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(degrees, chance))


# --- what is given ---


def _or_nan(what: str, given: "Sequence[float | None] | ArrayLike") -> "Floats":
    """The numbers, NaN where there is none."""
    import numpy as np

    if not isinstance(given, Sequence):
        return numbers(what, given)
    there = [each is not None for each in given]
    found = np.full(len(there), np.nan)
    found[there] = numbers(what, [each for each in given if each is not None])
    return found


def _names(what: str, given: Sequence[Hashable] | None, outputs: int) -> Sequence[Hashable]:
    if given is None:
        return range(outputs)
    if len(given) != outputs:
        raise ValueError(f"{what}: expected one for each of {outputs} outputs, found {len(given)}")
    return given


def _strata(given: Sequence[Hashable] | None, outputs: int) -> "list[tuple[Hashable, Mask]]":
    """Which outputs are in each stratum; without strata, all are in one that has no name."""
    import numpy as np

    if given is None:
        return [(None, np.ones(outputs, dtype=bool))]
    places: dict[Hashable, int] = {}
    of = np.array([places.setdefault(each, len(places)) for each in _names("strata", given, outputs)], dtype=int)
    return [(stratum, of == place) for stratum, place in places.items()]


def _coded(named: Sequence[Hashable]) -> "tuple[list[Hashable], Codes]":
    """The names, each once, and for every output the number of its own."""
    import numpy as np

    places: dict[Hashable, int] = {}
    codes = [places.setdefault(name, len(places)) for name in named]
    return list(places), np.array(codes, dtype=int)
