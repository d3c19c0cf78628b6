"""Figures with their uncertainty: published answers, laws, enumeration, and how often intervals hold the truth."""

import subprocess
import sys
import tracemalloc
from itertools import combinations, product
from math import comb, inf, isfinite, sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, false_discovery_control, permutation_test

from affidavit.statistics.agreement import (
    LONGEST_SCALE,
    alpha,
    exact_agreement,
    mean_absolute_difference,
    weighted_kappa,
)
from affidavit.statistics.differences import (
    MOST_FLIPPED_EXACTLY,
    benjamini_hochberg,
    difference_of_clusters,
    holm,
    mcnemar,
    sign_flip_test,
)
from affidavit.statistics.estimates import (
    MOST_DRAWN_BY_BINOMIALS,
    bounds_of_share,
    cluster_mean,
    clustered_standard_error,
    clustered_t_mean,
    mean_of_clusters,
    resampled_totals,
    wilson,
    wilson_shares,
)
from affidavit.statistics.power import (
    clusters_needed,
    detectable_difference,
    detectable_mean,
    detectable_paired_difference,
    observations_needed,
    pairs_needed,
)
from affidavit.statistics.repeated_samples import majority, majority_at_k, pass_at_k, yield_at_k
from support.measure_coverage import WORLDS, by_bootstrap, by_t, coverage, wilson_coverage

few = settings(max_examples=25)
"""For laws that draw thousands of samples in each example."""
scores = st.integers(-20, 20).map(float)
clusters_of_values = st.lists(st.lists(scores, min_size=1, max_size=4), min_size=2, max_size=12)


def totals(clusters):
    return [sum(each) for each in clusters], [len(each) for each in clusters]


# --- shares ---


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    # Newcombe (1998), table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_the_published_intervals(successes, n, low, high):
    share = wilson(successes, n)
    assert (round(share.low, 4), round(share.high, 4)) == (low, high)
    assert (share.value, share.n) == (successes / n, n)


@few
@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_that_of_scipy_and_of_the_columns(counts):
    share, theirs = wilson(*counts), binomtest(*counts).proportion_ci(method="wilson")
    assert share.low == pytest.approx(theirs.low, abs=1e-12)
    assert share.high == pytest.approx(theirs.high, abs=1e-12)
    columns = wilson_shares([counts[0], 1], [counts[1], 2])
    assert [each[0] for each in columns] == pytest.approx([share.value, share.low, share.high], abs=1e-15)


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


# --- means of clusters ---


def test_the_draws_of_a_seed_are_fixed():
    """A report that is made again shows the same digits: multinomial counts over kinds of clusters, in order of their sums."""
    values = [(cluster, float((7 * cluster + 3 * sample) % 11)) for cluster in range(12) for sample in range(3)]
    mean = cluster_mean(values, seed=3)
    sums = [sum(v for c, v in values if c == each) for each in range(12)]
    kinds, times = np.unique(sums, return_counts=True)
    drawn = np.random.default_rng(3).multinomial(12, times / 12, size=2000)
    low, high = np.quantile(drawn @ kinds / (drawn @ np.full(len(kinds), 3)), [0.025, 0.975])
    assert (mean.value, mean.low, mean.high) == pytest.approx((sum(sums) / 36, low, high))
    assert (mean.n, mean.method) == (36, "cluster bootstrap 95%, 12 clusters")


def test_one_cluster_says_nothing_about_others():
    for mean in (mean_of_clusters([3], [2], seed=0), clustered_t_mean([3, 0], [2, 0])):
        assert (mean.value, mean.low, mean.high, mean.n) == (1.5, -inf, inf, 2)
        assert mean.method == "one cluster: no interval"


def test_single_observations_have_the_usual_standard_error():
    values = np.array([1.0, 4.0, 2.0, 8.0])
    assert clustered_standard_error(values, np.ones(4)) == pytest.approx(values.std(ddof=1) / 2)
    mean = clustered_t_mean(values, np.ones(4))
    # Student's t with 3 degrees of freedom: 3.182.
    assert mean.high - mean.value == pytest.approx(3.182446 * values.std(ddof=1) / 2)


def test_samples_that_repeat_each_other_add_nothing():
    """Ten copies of each observation in its cluster: the standard error is that of the observations alone."""
    values = np.array([1.0, 4.0, 2.0, 8.0])
    assert clustered_standard_error(10 * values, np.full(4, 10)) == pytest.approx(
        clustered_standard_error(values, np.ones(4))
    )


