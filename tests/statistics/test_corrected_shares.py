"""Rogan and Gladen's share with Lang and Reiczigel's interval (ruling S10), against what was published."""

from math import inf, isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.statistics.corrected_shares import JudgedLabels, rogan_gladen


def test_the_published_case():
    """Lang and Reiczigel (2014): p = .4, n = 1000, q0 = .7, q1 = .9, m = 200 each."""
    found = rogan_gladen(400, 1000, among_yes=JudgedLabels(180, 200), among_no=JudgedLabels(140, 200))
    assert found is not None
    assert [round(each, 4) for each in (found.value, found.low, found.high)] == [0.1667, 0.0564, 0.2627]


@pytest.mark.parametrize(
    ("yes", "n", "among_yes", "among_no", "value"),
    [
        # By hand: (share + specificity − 1) / (sensitivity + specificity − 1).
        (50, 100, (40, 40), (40, 40), 0.5),
        (60, 100, (36, 40), (32, 40), (0.6 + 0.8 - 1) / (0.9 + 0.8 - 1)),
        (15, 100, (36, 40), (32, 40), 0.0),
        (85, 100, (32, 40), (36, 40), 1.0),
    ],
)
def test_shares_by_hand(yes, n, among_yes, among_no, value):
    found = rogan_gladen(yes, n, among_yes=JudgedLabels(*among_yes), among_no=JudgedLabels(*among_no))
    assert found is not None
    assert found.value == pytest.approx(value)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high


@pytest.mark.parametrize(("yes", "value"), [(2, 0.0), (99, 1.0)])
def test_what_no_such_judge_would_have_called_has_no_interval(yes, value):
    """Far below what its false alarms alone would give, or above what it finds."""
    found = rogan_gladen(yes, 100, among_yes=JudgedLabels(320, 400), among_no=JudgedLabels(320, 400))
    assert found is not None
    assert (found.value, found.low) == (value, -inf)
    assert "no interval" in found.method


@pytest.mark.parametrize(
    ("among_yes", "among_no"), [((20, 40), (20, 40)), ((10, 40), (20, 40)), ((0, 0), (40, 40)), ((40, 40), (0, 0))]
)
def test_a_judge_no_better_than_a_coin_corrects_nothing(among_yes, among_no):
    assert rogan_gladen(50, 100, among_yes=JudgedLabels(*among_yes), among_no=JudgedLabels(*among_no)) is None


def test_a_judge_hardly_better_than_a_coin_has_a_value_and_no_interval():
    found = rogan_gladen(1, 2, among_yes=JudgedLabels(1, 1), among_no=JudgedLabels(1, 2))
    assert found is None or found.low <= found.value <= found.high


counts = st.integers(1, 60).flatmap(lambda n: st.builds(JudgedLabels, st.integers(0, n), st.just(n)))


@pytest.mark.slow
@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), counts, counts)
def test_yes_and_no_are_the_same_question(judged, among_yes, among_no):
    yes, n = judged
    found = rogan_gladen(yes, n, among_yes=among_yes, among_no=among_no)
    turned = rogan_gladen(n - yes, n, among_yes=among_no, among_no=among_yes)
    assert (found is None) == (turned is None)
    if found is not None and turned is not None:
        assert found.value == pytest.approx(1 - turned.value, abs=1e-9)
        assert found.method == turned.method
        if isfinite(found.low):
            assert (found.low, found.high) == pytest.approx((1 - turned.high, 1 - turned.low), abs=1e-9)


@pytest.mark.parametrize(
    ("judged", "why"), [((3, 2), "yes: expected"), ((1, 0), "n: expected"), ((0.5, 2), "yes: expected")]
)
def test_odd_counts_are_refused(judged, why):
    with pytest.raises(ValueError, match=why):
        rogan_gladen(*judged, among_yes=JudgedLabels(1, 2), among_no=JudgedLabels(1, 2))
