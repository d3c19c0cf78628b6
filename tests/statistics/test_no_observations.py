"""Over no observations, or over what is none, there is no figure: every function says why."""

import re

import pytest

from affidavit.statistics.agreement import (
    LONGEST_SCALE,
    alpha,
    exact_agreement,
    mean_absolute_difference,
    weighted_kappa,
)
from affidavit.statistics.differences import PairedDifference, mcnemar, sign_flip_test, tango
from affidavit.statistics.means import cluster_mean, clustered_standard_error, clustered_t_mean, mean_of_clusters
from affidavit.statistics.multiplicity import benjamini_hochberg, holm
from affidavit.statistics.power import (
    clusters_needed,
    detectable_difference,
    detectable_mean,
    detectable_paired_difference,
    observations_needed,
    pairs_needed,
)
from affidavit.statistics.repeated_samples import majority, majority_at_k, pass_at_k
from affidavit.statistics.shares import bounds_of_share, wilson, wilson_shares


@pytest.mark.parametrize(
    ("figure", "why"),
    [
        (lambda: wilson(0, 0), "no share of 0 in 0"),
        (lambda: wilson(3, 2), "no share of 3 in 2"),
        (lambda: wilson_shares([], []), "no share at positions []"),
        (lambda: wilson_shares([1, 0], [2, 0]), "no share at positions [1]"),
        (lambda: bounds_of_share(0, 0, 0), "no share of 0 in 0"),
        (lambda: bounds_of_share(1, 0, 3), "no bounds of 1 in 0 with 3 missing"),
        (lambda: cluster_mean([], seed=0), "no mean of nothing"),
        (lambda: mean_of_clusters([0, 0], [0, 0], seed=0), "no mean of nothing"),
        (
            lambda: mean_of_clusters([1, 2], [0, 1], seed=0),
            "counts: expected no sum without a count, found one at position 0",
        ),
        (lambda: mean_of_clusters([1, 2], [1, 1], [0, 0], seed=0), "times: no mean of nothing"),
        (lambda: clustered_standard_error([1], [1]), "no standard error from one cluster"),
        (lambda: clustered_t_mean([], []), "no mean of nothing"),
        (
            lambda: PairedDifference.of_counts([1, 2], [2, 2], [0, 0], [0, 0]),
            "expected samples of every item on both sides, and no more successes than samples",
        ),
        (
            lambda: PairedDifference.of_counts([], [], [], []),
            "expected four counts for each of at least one item",
        ),
        (
            lambda: PairedDifference.of_means([], [], scale=1),
            "first: expected two finite means for each of at least one item, found none",
        ),
        (lambda: tango(0, 0, pairs=0), "no comparison of 0 against 0 in 0 pairs"),
        (lambda: mcnemar(0, 0, pairs=0), "no comparison of 0 against 0 in 0 pairs"),
        (lambda: mcnemar(3, 3, pairs=5), "no comparison of 3 against 3 in 5 pairs"),
        (lambda: sign_flip_test([], seed=0), "differences: no test over no differences"),
        (lambda: holm([]), "expected at least one p-value, each between 0 and 1"),
        (lambda: benjamini_hochberg([0.5, 1.5]), "expected at least one p-value, each between 0 and 1"),
        (lambda: holm([float("nan")]), "expected at least one p-value, each between 0 and 1"),
        (lambda: pass_at_k([], [], k=1), "no item has so many samples"),
        (lambda: pass_at_k([1], [2], k=3), "no item has so many samples"),
        (lambda: pass_at_k([3], [2], k=1), "expected no more right samples than samples"),
        (lambda: pass_at_k([1], [2], k=10**12), "no item has so many samples"),
        (lambda: majority([]), "no majority of no answers"),
        (lambda: majority_at_k([{"A": 1}], ["A"], k=3), "no item has so many samples"),
        (lambda: majority_at_k([{"A": 1}], [], k=3), "right: expected one answer for each of 1 items, found 0"),
        (lambda: exact_agreement([[1, None]]), "no unit has two ratings"),
        (
            lambda: exact_agreement([[1], [2]]),
            "expected a row for each unit with a finite rating, or None, of two raters or more",
        ),
        (lambda: mean_absolute_difference([[1, None]], seed=0), "no unit has two ratings"),
        (
            lambda: mean_absolute_difference([[1, 2]], seed=0, clusters=[]),
            "expected a cluster for each of 1 units, found 0",
        ),
        (
            lambda: alpha([[1, 1], [1, 1]], seed=0),
            "all ratings are the same: no coefficient can tell agreement from a constant",
        ),
        (
            lambda: weighted_kappa([[1, 1], [1, 1]], weights="linear", seed=0),
            "all ratings are the same: no coefficient can tell agreement from a constant",
        ),
        (
            lambda: weighted_kappa([[1, 1, 2]], weights="linear", seed=0),
            "weighted kappa is of two raters, not of 3; see alpha",
        ),
        (
            lambda: alpha([[value, value + 0.5] for value in range(LONGEST_SCALE)], seed=0),
            "expected an ordinal scale of at most 50 values, found 100",
        ),
        (lambda: observations_needed(0.5, 0.5), "expected two different shares, found 0.5 and 0.5"),
        (
            lambda: observations_needed(0.5, 0.6, power=0.3),
            "expected a level from 1e-09, below 1, and a power of 0.5 or more, found 0.05 and 0.3",
        ),
        (lambda: detectable_difference(0.5, 0), "expected a share and at least one observation, found 0.5 and 0"),
        (
            lambda: detectable_difference(0.5, 3),
            "no difference between two shares could be shown with 3 observations of each",
        ),
        (lambda: pairs_needed(0.3, 0.2), "expected 0 < difference <= discordance <= 1, found 0.3 and 0.2"),
        (
            lambda: detectable_paired_difference(1.5, 10),
            "expected 0 <= discordance <= 1 and at least one pair, found 1.5 and 10",
        ),
        (
            lambda: detectable_paired_difference(0.1, 3),
            "no difference could be shown with 3 pairs, 10.0% of them discordant",
        ),
        (lambda: detectable_mean(0.0, 10), "standard_error: expected a number above 0, found 0.0"),
        (lambda: clusters_needed(0.0, 0.1, 10), "no number of clusters shows a difference of 0"),
    ],
)
def test_nothing_is_said_over_nothing(figure, why):
    with pytest.raises(ValueError, match=re.escape(why)):
        figure()
