"""Records by group: how many items counted what, so that every share and its interval can be made from it.

The samples of one item are not independent, so they are counted together: a *kind* is what the outputs of one item
counted, and a group knows how many of its items are of each kind. That is the least that all figures can be made
from, and it is small however many records there are.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from affidavit.reading.accounting import identity as accounting_identity
from affidavit.reading.tally import Tally
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.means import mean_of_clusters
from affidavit.statistics.shares import wilson

CELL = ("task", "model", "condition")
OUTCOMES = ("compliant", "non_compliant", "unread", "failed")
"""What becomes of a question that was asked; what is planned and none of these is pending (ruling C5)."""


class ItemKind(NamedTuple):
    """What the outputs of one item counted, in one group."""

    compliant: int = 0
    non_compliant: int = 0
    unread: int = 0
    failed: int = 0
    truncated: int = 0
    right: int = 0
    """Compliant outputs whose answer is right."""
    compared: int = 0
    """Compliant outputs whose answer could be compared."""
    keyed: int = 0
    """Outputs to an item whose right answer is known."""


@dataclass(frozen=True)
class Group:
    """One row of a table to be: its name, what was planned, and its items by what they counted."""

    names: tuple[str, ...]
    planned: int
    kinds: Mapping[ItemKind, int]
    seed: int

    def total(self, name: str) -> int:
        """How many outputs have it."""
        return sum(getattr(kind, name) * items for kind, items in self.kinds.items())

    @property
    def pending(self) -> int:
        """Planned and not asked yet."""
        return self.planned - sum(map(self.total, OUTCOMES))

    def share(self, successes: str, *of: str) -> Estimate | None:
        """A share of outputs, by items where an item has several; None where there is nothing to share."""
        counted: Counter[tuple[int, int]] = Counter()
        for kind, items in self.kinds.items():
            if size := sum(getattr(kind, name) for name in of):
                counted[getattr(kind, successes), size] += items
        n = sum(size * items for (_, size), items in counted.items())
        if n == 0:
            return None
        total = sum(part * items for (part, _), items in counted.items())
        if all(size == 1 for _, size in counted):
            return wilson(total, n)
        if total in (0, n):
            return of_equal_items(total / n, sum(counted.values()), n)
        parts, sizes, times = zip(*((part, size, items) for (part, size), items in counted.items()), strict=True)
        return mean_of_clusters(parts, sizes, times, seed=self.seed)


def of_equal_items(share: float, items: int, n: int) -> Estimate:
    """All or nothing: no resample of equal items differs from them, which is no certainty. Items are counted."""
    return replace(wilson(round(share) * items, items), n=n, method=f"Wilson 95% over {items:,} items")


def identity(groups: Iterable[Group]) -> str:
    """The accounting identity over groups (ruling C5)."""
    counts: Counter[str] = Counter()
    for group in groups:
        counts.update({name.replace("_", "-"): group.total(name) for name in OUTCOMES})
        counts["pending"] += group.pending
    return accounting_identity({name: counts[name] for name in (*_OUTCOME_WORDS, "pending")})


_OUTCOME_WORDS = tuple(name.replace("_", "-") for name in OUTCOMES)


CellT = TypeVar("CellT", bound=tuple[str, ...])


# --- over the running counts of a study with single samples ---


def groups_of_tallies(tallies: Mapping[CellT, Tally], *, seed: int) -> list[Group]:
    """The groups of cells whose items were asked once each: then the counts alone decide every figure."""
    comparing = {cell[0] for cell, tally in tallies.items() if tally.compared}
    return [
        Group(tuple(cell), tally.n, _single_kinds(tally, compares=cell[0] in comparing), seed)
        for cell, tally in tallies.items()
    ]


def _single_kinds(tally: Tally, *, compares: bool) -> dict[ItemKind, int]:
    """Kinds with the same totals, each of one output at most, in which what is right was compared and is keyed."""
    kinds = {
        ItemKind(compliant=1, right=1, compared=1, keyed=1): tally.right,
        ItemKind(compliant=1, compared=1, keyed=1): tally.compared - tally.right,
        ItemKind(keyed=1): tally.keyed + (tally.unsaid if compares else 0) - tally.compared,
        ItemKind(compliant=1): tally.compliant - tally.compared,
        ItemKind(non_compliant=1): tally.non_compliant,
        ItemKind(unread=1): tally.unread,
        ItemKind(failed=1): tally.failed,
        ItemKind(truncated=1): tally.truncated,
    }
    return {kind: items for kind, items in kinds.items() if items}
