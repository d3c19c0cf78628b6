"""Records by group: how many items counted what, so that every share and its interval can be made from it.

The samples of one item are not independent, so they are counted together: a *kind* is what the outputs of one item
counted, and a group knows how many of its items are of each kind. That is the least that all figures can be made
from, and it is small however many records there are.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import NamedTuple, TypeVar

from affidavit.reading.accounting import identity as accounting_identity
from affidavit.reading.tally import Tally
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.means import mean_by_cluster
from affidavit.statistics.shares import Bounds, ClusterSums, bounds, share

CELL = ("task", "model", "condition")
OUTCOMES = ("compliant", "non_compliant", "unread", "failed")
"""What becomes of a question that was asked; what is planned and none of these is pending (ruling C5)."""


class ItemKind(NamedTuple):
    """What the questions about one item counted, in one group."""

    compliant: int = 0
    non_compliant: int = 0
    unread: int = 0
    failed: int = 0
    truncated: int = 0
    right: int = 0
    """Outputs that hold an answer by their contract (ruling M6), and a right one."""
    compared: int = 0
    """Outputs that hold an answer by their contract which could be compared."""
    keyed: int = 0
    """Outputs to an item whose right answer is known, read or unread: all that accuracy over outputs is over."""
    failed_keyed: int = 0
    """Failed ones of such an item."""
    pending: int = 0
    """Planned and not asked yet: its item is known all the same."""
    pending_keyed: int = 0
    """Pending ones of an item whose right answer is known."""


Kinds = Mapping[ItemKind, int]
"""How many items counted just this."""


@dataclass(frozen=True)
class Group:
    """One row of a table to be: its name, what was planned, and its items by what they counted."""

    names: tuple[str, ...]
    planned: int
    kinds: Kinds
    seed: int
    clusters: Kinds | None = None
    """The same of clusters above the item, such as passages, where intervals are over these (ruling S8)."""

    def total(self, name: str) -> int:
        """How many outputs have it."""
        return self._totals[ItemKind._fields.index(name)]

    @cached_property
    def _totals(self) -> list[int]:
        """All of them: every table asks, for its rows and for the line below them."""
        totals = [0] * len(ItemKind._fields)
        for kind, items in self.kinds.items():
            totals = [total + count * items for total, count in zip(totals, kind, strict=True)]
        return totals

    @property
    def pending(self) -> int:
        """Planned and not asked yet."""
        return self.planned - sum(map(self.total, OUTCOMES))

    @property
    def planned_keyed(self) -> int:
        """Planned questions whose right answer is known, whatever became of them."""
        return sum(map(self.total, ("keyed", "failed_keyed", "pending_keyed")))

    @property
    def units(self) -> Kinds:
        """What varies independently: items, or clusters of them."""
        return self.kinds if self.clusters is None else self.clusters

    def sums(self, successes: str, *of: str) -> ClusterSums:
        """What a share of outputs is made of; an item or cluster with none of them is left out."""
        part, *whole = (ItemKind._fields.index(name) for name in (successes, *of))
        return ClusterSums.counted(
            (kind[part], sum(kind[at] for at in whole), times) for kind, times in self.units.items()
        )

    def share(self, successes: str, *of: str) -> Estimate | None:
        """A share of outputs with its interval (ruling S1); None where there is nothing to share."""
        asked = (successes, *of)
        if asked not in self._shares:
            sums = self.sums(*asked)
            self._shares[asked] = share(sums) if sums.n else None
        return self._shares[asked]

    @cached_property
    def _shares(self) -> dict[tuple[str, ...], Estimate | None]:
        """Those that were asked for: several tables have the same ones."""
        return {}

    def macro(self, successes: str, *of: str) -> Estimate | None:
        """The mean of the shares of items or clusters, each counted alike (ruling S8); None of none.

        The interval is Student's t over them, from ten on, within what a share can be.
        """
        part, *whole = (ItemKind._fields.index(name) for name in (successes, *of))
        shares = [
            kind[part] / size
            for kind, times in sorted(self.units.items())
            if (size := sum(kind[at] for at in whole))
            for _ in range(times)
        ]
        if not shares:
            return None
        found = mean_by_cluster(enumerate(shares))
        return replace(found, low=max(0.0, found.low), high=min(1.0, found.high)) if isfinite(found.low) else found

    def share_of_planned(self, name: str) -> Estimate | None:
        """The share of all planned questions that came to this; of what is pending nothing is known."""
        return self.share(name, *OUTCOMES, "pending")

    def bounds(self) -> Bounds | None:
        """Accuracy if all missing answers were wrong, and if they were all right (rulings M6, S6).

        Missing are outputs that are not compliant or unread, and failed and pending ones, of questions whose right
        answer is known: nothing is assumed about why they are missing, and nobody can be right where nothing is.
        Each belongs to the cluster of its item, asked or not. None where no right answer is known.
        """
        if not self.planned_keyed:
            return None
        known = [
            (kind.right, kind.compared - kind.right, kind.keyed + kind.failed_keyed + kind.pending_keyed, times)
            for kind, times in self.units.items()
        ]
        right = ClusterSums.counted((right, n, times) for right, _, n, times in known)
        wrong = ClusterSums.counted((wrong, n, times) for _, wrong, n, times in known)
        return bounds(right, wrong)


def identity(groups: Iterable[Group]) -> str:
    """The accounting identity over groups (ruling C5)."""
    counts: Counter[str] = Counter()
    for group in groups:
        counts.update({name.replace("_", "-"): group.total(name) for name in OUTCOMES})
        counts["pending"] += group.pending
    return identity_of_counts(counts)


def identity_of_counts(counts: Mapping[str, int]) -> str:
    """The accounting identity over outcomes that were counted already, by the words that people read."""
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
        ItemKind(pending=1): tally.pending,
    }
    return {kind: items for kind, items in kinds.items() if items}
