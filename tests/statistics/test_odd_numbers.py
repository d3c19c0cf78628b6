"""Odd numbers: every public function gives a figure that can be defended, or says in words what it was given."""

import re
from dataclasses import fields, is_dataclass
from inspect import isfunction
from math import inf, isfinite, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit import statistics
from affidavit.statistics import (
    ClusterSums,
    Estimate,
    ItemPairs,
    JudgedLabels,
    PairedDifference,
    Significance,
    alpha,
    bounds,
    bounds_of_share,
    clusters_needed,
    detectable_by_mcnemar,
    detectable_difference,
    detectable_mean,
    excess_disagreement,
    holm,
    holm_steps,
    majority_at_k,
    mcnemar,
    mcnemar_power,
    mean_difference,
    mean_of_clusters,
    mean_share,
    observations_needed,
    pass_at_k,
    share,
    sign_flip_test,
    t_test,
    tango,
    weighted_kappa,
    wilson,
    wilson_shares,
    yield_at_k,
)
from affidavit.statistics.corrected_means import FEWEST_LABELS
from support.laws import few

WHOLE = "expected a whole number from 0 to 1,000,000,000,000, found"
ONE_LENGTH = "expected columns of one length, found"


@pytest.mark.parametrize(
    ("figure", "why"),
    [
        (lambda: wilson(inf, inf), f"successes: {WHOLE} inf"),
        (lambda: wilson(2.5, 5), f"successes: {WHOLE} 2.5"),
        (lambda: wilson(1, 10**13), f"n: {WHOLE} 10000000000000"),
        (lambda: wilson_shares(inf, inf), "successes: expected whole numbers from 0 to 1,000,000,000,000, found inf"),
        (lambda: wilson_shares([1, 2], [3, 4, 5]), f"successes, n: {ONE_LENGTH} 2 and 3"),
        (lambda: share(ClusterSums(2, inf, inf, 1, 1, 1)), f"n: {WHOLE} inf"),
        (lambda: bounds_of_share(1, 2, inf), f"missing: {WHOLE} inf"),
        (lambda: bounds_of_share(1, 2, -1), f"missing: {WHOLE} -1"),
        (
            lambda: bounds(ClusterSums.single(1, 2), ClusterSums.single(1, 3)),
            "right, wrong: no bounds of what is not over the same observations",
        ),
        (lambda: ClusterSums.counted([(1, 2, -1)]), f"times: {WHOLE} -1"),
        (lambda: mean_difference([3.0] * 12), "differences: expected numbers from -1 to 1, found 3.0"),
        (lambda: mean_difference([nan] * 12), "differences: expected numbers from -1 to 1, found nan"),
        (lambda: mean_difference([0.5, 0.1], [1]), "times: expected one for each of 2 differences, found 1"),
        (lambda: mean_difference([0.5], [-3]), f"times: {WHOLE} -3"),
        (lambda: t_test([2.0], [12]), "differences: expected numbers from -1 to 1, found 2.0"),
        (lambda: mean_share([0.5], [0.5]), f"times: {WHOLE} 0.5"),
        (lambda: mean_share([1.5]), "shares: expected numbers from 0 to 1, found 1.5"),
        (lambda: mean_of_clusters([1, 2], [1, 1], [0, 0], seed=0), "times: no mean of nothing"),
        (
            lambda: mean_of_clusters([1, 2], [1, 1], [1, -1], seed=0),
            "times: expected whole numbers from 0 to 1,000,000,000,000, found -1 at position 1",
        ),
        (lambda: mean_of_clusters([1, 2], [1, 1], [nan, 1], seed=0), "times: expected whole numbers from 0"),
        (lambda: mean_of_clusters([1, 2], [1, 1], [1, 1, 1], seed=0), f"{ONE_LENGTH} 2 and 2 and 3"),
        (lambda: mean_of_clusters([[1, 2], [3]], [1, 1], seed=0), "sums: expected a row of numbers"),
        (
            lambda: PairedDifference.of_counts([0.9], [1], [1], [1]),
            "first_successes: expected whole numbers from 0 to 1,000,000,000,000, found 0.9 at position 0",
        ),
        (lambda: PairedDifference.of_counts([1], [1], [1, 1], [1, 1]), f"{ONE_LENGTH} 1 and 1 and 2 and 2"),
        (lambda: PairedDifference.of_counts([0], [0], [0], [1]), "found 0, 0, 0, 1 at position 0"),
        (lambda: PairedDifference.of_means([1], [2], scale=nan), "scale: expected a length from 1e-100 to 1e+100"),
        (lambda: PairedDifference.of_means([1, 1], [1, 1], scale=1, clusters=["a"]), "clusters: expected a cluster"),
        (
            lambda: PairedDifference.of_counts([0], [1], [1], [1]).estimate(95),
            "level: expected a number from 1e-09 to 0.5, such as 0.05, found 95",
        ),
        (lambda: tango(1, 2, pairs=30, level=0), "level: expected a number from 1e-09 to 0.5"),
        (lambda: tango(1, 2, pairs=nan), f"pairs: {WHOLE} nan"),
        (lambda: mcnemar(0.5, 2, pairs=30), f"first_only: {WHOLE} 0.5"),
        (lambda: sign_flip_test([1.0, nan], seed=0), "differences: expected finite numbers"),
        (lambda: sign_flip_test([1.0], seed=0, patterns=0), "patterns: expected a whole number from 1"),
        (lambda: holm([[0.1]]), "p_values: expected a row of numbers, found 2 dimensions"),
        (lambda: holm_steps([0.1], nan), "level: expected a number between 0 and 1, found nan"),
        # Refused before anything is counted out: so many rounds would take a day.
        (lambda: pass_at_k([1], [2], k=10**12), "no item has so many samples"),
        (lambda: pass_at_k([1], [2, 3], k=1), f"right, samples, times: {ONE_LENGTH} 1 and 2"),
        (lambda: yield_at_k([1], [2], k=0.5), "k: expected a whole number from 1"),
        (lambda: yield_at_k([3], [2], k=1), "right: expected no more right samples than samples, found 3 of 2"),
        (lambda: majority_at_k([{"A": -1, "B": 9}], ["A"], k=3), "answers: expected a whole number from 0 to 100,000, found -1"),
        (lambda: majority_at_k([{"A": nan}], ["A"], k=3), "answers: expected a whole number from 0 to 100,000, found nan"),
        (
            lambda: excess_disagreement({ItemPairs(1, 2, 1, 0): 9}),
            "items: expected no more pairs that differ than there are",
        ),
        (lambda: excess_disagreement({ItemPairs(1, 1, 1, 0): -9}), f"items: {WHOLE} -9"),
        (lambda: weighted_kappa([[0, 1]], weights="cubic", seed=0), "weights: expected linear or quadratic, found 'cubic'"),
        (
            lambda: alpha([[0, 1]], level="ratio", seed=0),
            "level: expected nominal or ordinal or interval, found 'ratio'",
        ),
        (lambda: alpha([[0, 1], [2]], seed=0), "ratings: expected rows of numbers, or None, of one length"),
        (lambda: alpha([[0, inf]], seed=0), "ratings: expected a row for each unit with a finite rating"),
        (lambda: clusters_needed(nan, 0.1, 10), "difference: expected a finite number"),
        (lambda: clusters_needed(0.1, inf, 10), "standard_error: expected a finite number"),
        (lambda: clusters_needed(1e-140, 1.0, 10), "difference: not shown by 1,000,000,000,000 clusters, found 1e-140"),
        (lambda: detectable_mean(nan, 10), "standard_error: expected a finite number"),
        (lambda: detectable_mean(0.1, inf), "clusters: expected a whole number from 2"),
        (lambda: detectable_mean(0.1, 10, level=nan), "level, power: expected a level from 1e-09, below 1"),
        (lambda: detectable_difference(0.5, inf), f"n: {WHOLE} inf"),
        (lambda: mcnemar_power(0.1, 0.2, 30, level=-1), "level, power: expected a level from 1e-09, below 1"),
        (lambda: observations_needed(0.0, 5e-324), "difference: expected one that can be counted out"),
    ],
)  # fmt: skip
def test_a_refusal_says_which_argument_what_was_expected_and_what_was_found(figure, why):
    with pytest.raises(ValueError, match=re.escape(why)):
        figure()


