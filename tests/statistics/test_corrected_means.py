"""A judge's mean corrected by labels (ruling S10): worked values, laws, and what is refused."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from affidavit.statistics.corrected_means import (
    FEWEST_LABELS,
    CorrectedDifference,
    TooFewLabelsError,
    corrected_difference,
    corrected_mean,
    corrected_verdicts,
    labels_for_width,
    people_alone,
)
from support.laws import few

LABELS = st.none() | st.floats(0, 1) | st.floats(0, 1)
outputs = st.lists(st.tuples(st.floats(0, 1), LABELS), min_size=60, max_size=90).filter(
    lambda rows: sum(label is not None for _, label in rows) >= FEWEST_LABELS
)


def columns(rows):
    return [judged for judged, _ in rows], [label for _, label in rows]


def plainly(judged, labels, clusters, scale=(0.0, 1.0)):
    """Ruling S10 a second time, in sums: value, λ, variance."""
    there = [at for at, label in enumerate(labels) if label is not None]
    others = [at for at, label in enumerate(labels) if label is None]
    n, more = len(there), len(others)
    mean = sum(judged) / len(judged)
    variance = sum((each - mean) ** 2 for each in judged) / (len(judged) - 1)
    said, given_ = sum(labels[at] for at in there) / n, sum(judged[at] for at in there) / n
    together = sum((labels[at] - said) * (judged[at] - given_) for at in there) / n
    lam = min(1.0, max(0.0, together / ((1 + n / more) * variance))) if more and variance else 0.0
    left = {at: labels[at] - lam * judged[at] for at in there}
    bias, rest = sum(left.values()) / n, sum(judged[at] for at in others) / more if more else 0.0
    moved = {at: (left[at] - bias) / n for at in there} | {at: lam * (judged[at] - rest) / more for at in others}
    sums = {}
    for at, move in moved.items():
        sums[clusters[at]] = sums.get(clusters[at], 0.0) + move
    low, high = scale
    worst = [*left.values(), high - lam * low, low - lam * high]
    middle = sum(worst) / len(worst)
    floor = sum((each - middle) ** 2 for each in worst) / (n + 1) / n
    floor += lam**2 * sum((judged[at] - rest) ** 2 for at in others) / more**2 if more else 0.0
    return lam * rest + bias, lam, max(floor, sum(each**2 for each in sums.values()))


@pytest.mark.slow
@few
@given(outputs, st.integers(1, 2))
def test_the_figure_is_that_of_the_formula(rows, together):
    judged, labels = columns(rows)
    clusters = [at // together for at in range(len(rows))]
    found = corrected_mean(judged, labels, clusters=clusters)
    value, lam, variance = plainly(judged, labels, clusters)
    assert (found.estimate.value, found.weight) == pytest.approx((value, lam), abs=1e-9)
    assert found.variance == pytest.approx(variance, rel=1e-9)
    half = student.ppf(0.975, found.labelled - 1) * sqrt(variance)
    assert (found.estimate.low, found.estimate.high) == pytest.approx((value - half, value + half), abs=1e-9)


@pytest.mark.slow
@few
@given(outputs, st.randoms(use_true_random=False))
def test_the_order_of_outputs_changes_no_digit(rows, random):
    named = [(*row, at // 3, at % 2) for at, row in enumerate(rows)]
    found = []
    for _ in range(3):
        random.shuffle(named)
        judged, labels, clusters, strata = map(list, zip(*named, strict=True))
        try:
            found.append(corrected_mean(judged, labels, clusters=clusters, strata=strata).estimate)
        except TooFewLabelsError:
            return
    assert found == found[:1] * 3


@pytest.mark.slow
@few
@given(outputs)
def test_people_alone_is_the_mean_of_the_labels_and_the_same_formula_without_the_judge(rows):
    judged, labels = columns(rows)
    alone, said = people_alone(judged, labels), [label for label in labels if label is not None]
    assert alone.estimate.value == pytest.approx(sum(said) / len(said))
    assert alone.weight == 0
    assert alone.estimate.method == "people alone, t 95%"
    assert corrected_mean(judged, labels, weight=0).estimate == alone.estimate


@pytest.mark.slow
@few
@given(outputs, st.sampled_from("ab"))
def test_one_stratum_is_none(rows, name):
    judged, labels = columns(rows)
    plain = corrected_mean(judged, labels).estimate
    strata = corrected_mean(judged, labels, strata=[name] * len(rows)).estimate
    assert (plain.value, plain.low, plain.high) == (strata.value, strata.low, strata.high)


@pytest.mark.slow
@few
@given(outputs)
def test_no_interval_is_a_point_and_none_is_without_its_value(rows):
    for figure in (corrected_mean, people_alone):
        found = figure(*columns(rows)).estimate
        assert found.low < found.value < found.high


def test_a_judge_that_says_what_people_say_is_nearly_all_of_the_figure():
    judged = [1.0, 0.0, 1.0, 1.0, 0.0] * 200
    labels = [value if at % 10 == 0 or at % 10 == 6 else None for at, value in enumerate(judged)]
    labels[:100] = judged[:100]
    found = corrected_mean(judged, labels)
    assert found.weight > 0.6
    alone = people_alone(judged, labels).estimate
    assert found.estimate.high - found.estimate.low < 0.8 * (alone.high - alone.low)


@pytest.mark.parametrize(
    ("judged", "why"),
    [([1.0] * 80, "a constant"), ([1.0, 0.0] * 40, "the contrary of what people say")],
)
def test_a_judge_of_no_use_leaves_people_alone(judged, why):
    labels = [1 - value if at < 40 else None for at, value in enumerate(judged)]
    labels[0] = 0.5
    found = corrected_mean(judged, labels)
    assert found.weight == 0, why
    assert found.estimate.value == pytest.approx(people_alone(judged, labels).estimate.value)


def test_strata_are_weighted_by_their_sizes():
    """By hand: 100 outputs of a, 300 of b; all that were labelled of a are 1, of b none; the judge says nothing."""
    judged, strata = [0.5] * 400, ["a"] * 100 + ["b"] * 300
    labels = [1.0] * 20 + [None] * 80 + [0.0] * 20 + [None] * 280
    found = corrected_mean(judged, labels, strata=strata)
    assert found.estimate.value == pytest.approx(0.25)
    # Of each: 20 labels alike, and two that say the worst: variance 2·(10/11)²·… over 20, weighted by the shares.
    worst = [1.0] * 21 + [0.0]
    middle = sum(worst) / 22
    each = sum((value - middle) ** 2 for value in worst) / 21 / 20
    assert found.variance == pytest.approx((0.25**2 + 0.75**2) * each)
    assert found.degrees == pytest.approx(((0.25**2 + 0.75**2) ** 2) / ((0.25**4 + 0.75**4) / 19))
    assert found.estimate.method == "PPI++, t 95%, 2 strata"


def test_everything_labelled_is_what_people_say():
    labels = [1.0, 0.0, 1.0, 1.0] * 10
    found = corrected_mean([0.0, 1.0] * 20, labels)
    assert (found.estimate.value, found.weight, found.unlabelled) == (pytest.approx(0.75), 0.0, 0)


# --- few clusters, and outputs without a judgement ---


def test_labels_in_few_clusters_give_no_figure_and_clusters_stand_beside_labels():
    labels = [float(at % 3 == 0) if at < 60 else None for at in range(120)]
    judged = [float(at % 2) for at in range(120)]
    for figure in (corrected_mean, people_alone):
        with pytest.raises(TooFewLabelsError, match="60 labels in 9 clusters: fewer than 10"):
            figure(judged, labels, clusters=[at % 9 for at in range(120)])
        found = figure(judged, labels, clusters=[at % 12 for at in range(120)])
        assert found.degrees == pytest.approx(59)
        assert found.estimate.clusters == 12
        assert "n=60 (12 clusters)" in str(found.estimate)
    assert corrected_mean(judged, labels).estimate.clusters is None


def test_the_labels_of_a_difference_are_told_with_their_clusters():
    labels = [float(at % 3 == 0) if at < 60 else None for at in range(120)]
    one = corrected_mean([0.5] * 120, labels, clusters=[at % 12 for at in range(120)])
    found = corrected_difference(one, one)
    assert (found.clusters, found.n) == (12, 120)


def test_an_output_without_a_judgement_is_in_the_figure_and_the_judge_says_nothing_of_it():
    """As if the judge had said its mean over the others there; and people alone need no judge."""
    judged = [1.0, 0.0, 1.0, 1.0] * 30
    labels = [float(at % 3 > 0) if at < 50 else None for at in range(120)]
    lacking = [None if at % 10 == 0 else value for at, value in enumerate(judged)]
    there = [value for value in lacking if value is not None]
    filled = [sum(there) / len(there) if value is None else value for value in lacking]
    assert corrected_mean(lacking, labels).estimate == corrected_mean(filled, labels).estimate
    assert people_alone(lacking, labels).estimate == people_alone(judged, labels).estimate
    assert corrected_mean([None] * 120, labels).weight == 0


@pytest.mark.slow
def test_figures_over_outputs_without_a_judgement_cover_the_truth_of_all_outputs():
    """The judge fails on a fifth of the outputs, and more often on bad ones; leaving these out would mislead."""
    random = np.random.default_rng(20_261_119)
    rounds, hits, without = 1_000, 0, 0
    for _ in range(rounds):
        truth = random.random(500) < 0.6
        judged = np.where(random.random(500) < 0.85, truth, ~truth).astype(float)
        valid = random.random(500) > np.where(truth, 0.05, 0.45)
        chosen = set(random.choice(500, 80, replace=False).tolist())
        labels = [float(value) if at in chosen else None for at, value in enumerate(truth.tolist())]
        given_ = [value if ok else None for value, ok in zip(judged.tolist(), valid.tolist(), strict=True)]
        found = corrected_mean(given_, labels).estimate
        hits += found.low <= 0.6 <= found.high
        kept = [(value, label) for value, label in zip(given_, labels, strict=True) if value is not None]
        left = corrected_mean(*columns(kept)).estimate
        without += left.low <= 0.6 <= left.high
    assert hits / rounds > 0.93
    assert without / rounds < 0.8


# --- differences ---


@pytest.mark.slow
@few
@given(outputs)
def test_a_target_against_itself_is_no_different(rows):
    judged, labels = columns(rows)
    one = corrected_mean(judged, labels, clusters=[at // 2 for at in range(len(rows))])
    found = corrected_difference(one, one).estimate()
    assert found.value == 0
    assert found.low < 0 < found.high


@pytest.mark.slow
@few
@given(outputs, outputs)
def test_a_difference_turns_with_its_sides(first, second):
    one, two = corrected_mean(*columns(first)), corrected_mean(*columns(second))
    both = corrected_difference(one, two), corrected_difference(two, one)
    there, back = (each.estimate() for each in both)
    assert (there.value, there.low, there.high) == pytest.approx((-back.value, -back.high, -back.low))


@few
@given(st.integers(0, 9))
def test_shared_questions_pair_the_outputs_of_two_targets(shift):
    """Hard questions are hard for both: with clusters the difference is narrower than without."""
    hard = [(at * 7 + shift) % 10 < 5 for at in range(200)]
    first = [0.0 if each else 1.0 for each in hard]
    labels = [value if at < 100 else None for at, value in enumerate(first)]
    shared = [corrected_mean([0.5] * 200, labels, clusters=list(range(200))) for _ in range(2)]
    apart = [corrected_mean([0.5] * 200, labels, clusters=[(side, at) for at in range(200)]) for side in "ab"]
    paired, plain = (corrected_difference(*sides).estimate() for sides in (shared, apart))
    assert paired.high - paired.low < plain.high - plain.low


def test_what_is_said_of_differences_is_adjusted_for_all_of_them():
    """By hand: t = difference / standard error, Holm over both, intervals at the levels of its steps."""
    clear, same = CorrectedDifference(0.4, 0.01, 50, 100), CorrectedDifference(0.05, 0.01, 50, 100)
    first, second = corrected_verdicts([clear, same])
    assert first.significance.p_value == pytest.approx(2 * student.sf(4, 50))
    assert second.significance.p_value == pytest.approx(2 * student.sf(0.5, 50))
    assert first.adjusted == pytest.approx(4 * student.sf(4, 50))
    assert (first.direction, first.level) == ("higher", 0.025)
    assert (second.direction, second.level) == (None, 0.05)
    assert first.estimate.low == pytest.approx(0.4 - 0.1 * student.ppf(0.9875, 50))
    assert second.detectable == pytest.approx(0.1 * (student.ppf(0.975, 50) + student.ppf(0.8, 50)))
    assert "not distinguishable at this n" in second.in_words()
    assert corrected_verdicts([]) == []


def test_no_difference_has_no_certainty():
    none = CorrectedDifference(0.0, 0.0, 50, 100)
    assert none.p_value == 1
    assert "no interval" in none.estimate().method


# --- how many ---


@pytest.mark.parametrize("width", [0.15, 0.2, 0.25])
def test_as_many_labels_as_the_width_takes(width):
    judged = [1.0, 1.0, 1.0, 0.0] * 2_000
    labels = [1.0, 1.0, 0.0, 0.0] * 15 + [None] * (8_000 - 60)
    pilot = corrected_mean(judged, labels)
    needed = labels_for_width(pilot, width)
    assert needed is not None

    def reached(n):
        return 2 * student.ppf(0.975, n - 1) * sqrt(pilot.variance * pilot.labelled / n)

    assert reached(needed) <= width < reached(needed * 0.98)


@pytest.mark.parametrize("width", [0.0, -1.0, float("nan"), float("inf")])
def test_no_interval_has_such_a_width(width):
    with pytest.raises(ValueError, match="width: expected a number above 0"):
        labels_for_width(corrected_mean([1.0, 0.0] * 40, [1.0, 0.0] * 20 + [None] * 40), width)


def test_no_number_of_labels_is_enough_for_a_width_that_all_outputs_do_not_reach():
    pilot = corrected_mean([1.0, 0.0] * 40, [1.0, 0.0] * 20 + [None] * 40)
    assert labels_for_width(pilot, 0.01) is None
    assert labels_for_width(pilot, 1.0) == FEWEST_LABELS


# --- what is refused ---

GOOD = [1.0, 0.0] * 20


@pytest.mark.parametrize(
    ("figure", "why"),
    [
        (lambda: corrected_mean(GOOD, [1.0] * 29 + [None] * 11), "29 labels: fewer than 30"),
        (lambda: corrected_mean(GOOD, GOOD, strata=["a"] * 39 + ["b"]), "1 of 1 outputs are labelled in the stratum b"),
        (lambda: corrected_mean(GOOD, [None] * 40), "0 of 40 outputs are labelled: at least two are needed"),
        (lambda: corrected_mean([2.0, *GOOD[1:]], GOOD), "judged: expected values from 0 to 1, found others"),
        (lambda: corrected_mean(GOOD, [-1.0, *GOOD[1:]]), "labels: expected values from 0 to 1, found others"),
        (lambda: corrected_mean(GOOD, GOOD[1:]), "labels: expected a label or None for each of 40 outputs, found 39"),
        (lambda: corrected_mean(GOOD, GOOD, clusters=[1]), "clusters: expected one for each of 40 outputs, found 1"),
        (lambda: corrected_mean(GOOD, GOOD, strata=[1]), "strata: expected one for each of 40 outputs, found 1"),
        (lambda: corrected_mean(GOOD, GOOD, scale=(1, 1)), "scale: expected two numbers, the second one larger"),
        (lambda: corrected_mean(GOOD, GOOD, weight=2), "weight: expected a number from 0 to 1, found 2"),
        (lambda: corrected_mean([float("nan"), *GOOD[1:]], GOOD), "judged: expected"),
        (lambda: corrected_mean(GOOD, [float("inf"), *GOOD[1:]]), "labels: expected"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_is_missing(figure, why):
    with pytest.raises(ValueError, match=why):
        figure()
