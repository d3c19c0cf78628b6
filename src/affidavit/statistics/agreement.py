"""Two or more raters on one ordinal scale: how far they agree, and how far chance would take them.

Ratings are a row for each unit and a column for each rater. A rating that is missing is None, or NaN where the
rows come as an array of floats; units with fewer than two ratings cannot agree or disagree and are left out. Where
units belong together, such as the outputs to one question, `clusters` names the cluster of each unit, and clusters
are drawn whole. Where every sample of clusters gives the same, as under perfect agreement, there is a value and no
interval: agreement is no certainty (ruling S11).
"""

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Literal

from affidavit.statistics.arguments import LARGEST, one_of
from affidavit.statistics.bootstrap import RESAMPLES, bootstrapped, resampled_totals
from affidavit.statistics.clusters import NO_INTERVAL, ordered
from affidavit.statistics.estimate import Estimate, without_interval
from affidavit.statistics.means import bootstrapped_mean
from affidavit.statistics.shares import wilson

if TYPE_CHECKING:
    from numpy import float64, intp
    from numpy.typing import NDArray

    Floats = NDArray[float64]
    Positions = NDArray[intp]
    Ratings = Sequence[Sequence[float | None]] | Floats

LONGEST_SCALE = 50
POWERS = {"linear": 1, "quadratic": 2}
LEVELS = ("nominal", "ordinal", "interval")
_DIGITS = 12
"""Of a coefficient: what is beyond them is rounding."""


def exact_agreement(ratings: "Ratings") -> Estimate:
    """The share of units that all their raters rated alike.

    >>> print(exact_agreement([[2, 2], [1, 2], [0, 0], [1, None]]))
    66.7% [20.8, 93.9] n=3
    """
    import numpy as np

    rated, _ = _rated(ratings, None)
    alike = np.nanmax(rated, axis=1) == np.nanmin(rated, axis=1)
    return wilson(int(alike.sum()), len(rated))


def mean_absolute_difference(
    ratings: "Ratings", *, seed: int, clusters: Sequence[Hashable] | None = None
) -> Estimate:
    """How far apart two raters of a unit are, on average: the mean over its pairs of raters, then over units.

    >>> distance = mean_absolute_difference([[2, 2], [1, 2], [0, 2]], seed=0)
    >>> distance.value, distance.n
    (1.0, 3)
    >>> mean_absolute_difference([[2, 2], [1, 1], [0, 0]], seed=0).method
    'all 3 clusters are equal: no interval'
    """
    import numpy as np

    rated, places = _rated(ratings, clusters)
    # In order within a unit too: who gave which rating must not decide the last digit of a sum.
    rated = np.sort(rated, axis=1)
    apart, pairs = np.zeros(len(rated)), np.zeros(len(rated))
    for first in range(rated.shape[1]):
        between = np.abs(rated[:, first + 1 :] - rated[:, [first]])
        apart += np.nansum(between, axis=1)
        pairs += (~np.isnan(between)).sum(axis=1)
    columns = (np.bincount(places, apart / pairs), np.bincount(places), 1)
    return bootstrapped_mean(columns, scale=float(np.nanmax(np.abs(rated))), seed=seed)


def weighted_kappa(
    ratings: "Ratings",
    *,
    weights: Literal["linear", "quadratic"],
    seed: int,
    clusters: Sequence[Hashable] | None = None,
) -> Estimate:
    """Cohen's weighted kappa of two raters: 1 less their disagreement over that of raters with the same habits.

    The disagreement of two ratings is their distance on the scale, or its square.

    >>> kappa = weighted_kappa([[0, 0], [1, 1], [2, 1], [2, 2]], weights="quadratic", seed=0)
    >>> round(kappa.value, 4), kappa.n
    (0.8, 4)
    >>> print(weighted_kappa([[0, 0], [1, 1], [2, 2]] * 9, weights="linear", seed=0).method)
    every sample gives the same: no interval
    """
    import numpy as np

    one_of("weights", weights, tuple(POWERS))
    rated, places = _rated(ratings, clusters)
    if rated.shape[1] != 2:
        raise ValueError(f"ratings: weighted kappa is of two raters, not of {rated.shape[1]}; see alpha")
    scale, positions = _on_a_scale(rated)
    distances = np.abs(scale[:, None] - scale[None, :]) ** POWERS[weights]
    size = len(scale)
    # In a row: what the two raters disagree, how often the first gave each value, how often the second.
    rows = np.zeros((places.max() + 1, 1 + 2 * size))
    rows[:, 0] = np.bincount(places, distances[positions[:, 0], positions[:, 1]])
    np.add.at(rows, (places, 1 + positions[:, 0]), 1)
    np.add.at(rows, (places, 1 + size + positions[:, 1]), 1)

    def kappa(totals: "Floats") -> "Floats":
        first, second = totals[:, 1 : 1 + size], totals[:, 1 + size :]
        return _one_less(totals[:, 0] * first.sum(axis=1), np.einsum("ri,rj,ij->r", first, second, distances))

    return _bootstrapped(kappa, rows, f"{weights} weighted kappa", len(rated), seed)


