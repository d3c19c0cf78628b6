"""What one run asks, apart from what earlier runs have answered: the counts that its progress is told by."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from affidavit.models.model import PERMANENT
from affidavit.reading.tally import Tally

CellT = TypeVar("CellT", bound=tuple[str, ...])


def left_to_ask(tally: Tally, *, retry_failed: bool) -> int:
    """How many are pending, or failed in a way that may pass.

    >>> tally = Tally(compliant=5, failed=3, pending=1, failures=Counter(timeout=2, bad_request=1))
    >>> left_to_ask(tally, retry_failed=False), left_to_ask(tally, retry_failed=True)
    (3, 4)
    """
    failures = (+tally.failures).items()
    return tally.pending + sum(count for reason, count in failures if retry_failed or reason not in PERMANENT)


@dataclass(frozen=True)
class AskedNow(Generic[CellT]):
    """The questions of one run, by cell: none that was answered before, none of a model that is not asked."""

    tallies: Mapping[CellT, Tally]
    """What is known of all questions of the study, earlier runs included."""
    to_ask: Mapping[CellT, int]
    ended: Counter[CellT] = field(default_factory=Counter)
    """Those that were answered in this run, or failed."""
    slow: list[str] = field(default_factory=list)
    """What is to be said meanwhile of models whose attempts take too long, and of servers that are left out."""

    @property
    def done(self) -> int:
        """How many have ended, of all cells."""
        return sum(self.ended.values())

    @property
    def planned(self) -> int:
        """How many this run asks, of all cells."""
        return sum(self.to_ask.values())
