"""Raters on one scale: published tables, definitions, laws."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from affidavit.statistics.agreement import (
    alpha,
    exact_agreement,
    mean_absolute_difference,
    weighted_kappa,
)
from affidavit.statistics.shares import wilson
from support.laws import few

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


@pytest.mark.slow
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


@pytest.mark.slow
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
    assert again == found


def test_the_plain_measures_of_agreement():
    units = [[2, 2, 2], [0, 1, None], [2, 0, 1], [None, None, 1]]
    exact, apart = exact_agreement(units), mean_absolute_difference(units, seed=0)
    assert exact == wilson(1, 3)
    assert (apart.value, apart.n) == (pytest.approx((0 + 1 + 4 / 3) / 3), 3)
    assert apart.low <= apart.value <= apart.high


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
