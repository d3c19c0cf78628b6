"""Two sides over the same items: intervals and tests, against published values, brute force and scipy."""

from itertools import product
from math import inf, isfinite, sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm, permutation_test, ttest_rel

from affidavit.statistics.differences import (
    MOST_FLIPPED_EXACTLY,
    PairedDifference,
    Signs,
    mcnemar,
    sign_flip_test,
    tango,
)
from support.laws import few
from support.simulate_differences import CHOOSY, STEADY, TRUTHS, WORSE, all_ends, tango_coverage, verdict_shares

# --- Tango's interval ---


@pytest.mark.parametrize(
    ("first_only", "second_only", "pairs", "low", "high"),
    [
        # Fagerland, Lydersen and Laake (2014): Bentur and others (2009), Cavo and others (2012).
        (7, 1, 21, -0.517, -0.026),
        (16, 6, 161, -0.1240, -0.0054),
        # Nothing is discordant: z² / (n + z²) to both sides, in closed form.
        (0, 0, 30, -0.11352, 0.11352),
        (0, 0, 1, -0.79346, 0.79346),
    ],
)
def test_tango_gives_the_published_values(first_only, second_only, pairs, low, high):
    # ruling S2
    found = tango(first_only, second_only, pairs=pairs)
    assert found == pytest.approx((low, high), abs=6e-5 if abs(low * 1e4 % 10) > 1e-6 else 5e-4)
    back = tango(second_only, first_only, pairs=pairs)
    assert back == pytest.approx((-high, -low), abs=5e-4)


def score_test_rejects(first_only, second_only, pairs, difference, level):
    """By brute force: the nuisance share that is likeliest at this difference, then the score statistic."""
    lowest, highest = max(0.0, -difference), (1 - difference) / 2
    shares = np.linspace(lowest, highest, 200_001)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = [
            count * np.log(chance) if count else np.zeros(len(shares))
            for count, chance in (
                (first_only, shares),
                (second_only, shares + difference),
                (pairs - first_only - second_only, 1 - 2 * shares - difference),
            )
        ]
    share = shares[np.nanargmax(sum(terms))]
    variance = pairs * (2 * share + difference * (1 - difference))
    return abs(second_only - first_only - pairs * difference) > norm.isf(level / 2) * sqrt(variance)


@pytest.mark.parametrize("level", [0.05, 0.05 / 9])
@pytest.mark.parametrize("table", [(3, 9, 40), (0, 5, 12), (1, 0, 30), (20, 25, 60), (0, 12, 12), (0, 0, 15)])
def test_tango_holds_what_the_score_test_does_not_reject(table, level):
    low, high = tango(*table[:2], pairs=table[2], level=level)
    for end, inwards in ((low, 1), (high, -1)):
        if abs(end) < 1:
            assert not score_test_rejects(*table, end + inwards * 1e-4, level)
            assert score_test_rejects(*table, end - inwards * 1e-4, level)


@few
@given(st.integers(0, 300), st.integers(0, 300), st.integers(1, 2_000), st.floats(1e-6, 0.2))
def test_tango_holds_the_difference_is_never_a_point_and_widens(first_only, second_only, more, level):
    pairs = first_only + second_only + more - 1
    assume(pairs)
    low, high = tango(first_only, second_only, pairs=pairs, level=level)
    value = (second_only - first_only) / pairs
    assert -1 <= low <= value <= high <= 1
    assert high - low > 1e-6
    wider = tango(first_only, second_only, pairs=pairs, level=level / 2)
    assert wider[0] <= low
    assert high <= wider[1]


def test_tango_covers_as_it_says():
    ends = all_ends(20)
    covered = [tango_coverage(20, *truth, ends) for truth in TRUTHS]
    assert np.mean(covered) > 0.94
    assert min(covered) > 0.9


# --- one quantity ---

items = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda sizes: st.tuples(
        st.integers(0, sizes[0]), st.just(sizes[0]), st.integers(0, sizes[1]), st.just(sizes[1])
    )
)


