"""What stands in the cells of a table: texts, counts, and figures that know what kind of figure they are."""

from dataclasses import dataclass

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
