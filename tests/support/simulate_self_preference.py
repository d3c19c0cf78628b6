"""How often the interval of self-preference covers 0 where there is none: prints the table of docs/statistics.md.

    python tests/support/simulate_self_preference.py [ROUNDS]

Judges differ in severity, targets in how good they are, questions in how hard they are, and no judge prefers
itself. `raw` is how far the raw difference of means is from 0 on average, in points of the score.
"""

import sys
from dataclasses import dataclass

import numpy as np

from affidavit.statistics.self_preference import JudgedScore, self_preference

SEED = 20_260_105


@dataclass(frozen=True)
class Setting:
    """Who judges whom, and how severely."""

    name: str
    severity: dict[str, float]
    """By judge; judges are targets too."""
    quality: dict[str, float]
    """By target."""
    clipped: bool = False
    """Whether scores end at 0 and 8."""


SETTINGS = (
    Setting("two judges, one severe", {"a": 1.0, "b": -1.5}, {"a": 4.0, "b": 5.0}),
    Setting("two judges and a target that does not judge", {"a": 1.0, "b": -1.5}, {"a": 4.0, "b": 5.0, "c": 3.5}),
    Setting("three judges", {"a": 1.0, "b": -1.5, "c": 0.0}, {"a": 4.0, "b": 5.0, "c": 3.5}),
    Setting("two judges, scores cut off at 0 and 8", {"a": 1.5, "b": -2.0}, {"a": 4.0, "b": 6.0}, clipped=True),
)
QUESTIONS = (10, 20, 40, 100)


def drawn(setting: Setting, questions: int, random: np.random.Generator) -> list[JudgedScore]:
    """Scores of every target's output to every question by every judge: whole numbers."""
    scores = []
    for question, hard in enumerate(random.normal(0, 1, questions)):
        for target, quality in setting.quality.items():
            output = quality + hard + random.normal(0, 0.7)
            for judge, severity in setting.severity.items():
                score = round(output + severity + random.normal(0, 0.8))
                score = min(8, max(0, score)) if setting.clipped else score
                scores.append(JudgedScore(judge, (question, target), question, score, judge == target))
    return scores


def raw_difference(scores: list[JudgedScore], judge: str) -> float:
    """A judge's mean over its own outputs less the other judges' over the same."""
    outputs = {each.output for each in scores if each.own and each.judge == judge}
    own = [each.score for each in scores if each.output in outputs and each.judge == judge]
    others = [each.score for each in scores if each.output in outputs and each.judge != judge]
    return float(np.mean(own) - np.mean(others))


def covered(setting: Setting, questions: int, rounds: int, seed: int = SEED) -> tuple[float, float]:
    """The share of intervals that cover 0, and the mean distance of the raw differences from 0."""
    random = np.random.default_rng([seed, questions, SETTINGS.index(setting)])
    hits, far = [], []
    for _ in range(rounds):
        scores = drawn(setting, questions, random)
        hits += [each.gamma.low <= 0 <= each.gamma.high for each in self_preference(scores) if each.gamma]
        far += [abs(raw_difference(scores, judge)) for judge in setting.severity]
    return float(np.mean(hits)), float(np.mean(far))


def main(rounds: int) -> None:
    """Print the table."""
    print(f"**Self-preference of judges that have none, {rounds:,} rounds**\n")
    print("| questions |", " | ".join(map(str, QUESTIONS)), "| raw difference, mean distance from 0 |")
    print("|---|" + "--:|" * (len(QUESTIONS) + 1))
    for setting in SETTINGS:
        cells = [covered(setting, questions, rounds) for questions in QUESTIONS]
        shown = " | ".join(f"{share:.1%}" for share, _ in cells)
        print(f"| {setting.name} | {shown} | {cells[-1][1]:.2f} points |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
