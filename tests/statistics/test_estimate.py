"""How a figure is worded, everywhere the same, and the clusters that figures are made of."""

import re
from math import inf, nextafter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from affidavit.statistics.clusters import cluster_columns, distinct, ordered
from affidavit.statistics.estimate import Estimate, Form, in_words, signed, worded
from affidavit.statistics.shares import wilson


@pytest.mark.parametrize(
    ("estimate", "form", "words"),
    [
        (Estimate(0.733, 0.556, 0.858, 30, "Wilson 95%"), Form.SHARE, "73.3% [55.6, 85.8] n=30"),
        (Estimate(1.0, 0.9, 1.0, 12_000, "Wilson 95%"), Form.SHARE, "100.0% [90.0, 100.0] n=12,000"),
        (Estimate(-0.051, -0.127, 0.025, 40, ""), Form.POINTS, "−5.1 points [−12.7, +2.5] n=40"),
        (Estimate(0.0001, -0.0002, 0.0003, 4, ""), Form.POINTS, "+0.01 points [−0.02, +0.03] n=4"),
        (Estimate(0.0004, -0.2, 0.3, 4, ""), Form.POINTS, "0.0 points [−20.0, +30.0] n=4"),
        (Estimate(1.501, 1.499, 1.504, 12, ""), Form.MEAN, "1.501 [1.499, 1.504] n=12"),
        (Estimate(1.0, -inf, inf, 3, "no interval"), Form.SHARE, "100.0% n=3, no interval"),
        (Estimate(0.9998, -inf, inf, 5000, "no interval"), Form.SHARE, "99.98% n=5,000, no interval"),
        # What only rounding tells apart is one number.
        (Estimate(0.3, 0.1, nextafter(0.3, 1), 9, ""), Form.SHARE, "30.0% [10.0, 30.0] n=9"),
        (wilson(8_000, 8_000), Form.SHARE, "100.00% [99.95, 100.00] n=8,000"),
        (wilson(40, 40_000), Form.SHARE, "0.10% [0.07, 0.14] n=40,000"),
        (wilson(999_999, 10**6), Form.SHARE, "99.9999% [99.9994, 100.0000] n=1,000,000"),
        (wilson(1_999, 2_000), Form.SHARE, "99.95% [99.72, 99.99] n=2,000"),
        (wilson(1, 2_001), Form.SHARE, "0.05% [0.01, 0.28] n=2,001"),
        # Beyond six digits the ends are rounded outwards.
        (wilson(10**9, 10**9), Form.SHARE, "100.000000% [99.999999, 100.000000] n=1,000,000,000"),
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


NUMBER = r"[−+-]?\d+\.(\d+)"


@given(
    st.lists(st.floats(0, 1) | st.floats(0.999, 1) | st.floats(0, 1e-7), min_size=3, max_size=3).map(sorted),
    st.sampled_from(Form),
)
def test_no_interval_looks_like_a_point_and_no_share_like_a_certainty(three, form):
    # ruling S11
    low, value, high = three
    assume(low < high)
    parts = worded(Estimate(value, low, high, 9, ""), form)
    low_text, high_text = parts.interval[1:-1].split(", ")
    figure = re.match(NUMBER, parts.figure)
    assert figure is not None
    assert len({len(re.fullmatch(NUMBER, text)[1]) for text in (low_text, high_text, figure[0])}) == 1
    shown = [float(text.replace("−", "-")) for text in (low_text, figure[0], high_text)]
    assert shown == sorted(shown)
    assert low_text != high_text
    if form is Form.SHARE and 0 < value < 1:
        assert 0 < shown[1] < 100


@given(st.integers(1, 5_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_ordinary_shares_have_one_digit(counts):
    found = wilson(*counts)
    once = [f"{100 * number:.1f}" for number in (found.value, found.low, found.high)]
    if len(set(once)) == 3 and once[0] not in {"0.0", "100.0"}:
        assert str(found) == f"{once[0]}% [{once[1]}, {once[2]}] n={counts[1]:,}"


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
        (([1], [0]), "counts: expected no sum without a count, found one at position 0"),
        (([1], [-1]), "counts: expected whole numbers from 0 to 1,000,000,000,000, found -1 at position 0"),
        (([1], [1.5]), "counts: expected whole numbers from 0 to 1,000,000,000,000, found 1.5 at position 0"),
        (([inf], [1]), "sums: expected finite numbers .* found inf at position 0"),
        (([0, float("nan")], [1, 1]), "sums: expected finite numbers .* found nan at position 1"),
        (([1, 2], [1]), "sums, counts: expected columns of one length, found 2 and 1"),
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
