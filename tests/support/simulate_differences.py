"""How often paired differences say what is not so, measured: prints tables of docs/statistics.md.

    python tests/support/simulate_differences.py              # all of them, in some minutes
    python tests/support/simulate_differences.py verdicts     # one

The coverage of Tango's interval is an exact sum over all tables; everything else is a simulation with a fixed seed,
and its number of rounds is in the title.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import multinomial

from affidavit.statistics.differences import PairedDifference, tango
from affidavit.statistics.multiplicity import family

SEED = 20_260_217
Random = np.random.Generator
Counts = tuple[np.ndarray, np.ndarray]


# --- two models that follow the format unequally ---


@dataclass(frozen=True)
class Model:
    """How often a model follows the format and is right, by how easy an item is."""

    compliance: Callable[[np.ndarray], np.ndarray]
    accuracy: Callable[[np.ndarray], np.ndarray]

    def answers(self, random: Random, easy: np.ndarray, samples: int) -> Counts:
        """Right answers and answers of each item."""
        given = random.binomial(samples, self.compliance(easy))
        return random.binomial(given, self.accuracy(easy)), given


STEADY = Model(lambda easy: np.full(len(easy), 0.95), lambda easy: easy)
CHOOSY = Model(lambda easy: 0.1 + 0.85 * easy**2, lambda easy: easy)
"""Just as able, but follows the format on easy items only."""
WORSE = Model(CHOOSY.compliance, lambda easy: 0.93 * easy)
"""The same, and wrong on 7 % of what the others get right."""


def accuracy_difference(random: Random, first: Model, second: Model, items: int, samples: int) -> PairedDifference:
    """The difference of accuracy over answers in a simulated study, over items that both have answered."""
    easy = random.beta(1.2, 0.8, items)
    right, given = first.answers(random, easy, samples)
    right_2, given_2 = second.answers(random, easy, samples)
    both = (given > 0) & (given_2 > 0)
    return PairedDifference.of_counts(right[both], given[both], right_2[both], given_2[both])


def ratio_of_sums(random: Random, first: Model, second: Model, items: int, samples: int) -> float:
    """The difference of the two accuracies as each side's report has it, over all of its answers."""
    easy = random.beta(1.2, 0.8, items)
    (right, given), (right_2, given_2) = (model.answers(random, easy, samples) for model in (first, second))
    return float(right_2.sum() / given_2.sum() - right.sum() / given.sum())


def verdict_shares(first: Model, second: Model, items: int, samples: int, *, rounds: int) -> tuple[float, float]:
    """How often the second model is called higher, and lower."""
    random, found = np.random.default_rng([SEED, items, samples]), []
    for number in range(rounds):
        difference = accuracy_difference(random, first, second, items, samples)
        found.append(family([difference], seed=number)[0].direction)
    return found.count("higher") / rounds, found.count("lower") / rounds


def verdict_tables(rounds: int = 2_000) -> Iterator[str]:
    """False verdicts on accuracy over answers, where the two models follow the format unequally."""
    rows = []
    for items, samples in ((240, 3), (1_000, 5)):
        for name, second in (("equally able", CHOOSY), ("worse by 7 % of what is right", WORSE)):
            higher, lower = verdict_shares(STEADY, second, items, samples, rounds=rounds)
            random = np.random.default_rng([SEED, items, samples])
            ratio = np.mean([ratio_of_sums(random, STEADY, second, items, samples) for _ in range(200)])
            cells = [f"{higher:.1%}", f"{lower:.1%}", f"{100 * ratio:+.1f} points".replace("-", "−")]
            rows.append([f"{items:,} × {samples}, {name}", *cells])
    head = ["items × samples, second model", "called higher", "called lower", "ratio of sums, mean"]
    yield from _table(f"Verdicts where compliance is unequal, {rounds:,} rounds", head, rows)


# --- coverage ---


def tango_coverage(pairs: int, discordance: float, difference: float, ends: np.ndarray) -> float:
    """The exact chance that Tango's interval holds a difference; `ends` are those of all tables."""
    first_only, second_only, low, high = ends.T
    chances = [(discordance - difference) / 2, (discordance + difference) / 2, 1 - discordance]
    counts = np.column_stack([first_only, second_only, pairs - first_only - second_only])
    held = (low - 1e-9 <= difference) & (difference <= high + 1e-9)
    return float(multinomial.pmf(counts, pairs, chances)[held].sum())


def all_ends(pairs: int) -> np.ndarray:
    """The discordant counts of every table of so many pairs, with its interval."""
    tables = [(b, c) for b in range(pairs + 1) for c in range(pairs + 1 - b)]
    return np.array([(b, c, *tango(b, c, pairs=pairs)) for b, c in tables])