@pytest.mark.slow
@few
@given(st.lists(items, min_size=1, max_size=40), st.floats(1e-4, 0.2))
def test_value_interval_and_test_are_about_the_mean_of_item_differences(rows, level):
    # ruling S2
    change = PairedDifference.of_counts(*zip(*rows, strict=True))
    each = [s2 / n2 - s1 / n1 for s1, n1, s2, n2 in rows]
    found = change.estimate(level)
    assert found.value == change.value == pytest.approx(np.mean(each))
    assert found.n == len(rows)
    assert found.low <= found.value <= found.high
    assert found.high - found.low > 1e-9
    assert change.signs == Signs(
        sum(d > 1e-12 for d in each), sum(d < -1e-12 for d in each), sum(abs(d) <= 1e-12 for d in each)
    )
    single = all(row[1] == row[3] == 1 for row in rows)
    if single:
        expected = mcnemar(change.signs.lower, change.signs.higher, pairs=len(rows))
        assert change.test(0) == expected
        assert (found.low, found.high) == tango(
            change.signs.lower, change.signs.higher, pairs=len(rows), level=level
        )
    else:
        assert change.test(0).p_value == pytest.approx(sign_flip_test(each, seed=0).p_value, abs=0.02)
        if len(rows) < 10:
            assert (found.low, found.high) == (-inf, inf)
            assert found.method == "fewer than 10 items: only the counts"
        elif np.ptp(each) > 1e-9:
            low, high = ttest_rel(each, np.zeros(len(rows))).confidence_interval(1 - level)
            assert (found.low, found.high) == pytest.approx((max(-1, low), min(1, high)))
    least = change.detectable(level)
    assert least is None or 0 < least <= 1
    back = PairedDifference.of_counts(*zip(*[row[2:] + row[:2] for row in rows], strict=True))
    other = back.estimate(level)
    assert (other.value, other.low, other.high) == pytest.approx((-found.value, -found.high, -found.low))
    assert PairedDifference.of_counts(*zip(*rows[::-1], strict=True)) == change


def test_differences_that_are_all_equal_are_no_certainty():
    # rulings S2 and S11
    three = [3] * 12
    same = PairedDifference.of_counts([2] * 12, three, [2] * 12, three).estimate()
    low, high = tango(0, 0, pairs=12)
    assert (same.value, same.low, same.high) == (0.0, low, high)
    assert same.method == "Tango's score interval over items 95%"
    all_won = PairedDifference.of_counts([0] * 12, three, three, three).estimate()
    assert (all_won.value, all_won.low, all_won.high) == (1.0, *tango(0, 12, pairs=12))
    third = PairedDifference.of_counts([1] * 12, three, [4] * 12, [6] * 12)
    assert third.value == pytest.approx(1 / 3)
    assert (third.estimate().low, third.estimate().method) == (-inf, "all 12 differences are equal")


def test_scores_are_compared_on_their_scale():
    first, second = [4.0, 5.0, 3.5, 6.0, 7.0, 2.0, 4.0, 4.5, 5.0, 6.0], [5.0] * 10
    change = PairedDifference.of_means(first, second, scale=8)
    low, high = ttest_rel(second, first).confidence_interval(0.95)
    assert (change.estimate().low, change.estimate().high) == pytest.approx((low, high))
    assert change.estimate(0.01).method == "t over items 99%"
    few_items = PairedDifference.of_means([7.0, 8.0], [4.0, 5.0], scale=8)
    assert not isfinite(few_items.estimate().low), "two items are no evidence of three points"
    same = PairedDifference.of_means(second, second, scale=8).estimate()
    assert (same.low, same.high) == pytest.approx(tuple(8 * end for end in tango(0, 0, pairs=10)))
    with pytest.raises(ValueError, match="at most 2"):
        PairedDifference.of_means([0.0], [3.0], scale=2)


def test_items_of_a_cluster_are_one_unit():
    # ruling S8: the quantity stays the mean over items; what varies are clusters
    random = np.random.default_rng(3)
    first, second = random.integers(0, 2, 60), random.integers(0, 2, 60)
    names, ones = [f"p{n % 15 % 12}" for n in range(60)], [1] * 60
    change = PairedDifference.of_counts(first, ones, second, ones, clusters=names)
    each, clusters = (second - first).astype(float), np.array(names)
    found = change.estimate()
    assert (found.value, found.n, found.clusters) == (pytest.approx(each.mean()), 60, 12)
    residuals = [(each[clusters == name] - each.mean()).sum() for name in dict.fromkeys(names)]
    assert change.standard_error == pytest.approx(sqrt(12 / 11 * np.square(residuals).sum()) / 60)
    totals = [each[clusters == name].sum() for name in dict.fromkeys(names)]
    assert change.test(0) == sign_flip_test(totals, seed=0)
    assert found.method == "t over clusters 95%"
    alone = PairedDifference.of_counts(first, ones, second, ones, clusters=list(range(60)))
    assert alone == PairedDifference.of_counts(first, ones, second, ones)


