"""Many comparisons: worked examples, laws, and scipy's own adjustment."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from affidavit.statistics.differences import PairedDifference
from affidavit.statistics.estimate import Form
from affidavit.statistics.multiplicity import benjamini_hochberg, family, holm, holm_steps
from support.laws import few


def test_adjusted_p_values_of_the_worked_examples():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    # Benjamini and Hochberg (1995): of 15, Bonferroni's way finds three and theirs four.
    p_values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719]
    p_values += [0.6528, 0.7590, 1.0]
    assert (holm(p_values) <= 0.05).sum() == 3
    assert (benjamini_hochberg(p_values) <= 0.05).sum() == 4


@pytest.mark.slow
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


# --- what a family says ---


@few
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_each_verdict_has_the_level_of_its_step(p_values):
    # ruling S3, step by step
    steps, m = holm_steps(p_values), len(p_values)
    order, stopped = np.argsort(p_values, kind="stable"), None
    for place in order:
        k = 1 + sum(p < p_values[place] for p in p_values)  # equal ones stand at the first of their steps
        level = 0.05 / (m - k + 1)
        if stopped is None and p_values[place] > level:
            stopped = level
        assert steps.rejected[place] == (stopped is None)
        assert steps.levels[place] == pytest.approx(stopped or level)
    assert steps.adjusted == pytest.approx(holm(p_values))
    assert (steps.rejected == (steps.adjusted <= 0.05)).all() or min(abs(steps.adjusted - 0.05)) < 1e-12, (
        "but for rounding, the same as by adjusted p-values"
    )


def paired(lost: int, won: int, pairs: int) -> PairedDifference:
    """Single samples: so many items are lost, so many won."""
    first = [1] * lost + [0] * (pairs - lost)
    second = [0] * lost + [1] * won + [0] * (pairs - lost - won)
    return PairedDifference.of_counts(first, [1] * pairs, second, [1] * pairs)


def test_a_family_is_adjusted_as_a_whole_and_says_its_levels():
    found = family([paired(0, 30, 100), paired(12, 2, 100), paired(5, 12, 100), paired(3, 3, 100)], seed=0)
    assert [verdict.direction for verdict in found] == ["higher", "lower", None, None]
    assert [round(0.05 / verdict.level) for verdict in found] == [4, 3, 2, 2]
    for verdict, difference in zip(found, (paired(0, 30, 100), paired(12, 2, 100)), strict=False):
        assert verdict.estimate == difference.estimate(verdict.level)
        assert verdict.detectable is None
    open_still = found[2]
    assert open_still.significance.p_value > 0.05
    assert open_still.detectable == paired(5, 12, 100).detectable(0.025)
    words = f"a true difference of {100 * open_still.detectable:.1f} points would be found in 80 % of such studies"
    assert open_still.in_words() == f"not distinguishable at this n; {words}"
    # Alone, the second would have been told at 5 %, with a narrower interval.
    alone = family([paired(12, 2, 100)], seed=0)[0]
    assert alone.level == 0.05
    assert alone.estimate.high < found[1].estimate.high


def test_a_reader_is_told_where_interval_and_test_are_at_odds():
    """Ruling S2: Tango's interval excludes 0 here, and McNemar's exact test does not."""
    (verdict,) = family([paired(1, 7, 40)], seed=0)
    assert verdict.estimate.low > 0
    assert verdict.significance.p_value > 0.05
    said = "not distinguishable at this n (the interval excludes 0, the test does not); a true difference of "
    assert verdict.in_words().startswith(said)


def test_where_nothing_can_be_said_the_counts_are():
    few_items = PairedDifference.of_means([7.0, 8.0, 8.0], [4.0, 5.0, 8.0], scale=8)
    equal = PairedDifference.of_counts([1] * 12, [3] * 12, [2] * 12, [3] * 12)
    words = [verdict.in_words() for verdict in family([few_items, equal], seed=0)]
    assert words == [
        "0 higher, 2 lower, 1 equal; fewer than 10 items: only the counts",
        "12 higher, 0 lower, 0 equal; all 12 differences are equal",
    ]
    nothing = family([paired(0, 1, 4)], seed=0)[0].in_words()
    assert nothing == "not distinguishable at this n; no true difference would be found in 80 % of such studies"
    scores = PairedDifference.of_means([1.0, 2.0] * 6, [2.0, 1.0] * 6, scale=8)
    assert "a true difference of 0.9" in family([scores], seed=0)[0].in_words(Form.MEAN)
    assert family([], seed=0) == []


@pytest.mark.slow
@few
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(1, 60)), min_size=1, max_size=6),
    st.booleans(),
)
def test_higher_and_lower_need_the_test_and_the_interval(tables, mid_p):
    differences = [paired(lost, won, lost + won + rest) for lost, won, rest in tables]
    for difference, verdict in zip(differences, family(differences, seed=0, mid_p=mid_p), strict=True):
        excluded = verdict.estimate.low > 0 or verdict.estimate.high < 0
        rejected = verdict.adjusted <= 0.05
        assert (verdict.direction is not None) == (excluded and rejected)
        words, at_odds = verdict.in_words(), {
            (True, False): "the interval excludes 0, the test does not",
            (False, True): "the test excludes 0, the interval does not",
        }  # fmt: skip
        for case, said in at_odds.items():
            assert (said in words) == ((excluded, rejected) == case), "a reader is told why nothing is said"
        if verdict.direction is not None:
            assert (verdict.direction == "higher") == (difference.value > 0)