TRUTHS = tuple(
    (discordance, difference)
    for discordance in (0.02, 0.1, 0.3, 0.6)
    for difference in (0.0, discordance / 4, discordance / 2, discordance)
)


def tango_tables() -> Iterator[str]:
    """Tango's interval, exact."""
    rows = []
    for pairs in (10, 20, 40, 80):
        ends = all_ends(pairs)
        covered = {truth: tango_coverage(pairs, *truth, ends) for truth in TRUTHS}
        worst = min(covered, key=lambda truth: covered[truth])
        where = f"{covered[worst]:.1%} (discordance {worst[0]}, difference {worst[1]})"
        rows.append([f"{pairs}", f"{np.mean(list(covered.values())):.1%}", where])
    yield from _table("Tango's score interval, exact", ["pairs", "mean of 16 truths", "least"], rows)


WORLDS: dict[str, tuple[Callable[[Random, int], np.ndarray], float]] = {
    "3 samples, easy and hard items, difference 0.02": (lambda random, n: random.beta(1.2, 0.8, n), 0.02),
    "3 samples, nearly all right, difference 0.005": (lambda random, n: random.beta(19, 1, n), 0.005),
    "3 samples, difference 0.2": (lambda random, n: random.beta(1.2, 0.8, n), 0.2),
}
"""How easy items are, and by how much the second side is right more often, on average over items."""


def drawn_difference(random: Random, name: str, items: int, samples: int = 3) -> PairedDifference:
    """Two sides of a world; the second is right on a share of what the first has wrong."""
    draw, difference = WORLDS[name]
    return shifted(random, draw(random, items), difference, samples)


def shifted(random: Random, easy: np.ndarray, difference: float, samples: int) -> PairedDifference:
    """Two sides, the second higher by the difference on average over items, most where there is most to gain."""
    wrong = 0.05 if easy.mean() > 0.9 else 0.4
    first = random.binomial(samples, easy)
    second = random.binomial(samples, easy + difference / wrong * (1 - easy))
    whole = np.full(len(easy), samples)
    return PairedDifference.of_counts(first, whole, second, whole)


def t_coverage(name: str, items: int, *, rounds: int) -> float:
    """How often the interval over items holds the mean difference."""
    random, truth, held = np.random.default_rng([SEED, items]), WORLDS[name][1], 0
    for _ in range(rounds):
        found = drawn_difference(random, name, items).estimate()
        held += found.low <= truth <= found.high
    return held / rounds


def t_tables(rounds: int = 4_000) -> Iterator[str]:
    """The interval over items of repeated samples."""
    head = ["items", "10", "20", "50", "240"]
    rows = [
        [name, *(f"{t_coverage(name, int(items), rounds=rounds):.1%}" for items in head[1:])] for name in WORLDS
    ]
    yield from _table(f"Paired difference of repeated samples, t over items, {rounds:,} rounds", head, rows)


# --- power ---


def found_share(items: int, samples: int, *, rounds: int) -> tuple[float, float]:
    """What such studies call detectable, and how often a true difference of that size is found."""
    random = np.random.default_rng([SEED, items, samples])
    easy = lambda: random.beta(1.2, 0.8, items)  # noqa: E731 - drawn anew each time
    said = [shifted(random, easy(), 0.0, samples).detectable() for _ in range(50)]
    least = float(np.median([each for each in said if each is not None]))
    found = [
        family([shifted(random, easy(), least, samples)], seed=number)[0].direction for number in range(rounds)
    ]
    return least, found.count("higher") / rounds


def power_tables(rounds: int = 1_000) -> Iterator[str]:
    """Whether what is called detectable is found in 80 % of studies."""
    rows = []
    for items, samples in ((40, 1), (240, 1), (40, 3), (240, 3)):
        least, found = found_share(items, samples, rounds=rounds)
        rows.append([f"{items} × {samples}", f"{100 * least:.1f} points", f"{found:.1%}"])
    head = ["items × samples", "called detectable", "found"]
    yield from _table(f"Differences of the size that is called detectable, {rounds:,} rounds", head, rows)


def _table(title: str, head: list[str], rows: list[list[str]]) -> Iterator[str]:
    yield f"\n**{title}**\n"
    yield f"| {' | '.join(head)} |"
    yield "|---|" + "--:|" * (len(head) - 1)
    for row in rows:
        yield f"| {' | '.join(row)} |"


TABLES = {"verdicts": verdict_tables, "tango": tango_tables, "t": t_tables, "power": power_tables}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or TABLES:
        for line in TABLES[chosen]():
            print(line, flush=True)
