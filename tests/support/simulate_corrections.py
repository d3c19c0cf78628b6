"""How often a judge's corrected share covers the truth: prints the table of docs/statistics.md.

    python tests/support/simulate_corrections.py [LABELS ALIKE]

A judge of some sensitivity and specificity says yes or no of every output, people of a few that are drawn at
random. Where outputs come in clusters of four, the truth of a question's outputs is alike (ICC 0.5), and so are the
judge's errors. A row is over three shares and five judges: the least coverage and the mean. `naive` is the judge's own share with its binomial interval; `width` is that of the corrected
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
    drawn_with = (
        setting.labels,
        setting.outputs,
        *(round(100 * each) for each in (setting.share, *setting.judge)),
    )
    random = np.random.default_rng([SEED, *drawn_with, round(10 * setting.alike)])
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


def cell(setting: Setting, found: Covered) -> str:
    """The row of one setting."""
    names = (setting.labels, f"{setting.outputs:,}", setting.share, *setting.judge, setting.alike)
    shares = (f"{each:.1%}" for each in found[:3])
    return f"| {' | '.join(map(str, names))} | {' | '.join(shares)} | {found.width:.3f} |"


def row(names: tuple[object, ...], cells: list[Covered]) -> str:
    """What several settings have in common."""
    corrected, people, naive, width = (list(each) for each in zip(*cells, strict=True))
    both = (f"{min(each):.1%} / {np.mean(each):.1%}" for each in (corrected, people, naive))
    return f"| {' | '.join(map(str, names))} | {' | '.join(both)} | {min(width):.2f}–{max(width):.3f} |"


ROUNDS, LOWEST = 2_000, 6


def main() -> None:
    wanted = [float(each) for each in sys.argv[1:]]
    every: list[tuple[Covered, Setting]] = []
    for labels, alike, outputs in product(LABELS, ALIKE, OUTPUTS):
        if wanted in ([], [labels, alike]):
            chosen = [
                each for each in settings() if (each.labels, each.alike, each.outputs) == (labels, alike, outputs)
            ]
            found = [covered(each, ROUNDS) for each in chosen]
            print(row((labels, f"{outputs:,}", alike), found), flush=True)
            every += zip(found, chosen, strict=True)
    print()
    for found_, setting in sorted(every)[:LOWEST]:
        print(cell(setting, found_))


if __name__ == "__main__":
    main()
