"""Self-preference (ruling S7) against a regression on dummy variables, written out, and by simulation."""

from math import inf, isfinite, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from affidavit.statistics.self_preference import JudgedScore, self_preference
from support.simulate_self_preference import SETTINGS, covered, drawn


def dense(scores: list[JudgedScore], groups: list[tuple[str, ...]]) -> list[tuple[float, float, float]]:
    """γ and its interval by ordinary least squares with a dummy variable for every output and judge."""
    judges_of: dict = {}
    for each in scores:
        judges_of.setdefault(each.output, set()).add(each.judge)
    kept = [each for each in scores if len(judges_of[each.output]) > 1]
    outputs, judges = sorted({each.output for each in kept}), sorted({each.judge for each in kept})
    x = np.array(
        [
            [float(each.output == name) for name in outputs]
            + [float(each.judge == name) for name in judges[1:]]
            + [float(each.own and each.judge in group) for group in groups]
            for each in kept
        ]
    )
    y = np.array([each.score for each in kept], dtype=float)
    inverse = np.linalg.inv(x.T @ x)
    effects = inverse @ x.T @ y
    residuals = y - x @ effects
    questions = sorted({each.question for each in kept})
    meat = np.zeros_like(inverse)
    for question in questions:
        rows = [at for at, each in enumerate(kept) if each.question == question]
        sums = x[rows].T @ residuals[rows]
        meat += np.outer(sums, sums)
    count = len(questions)
    variance = count / (count - 1) * inverse @ meat @ inverse
    reach = student.ppf(0.975, count - 1)
    first = len(outputs) + len(judges) - 1
    return [
        (effects[at], effects[at] - reach * sqrt(variance[at, at]), effects[at] + reach * sqrt(variance[at, at]))
        for at in range(first, first + len(groups))
    ]


@pytest.mark.parametrize(
    ("setting", "groups"),
    [(SETTINGS[0], [("a", "b")]), (SETTINGS[1], [("a",), ("b",)]), (SETTINGS[2], [("a",), ("b",), ("c",)])],
)
@settings(max_examples=max(1, settings().max_examples // 20), deadline=None)
@given(seed=st.integers(0, 10_000), lost=st.integers(0, 8))
def test_the_fit_is_that_of_a_regression_on_dummy_variables(setting, groups, seed, lost):
    random = np.random.default_rng(seed)
    scores = drawn(setting, 12, random)
    for _ in range(lost):
        del scores[int(random.integers(len(scores)))]
    found = self_preference(scores)
    assert [each.judges for each in found] == groups
    for each, (value, low, high) in zip(found, dense(scores, groups), strict=True):
        if isfinite(each.gamma.low):
            assert (each.gamma.value, each.gamma.low, each.gamma.high) == pytest.approx((value, low, high))
        else:
            assert each.questions < 10
    shuffled = [scores[at] for at in random.permutation(len(scores))]
    assert self_preference(shuffled) == found


def made(gammas: dict[str, float], targets: str, questions: int, noise: float = 0.0) -> list[JudgedScore]:
    """Scores with known self-preference; judges differ in severity."""
    random, severity = np.random.default_rng(3), {"a": 0.0, "b": 2.0, "c": -1.0}
    return [
        JudgedScore(
            judge,
            (question, target),
            question,
            question % 4 + severity[judge] + gammas[judge] * (judge == target) + noise * random.normal(),
            judge == target,
        )
        for question in range(questions)
        for target in targets
        for judge in gammas
    ]


@pytest.mark.parametrize(
    ("gammas", "targets", "expected"),
    [
        # Two judges of each other: only the mean of their γ can be known.
        ({"a": 1.0, "b": 0.0}, "ab", {("a", "b"): 0.5}),
        # A target that does not judge, or a third judge, tells them apart.
        ({"a": 1.0, "b": -0.5}, "abz", {("a",): 1.0, ("b",): -0.5}),
        ({"a": 1.0, "b": -0.5, "c": 0.25}, "abc", {("a",): 1.0, ("b",): -0.5, ("c",): 0.25}),
        # A judge that judges nobody else: severity and preference are one.
        ({"a": 1.0, "b": 0.0}, "a", {("a",): None}),
        # Nobody judges its own outputs, or no output has two judges.
        ({"a": 1.0, "b": 0.0}, "z", {}),
        ({"a": 1.0}, "az", {}),
    ],
)
def test_known_preferences_are_found_as_far_as_they_are_identified(gammas, targets, expected):
    found = {each.judges: each.gamma for each in self_preference(made(gammas, targets, 12))}
    assert {judges: gamma and pytest.approx(gamma.value, abs=1e-9) for judges, gamma in found.items()} == expected
    # Every score fits: an interval would have no width.
    assert all(gamma is None or gamma.low == -inf for gamma in found.values())


def test_below_ten_questions_there_is_no_interval():
    for questions, some in ((9, False), (10, True)):
        (gamma,) = (each.gamma for each in self_preference(made({"a": 1.0, "b": 0.0}, "ab", questions, noise=0.5)))
        assert isfinite(gamma.low) is some
        assert (gamma.n, gamma.clusters) == (2 * questions, questions)


def test_questions_of_two_tasks_are_not_one():
    scores = made({"a": 1.0, "b": 0.0}, "ab", 6, noise=0.5)
    twice = [
        each._replace(question=(task, each.question), output=(task, each.output))
        for task in "xy"
        for each in scores
    ]
    assert self_preference(twice)[0].questions == 12


@pytest.mark.slow
def test_judges_without_self_preference_are_given_none():
    for setting in SETTINGS[:3]:
        share, raw = covered(setting, 20, 150)
        assert 0.90 <= share <= 0.99
        assert raw > 0.5, "the raw difference is not 0, although nobody prefers itself"
