"""How often the interval of a share over clusters holds the truth: prints a table of docs/statistics.md.

    python tests/support/simulate_shares.py

Items are drawn with a share of their own, by a beta distribution whose spread is the correlation of the samples of
one item, and then their samples. Seeds are fixed, so that the figures are the same everywhere.
"""

import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from affidavit.statistics.shares import ClusterSums, share

SEED, DRAWS = 20_261_117, 20_000
DESIGNS = ((5, 2), (10, 5), (20, 2), (40, 2), (60, 3), (100, 5))
"""Items, and samples of each."""
SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
CORRELATIONS = (0.0, 0.3, 0.8, 1.0)
USUAL = 0.94
"""Cells that cover less are listed one by one."""


class Cell(NamedTuple):
    """How often intervals held the truth, in one world."""

    items: int
    samples: int
    share: float
    correlation: float
    coverage: float
    above: float
    """How often the lower end was above the truth: what a gate at that share would have let through."""


def right_samples(
    random: np.random.Generator, size: tuple[int, int], samples: int, share: float, correlation: float
) -> np.ndarray:
    """Right samples of each item, a row for each draw of a study; `size` is draws and items."""
    if correlation == 0.0:
        return random.binomial(samples, share, size)
    if correlation == 1.0:
        return samples * (random.random(size) < share)
    strength = (1 - correlation) / correlation
    return random.binomial(samples, random.beta(share * strength, (1 - share) * strength, size))


def cell(items: int, samples: int, truth: float, correlation: float, *, draws: int = DRAWS) -> Cell:
    """One world, with a seed of its own."""
    seed = [SEED, items, samples, round(truth * 1000), round(correlation * 1000)]
    right = right_samples(np.random.default_rng(seed), (draws, items), samples, truth, correlation)
    kinds, times = np.unique(
        np.column_stack([right.sum(axis=1), (right**2).sum(axis=1)]), axis=0, return_counts=True
    )
    n, squares = items * samples, items * samples**2
    found = [
        share(ClusterSums(items, n, squares, int(successes), int(squared), int(successes) * samples))
        for successes, squared in kinds
    ]
    low, high = np.array([each.low for each in found]), np.array([each.high for each in found])
    # A bound that is the truth but for rounding holds it.
    above, below = low > truth + 1e-12, high < truth - 1e-12
    weight = times / draws
    coverage = 1 - float(weight[above | below].sum())
    return Cell(items, samples, truth, correlation, coverage, float(weight[above].sum()))


def cells(*, draws: int = DRAWS) -> Iterator[Cell]:
    """All worlds."""
    for items, samples in DESIGNS:
        for truth in SHARES:
            for correlation in CORRELATIONS:
                yield cell(items, samples, truth, correlation, draws=draws)


def table(found: list[Cell]) -> str:
    """Least and mean coverage by design and correlation, and the most that a gate would let through."""
    heads = [f"correlation {correlation:g}" for correlation in CORRELATIONS]
    lines = ["| items × samples | " + " | ".join(heads) + " | lower end above the truth, at most |"]
    lines.append("|---|" + "--:|" * (len(heads) + 1))
    for items, samples in DESIGNS:
        own = [each for each in found if (each.items, each.samples) == (items, samples)]
        shown = []
        for correlation in CORRELATIONS:
            coverages = [each.coverage for each in own if each.correlation == correlation]
            shown.append(f"{min(coverages):.1%} / {sum(coverages) / len(coverages):.1%}")
        most = max(each.above for each in own)
        lines.append(f"| {items} × {samples} | " + " | ".join(shown) + f" | {most:.1%} |")
    mean = sum(each.coverage for each in found) / len(found)
    worst = min(found, key=lambda each: each.coverage)
    lines.append("")
    lines.append(
        f"Mean over all {len(found)} cells {mean:.1%}; least {worst.coverage:.1%}, at {worst.items} × {worst.samples}, "
        f"share {worst.share:g}, correlation {worst.correlation:g}."
    )
    low = [each for each in found if each.coverage < USUAL]
    lines += ["", f"The {len(low)} cells below {USUAL:.0%}:", ""]
    lines += ["| items × samples | share | correlation | coverage |", "|---|--:|--:|--:|"]
    lines += [
        f"| {each.items} × {each.samples} | {each.share:g} | {each.correlation:g} | {each.coverage:.1%} |"
        for each in sorted(low, key=lambda each: each.coverage)
    ]
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    sys.stdout.write(
        f"**Shares of outputs in clusters, {DRAWS:,} draws a cell, seed {SEED:,}**\n\n{table(list(cells()))}\n"
    )


if __name__ == "__main__":
    main()