# --- whatever is given ---

ODD = [0, 1, 3, -1, 0.5, 0.9, 1e-300, 5e-324, 1e-17, 1e308, -1e308, nan, inf, -inf, 20, 2**33, 10**12, 10**400]
odd = st.sampled_from(ODD)


def mostly(good, *others):
    """What is expected in four of five draws; else something else, odd numbers if nothing is named."""
    return st.sampled_from([good] * 4 + [st.one_of(*others) if others else odd]).flatmap(lambda each: each)


def column(good, length=12):
    """Rows of one length, in most of which there are no odd numbers."""
    return mostly(st.lists(good, min_size=length, max_size=length), st.lists(good | odd, max_size=14))


count, n, one = mostly(st.integers(0, 12)), mostly(st.integers(24, 60)), mostly(st.floats(0, 1))
successes, samples, scores = column(st.integers(0, 3)), column(st.integers(3, 6)), column(st.floats(-9, 9))
shares, gaps, p_values = column(st.floats(0, 1)), column(st.floats(-1, 1)), column(st.floats(0, 1), 5)
once = mostly(st.just(1), odd, column(st.integers(0, 4)))
level, seed = mostly(st.sampled_from([0.05, 0.05 / 9])), st.integers(0, 3)
rows = mostly(
    st.lists(st.lists(st.none() | st.integers(0, 3), min_size=2, max_size=2), min_size=12, max_size=12),
    st.lists(st.lists(st.none() | odd, min_size=1, max_size=3), max_size=5),
)
tallies = st.lists(st.dictionaries(st.sampled_from("ABC"), mostly(st.integers(1, 5))), min_size=3, max_size=3)
sums = mostly(
    st.lists(st.integers(0, 2).map(lambda right: (right, 4)), min_size=6, max_size=6).map(ClusterSums.of),
    st.builds(ClusterSums, *[count] * 6),
)
few_of = st.integers(0, 3)
item_pairs = st.builds(ItemPairs, st.just(3), few_of, st.just(3), few_of, st.just(3), few_of)
pairs_of_items = mostly(
    st.dictionaries(item_pairs, st.integers(0, 9), max_size=4),
    st.dictionaries(st.builds(ItemPairs, *[count] * 6), count, max_size=1),
)


