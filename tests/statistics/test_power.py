"""What a study could have found: textbook sizes, and the power that they really have."""

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.statistics.differences import mcnemar
from affidavit.statistics.power import (
    clusters_needed,
    detectable_by_mcnemar,
    detectable_difference,
    detectable_mean,
    detectable_paired_difference,
    mcnemar_power,
    observations_needed,
    pairs_needed,
)
from support.laws import few


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


@pytest.mark.parametrize("level", [0.05, 0.005])
@pytest.mark.parametrize("mid_p", [False, True])
@pytest.mark.parametrize(("difference", "discordance", "pairs"), [(0.1, 0.2, 60), (0.3, 0.1, 25), (1.0, 0.0, 7)])
def test_the_power_of_mcnemar_is_the_sum_over_all_tables(difference, discordance, pairs, level, mid_p):
    from scipy.stats import multinomial  # noqa: PLC0415 - only here

    whole = max(discordance, difference)
    chances = [(whole - difference) / 2, (whole + difference) / 2, 1 - whole]
    expected = sum(
        multinomial.pmf([lost, won, pairs - lost - won], pairs, chances)
        for lost in range(pairs + 1)
        for won in range(lost, pairs + 1 - lost)
        if mcnemar(lost, won, pairs=pairs, mid_p=mid_p).p_value <= level
    )
    found = mcnemar_power(difference, discordance, pairs, level=level, mid_p=mid_p)
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@few
@given(st.floats(0, 1), st.integers(1, 400), st.sampled_from([0.05, 0.05 / 9]))
def test_what_mcnemar_detects_has_the_power_and_is_positive(discordance, pairs, level):
    # ruling S11
    least = detectable_by_mcnemar(discordance, pairs, level=level)
    if least is None:
        assert mcnemar_power(1.0, discordance, pairs, level=level) < 0.8
    else:
        assert 0 < least <= 1
        with_it = min(1.0, max(least, discordance + least**2))
        assert mcnemar_power(least, with_it, pairs, level=level) == pytest.approx(0.8, abs=0.01)


def test_exact_and_approximate_power_meet():
    for discordance, pairs in ((0.3, 1_666), (0.1, 4_999), (0.5, 999)):
        exact, approximate = (detectable_by_mcnemar(discordance, n) for n in (pairs, pairs + 1))
        assert exact == pytest.approx(approximate, rel=0.02)
        assert approximate == pytest.approx(detectable_paired_difference(discordance, pairs), rel=0.02)


@pytest.mark.parametrize("baseline", [0.0, 1e-12, 0.5, 1 - 1e-12, 1.0])
@pytest.mark.parametrize("n", [20, 100, 10_000, 10_000_000])
def test_the_detectable_difference_is_positive_for_every_baseline(baseline, n):
    # ruling S11
    difference = detectable_difference(baseline, n)
    assert difference > 0
    towards = baseline + difference if baseline <= 0.5 else baseline - difference
    assert abs(observations_needed(baseline, towards) - n) <= max(1, n / 100)
    assert detectable_difference(baseline, n, level=0.005) > difference
    assert detectable_paired_difference(baseline, n) > 0


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
