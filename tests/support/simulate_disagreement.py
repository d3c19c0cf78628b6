"""How often the interval of the excess disagreement covers 0 when a condition does nothing (ruling S4).

    PYTHONPATH=src:tests python tests/support/simulate_disagreement.py

prints the table of docs/statistics.md. Each item has chances of its own for four answers. Condition and control draw
from the same chances; of equal sample numbers, which share a request seed, a part draws the same answer. Counting the
answers that differ from the control's most frequent one, as is often done, is printed beside it.
"""

from collections import Counter

import numpy as np

from affidavit.statistics.disagreement import Disagreement, ItemPairs, excess_disagreement

SEED = 20_261
DESIGNS = ((20, 2), (50, 2), (50, 5), (200, 3))
SHARED = (0.0, 0.5, 0.9, 1.0)
ANSWERS = 4


def simulated(
    random: np.random.Generator, items: int, samples: int, shared: float, *, moved: float = 0.0
) -> tuple[Disagreement, float]:
    """The figures of one study without an effect, or with a part of the answers moved; and the share "flipped"."""
    chances = random.dirichlet(np.full(ANSWERS, 0.5), items)
    draw = lambda: (random.random((items, samples, 1)) > chances.cumsum(axis=1)[:, None, :]).sum(axis=2)  # noqa: E731
    control, other = draw(), draw()
    condition = np.where(random.random((items, samples)) < shared, control, other)
    condition = np.where(random.random((items, samples)) < moved, (condition + 1) % ANSWERS, condition)
    kinds, flipped = Counter[ItemPairs](), []
    for before, after in zip(control.tolist(), condition.tolist(), strict=True):
        texts = [{number: str(answer) for number, answer in enumerate(each)} for each in (before, after)]
        kinds[ItemPairs.of(*texts, right="0")] += 1
        (mode, most), *others = Counter(before).most_common()
        if not others or others[0][1] < most:
            flipped += [answer != mode for answer in after]
    found = excess_disagreement(kinds)
    assert found is not None
    return found, float(np.mean(flipped))


def coverage(items: int, samples: int, shared: float, rounds: int) -> tuple[float, float, float]:
    """How often both intervals cover 0, and the mean share of answers "flipped"."""
    random = np.random.default_rng([SEED, items, samples, int(shared * 10)])
    made = [simulated(random, items, samples, shared) for _ in range(rounds)]
    covers = np.array([[each.low <= 0 <= each.high for each in found] for found, _ in made])
    return float(covers[:, 0].mean()), float(covers[:, 1].mean()), float(np.mean([flips for _, flips in made]))


def row(items: int, samples: int, shared: float, rounds: int = 2_000) -> str:
    """A row of the table."""
    excess, moves, flips = coverage(items, samples, shared, rounds)
    return f"| {items} × {samples} | {shared:.0%} | {excess:.1%} | {moves:.1%} | {flips:.1%} |"


def main(rounds: int = 2_000) -> None:
    """Print the table."""
    print(f"**Excess disagreement without an effect, {rounds:,} rounds**\n")
    print(
        "| items × samples | equal seeds give equal answers in | excess covers 0 | to wrong minus to right covers 0 | “flipped” |"
    )
    print("|---|--:|--:|--:|--:|")
    for items, samples in DESIGNS:
        for shared in SHARED:
            print(row(items, samples, shared, rounds), flush=True)


if __name__ == "__main__":
    main()
