"""Changed answers, and how many of them chance alone would change (ruling S4).

Two samples of one prompt need not agree, so answers that differ from those under a control say little alone. What
counts is how much more often a sample under the condition differs from one under the control than two samples
under the control differ from each other. Pairs are within an item, and of different sample numbers only: equal
numbers share a request seed.
"""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from affidavit.statistics.arguments import whole
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.item_means import mean_difference

Answers = Mapping[int, str]
"""The answers to an item, by sample number."""


class ItemPairs(NamedTuple):
    """The pairs of one item, counted."""

    across: int
    """Pairs of a sample under the control and one under the condition, with different numbers."""
    across_differ: int
    within: int
    """Pairs of two samples under the control."""
    within_differ: int
    keyed: int = 0
    """Pairs across of which it is known whether each is right."""
    to_wrong: int = 0
    """Of these, to wrong less to right: right under the control and wrong under the condition, or the reverse."""

    @property
    def excess(self) -> float:
        """P(condition ≠ control) − P(control ≠ another sample of control)."""
        # One division of whole numbers: equal shares are equal to the last digit, however they came about.
        more = self.across_differ * self.within - self.within_differ * self.across
        return more / (self.across * self.within)

    @classmethod
    def of(cls, control: Answers, condition: Answers, right: str | None = None) -> "ItemPairs":
        """The pairs, one by one.

        >>> ItemPairs.of({0: "A", 1: "B"}, {0: "A", 1: "A", 2: "B"}, right="A")
        ItemPairs(across=4, across_differ=2, within=1, within_differ=1, keyed=4, to_wrong=0)
        """
        across = [(one, other) for i, one in control.items() for j, other in condition.items() if i != j]
        within = [(one, other) for i, one in control.items() for j, other in control.items() if i < j]
        moves = 0 if right is None else sum((one == right) - (other == right) for one, other in across)
        return cls(
            len(across),
            sum(one != other for one, other in across),
            len(within),
            sum(one != other for one, other in within),
            0 if right is None else len(across),
            moves,
        )


class Disagreement(NamedTuple):
    """What a condition does to answers, against chance."""

    excess: Estimate
    """Excess disagreement; 0 if the condition does nothing."""
    to_wrong: Estimate | None
    """To wrong minus to right, over the same pairs; None where no right answer is known."""


def excess_disagreement(items: Mapping[ItemPairs, int]) -> Disagreement | None:
    """The mean over items, each item alike, with t intervals; None if no item has two samples under the control.

    Items are given by what their pairs counted, and how many have just these counts.

    >>> found = excess_disagreement({ItemPairs(2, 1, 1, 0): 8, ItemPairs(2, 1, 1, 1): 8})
    >>> print(found.excess)
    0.0% [−27.5, 27.5] n=16
    """
    for pairs, times in items.items():
        whole("items", times)
        _refuse_pairs(pairs)
    told = {pairs: times for pairs, times in sorted(items.items()) if pairs.across and pairs.within and times}
    if not told:
        return None
    excess, moves = Counter[float](), Counter[float]()
    for pairs, times in told.items():
        excess[pairs.excess] += times
        if pairs.keyed:
            moves[pairs.to_wrong / pairs.keyed] += times
    return Disagreement(_mean(excess), _mean(moves) if moves else None)


def _mean(values: Mapping[float, int]) -> Estimate:
    return mean_difference(list(values), list(values.values()))


def _refuse_pairs(pairs: ItemPairs) -> None:
    across, across_differ, within, within_differ, keyed, to_wrong = (
        whole(name, abs(number) if name == "to_wrong" else number) for name, number in pairs._asdict().items()
    )
    if across_differ > across or within_differ > within or keyed > across or to_wrong > keyed:
        raise ValueError(f"items: expected no more pairs that differ than there are, found {pairs}")
