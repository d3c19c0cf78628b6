"""How a figure is worded, everywhere the same, and the clusters that figures are made of."""

from math import inf

import numpy as np
import pytest

from affidavit.statistics.clusters import cluster_columns, distinct, ordered
from affidavit.statistics.estimate import Estimate, Form, in_words, signed, worded


@pytest.mark.parametrize(
    ("estimate", "form", "words"),
    [
        (Estimate(0.733, 0.556, 0.858, 30, "Wilson 95%"), Form.SHARE, "73.3% [55.6, 85.8] n=30"),
        (Estimate(1.0, 0.9, 1.0, 12_000, "Wilson 95%"), Form.SHARE, "100.0% [90.0, 100.0] n=12,000"),
        (Estimate(-0.051, -0.127, 0.025, 40, ""), Form.POINTS, "−5.1 points [−12.7, +2.5] n=40"),
        (Estimate(0.0001, -0.0002, 0.0003, 4, ""), Form.POINTS, "0.0 points [0.0, 0.0] n=4"),
        (Estimate(1.5, 1.1, 1.9, 12, ""), Form.MEAN, "1.50 [1.10, 1.90] n=12"),
        (
            Estimate(0.5, -inf, inf, 2, "one cluster: no interval"),
            Form.SHARE,
            "50.0% n=2, one cluster: no interval",
        ),
    ],
)
def test_a_figure_has_one_wording(estimate, form, words):
    assert in_words(estimate, form) == words
    assert words.startswith(" ".join(part for part in worded(estimate, form) if part))


def test_a_share_is_what_an_estimate_is_unless_it_is_said_otherwise():
    assert str(Estimate(0.5, 0.4, 0.6, 9, "")) == "50.0% [40.0, 60.0] n=9"


@pytest.mark.parametrize(("points", "words"), [(2.5, "+2.5"), (-0.04, "0.0"), (0.0, "0.0"), (-12.74, "−12.7")])
def test_a_difference_has_its_sign(points, words):
    assert signed(points) == words


def test_clusters_without_an_observation_are_left_out_and_their_order_is_their_own():
    one = cluster_columns([3, 0, 1], [2, 0, 1])
    assert one.tolist() == [[1, 1], [3, 2]]
    assert cluster_columns([1, 3, 0], [1, 2, 0]).tolist() == one.tolist()


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        (([], []), "no mean of nothing"),
        (([0], [0]), "no mean of nothing"),
        (([1], [0]), "expected counts of 0 or more, and no sum without a count"),
        (([1], [-1]), "expected counts of 0 or more, and no sum without a count"),
        (([inf], [1]), "expected one finite sum and one count for each cluster"),
        (([float("nan")], [1]), "expected one finite sum and one count for each cluster"),
    ],
)
def test_what_is_no_cluster_is_refused(columns, why):
    with pytest.raises(ValueError, match=why):
        cluster_columns(*columns)


def test_equal_rows_are_counted_together():
    rows = np.array([[1.0, 2.0], [0.0, 2.0], [1.0, 2.0]])
    kinds, times = distinct(rows)
    assert (kinds.tolist(), times.tolist()) == ([[0, 2], [1, 2]], [1, 2])
    kinds, times = distinct(rows, [5, 1, 2])
    assert times.tolist() == [1, 7]
    assert ordered(rows).tolist() == sorted(rows.tolist())
