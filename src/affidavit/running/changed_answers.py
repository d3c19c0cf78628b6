"""Flips: where a condition moved an answer away from the one that its control condition gives (ruling M7).

Each item's answers under the control condition have a mode: the one answer that is more frequent than any other.
A compliant output under the condition has *kept* it or *flipped* from it. Nothing can be told where the output is
not compliant, or where the control has no mode; those are counted, by why.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from affidavit.archive.record import Response
from affidavit.contracts.registry import parts_named
from affidavit.study.crossing import Cell, LeftOut, cells
from affidavit.study.study_file import Study


class Undecidable(StrEnum):
    """Why a flip cannot be told; the first that applies."""

    NOT_COMPLIANT = "not_compliant"
    CONTROL_NOT_ARRIVED = "control_not_arrived"
    CONTROL_NOT_COMPLIANT = "control_not_compliant"
    CONTROL_TIED = "control_tied"


@dataclass
class Flips:
    """What became of the outputs of one cell, against its control."""

    kept: int = 0
    to_right: int = 0
    """From a wrong answer to the right one."""
    to_wrong: int = 0
    """From the right answer to a wrong one."""
    to_other: int = 0
    """From one wrong answer to another, or where nobody knows which is right."""
    undecidable: Counter[str] = field(default_factory=Counter)

    @property
    def flipped(self) -> int:
        """Answers that changed, whichever way."""
        return self.to_right + self.to_wrong + self.to_other

    @property
    def decidable(self) -> int:
        """Outputs of which it can be told."""
        return self.kept + self.flipped

    @property
    def n(self) -> int:
        """All outputs that were read: decidable and undecidable."""
        return self.decidable + self.undecidable.total()

    def counts(self) -> dict[str, object]:
        """The counts as JSON values."""
        found: dict[str, object] = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**found, "undecidable": dict(sorted(self.undecidable.items()))}


class _Answer(NamedTuple):
    """What one output said; the answer is in the item's own letters, None if it is not compliant."""

    answer: str | None
    correct: bool | None


_shared = cache(_Answer)
"""One object for equal answers: there are few, and many outputs that give them."""


class Answers:
    """The answers of every cell that takes part in a comparison with a control."""

    def __init__(self, study: Study) -> None:
        self._controls = {
            cell: Cell(cell.task, cell.model, control)
            for cell in cells(study)
            if not isinstance(cell, LeftOut) and not study.tasks[cell.task].variants
            if "flips" in parts_named(study.tasks[cell.task].contract).tables
            if (control := study.conditions[cell.condition].control)
        }
        self._given: dict[tuple[str, str, str], dict[str, list[_Answer]]] = {
            cell: {} for pair in self._controls.items() for cell in pair
        }

    def add(self, response: Response) -> None:
        """A response; failures say nothing of an answer (ruling C1)."""
        items = self._given.get(response.subject.cell) if self._given else None
        if items is None:
            return
        own = response.fields
        answer = own.get("own_answer", own.get("extracted_answer"))
        items.setdefault(response.subject.item_id, []).append(
            _shared(None if answer is None else str(answer), response.correct)
        )

    def flips(self) -> Iterator[tuple[Cell, Cell, Flips]]:
        """Every cell that has a control, with that control and what was found."""
        for cell, control in self._controls.items():
            found = Flips()
            for item, answers in self._given[cell].items():
                mode = _mode(self._given[control].get(item, []))
                for each in answers:
                    _count(each, mode, found)
            yield cell, control, found


def _mode(answers: list[_Answer]) -> _Answer | Undecidable:
    """The most frequent answer; ties are ties.

    >>> _mode([_Answer("B", True), _Answer("C", False), _Answer("B", True)])
    _Answer(answer='B', correct=True)
    >>> _mode([_Answer("B", True), _Answer("C", False)]).value
    'control_tied'
    """
    if not answers:
        return Undecidable.CONTROL_NOT_ARRIVED
    compliant = Counter(each for each in answers if each.answer is not None)
    if not compliant:
        return Undecidable.CONTROL_NOT_COMPLIANT
    (first, most), *others = compliant.most_common(2)
    return Undecidable.CONTROL_TIED if others and others[0][1] == most else first


def _count(given: _Answer, mode: _Answer | Undecidable, found: Flips) -> None:
    if given.answer is None:
        found.undecidable[Undecidable.NOT_COMPLIANT] += 1
    elif isinstance(mode, Undecidable):
        found.undecidable[mode] += 1
    elif given.answer == mode.answer:
        found.kept += 1
    elif given.correct:
        found.to_right += 1
    elif mode.correct:
        found.to_wrong += 1
    else:
        found.to_other += 1