@few
@given(clusters_of_values, st.randoms(use_true_random=False), st.integers(0, 5))
def test_means_hold_their_value_and_are_blind_to_order(clusters, random, seed):
    mean, t = mean_of_clusters(*totals(clusters), seed=seed, resamples=300), clustered_t_mean(*totals(clusters))
    observations = [value for cluster in clusters for value in cluster]
    assert mean.value == pytest.approx(np.mean(observations))
    assert mean.low <= mean.value <= mean.high
    assert t.low <= t.value <= t.high
    assert min(observations) <= mean.low
    assert mean.high <= max(observations)
    random.shuffle(clusters)
    assert mean_of_clusters(*totals(clusters), seed=seed, resamples=300) == mean
    assert clustered_t_mean(*totals(clusters)) == t


@few
@given(st.lists(st.lists(scores, min_size=1, max_size=4), min_size=5, max_size=12), st.integers(0, 5))
def test_more_of_the_same_clusters_narrow_the_interval(clusters, seed):
    assume(clustered_standard_error(*totals(clusters)) > 0.01)
    for interval in (clustered_t_mean, lambda *columns: mean_of_clusters(*columns, seed=seed, resamples=500)):
        once, often = interval(*totals(clusters)), interval(*totals(clusters * 5))
        assert often.value == pytest.approx(once.value)
        assert often.high - often.low < once.high - once.low


@pytest.mark.parametrize("values", ["few", "many"])
def test_large_samples_are_drawn_from_the_same_lottery(values):
    """Beyond a thousand clusters they are drawn another way: equal rows together, or one by one."""
    clusters, random = MOST_DRAWN_BY_BINOMIALS + 500, np.random.default_rng(1)
    sums = random.integers(0, 2, clusters) if values == "few" else random.random(clusters)
    rows = np.column_stack([sums, np.ones(clusters)]).astype(float)
    found = resampled_totals(rows, seed=5)
    assert (found[:, 1] == clusters).all()
    assert found[:, 0].mean() == pytest.approx(sums.sum(), rel=0.003)
    assert found[:, 0].std() == pytest.approx(sums.std() * sqrt(clusters), rel=0.06)
    mean, t = mean_of_clusters(sums, np.ones(clusters), seed=2), clustered_t_mean(sums, np.ones(clusters))
    assert (mean.low, mean.high) == pytest.approx((t.low, t.high), abs=0.003)


@pytest.mark.slow
def test_a_hundred_thousand_clusters_fit_in_little_memory():
    random = np.random.default_rng(0)
    sums, counts = random.random(100_000), np.ones(100_000)
    tracemalloc.start()
    difference_of_clusters(sums, counts, sums**2, counts, seed=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200e6


# --- comparisons ---


def test_what_two_conditions_share_cancels_out():
    random = np.random.default_rng(0)
    easy = random.random(40)
    first, second, counts = easy * 10, easy * 10 + 1, np.full(40, 10)
    change = difference_of_clusters(first, counts, second, counts, seed=0)
    assert (change.value, change.low, change.high) == pytest.approx((0.1, 0.1, 0.1))
    assert (change.n, change.method) == (40, "paired cluster bootstrap 95%, 40 clusters")
    back = difference_of_clusters(second, counts, first, counts, seed=0)
    assert back.value == pytest.approx(-change.value)


def test_a_cluster_may_be_silent_under_one_condition():
    change = difference_of_clusters([1, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1], seed=0)
    assert change.value == pytest.approx(2 / 3 - 1)
    assert isfinite(change.low)
    alone = difference_of_clusters([1, 0], [1, 0], [1, 1], [1, 1], seed=0)
    assert (alone.low, alone.high, alone.method) == (-inf, inf, "one cluster: no interval")


@few
@given(st.lists(st.tuples(scores, st.integers(1, 4), scores, st.integers(1, 4)), min_size=2, max_size=12))
def test_differences_hold_their_value_are_blind_to_order_and_repeat(rows):
    change = difference_of_clusters(*np.array(rows).T, seed=1, resamples=300)
    assert change.low <= change.value <= change.high
    assert difference_of_clusters(*np.array(rows[::-1]).T, seed=1, resamples=300) == change


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
    assert sign_flip_test(np.ones(40), seed=0, patterns=99).p_value == 0.01


def test_adjusted_p_values_of_the_worked_examples():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    # Benjamini and Hochberg (1995): of 15, Bonferroni's way finds three and theirs four.
    p_values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719]
    p_values += [0.6528, 0.7590, 1.0]
    assert (holm(p_values) <= 0.05).sum() == 3
    assert (benjamini_hochberg(p_values) <= 0.05).sum() == 4


