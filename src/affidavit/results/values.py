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


ESTIMATED = frozenset(
    (
        "compliance", "accuracy over compliant", "accuracy over answers", "yield", "if missing wrong",
        "if missing right", "over outputs", "over clusters", "pass@k", "yield@k", "mean share of the leader",
        "majority right", "lowest", "highest", "share", "recall", "against the key", "right, of answers",
        "precision", "F1", "share of compliant", "right by the source",
        "right, of outputs",
        "solve rate", "with an answer", "marker rate", "share of outputs", "share of non-compliant",
        "share of planned", "share of decidable", "excess disagreement", "to wrong minus to right", "difference",
        "share valid", "share invalid", "valid, quotes aside", "share of planned failed", "share of evaluations",
        "share of valid", "fabricated", "share of quotes", "mean", "mean, quotes aside", "if missing lowest",
        "if missing highest", "self-preference", "own, raw mean", "others, raw mean", "exact agreement",
        "weighted kappa", "ordinal alpha", "found", "uncorrected", "corrected", "people alone", "Rogan-Gladen",
        "judge minus people", "alpha", "uncorrected difference",
    )
)  # fmt: skip
"""The columns of estimates: programs find the same columns also in a table whose rows have none of them."""
CHANCES = frozenset(("p", "p, Holm", "p (Holm)", "level", "chance level"))
"""The columns of numbers that stand alone."""


def estimate_of(value: Value) -> Estimate | None:
    """The estimate that a value is, whichever way it is shown; None for what is none."""
    if isinstance(value, Mean | Points):
        return value.estimate
    return value if isinstance(value, Estimate) else None
