"""How often 95 % intervals hold the truth, measured: prints the tables of docs/statistics.md.

    python tests/support/measure_coverage.py            # all of them, in some minutes
    python tests/support/measure_coverage.py wilson     # one

Wilson's coverage and the level of McNemar's test are exact sums over all that can happen; everything else is a
simulation with a fixed seed, and its number of rounds is in the title.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite

import numpy as np
from scipy.stats import binom

from affidavit.statistics.agreement import alpha, weighted_kappa
from affidavit.statistics.differences import mcnemar, sign_flip_test
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.means import clustered_t_mean, mean_of_clusters
from affidavit.statistics.repeated_samples import pass_at_k
from affidavit.statistics.shares import wilson, wilson_shares

SEED = 20_260_105
Random = np.random.Generator
Clusters = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class World:
    """Where clusters come from, and the mean over all of them."""

    name: str
    draw: Callable[[Random, int], Clusters]
    truth: float


def _alike(share: float, *, size: int, correlation: float) -> Callable[[Random, int], Clusters]:
    """Clusters of one size; their own shares vary as much as observations of a cluster correlate."""
    strength = (1 - correlation) / correlation

    def draw(random: Random, clusters: int) -> Clusters:
        own = random.beta(share * strength, (1 - share) * strength, clusters)
        return random.binomial(size, own).astype(float), np.full(clusters, float(size))

    return draw


def _skewed(random: Random, clusters: int) -> Clusters:
    """A few clusters hold most observations, and large ones are right more often: 80 % against 40 %."""
    large = random.random(clusters) < 0.1
    sizes = np.where(large, 20, 1 + random.poisson(1, clusters))
    own = random.beta(np.where(large, 8, 4) * 0.5, np.where(large, 2, 6) * 0.5)
    return random.binomial(sizes, own).astype(float), sizes.astype(float)


def _long_tailed(random: Random, clusters: int) -> Clusters:
    return random.lognormal(0.0, 1.0, clusters), np.ones(clusters)


WORLDS = (
    World("4 samples each, share 0.5, correlation 0.3", _alike(0.5, size=4, correlation=0.3), 0.5),
    World("4 samples each, share 0.9, correlation 0.3", _alike(0.9, size=4, correlation=0.3), 0.9),
    World("4 samples each, share 0.02, correlation 0.3", _alike(0.02, size=4, correlation=0.3), 0.02),
    World(
        "skewed sizes: a tenth of the clusters holds half", _skewed, (0.1 * 20 * 0.8 + 0.9 * 2 * 0.4) / (2 + 1.8)
    ),
    World("one value each, log-normal", _long_tailed, float(np.exp(0.5))),
)


def wilson_coverage(n: int, share: float) -> float:
    """The exact chance that Wilson's interval holds the share."""
    shares = wilson_shares(np.arange(n + 1), n)
    held = (shares.low <= share) & (share <= shares.high)
    return float(binom.pmf(np.arange(n + 1), n, share)[held].sum())


def coverage(
    world: World,
    clusters: int,
    interval: Callable[[np.ndarray, np.ndarray, int], Estimate],
    *,
    rounds: int,
    seed: int = SEED,
) -> float:
    """The share of rounds in which there was an interval, and it held the mean."""
    random = np.random.default_rng([seed, clusters])
    held = 0
    for number in range(rounds):
        found = interval(*world.draw(random, clusters), number)
        held += isfinite(found.low) and found.low <= world.truth <= found.high
    return held / rounds


def by_bootstrap(sums: np.ndarray, counts: np.ndarray, number: int) -> Estimate:
    """The interval of `mean_of_clusters`."""
    return mean_of_clusters(sums, counts, seed=number)


def by_t(sums: np.ndarray, counts: np.ndarray, number: int) -> Estimate:
    """The interval of `clustered_t_mean`."""
    return clustered_t_mean(sums, counts)


def by_wilson(sums: np.ndarray, counts: np.ndarray, number: int) -> Estimate:
    """Wilson's interval, as if all samples were independent."""
    return wilson(int(sums.sum()), int(counts.sum()))


def _table(title: str, head: list[str], rows: list[list[str]]) -> Iterator[str]:
    yield f"\n**{title}**\n"
    yield f"| {' | '.join(head)} |"
    yield "|---|" + "--:|" * (len(head) - 1)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def wilson_tables() -> Iterator[str]:
    """Wilson, exact, on the stated grid and off it."""
    grid = np.round(np.arange(0.10, 0.901, 0.01), 2)
    rows = []
    for n in (5, 10, 20, 30, 50, 100, 200, 500, 1000):
        inside = [wilson_coverage(n, share) for share in grid]
        corners = [f"{wilson_coverage(n, share):.1%}" for share in (0.01, 0.001)]
        rows.append([str(n), f"{np.mean(inside):.1%}", f"{min(inside):.1%}", *corners])
    head = ["n", "mean, shares 0.1–0.9", "least, shares 0.1–0.9", "share 0.01", "share 0.001"]
    yield from _table("Wilson, exact", head, rows)