@few
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_adjusting_only_raises_keeps_the_order_and_is_blind_to_position(p_values, random):
    strict, lenient = holm(p_values), benjamini_hochberg(p_values)
    assert (strict >= lenient - 1e-12).all()
    assert (lenient >= np.array(p_values) - 1e-12).all()
    assert (strict <= 1).all()
    assert lenient == pytest.approx(false_discovery_control(p_values))
    order = list(range(len(p_values)))
    random.shuffle(order)
    for adjust, adjusted in ((holm, strict), (benjamini_hochberg, lenient)):
        assert (np.diff(adjusted[np.argsort(p_values)]) >= 0).all()
        assert adjust([p_values[each] for each in order]) == pytest.approx(adjusted[order])


# --- repeated samples (ruling M7) ---


def at_least_one(right, samples, k):
    subsets = list(combinations([True] * right + [False] * (samples - right), k))
    return sum(map(any, subsets)) / len(subsets)


@few
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=6), st.integers(1, 4))
def test_pass_at_k_counts_all_subsets(items, k):
    """Ruling M7."""
    right, samples = [min(item) for item in items], [max(item) for item in items]
    kept = [(c, n) for c, n in zip(right, samples, strict=True) if n >= k]
    if not kept:
        with pytest.raises(ValueError, match="no item has so many samples"):
            pass_at_k(right, samples, k=k, seed=0)
        return
    found = pass_at_k(right, samples, k=k, seed=0)
    assert found.estimate.value == pytest.approx(np.mean([at_least_one(c, n, k) for c, n in kept]))
    assert (found.estimate.n, found.left_out, found.k) == (len(kept), len(items) - len(kept), k)
    assert found.estimate.low <= found.estimate.value <= found.estimate.high


def test_pass_is_over_compliant_samples_and_yield_over_all():
    """Ruling M7: an output that is not compliant is not a success."""
    right, compliant, samples = [2, 1, 0], [2, 4, 1], [4, 4, 4]
    passed, yielded = pass_at_k(right, compliant, k=2, seed=0), yield_at_k(right, samples, k=2, seed=0)
    assert (passed.estimate.value, passed.estimate.n, passed.left_out) == (pytest.approx((1 + 0.5) / 2), 2, 1)
    assert (yielded.estimate.value, yielded.left_out) == (pytest.approx((5 / 6 + 0.5 + 0) / 3), 0)
    assert passed.estimate.method == (
        "pass@2 over compliant samples, cluster bootstrap 95%, 2 clusters, 1 item with fewer left out"
    )
    assert pass_at_k([3] * 400, [900] * 400, k=500, seed=0).estimate.value == pytest.approx(
        1 - comb(897, 500) / comb(900, 500)
    )


def test_the_majority_of_an_item_and_its_ties():
    """Ruling M7: ties are ties."""
    found = majority(["B", "A", "B", "C"])
    assert (found.answers, found.tied) == (("B",), False)
    assert found.share == wilson(2, 4)
    tie = majority(["C", "B", "B", "C", "A"])
    assert (tie.answers, tie.tied, tie.share.value) == (("B", "C"), True, 0.4)


@few
@given(
    st.lists(st.dictionaries(st.sampled_from("ABC"), st.integers(0, 4), min_size=1), min_size=1, max_size=3),
    st.integers(1, 5),
)
def test_majority_at_k_counts_all_subsets(items, k):
    """Ruling M7: enumerated, with ties as ties."""
    kept = [counts for counts in items if sum(counts.values()) >= k]
    assume(kept)
    right, tied = [], []
    for counts in kept:
        subsets = list(combinations([answer for answer, count in counts.items() for _ in range(count)], k))
        found = [majority(subset) for subset in subsets]
        right.append(np.mean([each.answers == ("A",) for each in found]))
        tied.append(np.mean([each.tied for each in found]))
    found = majority_at_k(items, ["A"] * len(items), k=k, seed=0)
    assert found.right.value == pytest.approx(np.mean(right), abs=1e-9)
    assert found.tied.value == pytest.approx(np.mean(tied), abs=1e-9)
    assert (found.right.n, found.left_out) == (len(kept), len(items) - len(kept))