@pytest.mark.slow
def test_unequal_compliance_makes_no_findings():
    # ruling S2: the ratio of sums called a truly worse model higher in most studies
    higher, lower = verdict_shares(STEADY, CHOOSY, 240, 3, rounds=100)
    assert higher + lower <= 0.1
    assert verdict_shares(STEADY, WORSE, 240, 3, rounds=60)[0] <= 0.025


# --- tests ---


@pytest.mark.parametrize(
    ("first_only", "second_only", "p_value"),
    [
        (9, 2, 0.06543),  # Fay (2010), table of 21, 9, 2, 12
        (1, 8, 20 / 512),
        (0, 5, 2 / 32),
        (5, 5, 1.0),
        (0, 0, 1.0),
    ],
)
def test_mcnemar_gives_the_known_values(first_only, second_only, p_value):
    found = mcnemar(first_only, second_only, pairs=44)
    assert found.p_value == pytest.approx(p_value, rel=1e-4)
    assert found.n == 44
    assert mcnemar(second_only, first_only, pairs=44) == found


def test_the_mid_p_form_gives_the_known_values():
    # Fagerland, Lydersen and Laake (2013): Bentur and others; (2014): Cavo and others.
    assert mcnemar(1, 7, pairs=21, mid_p=True).p_value == pytest.approx(0.0391, abs=5e-5)
    assert mcnemar(16, 6, pairs=161, mid_p=True).p_value == pytest.approx(0.034690, abs=5e-7)
    assert mcnemar(16, 6, pairs=161).p_value == pytest.approx(0.052479, abs=5e-7)
    assert mcnemar(5, 5, pairs=10, mid_p=True).p_value == pytest.approx(1.0)
    assert mcnemar(0, 0, pairs=10, mid_p=True).p_value == 1.0


@pytest.mark.parametrize(("half", "apart"), [(10**6, 2_000), (10**9, 60_000), (4 * 10**11, 10**6)])
def test_mcnemar_of_very_many_pairs_is_the_normal_test(half, apart):
    found = mcnemar(half - apart, half + apart, pairs=10**12)
    assert found.p_value == pytest.approx(2 * norm.sf(2 * apart / sqrt(2 * half)), rel=0.01)


@few
@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_binomial_test(first_only, second_only):
    assume(first_only + second_only)
    expected = binomtest(first_only, first_only + second_only).pvalue
    assert mcnemar(first_only, second_only, pairs=200).p_value == pytest.approx(expected)


@few
@given(st.lists(st.integers(-5, 5).map(lambda each: each / 10), min_size=1, max_size=8))
def test_sign_flips_are_all_tried(differences):
    sums = [abs(sum(np.multiply(signs, differences))) for signs in product((1, -1), repeat=len(differences))]
    expected = np.mean(np.array(sums) >= abs(sum(differences)) - 1e-9)
    found = sign_flip_test(differences, seed=0)
    assert (found.p_value, found.n) == (pytest.approx(expected), len(differences))
    assert sign_flip_test(differences[::-1], seed=1) == found


def test_sign_flips_agree_with_scipy_and_with_their_own_draws():
    random = np.random.default_rng(4)
    differences = random.normal(0.4, 1, MOST_FLIPPED_EXACTLY)
    exact = sign_flip_test(differences, seed=0)
    theirs = permutation_test(
        (differences,), np.mean, vectorized=True, permutation_type="samples", n_resamples=20_000, rng=random
    )
    assert exact.method == "sign flips, all patterns"
    assert exact.p_value == pytest.approx(theirs.pvalue, abs=0.01)
    drawn = sign_flip_test(np.append(differences, 1e-9), seed=0)
    assert drawn.method == "sign flips, 9,999 patterns drawn"
    assert drawn.p_value == pytest.approx(exact.p_value, abs=0.01)
    assert sign_flip_test(np.append(differences, 1e-9), seed=0) == drawn
    # What was found is one of the patterns: nothing is impossible.
    drawn = sign_flip_test([*np.ones(40), -0.5], seed=0, patterns=99)
    assert (drawn.p_value, drawn.method) == (0.01, "sign flips, 99 patterns drawn"), "no p-value is 0"
    alike = sign_flip_test(-np.ones(40), seed=0, patterns=99)
    assert (alike.p_value, alike.method) == (2.0**-39, "sign flips, all patterns"), (
        "of one sign: two of all patterns"
    )