def alpha(
    ratings: "Ratings",
    *,
    seed: int,
    level: Literal["nominal", "ordinal", "interval"] = "ordinal",
    clusters: Sequence[Hashable] | None = None,
) -> Estimate:
    """Krippendorff's alpha: 1 less the disagreement within units over that between any two ratings.

    For any number of raters, with missing ratings. 1 is perfect agreement, 0 is what ratings dealt out at random
    give.

    >>> agreement = alpha([[0, 0, None], [1, 1, 2], [2, None, 2], [0, 1, 0]], seed=0)
    >>> round(agreement.value, 4), agreement.n
    (0.7398, 4)
    """
    import numpy as np

    one_of("level", level, LEVELS)
    rated, places = _rated(ratings, clusters)
    scale, positions = _on_a_scale(rated)
    size = len(scale)
    counts = np.zeros((len(rated), size))
    units, raters = np.nonzero(~np.isnan(rated))
    np.add.at(counts, (units, positions[units, raters]), 1)
    lower, upper = np.triu_indices(size, 1)
    # In a row: how often each value was given, then how often each two values met in a unit.
    met = counts[:, lower] * counts[:, upper] / (counts.sum(axis=1, keepdims=True) - 1)
    rows = np.zeros((places.max() + 1, size + len(lower)))
    np.add.at(rows, places, np.hstack([counts, met]))

    def of(totals: "Floats") -> "Floats":
        given, together = totals[:, :size], totals[:, size:]
        marks = {
            "nominal": lambda: np.eye(size)[None],
            "ordinal": lambda: (np.cumsum(given, axis=1) - given / 2)[:, :, None],
            "interval": lambda: scale[None, :, None],
        }[level]()
        distances = ((marks[:, lower] - marks[:, upper]) ** 2).sum(axis=2)
        expected = (given[:, lower] * given[:, upper] * distances).sum(axis=1)
        return _one_less((given.sum(axis=1) - 1) * (together * distances).sum(axis=1), expected)

    return _bootstrapped(of, rows, f"{level} alpha", len(rated), seed)


def _rated(ratings: "Ratings", clusters: Sequence[Hashable] | None) -> "tuple[Floats, Positions]":
    """The units that have two ratings, in an order of their own, and the position of the cluster of each."""
    import numpy as np

    try:
        table = np.asarray(ratings, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("ratings: expected rows of numbers, or None, of one length") from None
    with np.errstate(invalid="ignore"):
        odd = table.ndim != 2 or table.shape[1] < 2 or bool((np.abs(table) > LARGEST).any())
    if odd:
        expected = "expected a row for each unit with a finite rating, or None, of two raters or more"
        raise ValueError(f"ratings: {expected}, found an array of shape {table.shape}")
    if clusters is not None and len(clusters) != len(table):
        raise ValueError(f"clusters: expected a cluster for each of {len(table)} units, found {len(clusters)}")
    kept = np.flatnonzero((~np.isnan(table)).sum(axis=1) >= 2)
    if not kept.size:
        raise ValueError("ratings: no unit has two ratings")
    # The order of records must not decide the last digit of a cluster's sum.
    kept = kept[np.lexsort(table[kept].T[::-1])]
    if clusters is None:
        return table[kept], np.arange(kept.size)
    positions: dict[Hashable, int] = {}
    places = [positions.setdefault(clusters[unit], len(positions)) for unit in kept.tolist()]
    return table[kept], np.array(places, dtype=np.intp)


def _on_a_scale(rated: "Floats") -> "tuple[Floats, Positions]":
    """The values that were given, in order, and the position of each rating among them; of a missing one, any.

    The values are given as parts of the longest distance: no coefficient depends on the unit of the ratings.
    """
    import numpy as np

    scale = np.unique(rated[~np.isnan(rated)])
    if len(scale) > LONGEST_SCALE:
        expected = f"expected an ordinal scale of at most {LONGEST_SCALE} values"
        raise ValueError(f"ratings: {expected}, found {len(scale)}")
    positions = np.minimum(np.searchsorted(scale, rated), len(scale) - 1)
    longest = scale[-1] - scale[0]
    return (scale - scale[0]) / longest if longest else scale - scale[0], positions


def _one_less(observed: "Floats", expected: "Floats") -> "Floats":
    """1 - observed / expected, of those where any disagreement was to be expected."""
    import numpy as np

    defined = expected > 0
    coefficients: Floats = np.round(1 - observed[defined] / expected[defined], _DIGITS) + 0.0
    return coefficients


def _bootstrapped(
    coefficient: "Callable[[Floats], Floats]", rows: "Floats", name: str, n: int, seed: int
) -> Estimate:
    rows = ordered(rows)
    value = coefficient(rows.sum(axis=0, keepdims=True))
    if not value.size:
        raise ValueError("ratings: all ratings are the same: no coefficient can tell agreement from a constant")
    if len(rows) == 1:
        return without_interval(float(value[0]), n, NO_INTERVAL)
    resampled = coefficient(resampled_totals(rows, seed=seed))
    undefined = (
        f", {RESAMPLES - resampled.size} of {RESAMPLES} samples undefined" if resampled.size < RESAMPLES else ""
    )
    method = f"{name}, cluster bootstrap 95%, {len(rows)} clusters{undefined}"
    return bootstrapped(float(value[0]), resampled, n, method, scale=1.0)