def test_majority_at_k_of_many_samples_is_a_vote_of_all():
    found = majority_at_k([{"A": 501, "B": 499}, {"A": 400, "B": 400}], ["A", "A"], k=800, seed=0)
    assert 0.5 < found.right.value * 2 < 0.6
    assert majority_at_k([{"A": 501, "B": 499}], ["A"], k=1000, seed=0).right.value == pytest.approx(1)
    assert majority_at_k([{"A": 400, "B": 400}], ["A"], k=800, seed=0).tied.value == pytest.approx(1)


# --- agreement ---

# Krippendorff (2011): four observers, twelve units, with gaps.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
UNITS = [list(unit) for unit in zip(*OBSERVERS, strict=True)]


@pytest.mark.parametrize(("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_krippendorffs_own_example(level, value):
    found = alpha(UNITS, level=level, seed=0)
    assert round(found.value, 3) == value
    # The unit with one rating is left out.
    assert found.n == 11
    assert found.low < found.value < found.high <= 1


def spread(table):
    """The ratings of a table of two raters, one row for each unit."""
    return [[i, j] for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]


# Agresti, Categorical Data Analysis: two pathologists on 118 slides.
PATHOLOGISTS = [[22, 2, 2, 0], [5, 7, 14, 0], [0, 2, 36, 0], [0, 1, 17, 10]]
# The published test case of scikit-learn: only four units, at one border, are rated apart.
BORDER = [[46, 0, 0], [4, 40, 0], [0, 0, 10]]


@pytest.mark.parametrize(
    ("table", "weights", "value"),
    [
        (PATHOLOGISTS, "linear", 0.649),
        (PATHOLOGISTS, "quadratic", 0.784),
        (BORDER, "linear", 0.941),
        (BORDER, "quadratic", 0.954),
    ],
)
def test_weighted_kappa_of_published_tables(table, weights, value):
    found = weighted_kappa(spread(table), weights=weights, seed=0)
    assert round(found.value, 3) == value
    assert found.n == sum(map(sum, table))


ratings = st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2), min_size=3, max_size=15)


@few
@given(ratings)
def test_quadratic_kappa_is_lins_concordance(units):
    """Fleiss and Cohen (1973): the same figure by another way."""
    first, second = np.array(units, dtype=float).T
    assume(len({*first, *second}) > 1)
    lin = (
        2
        * np.cov(first, second, ddof=0)[0, 1]
        / (first.var() + second.var() + (first.mean() - second.mean()) ** 2)
    )
    assert weighted_kappa(units, weights="quadratic", seed=0).value == pytest.approx(lin)


def alpha_by_definition(units):
    """Ordinal alpha, pair by pair."""
    pairable = [[value for value in unit if value is not None] for unit in units]
    pairable = [unit for unit in pairable if len(unit) > 1]
    everything = [value for unit in pairable for value in unit]

    def apart(a, b):
        low, high = min(a, b), max(a, b)
        between = sum(low <= value <= high for value in everything)
        return (between - (everything.count(a) + everything.count(b)) / 2) ** 2 if a != b else 0.0

    within = sum(
        apart(a, b) / (len(unit) - 1)
        for unit in pairable
        for i, a in enumerate(unit)
        for j, b in enumerate(unit)
        if i != j
    )
    between = sum(apart(a, b) for a in everything for b in everything) / (len(everything) - 1)
    return 1 - within / between


@few
@given(
    st.lists(st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=3, max_size=3), min_size=2, max_size=8),
    st.randoms(use_true_random=False),
)
def test_alpha_is_its_definition_and_blind_to_order(units, random):
    pairable = [unit for unit in units if sum(each is not None for each in unit) > 1]
    assume(len({each for unit in pairable for each in unit} - {None}) > 1)
    found = alpha(units, seed=2)
    assert found.value == pytest.approx(alpha_by_definition(units))
    assert found.low <= found.value <= found.high
    random.shuffle(units)
    for unit in units:
        random.shuffle(unit)
    again = alpha(units, seed=2)
    assert (again.value, again.low, again.high) == pytest.approx((found.value, found.low, found.high))


