"""A table: a question, and its answer in rows. What is counted makes them; what is shown reads them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

from affidavit.json_values import Fields
from affidavit.statistics.estimate import Estimate


@dataclass(frozen=True)
class Mean:
    """A figure that is no share: shown as a number, not in per cent."""

    estimate: Estimate

    @classmethod
    def of(cls, estimate: Estimate | None) -> "Mean | None":
        """The mean, where there is one."""
        return None if estimate is None else cls(estimate)


@dataclass(frozen=True)
class Points:
    """A difference of two shares: shown in percentage points, with its sign."""

    estimate: Estimate


@dataclass(frozen=True)
class Chance:
    """A p-value."""

    value: float


Value = str | int | float | Estimate | Mean | Points | Chance | None


def estimate_of(value: Value) -> Estimate | None:
    """The estimate that a value is, whichever way it is shown; None for what is none."""
    if isinstance(value, Mean | Points):
        return value.estimate
    return value if isinstance(value, Estimate) else None


def estimate_fields(estimate: Estimate) -> Fields:
    """An estimate as JSON values; the ends of an interval that has none are null."""
    low, high = (end if isfinite(end) else None for end in (estimate.low, estimate.high))
    return {"value": estimate.value, "low": low, "high": high, "n": estimate.n, "method": estimate.method}


@dataclass(frozen=True)
class Table:
    """One question and its answer.

    >>> table = Table("fruit", "What is there?", ("kind", "count"), (("apple", 3), ("pear", None)), "")
    >>> table.column("kind"), table.counts("count")
    (['apple', 'pear'], [3, 0])
    """

    name: str
    question: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    foot: str
    """The accounting identity over everything that the table is about (ruling C5)."""
    notes: tuple[str, ...] = ()
    explains: tuple[str, ...] | None = ()
    """Of a count of labels: those that say why an output is not compliant; None: all of them."""
    value_labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By column: what people read in place of a text that does not explain itself; programs get the text."""

    def column(self, name: str) -> list[Value]:
        """The values under a heading, row by row."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def counts(self, name: str) -> list[int]:
        """A column of whole numbers; where there is nothing to count, none."""
        return [value if isinstance(value, int) else 0 for value in self.column(name)]
