"""How often a judge's corrected share covers the truth: prints the table of docs/statistics.md.

    python tests/support/simulate_corrections.py [ROUNDS]

A judge of some sensitivity and specificity says yes or no of every output, people of a few that are drawn at
random. Where outputs come in clusters of four, the truth of a question's outputs is alike (ICC 0.5), and so are the
judge's errors. `naive` is the judge's own share with its binomial interval; `width` is that of the corrected
interval over that of people alone.
"""

import sys
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from affidavit.statistics.corrected_means import corrected_mean, people_alone

SEED = 20_261_119
LABELS = (50, 100, 400)
OUTPUTS = (500, 5_000)
SHARES = (0.1, 0.5, 0.9)
JUDGES = ((0.6, 0.6), (0.6, 0.95), (0.95, 0.6), (0.8, 0.8), (0.95, 0.95))
"""Sensitivity and specificity."""
ALIKE = (0.0, 0.5)
"""How alike the outputs to one question are."""
TOGETHER = 4


class Setting(NamedTuple):
    """What is drawn."""

    labels: int
    outputs: int
    share: float
    judge: tuple[float, float]
    alike: float


class Covered(NamedTuple):
    """How often intervals covered the truth, and how wide the corrected one was."""

    corrected: float
    people: float
    naive: float
    width: float


def settings() -> Iterator[Setting]:
    return (Setting(*each) for each in product(LABELS, OUTPUTS, SHARES, JUDGES, ALIKE))


def _likely(share: float, setting: Setting, random: np.random.Generator) -> np.ndarray:
    """The chance of a yes for each output: of a question's own where outputs are alike."""
    if not setting.alike:
        return np.full(setting.outputs, share)
    known = (1 - setting.alike) / setting.alike
    own = random.beta(share * known, (1 - share) * known, setting.outputs // TOGETHER)
    return np.repeat(own, TOGETHER)


def drawn(setting: Setting, random: np.random.Generator) -> tuple[np.ndarray, list[float | None], np.ndarray]:
    """What the judge says, what people say of a few, and the question of each output."""
    truth = random.random(setting.outputs) < _likely(setting.share, setting, random)
    right = np.where(truth, *(_likely(each, setting, random) for each in setting.judge))
    judged = np.where(random.random(setting.outputs) < right, truth, ~truth).astype(float)
    chosen = set(random.choice(setting.outputs, setting.labels, replace=False).tolist())
    labels = [float(value) if at in chosen else None for at, value in enumerate(truth.tolist())]
    size = TOGETHER if setting.alike else 1
    return judged, labels, np.arange(setting.outputs) // size


def covered(setting: Setting, rounds: int) -> Covered:
    """The shares of rounds in which each interval had the truth in it."""
    random = np.random.default_rng([SEED, *map(int, (setting.labels, setting.outputs, 100 * setting.share))])
    hits, width = np.zeros(3), 0.0
    for _ in range(rounds):
        judged, labels, questions = drawn(setting, random)
        clusters = questions.tolist()
        both = [each(judged, labels, clusters=clusters).estimate for each in (corrected_mean, people_alone)]
        naive = judged.mean()
        reach = 1.96 * np.sqrt(naive * (1 - naive) / setting.outputs)
        ends = [(each.low, each.high) for each in both] + [(naive - reach, naive + reach)]
        hits += [low <= setting.share <= high for low, high in ends]
        width += (both[0].high - both[0].low) / (both[1].high - both[1].low)
    return Covered(*(hits / rounds), width / rounds)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    print("| labels | outputs | share | sensitivity | specificity | alike | corrected | people | naive | width |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for setting in settings():
        found = covered(setting, rounds)
        names = (setting.labels, setting.outputs, setting.share, *setting.judge, setting.alike)
        shares = (f"{each:.1%}" for each in found[:3])
        print(f"| {' | '.join(map(str, names))} | {' | '.join(shares)} | {found.width:.3f} |", flush=True)


if __name__ == "__main__":
    main()