def test_the_plain_measures_of_agreement():
    units = [[2, 2, 2], [0, 1, None], [2, 0, 1], [None, None, 1]]
    exact, apart = exact_agreement(units), mean_absolute_difference(units, seed=0)
    assert exact == wilson(1, 3)
    assert (apart.value, apart.n) == (pytest.approx((0 + 1 + 4 / 3) / 3), 3)
    assert apart.low <= apart.value <= apart.high
    perfect = [[0, 0], [1, 1], [2, 2]] * 10
    for found in (alpha(perfect, seed=0), weighted_kappa(perfect, weights="linear", seed=0)):
        assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)


def test_units_of_one_question_are_drawn_together():
    random = np.random.default_rng(0)
    truth = random.integers(0, 3, (30, 1))
    units = np.clip(truth + random.integers(0, 2, (30, 2)), 0, 3).repeat(6, axis=0)
    questions = np.arange(30).repeat(6).tolist()
    for figure in (
        lambda **how: alpha(units, seed=0, **how),
        lambda **how: weighted_kappa(units, weights="linear", seed=0, **how),
        lambda **how: mean_absolute_difference(units, seed=0, **how),
    ):
        apart, together = figure(), figure(clusters=questions)
        assert apart.value == pytest.approx(together.value)
        # Six copies of each unit are no more than one.
        assert together.high - together.low > 2 * (apart.high - apart.low)
        assert together.method.endswith("30 clusters")
        assert figure(clusters=questions) == together


# --- power ---


def rejection_rate(first, second, n):
    """The exact power of the two-sided pooled test of two shares at 5 %."""
    from scipy.stats import binom  # noqa: PLC0415 - only here

    one, two = np.arange(n + 1)[:, None], np.arange(n + 1)[None, :]
    pooled = (one + two) / (2 * n)
    error = np.sqrt(2 * pooled * (1 - pooled) / n)
    told = np.abs(one - two) / n > 1.959964 * np.where(error > 0, error, inf)
    return float((binom.pmf(one, n, first) * binom.pmf(two, n, second) * told).sum())


@pytest.mark.parametrize(("first", "second"), [(0.5, 0.6), (0.6, 0.7), (0.1, 0.2), (0.8, 0.95)])
def test_the_observations_needed_give_the_power_asked_for(first, second):
    n = observations_needed(first, second)
    # Near the ends the formula asks for a little more than it takes.
    assert 0.79 < rejection_rate(first, second, n) < 0.84
    assert observations_needed(second, first) == n
    assert observations_needed(1 - first, 1 - second) == n


def test_textbook_sizes_of_a_study():
    # Fleiss, Statistical Methods for Rates and Proportions: before the correction for continuity.
    assert observations_needed(0.6, 0.7) == 356
    assert observations_needed(0.5, 0.6) == 388


def test_the_pairs_needed_give_the_power_asked_for():
    pairs, random = pairs_needed(0.1, 0.25), np.random.default_rng(0)
    drawn = random.multinomial(pairs, [0.175, 0.075, 0.75], size=2000)
    p_values = [mcnemar(int(first), int(second), pairs=pairs).p_value for first, second, _ in drawn]
    # The exact test is a little more careful than the formula.
    assert 0.74 < np.mean(np.array(p_values) <= 0.05) < 0.82


@few
@given(st.floats(0.02, 0.98), st.integers(60, 5_000), st.floats(0.05, 1))
def test_what_is_detectable_needs_just_so_much(baseline, n, discordance):
    difference = detectable_difference(baseline, n)
    towards = baseline + difference if baseline <= 0.5 else baseline - difference
    assert abs(observations_needed(baseline, towards) - n) <= 1
    assert detectable_difference(baseline, 2 * n) < difference
    pairs = n + 200
    paired = detectable_paired_difference(discordance, pairs)
    assert abs(pairs_needed(paired, discordance) - pairs) <= 1
    assert detectable_paired_difference(discordance, 2 * pairs) < paired


def test_a_detectable_mean_is_two_point_eight_standard_errors():
    assert detectable_mean(1.0, 10_000) == pytest.approx(2.80, abs=0.005)
    assert detectable_mean(1.0, 6) > 3.4
    needed = clusters_needed(0.05, 0.04, 30)
    assert detectable_mean(0.04 * sqrt(30 / needed), needed) <= 0.05
    assert detectable_mean(0.04 * sqrt(30 / (needed - 1)), needed - 1) > 0.05
    assert clusters_needed(100.0, 0.01, 10) == 2


