"""Answers that changed against the control (rulings M7 and S4): the counts, and the table that is made of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from affidavit.plain_text import counted_noun
from affidavit.results.table import Table
from affidavit.results.values import Points, Value
from affidavit.results.words import label_of
from affidavit.statistics.disagreement import Disagreement
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.shares import wilson


@dataclass(frozen=True)
class ChangeCounts:
    """What became of the outputs of one cell, against the most frequent answer under its control."""

    names: tuple[str, ...]
    """Task, model, condition and control."""
    kept: int
    moves: Mapping[str, int]
    undecidable: Mapping[str, int]
    share: Estimate | None = None
    """Of what is decidable, that which changed; None where items are not told apart."""
    pairs: Disagreement | None = None
    """Against chance; None without two samples of an item under the control, or where items are not told apart."""

    @classmethod
    def of(cls, counted: Mapping[str, Any], names: Sequence[str] = (), *, single: bool = False) -> "ChangeCounts":
        """The counts by their names; what is undecidable apart or among them; `single`: one for each item."""
        undecidable = counted.get("undecidable", counted)
        moved, kept = sum(int(counted[name]) for name in MOVES), int(counted["kept"])
        return cls(
            tuple(str(counted[name]) for name in names or NAMES),
            kept,
            {name: int(counted[name]) for name in MOVES},
            {name: int(undecidable.get(name, 0)) for name in UNDECIDABLE},
            wilson(moved, moved + kept) if single and moved + kept else None,
        )

    @property
    def changed(self) -> int:
        """Answers other than the control's."""
        return sum(self.moves.values())

    @property
    def shown_share(self) -> Estimate | float | None:
        """The share changed; without an interval where items are not told apart."""
        decidable = self.changed + self.kept
        return None if not decidable else self.changed / decidable if self.share is None else self.share


def changes_table(counts: Sequence[ChangeCounts]) -> Table:
    """Answers that changed against the control, a row for each cell that has one: counts only."""
    rows = [(*each.names, *_counts(each), *each.undecidable.values()) for each in counts]
    columns = (*NAMES, *COUNTED, *REASONS)
    question = "How many answers changed against the control?"
    return Table("flips", question, columns, tuple(rows), _foot(counts), notes=(_NO_NULL, *_order(counts)))


def changes_against_chance(
    name: str, question: str, heads: Sequence[str], counts: Sequence[ChangeCounts]
) -> Table:
    """The same with what two samples of the control differ by, as the null (ruling S4)."""
    rows: list[tuple[Value, ...]] = []
    for each in counts:
        excess = None if each.pairs is None else Points(each.pairs.excess)
        moved = None if each.pairs is None or each.pairs.to_wrong is None else Points(each.pairs.to_wrong)
        rows.append((*each.names, *_counts(each), excess, moved, *each.undecidable.values()))
    columns = (*heads, *COUNTED, *AGAINST_CHANCE, *REASONS)
    told = any(each.pairs is not None for each in counts)
    notes = (_NULL if told else _NO_NULL, *_order(counts))
    return Table(name, question, columns, tuple(rows), _foot(counts), notes=notes)


def _counts(each: ChangeCounts) -> tuple[Value, ...]:
    return (each.kept, each.changed, each.shown_share, *each.moves.values())


def _foot(counts: Sequence[ChangeCounts]) -> str:
    """Every output is in one place (ruling C5): unchanged, changed, or not decidable for one reason."""
    kept, changed = sum(each.kept for each in counts), sum(each.changed for each in counts)
    reasons = [sum(each.undecidable[name] for each in counts) for name in UNDECIDABLE]
    undecided = sum(reasons)
    parts = f"{kept:,} unchanged + {changed:,} changed + {undecided:,} not decidable"
    # The columns of the reasons have short headings: here it is said what they are reasons of.
    named = [f"{count:,} {label_of(head)}" for head, count in zip(REASONS, reasons, strict=True) if count]
    why = f" ({', '.join(named)})" if named else ""
    return f"{counted_noun(kept + changed + undecided, 'output')} = {parts}{why}"


def _order(counts: Sequence[ChangeCounts]) -> tuple[str, ...]:
    """How the reasons part what is not decidable, where anything is."""
    return (_FIRST_REASON,) if any(sum(each.undecidable.values()) for each in counts) else ()


NAMES = ("task", "model", "condition", "control")
MOVES = ("to_wrong", "to_right", "to_other")
UNDECIDABLE = ("not_compliant", "control_not_arrived", "control_not_compliant", "control_tied")
"""Why it cannot be told whether an answer changed (ruling M7): an output counts under the first that holds."""
COUNTED = ("kept", "flipped", "share of decidable", *MOVES)
AGAINST_CHANCE = ("excess disagreement", "to wrong minus to right")
REASONS = tuple(name.replace("_", " ") for name in UNDECIDABLE)
"""Their columns."""
_NULL = (
    "Samples of one prompt differ too. Excess disagreement is P(condition differs from control) less "
    "P(two samples of the control differ), over pairs of different sample numbers, by items: 0 if the condition "
    "does nothing."
)
_NO_NULL = (
    "Whether so many would change by chance alone cannot be told: that takes two samples of an item that hold an "
    "answer under the control."
)
_FIRST_REASON = (
    "Not decidable is counted by the first reason that holds: the output itself is not compliant; nothing of the "
    "item was read under the control; nothing that was read there is compliant; its most frequent answers are "
    "tied. So the reasons about the control are of compliant outputs only."
)
