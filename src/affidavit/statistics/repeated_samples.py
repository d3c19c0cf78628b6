"""Several samples of each item: how often one of k is right, and what most of them say (ruling M7).

Items are what varies; the samples of an item are drawn together. An item with fewer than k samples says nothing
about k of them: it is left out, counted, and named in the method.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from affidavit.statistics.arguments import together, whole, whole_numbers
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.item_means import mean_share
from affidavit.statistics.shares import wilson

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[float64]


LARGE_K = 1_000
"""Above this the shorter of two ways to count subsets is taken; the digits below it are those of the first."""
MOST_VOTES = 100_000
"""Samples of one item that give one answer: all their numbers are gone through."""
FEWEST_VOTES = 3
"""Samples with an answer that an item needs for a majority: of two none is in it (ruling S5)."""


@dataclass(frozen=True, slots=True)
class AtK:
    """A share over items, each of which has at least k samples."""

    estimate: Estimate
    k: int
    left_out: int
    """Items with fewer than k samples."""


@dataclass(frozen=True, slots=True)
class MajorityAtK:
    """How often most of k samples are right, and how often no answer leads."""

    right: Estimate
    tied: Estimate
    k: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Majority:
    """What the samples of one item say most often."""

    answers: tuple[str, ...]
    """One answer; of a tie all that share the lead, by name."""
    share: Estimate
    """Of each of them."""

    @property
    def tied(self) -> bool:
        """Whether no answer leads alone."""
        return len(self.answers) > 1


def pass_at_k(right: "ArrayLike", compliant: "ArrayLike", times: "ArrayLike" = 1, *, k: int) -> AtK:
    """The chance that at least one of k compliant samples of an item is right, without bias.

    `right` and `compliant` count samples, item by item. The mean is over items with at least k compliant samples.

    >>> passed = pass_at_k([1, 0, 4], [4, 4, 4], k=2)
    >>> passed.estimate.value, passed.estimate.n, passed.left_out
    (0.5, 3, 0)
    """
    return _at_k((right, compliant, times), k, f"pass@{k} over samples with an answer")


def yield_at_k(right: "ArrayLike", samples: "ArrayLike", times: "ArrayLike" = 1, *, k: int) -> AtK:
    """The chance that at least one of any k outputs of an item is compliant and right.

    The same as `pass_at_k` with all outputs below the line: one that is not compliant is not a success.

    >>> yielded = yield_at_k([1, 0, 4, 1], [4, 4, 4, 1], k=2)
    >>> yielded.estimate.value, yielded.estimate.n, yielded.left_out
    (0.5, 3, 1)
    >>> yielded.estimate.method
    'yield@2 over all samples, Wilson 95% over items at the effective size, 1 item with fewer left out'
    """
    return _at_k((right, samples, times), k, f"yield@{k} over all samples")


def _at_k(counted: "tuple[ArrayLike, ArrayLike, ArrayLike]", k: int, name: str) -> AtK:
    import numpy as np

    k, columns = whole("k", k, least=1), ("right", "samples", "times")
    given = [whole_numbers(column, values) for column, values in zip(columns, counted, strict=True)]
    successes, totals, often = map(np.atleast_1d, together(**dict(zip(columns, given, strict=True))))
    wrong = np.flatnonzero(successes > totals)
    if wrong.size:
        found = f"{successes[wrong[0]]:.0f} of {totals[wrong[0]]:.0f} at position {wrong[0]}"
        raise ValueError(f"right: expected no more right samples than samples, found {found}")
    enough = totals >= k
    left_out = int(often[~enough].sum())
    share = _at_least_one(successes[enough], totals[enough], k) if enough.any() else np.zeros(0)
    outputs = int((totals * often)[enough].sum())
    return AtK(_over_items(share, often[enough], name, left_out, outputs), k, left_out)


def _at_least_one(right: "Floats", samples: "Floats", k: int) -> "Floats":
    """Of all subsets of k samples, the share with a right one: 1 - C(samples - right, k) / C(samples, k)."""
    import numpy as np

    removed, rounds = right, np.full(len(right), float(k))
    if LARGE_K < k > right.max():
        # It is C(samples - k, right) / C(samples, right) as well, which is over sooner where few are right.
        removed, rounds = rounds, removed
    none = np.ones(len(right))
    for at in range(int(rounds.max())):
        factors = np.maximum(0.0, samples - removed - at) / np.maximum(1.0, samples - at)
        none *= np.where(at < rounds, factors, 1.0)
        if not none.any():
            break
    return 1 - none


def _over_items(values: "Floats", times: "Floats", name: str, left_out: int, outputs: int) -> Estimate:
    if not len(values):
        raise ValueError(f"k: {name}: no item has so many samples")
    mean = mean_share(values.tolist(), times.astype(int).tolist(), outputs=outputs)
    short = f", {left_out} item{'s' * (left_out > 1)} with fewer left out" if left_out else ""
    return replace(mean, method=f"{name}, {mean.method}{short}")


def majority(answers: Iterable[str]) -> Majority:
    """The most frequent of an item's answers with its share; a tie is given as a tie.

    >>> most = majority(["B", "C", "B"])
    >>> most.answers, most.share.value
    (('B',), 0.6666666666666666)
    >>> majority(["B", "C"]).answers
    ('B', 'C')
    """
    counts = Counter(answers)
    if not counts:
        raise ValueError("answers: no majority of no answers")
    most = max(counts.values())
    leading = tuple(sorted(answer for answer, count in counts.items() if count == most))
    return Majority(leading, wilson(most, counts.total()))


def majority_at_k(answers: Sequence[Mapping[str, int]], right: Sequence[str], *, k: int) -> MajorityAtK:
    """The chance that most of k samples of an item that hold an answer give the right one (ruling S5).

    `answers` counts each item's samples by answer. All subsets of k are counted, without drawing any. Where t
    answers share the lead and the right one is among them, it counts 1/t, and ties have a share of their own.
    One answer is no majority: k is 3 or more.

    >>> vote = majority_at_k([{"A": 2, "B": 2}, {"B": 3}], ["A", "A"], k=3)
    >>> vote.right.value, vote.tied.value
    (0.25, 0.0)
    >>> majority_at_k([{"A": 1, "B": 1, "C": 1}], ["A"], k=3).tied.value
    1.0
    """
    import numpy as np

    k = whole("k", k, least=FEWEST_VOTES)
    if len(answers) != len(right):
        raise ValueError(f"right: expected one answer for each of {len(answers)} items, found {len(right)}")
    for counts in answers:
        for count in counts.values():
            whole("answers", count, most=MOST_VOTES)
    enough = [(counts, key) for counts, key in zip(answers, right, strict=True) if sum(counts.values()) >= k]
    left_out, outputs = len(answers) - len(enough), sum(sum(counts.values()) for counts, _ in enough)
    votes = np.array([_votes(counts, key, k) for counts, key in enough]).reshape(-1, 2)
    name, once = f"majority@{k} over samples with an answer", np.ones(len(votes))
    return MajorityAtK(
        _over_items(votes[:, 0], once, name, left_out, outputs),
        _over_items(votes[:, 1], once, f"ties of {name}", left_out, outputs),
        k,
        left_out,
    )


def _votes(counts: Mapping[str, int], key: str, k: int) -> tuple[float, float]:
    """What the right answer gets of the vote of k samples, ties shared out, and how often there is a tie."""
    leads = _leads(counts.get(key, 0), _others(counts, key), k)
    alone = sum(_leads(counts[answer], _others(counts, answer), k)[0] for answer in counts if counts[answer])
    shared = sum(chance / tied for tied, chance in enumerate(leads, 1))
    # Rounding must make no near certainty of a certainty.
    return min(1.0, round(shared, 12)), max(0.0, round(1 - alone, 12))


def _others(counts: Mapping[str, int], answer: str) -> tuple[int, ...]:
    return tuple(sorted(count for other, count in counts.items() if other != answer and count))


@lru_cache(maxsize=100_000)
def _leads(own: int, others: tuple[int, ...], k: int) -> tuple[float, ...]:
    """Of all subsets of k samples, the shares in which an answer with `own` samples leads alone, with one, two ….

    Counts drawn without putting back are independent binomial counts, given that they add up to k. The chance of
    a success does not matter then, and k / (n + 1) keeps every term within what a float can hold.

    >>> [round(share, 4) for share in _leads(2, (1,), 2)], [round(share, 4) for share in _leads(2, (1,), 3)]
    ([0.3333, 0.6667], [1.0, 0.0])
    """
    import numpy as np

    n = own + sum(others)
    chance = k / (n + 1)
    leads, mine = np.zeros(len(others) + 1), _binomial(own, chance)
    for leading in range(1, min(own, k) + 1):
        # By how many others are level, and how many samples the others hold together.
        rest = np.zeros((len(others) + 1, k - leading + 1))
        rest[0, 0] = 1.0
        for count in others:
            theirs, before = _binomial(count, chance), rest
            rest = np.array([np.convolve(row, theirs[:leading])[: k - leading + 1] for row in before])
            if count >= leading and leading <= k - leading:
                rest[1:, leading:] += theirs[leading] * before[:-1, : k - 2 * leading + 1]
        leads += mine[leading] * rest[:, k - leading]
    return tuple((leads / _binomial(n, chance)[k]).tolist())


@lru_cache(maxsize=1_000)
def _binomial(n: int, chance: float) -> "Floats":
    """The chance of 0, 1, … n successes."""
    import numpy as np
    from scipy.special import gammaln

    k = np.arange(n + 1)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    logarithm = ways + k * np.log(chance) + (n - k) * np.log1p(-chance)
    chances: Floats = np.exp(logarithm)
    return chances
