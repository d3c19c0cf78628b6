"""Answers that changed against the control (ruling M7): the counts, and the table that is made of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from affidavit.results.table import Table
from affidavit.statistics.shares import wilson


@dataclass(frozen=True)
class ChangeCounts:
    """What became of the outputs of one cell, against the most frequent answer under its control."""

    names: tuple[str, str, str, str]
    """Task, model, condition and control."""
    kept: int
    moves: Mapping[str, int]
    undecidable: Mapping[str, int]

    @classmethod
    def of(cls, counted: Mapping[str, Any]) -> "ChangeCounts":
        """The counts by their names; what is undecidable apart or among them."""
        task, model, condition, control = (str(counted[name]) for name in _NAMES)
        undecidable = counted.get("undecidable", counted)
        return cls(
            (task, model, condition, control),
            int(counted["kept"]),
            {name: int(counted[name]) for name in MOVES},
            {name: int(undecidable.get(name, 0)) for name in UNDECIDABLE},
        )


def changes_table(counts: Sequence[ChangeCounts]) -> Table:
    """Answers that changed against the control, a row for each cell that has one."""
    rows, total = [], 0
    for each in counts:
        changed = sum(each.moves.values())
        decidable = changed + each.kept
        total += decidable + sum(each.undecidable.values())
        share = wilson(changed, decidable) if decidable else None
        row = (*each.names, each.kept, changed, share, *each.moves.values(), *each.undecidable.values())
        rows.append(row)
    reasons = [name.replace("_", " ") for name in UNDECIDABLE]
    columns = (*_NAMES, "kept", "flipped", "share of decidable", *MOVES, *reasons)
    foot = f"{total:,} outputs = unchanged + changed + not decidable, row by row"
    question = "How many answers changed against the control?"
    return Table("flips", question, columns, tuple(rows), foot)


_NAMES = ("task", "model", "condition", "control")
MOVES = ("to_wrong", "to_right", "to_other")
UNDECIDABLE = ("not_compliant", "control_not_arrived", "control_not_compliant", "control_tied")
