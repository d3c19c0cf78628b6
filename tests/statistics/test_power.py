"""What a study could have found: textbook sizes, and the power that they really have."""

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.statistics.differences import mcnemar
from affidavit.statistics.power import (
    clusters_needed,
    detectable_difference,
    detectable_mean,
    detectable_paired_difference,
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
