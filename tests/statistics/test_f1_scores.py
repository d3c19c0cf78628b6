"""F1 and macro-F1 beside a literal count, and their intervals beside every sample that there is (rulings L7, L8)."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.statistics.bootstrap import RESAMPLES
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.f1_scores import F1Scores, f1_scores
from support.literal_shares import literal_share

Cluster = Sequence[Sequence[int]]
"""TP, FP and FN of each label."""


def scored(clusters: Sequence[Cluster], seed: int = 3) -> F1Scores:
    """Every cluster for itself."""
    return f1_scores(np.array(clusters), np.ones(len(clusters), dtype=int), outputs=len(clusters), seed=seed)


def literal(clusters: Sequence[Cluster]) -> tuple[list[Fraction | None], Fraction | None]:
    """By the words of ruling L7, in exact numbers."""
    found = []
    for at in range(len(clusters[0])):
        tp, fp, fn = (sum(cluster[at][kind] for cluster in clusters) for kind in range(3))
        found.append(Fraction(2 * tp, 2 * tp + fp + fn) if tp + fp + fn else None)
    there = [each for each in found if each is not None]
    return found, sum(there) / len(there) if there else None


# One output for a cluster: each label is a TP, an FP, an FN, or none of these.
outcome = st.sampled_from([(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)])
two_labels = st.tuples(outcome, outcome)
several = st.tuples(*(st.tuples(*(st.integers(0, 3),) * 3),) * 2)


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(two_labels | several, min_size=1, max_size=12))
def test_values_are_those_of_a_literal_count(clusters):
    found, (labels, macro) = scored(clusters), literal(clusters)
    for estimate, expected in zip((*found.labels, found.macro), (*labels, macro), strict=True):
        assert (estimate is None) == (expected is None)
        if estimate is not None:
            assert estimate.value == pytest.approx(float(expected), abs=1e-12)
            assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
            assert estimate.low < estimate.high, "ruling S11: no interval has zero width"


def every_sample(clusters: Sequence[Cluster]) -> list[list[Fraction | None]]:
    """F1 of each label, and macro-F1, in each of the samples that could be drawn, all equally likely."""
    drawn = (literal(sample) for sample in product(clusters, repeat=len(clusters)))
    return [[*labels, macro] for labels, macro in drawn]


def is_quantile(end: float, values: Sequence[float], share: float) -> bool:
    """Whether so much of the samples lies below an end, give or take what 2,000 draws may be off by."""
    off = 4 * (share * (1 - share) / RESAMPLES) ** 0.5
    below = sum(value < end - 1e-12 for value in values) / len(values)
    up_to = sum(value <= end + 1e-12 for value in values) / len(values)
    return below - off <= share <= up_to + off


def is_beyond(values: Sequence[float], end: float) -> bool:
    """Whether no more of the samples than 2.5 % lie above an end, give or take the same."""
    off = 4 * (0.025 * 0.975 / RESAMPLES) ** 0.5
    return sum(value > end + 1e-12 for value in values) / len(values) <= 0.025 + off


@pytest.mark.parametrize(
    "clusters",
    [
        [[(1, 0, 0), (0, 1, 0)], [(0, 0, 1), (1, 0, 0)], [(1, 0, 0), (0, 0, 0)], [(1, 0, 0), (0, 0, 1)], [(0, 1, 0), (1, 0, 0)]],
        [[(2, 1, 0), (0, 0, 3)], [(1, 0, 2), (1, 0, 0)], [(0, 0, 0), (0, 2, 0)], [(3, 0, 0), (1, 1, 1)]],
        [[(1, 0, 0), (0, 0, 0)], [(1, 1, 0), (0, 0, 0)], [(0, 0, 1), (2, 1, 0)], [(1, 0, 0), (0, 1, 0)]],
        # Small clusters are all right and large ones all wrong: samples of small ones alone lie beyond the share's end.
        [[(1, 0, 0), (0, 9, 0)], [(0, 9, 2), (1, 0, 0)], [(0, 9, 0), (1, 0, 0)], [(1, 0, 0), (1, 9, 0)]],
        # Labels that are always right and not in every sample: the mean is over those that are there.
        [[(1, 0, 0), (1, 0, 0), (0, 0, 0)], [(1, 0, 0), (0, 0, 0), (1, 0, 0)], *[[(1, 0, 0), (0, 0, 0), (0, 0, 0)]] * 3],
    ],
)  # fmt: skip
def test_ends_are_the_outer_ones_of_every_sample_that_could_be_drawn_and_of_a_share(clusters):
    """Ruling L8, by brute force: a sample in which a label does not occur is left out for it."""
    found, samples = scored(clusters), every_sample(clusters)
    shares = [literal_share(by_share(clusters, at)) for at in range(len(found.labels))]
    beside = [*((each.low, each.high) for each in shares), squared_and_added(shares)]
    for at, (estimate, (low, high)) in enumerate(zip((*found.labels, found.macro), beside, strict=True)):
        values = [float(sample[at]) for sample in samples if sample[at] is not None]
        assert estimate.low <= low + 1e-12
        assert estimate.high >= high - 1e-12
        assert is_quantile(estimate.low, values, 0.025) or estimate.low == pytest.approx(low)
        assert is_quantile(estimate.high, values, 0.975) or estimate.high == pytest.approx(high)
        assert is_beyond([-value for value in values], -estimate.low)
        assert is_beyond(values, estimate.high)
        assert ("undefined" in estimate.method) == (len(values) < len(samples))


def by_share(clusters: Sequence[Cluster], at: int) -> list[tuple[int, int]]:
    """2 TP, and 2 TP + FP + FN, of every cluster in which the label occurs."""
    there = [cluster[at] for cluster in clusters if any(cluster[at])]
    return [(2 * tp, 2 * tp + fp + fn) for tp, fp, fn in there]


def squared_and_added(shares: Sequence[Estimate]) -> tuple[float, float]:
    mean = sum(each.value for each in shares) / len(shares)
    below = sum((each.value - each.low) ** 2 for each in shares) ** 0.5 / len(shares)
    above = sum((each.high - each.value) ** 2 for each in shares) ** 0.5 / len(shares)
    return max(0.0, mean - below), min(1.0, mean + above)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6])
def test_one_error_makes_no_label_and_no_mean_surer(share):
    """Ruling L8: samples of a label that is always right are all alike, and that is no certainty."""
    items = 60
    of_label = [int(items * share), 17, 3]
    lows = []
    for errors in range(4):
        clusters = [
            [(0, 0, 0) if item >= size else (0, 0, 1) if at == 0 and item < errors else (1, 0, 0) for at, size in enumerate(of_label)]
            for item in range(items)
        ]  # fmt: skip
        labels, macro = scored(clusters)
        lows.append((labels[0].low, macro.low))
    assert lows == sorted(lows, reverse=True)
    assert [low for _, low in lows] == sorted((low for _, low in lows), reverse=True)


@pytest.mark.parametrize(
    ("outcome", "times", "counted"),
    [((1, 0, 0), 12, (2, 2)), ((0, 1, 0), 12, (0, 1)), ((0, 0, 2), 7, (0, 2)), ((1, 1, 0), 1, (2, 3))],
)
def test_where_all_samples_agree_the_interval_is_that_of_a_share(outcome, times, counted):
    """Ruling L8: agreement is no certainty."""
    (found,), macro = f1_scores(np.array([[outcome]]), np.array([times]), outputs=times, seed=3)
    expected = literal_share([counted] * times)
    assert (found.value, found.low, found.high) == pytest.approx((expected.value, expected.low, expected.high))
    assert (macro.value, macro.low, macro.high) == pytest.approx((found.value, found.low, found.high))


def test_a_macro_average_in_which_all_samples_agree_has_the_distances_of_its_labels():
    """One label always right, another never: every sample gives one half."""
    labels, macro = f1_scores(np.array([[(1, 0, 0), (0, 1, 0)]]), np.array([9]), outputs=9, seed=3)
    assert [label.value for label in labels] == [1.0, 0.0]
    assert macro.value == 0.5
    assert (macro.low, macro.high) == pytest.approx(squared_and_added(labels))
    assert macro.low < 0.5 < macro.high


def test_a_label_that_never_occurs_has_no_score_and_no_part_in_the_mean():
    labels, macro = scored([[(1, 0, 0), (0, 0, 0)], [(0, 1, 0), (0, 0, 0)]])
    assert labels[1] is None
    assert macro.value == labels[0].value
    assert scored([[(0, 0, 0)]]) == F1Scores((None,), None)


def ends(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.value, estimate.low, estimate.high


def test_neither_the_order_of_clusters_nor_how_they_are_counted_changes_anything():
    kinds, times = [[(1, 0, 0), (0, 1, 0)], [(0, 0, 1), (1, 0, 0)], [(2, 0, 1), (0, 0, 0)]], [5, 3, 2]
    apart = [kind for kind, many in zip(kinds, times, strict=True) for _ in range(many)]
    together = f1_scores(np.array(kinds), np.array(times), outputs=10, seed=3)
    for found in (scored(apart), scored(apart[::-1])):
        for one, other in zip((*found.labels, found.macro), (*together.labels, together.macro), strict=True):
            assert ends(one) == pytest.approx(ends(other), abs=1e-12)
    assert scored(apart) == scored(apart), "the same seed, the same interval"


def test_outputs_and_clusters_are_both_told():
    """Of a label, those in which it occurs."""
    kinds = np.array([[(1, 1, 0), (0, 0, 0)], [(0, 2, 0), (1, 0, 0)]])
    labels, macro = f1_scores(kinds, np.array([3, 4]), outputs=14, seed=3)
    assert [(each.n, each.clusters) for each in (*labels, macro)] == [(14, 7), (4, None), (14, 7)]