# --- nothing over no observations ---


@pytest.mark.parametrize(
    "figure",
    [
        lambda: wilson(0, 0),
        lambda: wilson(3, 2),
        lambda: wilson_shares([], []),
        lambda: wilson_shares([1, 0], [2, 0]),
        lambda: bounds_of_share(0, 0, 0),
        lambda: bounds_of_share(1, 0, 3),
        lambda: cluster_mean([], seed=0),
        lambda: mean_of_clusters([0, 0], [0, 0], seed=0),
        lambda: mean_of_clusters([1, 2], [0, 1], seed=0),
        lambda: mean_of_clusters([1], [-1], seed=0),
        lambda: mean_of_clusters([float("nan")], [1], seed=0),
        lambda: clustered_standard_error([1], [1]),
        lambda: clustered_t_mean([], []),
        lambda: difference_of_clusters([1, 2], [1, 1], [0, 0], [0, 0], seed=0),
        lambda: mcnemar(0, 0, pairs=0),
        lambda: mcnemar(3, 3, pairs=5),
        lambda: sign_flip_test([], seed=0),
        lambda: sign_flip_test([float("nan")], seed=0),
        lambda: holm([]),
        lambda: benjamini_hochberg([0.5, 1.5]),
        lambda: holm([float("nan")]),
        lambda: pass_at_k([], [], k=1, seed=0),
        lambda: pass_at_k([1], [2], k=3, seed=0),
        lambda: pass_at_k([3], [2], k=1, seed=0),
        lambda: yield_at_k([1], [2], k=0, seed=0),
        lambda: majority([]),
        lambda: majority_at_k([{"A": 1}], ["A"], k=2, seed=0),
        lambda: majority_at_k([{"A": 1}], [], k=1, seed=0),
        lambda: exact_agreement([[1, None]]),
        lambda: exact_agreement([[1], [2]]),
        lambda: mean_absolute_difference([[1, None]], seed=0),
        lambda: mean_absolute_difference([[1, 2]], seed=0, clusters=[]),
        lambda: alpha([[1, 1], [1, 1]], seed=0),
        lambda: weighted_kappa([[1, 1], [1, 1]], weights="linear", seed=0),
        lambda: weighted_kappa([[1, 1, 2]], weights="linear", seed=0),
        lambda: alpha([[each, each + 0.5] for each in range(LONGEST_SCALE)], seed=0),
        lambda: observations_needed(0.5, 0.5),
        lambda: observations_needed(0.5, 0.6, power=0.3),
        lambda: detectable_difference(0.5, 0),
        lambda: detectable_difference(0.5, 3),
        lambda: pairs_needed(0.3, 0.2),
        lambda: detectable_paired_difference(0.0, 10),
        lambda: detectable_paired_difference(0.1, 10),
        lambda: detectable_mean(0.0, 10),
        lambda: clusters_needed(0.0, 0.1, 10),
    ],
)
def test_nothing_is_said_over_nothing(figure):
    with pytest.raises(ValueError):
        figure()


# --- how often the intervals hold the truth ---


def test_wilson_covers_on_the_stated_grid():
    """n from 50, shares from 0.1 to 0.9: exact, no simulation."""
    found = [wilson_coverage(n, share) for n in (50, 100, 400) for share in np.arange(0.1, 0.901, 0.05)]
    assert 0.945 < np.mean(found) < 0.96
    assert min(found) > 0.93


def test_means_of_fifty_clusters_cover():
    plain = WORLDS[0]
    assert 0.93 <= coverage(plain, 50, by_t, rounds=300) <= 0.97
    assert 0.91 <= coverage(plain, 50, by_bootstrap, rounds=100) <= 0.98


@pytest.mark.slow
def test_means_of_clusters_cover_on_the_stated_grid():
    """From 50 clusters, shares from 0.1 to 0.9, samples that correlate."""
    for interval in (by_bootstrap, by_t):
        found = [coverage(world, clusters, interval, rounds=300) for world in WORLDS[:2] for clusters in (50, 100)]
        assert 0.93 <= np.mean(found) <= 0.97


def test_the_heavy_libraries_are_loaded_when_they_are_needed():
    modules = ", ".join(
        f"affidavit.statistics.{name}" for name in ("agreement", "differences", "power", "repeated_samples")
    )
    told = f"import sys, {modules}; print({{'numpy', 'scipy'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
