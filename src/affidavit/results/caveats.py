"""What a reader must know before any figure of a study: that it is a trial, or not finished."""

from collections.abc import Sequence
from typing import NamedTuple

from affidavit.plain_text import plain

FEWEST = 10
"""Items or clusters, of judges outputs or evaluations, behind a figure that a sentence may name (ruling S9)."""
INTERVALS = (
    "Intervals are at 95 % unless a table says otherwise. Those of shares are Wilson's; where an item has several "
    "outputs, Wilson's at the effective size, over items or over the clusters that were named. Shares of "
    "judgements are over judged outputs, shares of quotes over evaluations; mean scores have Student's t over "
    "questions, from ten on. docs/statistics.md says how they are made, and when they mislead."
)
"""What kinds of intervals tables have."""
INTERVALS_OF_LABELS = (
    "Tables of labels by people, and of figures that these correct, say which intervals are theirs."
)
"""The same, where people labelled outputs."""


def trial_note(items: int | None, *, of: str = "") -> list[str]:
    """That a study is a trial, in a sentence; nothing of one that is none. `of`: the study, where there are two.

    >>> trial_note(5), trial_note(1, of="small-trial"), trial_note(None)
    (['A trial: the first 5 items of each task.'], ['small-trial is a trial: the first item of each task.'], [])
    """
    if items is None:
        return []
    first = "item" if items == 1 else f"{items:,} items"
    return [f"{f'{of} is a' if of else 'A'} trial: the first {first} of each task."]


def contradicted_note(items: int) -> list[str]:
    """That rows from elsewhere contradict each other in what is right; nothing where none does.

    >>> contradicted_note(1), contradicted_note(0)
    (['The rows of 1 item name different right answers.'], [])
    """
    return [f"The rows of {items:,} item{'s' if items > 1 else ''} name different right answers."] if items else []


def not_verbatim_note(texts: int) -> list[str]:
    """That logs did not keep what the models wrote (ruling I1); nothing where all texts are the models' own.

    >>> not_verbatim_note(1), not_verbatim_note(0)
    (['1 text is not verbatim: its log has what a filter or a transform left of it.'], [])
    """
    if not texts:
        return []
    said = "text is not verbatim: its log has" if texts == 1 else "texts are not verbatim: their logs have"
    return [f"{texts:,} {said} what a filter or a transform left of {'it' if texts == 1 else 'them'}."]


class AskedCell(NamedTuple):
    """How far the questions of one task, model and condition were asked."""

    names: tuple[str, ...]
    planned: int
    pending: int = 0
    items: int = 0
    """Of the task."""
    items_asked: int = 0
    """Those of which at least one sample was asked."""
    first: bool = False
    """Whether these are the first of the file."""

    @property
    def how_far(self) -> str:
        """What figures are over, where something is pending."""
        if not self.items_asked:
            return "no item was asked yet"
        if self.items_asked == self.items:
            return "every item was asked, but not in all its samples"
        which = "the first questions of the files" if self.first else "not all items"
        return f"figures are over what was asked so far, {which}, which is no sample"


def pending_note(cells: Sequence[AskedCell], *, of: str = "") -> list[str]:
    r"""That some questions are pending, and whose; nothing where none is. `of`: the study, where there are two.

    Questions are asked in the order of the files: what an interrupted run has asked is no draw from all of them.
    Where all items were asked, or none of a model, nothing of the kind is said.

    >>> stopped = AskedCell(("quiz", "small"), 40, pending=30, items=40, items_asked=10, first=True)
    >>> print(pending_note([stopped])[0].replace(", ", ",\n"))
    30 of 40 questions are pending: figures are over what was asked so far,
    the first questions of the files,
    which is no sample.
    >>> print(*pending_note([AskedCell(("quiz", "small"), 40), AskedCell(("quiz", "large"), 40, 40, 40)]))
    40 of 80 questions are pending (40 of large): no item was asked yet.
    """
    pending, planned = sum(cell.pending for cell in cells), sum(cell.planned for cell in cells)
    if not pending:
        return []
    head = f"{pending:,} of {planned:,} questions{f' of {of}' if of else ''} are pending"
    by_kind: dict[str, list[AskedCell]] = {}
    for cell in cells:
        if cell.pending:
            by_kind.setdefault(cell.how_far, []).append(cell)
    telling = [
        at for at, names in enumerate(zip(*(cell.names for cell in cells), strict=True)) if len(set(names)) > 1
    ]
    if len(by_kind) > 1:
        return [
            " ".join((f"{head}.", *(f"{_whose(of_kind, telling)}: {kind}." for kind, of_kind in by_kind.items())))
        ]
    ((kind, of_kind),) = by_kind.items()
    whose = "" if len(of_kind) == len(cells) else f" ({_whose(of_kind, telling)})"
    return [f"{head}{whose}: {kind}."]


_NAMED = 5
"""Cells that a sentence names."""


def _whose(cells: Sequence[AskedCell], telling: Sequence[int]) -> str:
    """How many questions of each cell are pending, by the names that tell cells apart.

    >>> _whose([AskedCell(("quiz", "m", "free"), 9, 4), AskedCell(("quiz", "m", "firm"), 9, 3)], [2])
    '4 of free, 3 of firm'
    """
    named = [
        f"{cell.pending:,} of {plain(' · '.join(cell.names[at] for at in telling))}" for cell in cells[:_NAMED]
    ]
    if rest := cells[_NAMED:]:
        named.append(f"{sum(cell.pending for cell in rest):,} of {len(rest):,} more")
    return ", ".join(named)


def nothing_arrived(failed: int, pending: int, planned: int) -> str | None:
    """Why there is no figure of a group, to follow a colon; None where some output of it arrived.

    >>> nothing_arrived(40, 0, 40), nothing_arrived(0, 1, 1), nothing_arrived(3, 4, 7), nothing_arrived(3, 4, 8)
    ('all 40 questions failed', 'its only question is pending', 'of 7 questions 3 failed and 4 are pending', None)
    """
    if not planned or failed + pending < planned:
        return None
    if failed and pending:
        return (
            f"of {planned:,} questions {failed:,} failed and {pending:,} {'are' if pending > 1 else 'is'} pending"
        )
    if planned == 1:
        return f"its only question {'failed' if failed else 'is pending'}"
    return f"all {planned:,} questions {'failed' if failed else 'are pending'}"


def said_first(warnings: Sequence[str], text: str) -> str:
    """A text after what must be known before it.

    >>> said_first(["Take care."], "All is well."), said_first([], "All is well.")
    ('Take care. All is well.', 'All is well.')
    """
    return " ".join((*warnings, text))
