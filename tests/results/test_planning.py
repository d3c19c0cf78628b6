"""What a study could find: comparisons counted by hand, figures against the formulas written out."""

from itertools import product
from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from affidavit.results.planning import DISCORDANCES, PlannedTask, comparisons, planned_tasks, planning_lines
from affidavit.study.crossing import Cell


def cells(task: str, models: str, conditions: str) -> list[Cell]:
    return [Cell(task, model, condition) for model, condition in product(models, conditions)]


@pytest.mark.parametrize(
    ("models", "conditions", "controls", "count"),
    [
        ("a", "x", {}, 0),
        ("a", "xy", {}, 0),
        ("a", "xy", {"y": "x"}, 1),
        ("ab", "x", {}, 1),
        ("abc", "xy", {"y": "x"}, 3 + 2 * 3),
        ("ab", "xyz", {"y": "x", "z": "x"}, 4 + 3),
        ("ab", "y", {"y": "x"}, 1),
    ],
)
def test_comparisons_are_with_controls_and_between_models(models, conditions, controls, count):
    found = comparisons(cells("quiz", models, conditions), controls)
    assert len(found) == count == len(set(found))


def test_all_measures_of_all_comparisons_are_one_family():
    asked = dict.fromkeys(cells("quiz", "ab", "x"), 50) | dict.fromkeys(cells("maths", "ab", "xy"), 20)
    asked |= dict.fromkeys(cells("alone", "a", "x"), 9)
    found = planned_tasks(asked, {"y": "x"})
    assert found == [PlannedTask("quiz", 50, 1, 15), PlannedTask("maths", 20, 4, 15)]
    assert [task.level for task in found] == [0.05 / 15, 0.05 / 15], "three measures of five comparisons"


@pytest.mark.slow
@settings(max_examples=15)
@given(st.integers(1, 30), st.sampled_from([0.05, 0.1]), st.sampled_from(DISCORDANCES))
def test_items_needed_are_at_least_those_of_the_formula(rows, difference, discordance):
    level = 0.05 / rows
    z, power = NormalDist().inv_cdf(1 - level / 2), NormalDist().inv_cdf(0.8)
    formula = ((z * sqrt(discordance) + power * sqrt(discordance - difference**2)) / difference) ** 2
    needed = PlannedTask("quiz", 100, 1, rows).items_needed(difference, discordance)
    assert formula <= needed <= 1.3 * formula + 25
    found = PlannedTask("quiz", needed, 1, rows).detectable(discordance)
    assert found <= difference + 1e-3


def exact_power(pairs: int, discordance: float, difference: float, level: float) -> float:
    """How often McNemar's exact test finds a difference, added up over all tables."""
    share, found = (discordance + difference) / 2 / discordance, 0.0
    for discordant in range(1, pairs + 1):
        chance = binom.pmf(discordant, pairs, discordance)
        if chance > 1e-9:
            higher = np.arange(discordant + 1)
            p_values = 2 * binom.cdf(np.minimum(higher, discordant - higher), discordant, 0.5)
            found += chance * binom.pmf(higher, discordant, share)[p_values <= level].sum()
    return float(found)


@pytest.mark.parametrize(
    ("items", "discordance", "rows"),
    [(40, 0.5, 15), (50, 0.25, 1), (100, 0.1, 1), (100, 0.25, 5), (200, 0.25, 15), (400, 0.1, 15)],
)
def test_the_exact_test_has_the_power_that_is_said(items, discordance, rows):
    task = PlannedTask("quiz", items, 1, rows)
    assert 0.799 <= exact_power(items, discordance, task.detectable(discordance), task.level) <= 0.82


@pytest.mark.slow
@pytest.mark.parametrize("discordance", [0.1, 0.25])
def test_five_points_need_so_many_items(discordance):
    needed = PlannedTask("quiz", 1, 1, 3).items_needed(0.05, discordance)
    assert 0.8 <= exact_power(needed, discordance, 0.05, 0.05 / 3) <= 0.82


def test_what_cannot_be_found_is_said():
    small = PlannedTask("quiz", 3, 1, 3)
    assert small.detectable(0.1) is None
    assert small.items_needed(0.2, 0.1) is None
    lines = list(planning_lines([small], 0.2))
    assert any("too few to find any difference; 20 points cannot occur" in line for line in lines)
    assert any("enough for 20 points? no" in line for line in lines)
    assert small.as_json(0.2)["if_two_sides_differ_on"][0] == {
        "discordance": 0.1, "detectable_difference": None, "items_needed": None,
    }  # fmt: skip
    assert list(planning_lines([], 0.05)) == []
