"""Shares: published intervals, laws, and how often Wilson's interval holds the truth."""

from collections import Counter
from math import inf
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binomtest

from affidavit.statistics.shares import ClusterSums, bounds, bounds_of_share, share, wilson, wilson_shares
from support.laws import few
from support.literal_shares import literal_share, same
from support.measure_coverage import wilson_coverage
from support.simulate_shares import cell, cells, table


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    # Newcombe (1998), table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_the_published_intervals(successes, n, low, high):
    found = wilson(successes, n)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)
    assert (found.value, found.n) == (successes / n, n)


@pytest.mark.slow
@few
@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_that_of_scipy_and_of_the_columns(counts):
    found, theirs = wilson(*counts), binomtest(*counts).proportion_ci(method="wilson")
    assert found.low == pytest.approx(theirs.low, abs=1e-12)
    assert found.high == pytest.approx(theirs.high, abs=1e-12)
    columns = wilson_shares([counts[0], 1], [counts[1], 2])
    assert [each[0] for each in columns] == pytest.approx([found.value, found.low, found.high], abs=1e-15)


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.integers(2, 50))
def test_wilson_holds_its_value_mirrors_and_narrows(counts, times):
    successes, n = counts
    share, mirrored, more = wilson(successes, n), wilson(n - successes, n), wilson(successes * times, n * times)
    assert 0 <= share.low <= share.value <= share.high <= 1
    assert share.low == pytest.approx(1 - mirrored.high)
    assert more.high - more.low < share.high - share.low


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.data())
def test_bounds_hold_the_share_whatever_is_missing(right, wrong, missing, data):
    assume(right + wrong + missing)
    bounds = bounds_of_share(right, right + wrong, missing)
    truly_right = data.draw(st.integers(0, missing))
    share = (right + truly_right) / (right + wrong + missing)
    assert bounds.if_wrong.value <= share <= bounds.if_right.value
    assert bounds.if_wrong.n == bounds.if_right.n == right + wrong + missing


def test_wilson_covers_on_the_stated_grid():
    """n from 50, shares from 0.1 to 0.9: exact, no simulation."""
    found = [wilson_coverage(n, share) for n in (50, 100, 400) for share in np.arange(0.1, 0.901, 0.05)]
    assert 0.945 < np.mean(found) < 0.96
    assert min(found) > 0.93


# --- over clusters (ruling S1) ---

clusters = st.lists(
    st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=40
)


@pytest.mark.slow
@given(clusters, st.randoms(use_true_random=False))
def test_the_interval_over_clusters_is_the_one_that_the_ruling_words(given_clusters, random):
    found = share(ClusterSums.of(given_clusters))
    assert same(found, literal_share(given_clusters))
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0, "agreement is no certainty"
    shuffled = random.sample(given_clusters, len(given_clusters))
    assert share(ClusterSums.of([*shuffled, (0, 0)])) == found, "in any order; an empty cluster says nothing"


@pytest.mark.slow
@given(clusters)
def test_what_is_no_success_has_the_interval_turned_round(given_clusters):
    sums = ClusterSums.of(given_clusters)
    assert sums.opposite == ClusterSums.of([(n - successes, n) for successes, n in given_clusters])
    one, other = share(sums), share(sums.opposite)
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low))


@pytest.mark.slow
@given(clusters)
def test_kinds_of_clusters_add_up_to_the_clusters(given_clusters):
    counted = Counter(given_clusters)
    assert ClusterSums.counted((*kind, times) for kind, times in counted.items()) == ClusterSums.of(given_clusters)
    half = len(given_clusters) // 2
    parts = ClusterSums.of(given_clusters[:half]), ClusterSums.of(given_clusters[half:])
    assert parts[0].plus(parts[1]) == ClusterSums.of(given_clusters)


def test_no_table_of_forty_items_passes_a_gate_that_all_right_fails():
    """79 of 80 right was once surer than 80 of 80."""
    certain = share(ClusterSums.of([(2, 2)] * 40))
    for both in range(41):
        for one in range(41 - both):
            kinds = [(2, 2, both), (1, 2, one), (0, 2, 40 - both - one)]
            found = share(ClusterSums.counted(kinds))
            assert found.low <= certain.low
            assert found.high >= 1 - certain.low


@pytest.mark.slow
@given(clusters, st.data())
def test_bounds_hold_whatever_the_missing_ones_were(given_clusters, data):
    wrong = [data.draw(st.integers(0, n - right)) for right, n in given_clusters]
    sizes = [n for _, n in given_clusters]
    low, high = bounds(ClusterSums.of(given_clusters), ClusterSums.of(list(zip(wrong, sizes, strict=True))))
    truth = [
        right + data.draw(st.integers(0, n - right - no))
        for (right, n), no in zip(given_clusters, wrong, strict=True)
    ]
    assert low.value <= sum(truth) / sum(sizes) <= high.value
    assert (low.n, high.n) == (sum(sizes), sum(sizes))


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ((3, 2, 1), "successes: no share of 3 in 2"),
        ((-1, 2, 1), "successes: expected a whole number from 0"),
        ((1, 2, -1), "times: expected a whole number from 0"),
        ((1, inf, 1), "n: expected a whole number from 0"),
    ],
)
def test_what_is_no_cluster_is_no_share(kind, why):
    with pytest.raises(ValueError, match=why):
        ClusterSums.counted([kind])


@pytest.mark.parametrize(
    "sums",
    [
        ClusterSums(2, 4, 3, 2, 2, 3),
        ClusterSums(1, 4, 8, 2, 4, 8),
        ClusterSums(0, 4, 8, 2, 4, 8),
        ClusterSums(2, 4, 8, 2, 1, 4),
        ClusterSums(2, 4, 8, 2, 9, 8),
    ],
)
def test_sums_that_no_clusters_have_are_refused(sums):
    with pytest.raises(ValueError, match="sums: expected those of clusters"):
        share(sums)


def held(found: list) -> None:
    """What the ruling promises of coverage."""
    assert min(each.coverage for each in found) >= 0.89
    assert sum(each.coverage for each in found) / len(found) >= 0.94
    assert max(each.above for each in found) <= 0.035


@pytest.mark.slow
def test_coverage_over_clusters_in_a_few_worlds():
    held([cell(items, 2, truth, 0.3, draws=4000) for items in (5, 40) for truth in (0.5, 0.9)])


@pytest.mark.slow
def test_coverage_over_clusters_in_all_worlds():
    found = list(cells())
    held(found)
    page = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text(encoding="utf-8")
    assert table(found) in page