@st.composite
def differences(draw):
    """A paired difference, where the columns make one; else the refusal is raised here."""
    names = draw(st.none() | st.lists(st.sampled_from("abcdefghijkl"), min_size=12, max_size=12))
    if draw(st.booleans()):
        columns = [draw(each) for each in (successes, samples) * 2]
        return PairedDifference.of_counts(*columns, clusters=names)
    return PairedDifference.of_means(draw(scores), draw(scores), scale=draw(mostly(st.just(18))), clusters=names)


@st.composite
def corrections(draw):
    """A corrected mean, where there are labels enough; else the refusal is raised here."""
    judged = draw(st.lists(st.floats(0, 1), min_size=40, max_size=40))
    labels = draw(st.lists(mostly(st.floats(0, 1), st.none(), odd), min_size=40, max_size=40))
    return statistics.corrected_mean(judged, labels, clusters=[at // 2 for at in range(40)])


judged_labels = st.builds(JudgedLabels, count, count)
clusters = {"seed": seed, "clusters": mostly(st.none(), st.lists(st.sampled_from("ab"), min_size=11, max_size=12))}
power = {"level": level, "power": mostly(st.just(0.8))}
CALLS = {
    "alpha": (rows,), "exact_agreement": (rows,), "mean_absolute_difference": (rows,), "weighted_kappa": (rows,),
    "corrected_mean": (column(st.floats(0, 1), 40), column(st.none() | st.floats(0, 1) | st.floats(0, 1), 40)),
    "people_alone": (column(st.floats(0, 1), 40), column(st.floats(0, 1), 40)),
    "rogan_gladen": (count, n),
    "benjamini_hochberg": (p_values,), "holm": (p_values,), "holm_steps": (p_values, level),
    "bounds": (sums, sums), "bounds_of_share": (count, n, count), "share": (sums,), "wilson": (count, n),
    "wilson_shares": (successes, samples),
    "cluster_mean": (st.lists(st.tuples(st.sampled_from("abcdefghijkl"), mostly(st.floats(-9, 9))), max_size=20),),
    "clustered_standard_error": (scores, samples), "clustered_t_mean": (scores, samples),
    "mean_of_clusters": (scores, samples, once), "sign_flip_test": (scores,),
    "clusters_needed": (one, one, n), "detectable_mean": (one, n), "detectable_by_mcnemar": (one, n),
    "detectable_difference": (one, n), "detectable_paired_difference": (one, n), "mcnemar_power": (one, one, n),
    "observations_needed": (one, one), "pairs_needed": (one, one),
    "excess_disagreement": (pairs_of_items,),
    "majority": (st.lists(st.sampled_from("ABC")),),
    "majority_at_k": (tallies, mostly(st.just(["A", "B", "A"]), st.just(["A"]))),
    "mcnemar": (count, count), "tango": (count, count),
    "mean_difference": (gaps, once), "mean_share": (shares, once), "t_test": (gaps, once),
    "pass_at_k": (successes, samples, once), "yield_at_k": (successes, samples, once),
}  # fmt: skip
OPTIONS = {
    "alpha": {**clusters, "level": mostly(st.sampled_from(["nominal", "ordinal", "interval"]), st.just("ratio"))},
    "mean_absolute_difference": clusters,
    "weighted_kappa": {**clusters, "weights": mostly(st.sampled_from(["linear", "quadratic"]), st.just("cubic"))},
    "corrected_mean": {
        "scale": mostly(st.just((0, 1)), st.tuples(odd, odd)), "weight": mostly(st.none(), odd),
        "strata": mostly(st.none(), st.lists(st.sampled_from("ab"), min_size=40, max_size=40)),
    },
    "rogan_gladen": {"among_yes": judged_labels, "among_no": judged_labels},
    "cluster_mean": {"seed": seed}, "sign_flip_test": {"seed": seed, "patterns": mostly(st.just(99), st.just(-1))},
    "mean_of_clusters": {"seed": seed, "resamples": mostly(st.sampled_from([1, 20]), st.just(0))},
    "clusters_needed": power, "detectable_mean": power, "detectable_by_mcnemar": power,
    "detectable_difference": power, "detectable_paired_difference": power, "observations_needed": power,
    "pairs_needed": power, "mcnemar_power": {"level": level, "mid_p": st.booleans()},
    "majority_at_k": {"k": mostly(st.just(3))}, "pass_at_k": {"k": mostly(st.just(3))},
    "yield_at_k": {"k": mostly(st.just(2))},
    "mcnemar": {"pairs": n, "mid_p": st.booleans()}, "tango": {"pairs": n, "level": level},
}  # fmt: skip


def holds(found: object) -> None:
    """What every result promises, whatever it is made of."""
    if isinstance(found, Estimate):
        assert isfinite(found.value)
        assert found.low <= found.value <= found.high
        assert found.low < found.high
        assert isfinite(found.low) == isfinite(found.high)
        assert isinstance(found.n, int)
        assert str(found)
    elif isinstance(found, Significance):
        assert 0 < found.p_value <= 1
    elif is_dataclass(found):
        for field in fields(found):
            holds(getattr(found, field.name))
    elif isinstance(found, np.ndarray):
        assert np.isfinite(found).all()
    elif isinstance(found, tuple):
        for part in found:
            holds(part)
    elif isinstance(found, float):
        assert isfinite(found)


def test_every_public_function_is_tried():
    functions = {name for name in statistics.__all__ if isfunction(getattr(statistics, name))}
    assert functions == {*CALLS, "family", "corrected_difference", "labels_for_width"}


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
@given(data=st.data())
def test_odd_numbers_give_a_figure_or_a_refusal(name, data):
    given_, named = data.draw(st.tuples(*CALLS[name])), data.draw(st.fixed_dictionaries(OPTIONS.get(name, {})))
    if name in {"mean_difference", "mean_share", "t_test"} and not isinstance(given_[1], list):
        given_ = (given_[0], [given_[1]] * len(given_[0]))
    try:
        found = getattr(statistics, name)(*given_, **named)
    except ValueError as refused:
        assert str(refused)  # noqa: PT017 - a figure would do as well
        return
    holds(found)
    if name == "tango":
        low, high = found
        assert -1 <= low <= (given_[1] - given_[0]) / named["pairs"] <= high <= 1
        assert low < high


@pytest.mark.slow
@given(st.data(), level)
def test_odd_differences_give_a_verdict_or_a_refusal(data, at):
    try:
        change = data.draw(differences())
        found = statistics.family([change], seed=0, level=at)
    except ValueError as refused:
        assert str(refused)  # noqa: PT017 - a verdict would do as well
        return
    for verdict in found:
        holds(verdict.estimate)
        holds(verdict.significance)
        assert verdict.detectable is None or verdict.detectable > 0


@pytest.mark.slow
@few
@given(st.data())
def test_odd_corrections_give_a_difference_or_a_refusal(data):
    try:
        first, second = data.draw(corrections()), data.draw(corrections())
        needed = statistics.labels_for_width(first, data.draw(mostly(st.floats(0.01, 0.5))))
    except ValueError as refused:
        assert str(refused)  # noqa: PT017 - a difference would do as well
        return
    difference = statistics.corrected_difference(first, second)
    holds(difference.estimate())
    assert 0 < difference.p_value <= 1
    assert needed is None or needed >= FEWEST_LABELS


# --- large, and still right ---


def test_counts_beyond_what_a_product_holds_are_exact():
    many = 2**33
    change = PairedDifference.of_counts([many - 1] * 12, [many] * 12, [many] * 12, [many] * 12)
    assert change.value == 1 / many
    thirds = PairedDifference.of_counts([many] * 12, [3 * many] * 12, [2] * 12, [3] * 12)
    assert (thirds.value, thirds.estimate().low) == (1 / 3, -inf)


@pytest.mark.parametrize("pairs", [10**6, 10**9, 10**12])
@pytest.mark.parametrize("discordant", [(0, 0), (1, 0), (3, 7), (0, 500)])
def test_tango_of_very_many_pairs(pairs, discordant):
    low, high = tango(*discordant, pairs=pairs)
    value = (discordant[1] - discordant[0]) / pairs
    assert low < value < high
    if discordant == (0, 0):
        z2 = 1.959963984540054**2
        assert (low, high) == pytest.approx((-z2 / (pairs + z2), z2 / (pairs + z2)), rel=1e-4)
    # Rare events: the interval scales with the number of pairs.
    smaller = tango(*discordant, pairs=10**5)
    assert (low * pairs, high * pairs) == pytest.approx(tuple(end * 10**5 for end in smaller), rel=0.02)


def test_pass_at_a_large_k_is_the_same_by_both_ways():
    for right, samples, k in ((3, 5_000, 999), (3, 5_000, 1_001), (2_000, 5_000, 1_001), (0, 5_000, 4_000)):
        none = 1.0
        for at in range(right):
            none *= max(0, samples - k - at) / (samples - at)
        assert pass_at_k([right], [samples], k=k).estimate.value == pytest.approx(1 - none, abs=1e-12)
    assert pass_at_k([5] * 3, [10**12] * 3, k=10**11).estimate.value == pytest.approx(1 - 0.9**5)


@pytest.mark.slow
def test_what_very_many_pairs_would_show():
    exact, approximate = (mcnemar_power(0.003, 0.9, pairs, level=0.05) for pairs in (1_111_000, 1_112_000))
    assert exact == pytest.approx(approximate, abs=2e-3)
    assert 0 < detectable_by_mcnemar(0.0, 10**12) < 1e-10
