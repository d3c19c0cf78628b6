"""Several samples of each item: how often one of k is right, and what most of them say (ruling M7).

Items are what varies; the samples of an item are drawn together. An item with fewer than k samples says nothing
about k of them: it is left out, counted, and named in the method.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from affidavit.statistics.estimate import Estimate
from affidavit.statistics.means import mean_of_clusters
from affidavit.statistics.shares import wilson

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[float64]


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


def pass_at_k(right: "ArrayLike", compliant: "ArrayLike", times: "ArrayLike" = 1, *, k: int, seed: int) -> AtK:
    """The chance that at least one of k compliant samples of an item is right, without bias.

    `right` and `compliant` count samples, item by item. The mean is over items with at least k compliant samples.

    >>> passed = pass_at_k([1, 0, 4], [4, 4, 4], k=2, seed=0)
    >>> passed.estimate.value, passed.estimate.n, passed.left_out
    (0.5, 3, 0)
    """
    return _at_k((right, compliant, times), k, seed, f"pass@{k} over compliant samples")


def yield_at_k(right: "ArrayLike", samples: "ArrayLike", times: "ArrayLike" = 1, *, k: int, seed: int) -> AtK:
    """The chance that at least one of any k outputs of an item is compliant and right.

    The same as `pass_at_k` with all outputs below the line: one that is not compliant is not a success.

    >>> yielded = yield_at_k([1, 0, 4, 1], [4, 4, 4, 1], k=2, seed=0)
    >>> yielded.estimate.value, yielded.estimate.n, yielded.left_out
    (0.5, 3, 1)
    >>> yielded.estimate.method
    'yield@2 over all samples, cluster bootstrap 95%, 3 clusters, 1 item with fewer left out'
    """
    return _at_k((right, samples, times), k, seed, f"yield@{k} over all samples")


def _at_k(counted: "tuple[ArrayLike, ArrayLike, ArrayLike]", k: int, seed: int, name: str) -> AtK:
    import numpy as np

    successes, totals = (np.asarray(column, dtype=float) for column in counted[:2])
    often = np.broadcast_to(np.asarray(counted[2], dtype=float), totals.shape)
    if successes.shape != totals.shape or successes.ndim != 1 or k < 1:
        raise ValueError("expected two counts for each item, and k of 1 or more")
    if not ((successes >= 0) & (successes <= totals)).all():
        raise ValueError("expected no more right samples than samples")
    enough = totals >= k
    share = _at_least_one(successes[enough], totals[enough], k)
    left_out = int(often[~enough].sum())
    return AtK(_over_items(share, often[enough], name, left_out, seed), k, left_out)


def _at_least_one(right: "Floats", samples: "Floats", k: int) -> "Floats":
    """Of all subsets of k samples, the share with a right one: 1 - C(samples - right, k) / C(samples, k)."""
    import numpy as np

    none = np.ones(len(right))
    for taken in range(k):
        none *= np.maximum(0.0, samples - right - taken) / (samples - taken)
    return 1 - none


def _over_items(values: "Floats", times: "Floats", name: str, left_out: int, seed: int) -> Estimate:
    if not len(values):
        raise ValueError(f"{name}: no item has so many samples")
    mean = mean_of_clusters(values, 1, times, seed=seed)
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
        raise ValueError("no majority of no answers")
    most = max(counts.values())
    leading = tuple(sorted(answer for answer, count in counts.items() if count == most))
    return Majority(leading, wilson(most, counts.total()))


def majority_at_k(answers: Sequence[Mapping[str, int]], right: Sequence[str], *, k: int, seed: int) -> MajorityAtK:
    """The chance that the right answer is given more often than any other among k compliant samples of an item.

    `answers` counts each item's compliant samples by answer. All subsets of k are counted, without drawing any. A
    tie for the lead is not right, whoever takes part in it, and has a share of its own.

    >>> vote = majority_at_k([{"A": 2, "B": 1}, {"B": 3}], ["A", "A"], k=2, seed=0)
    >>> round(vote.right.value, 4), round(vote.tied.value, 4)
    (0.1667, 0.3333)
    """
    import numpy as np

    if len(answers) != len(right) or k < 1:
        raise ValueError("expected one right answer for each item, and k of 1 or more")
    enough = [(counts, key) for counts, key in zip(answers, right, strict=True) if sum(counts.values()) >= k]
    left_out = len(answers) - len(enough)
    alone = np.array(
        [
            (
                _leads_alone(counts.get(key, 0), _others(counts, key), k),
                sum(_leads_alone(counts[answer], _others(counts, answer), k) for answer in counts),
            )
            for counts, key in enough
        ]
    ).reshape(-1, 2)
    name = f"majority@{k} over compliant samples"
    tied = np.clip(1 - alone[:, 1], 0.0, 1.0)
    return MajorityAtK(
        _over_items(alone[:, 0], np.ones(len(alone)), name, left_out, seed),
        _over_items(tied, np.ones(len(alone)), f"ties of {name}", left_out, seed),
        k,
        left_out,
    )


def _others(counts: Mapping[str, int], answer: str) -> tuple[int, ...]:
    return tuple(sorted(count for other, count in counts.items() if other != answer and count))


@lru_cache(maxsize=100_000)
def _leads_alone(own: int, others: tuple[int, ...], k: int) -> float:
    """Of all subsets of k samples, the share in which an answer with `own` samples leads alone.

    Counts drawn without putting back are independent binomial counts, given that they add up to k. The chance of
    a success does not matter then, and k / (n + 1) keeps every term within what a float can hold.

    >>> round(_leads_alone(2, (1,), 2), 4), round(_leads_alone(2, (1,), 3), 4)
    (0.3333, 1.0)
    """
    import numpy as np

    n = own + sum(others)
    chance = k / (n + 1)
    alone, mine = 0.0, _binomial(own, chance)
    for leading in range(1, min(own, k) + 1):
        rest = np.ones(1)
        for count in others:
            rest = np.convolve(rest, _binomial(count, chance)[:leading])[: k - leading + 1]
        alone += mine[leading] * (rest[k - leading] if len(rest) > k - leading else 0.0)
    return min(1.0, float(alone / _binomial(n, chance)[k]))


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