def mean_tables(rounds: int = 2_000) -> Iterator[str]:
    """Means of clusters: the bootstrap, t, and Wilson as if samples were independent."""
    head = ["clusters", *(f"{clusters}" for clusters in (5, 10, 20, 50, 100))]
    for title, interval in (("percentile bootstrap", by_bootstrap), ("clustered t", by_t)):
        rows = [
            [
                world.name,
                *(f"{coverage(world, int(clusters), interval, rounds=rounds):.1%}" for clusters in head[1:]),
            ]
            for world in WORLDS
        ]
        yield from _table(f"Mean of clusters, {title}, {rounds:,} rounds", head, rows)
    rows = [
        [world.name, *(f"{coverage(world, int(clusters), by_wilson, rounds=rounds):.1%}" for clusters in head[1:])]
        for world in WORLDS[:2]
    ]
    yield from _table(f"Wilson where samples are not independent, {rounds:,} rounds", head, rows)


def pass_tables(rounds: int = 1_000) -> Iterator[str]:
    """pass@4 from 8 samples of items that are mostly easy or hopeless."""
    head, held = ["items", "10", "20", "50", "100"], []
    # The mean of (1 - rate)^4 for rates of Beta(0.4, 0.6): a product of four fractions.
    truth = 1 - float(np.prod([(0.6 + step) / (1.0 + step) for step in range(4)]))
    for items in map(int, head[1:]):
        random, inside = np.random.default_rng([SEED, items]), 0
        for _ in range(rounds):
            right = random.binomial(8, random.beta(0.4, 0.6, items))
            found = pass_at_k(right, np.full(items, 8), k=4).estimate
            inside += found.low <= truth <= found.high
        held.append(f"{inside / rounds:.1%}")
    yield from _table(f"pass@4 from 8 samples, {rounds:,} rounds", head, [[f"truth {truth:.3f}", *held]])


def _ratings(random: Random, units: int) -> np.ndarray:
    """Two raters on 0, 1, 2 who see the same quality through noise of their own."""
    quality = random.normal(0, 1, (units, 1)) + random.normal(0, 0.6, (units, 2))
    return np.digitize(quality, [-0.8, 0.5]).astype(float)


def agreement_tables(rounds: int = 500) -> Iterator[str]:
    """Kappa and alpha of two raters; the truth is that of a million units."""
    head, rows = ["units", "10", "20", "50", "100", "200"], []
    figures = {
        "quadratic weighted kappa": lambda ratings: weighted_kappa(ratings, weights="quadratic", seed=SEED),
        "ordinal alpha": lambda ratings: alpha(ratings, seed=SEED),
    }
    for name, figure in figures.items():
        truth, held = figure(_ratings(np.random.default_rng(SEED), 1_000_000)).value, []
        for units in map(int, head[1:]):
            random = np.random.default_rng([SEED, units])
            found = [figure(_ratings(random, units)) for _ in range(rounds)]
            inside = [isfinite(each.low) and each.low <= truth <= each.high for each in found]
            held.append(f"{np.mean(inside):.1%}")
        rows.append([f"{name}, truth {truth:.3f}", *held])
    yield from _table(f"Agreement, {rounds:,} rounds", head, rows)


def level_tables(rounds: int = 1_000) -> Iterator[str]:
    """How often a test at 5 % raises an alarm where there is nothing."""
    head, alarms = ["discordant pairs", "10", "20", "50", "100", "500"], []
    for discordant in map(int, head[1:]):
        p_values = [
            mcnemar(first, discordant - first, pairs=discordant).p_value for first in range(discordant + 1)
        ]
        chances = binom.pmf(np.arange(discordant + 1), discordant, 0.5)
        alarms.append(f"{chances[np.array(p_values) <= 0.05].sum():.1%}")
    yield from _table("False alarms of McNemar's exact test at 5 %, exact", head, [["alarms", *alarms]])
    head, rows = ["clusters", "6", "10", "20", "50"], []
    for name, draw in {
        "normal differences": lambda random, size: random.normal(0, 1, size),
        "means of 4 samples, both conditions 0.6": lambda random, size: (
            (random.binomial(4, 0.6, size) - random.binomial(4, 0.6, size)) / 4
        ),
    }.items():
        alarms = []
        for clusters in map(int, head[1:]):
            random = np.random.default_rng([SEED, clusters])
            found = [
                sign_flip_test(draw(random, clusters), seed=number, patterns=1_999).p_value
                for number in range(rounds // 4 if clusters == 20 else rounds)
            ]
            alarms.append(f"{np.mean(np.array(found) <= 0.05):.1%}")
        rows.append([name, *alarms])
    yield from _table(
        f"False alarms of the sign flip test at 5 %, {rounds:,} rounds ({rounds // 4} with 20 clusters)",
        head,
        rows,
    )


TABLES = {
    "wilson": wilson_tables,
    "means": mean_tables,
    "pass": pass_tables,
    "agreement": agreement_tables,
    "levels": level_tables,
}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or TABLES:
        for line in TABLES[chosen]():
            print(line, flush=True)
