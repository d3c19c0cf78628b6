"""What a reader must know before any figure of a study: that it is a trial, or not finished."""

from collections.abc import Sequence


def trial_note(items: int | None, *, of: str = "") -> list[str]:
    """That a study is a trial, in a sentence; nothing of one that is none. `of`: the study, where there are two.

    >>> trial_note(5), trial_note(1, of="small-trial"), trial_note(None)
    (['A trial: the first 5 items of each task.'], ['small-trial is a trial: the first item of each task.'], [])
    """
    if items is None:
        return []
    first = "item" if items == 1 else f"{items:,} items"
    return [f"{f'{of} is a' if of else 'A'} trial: the first {first} of each task."]


def pending_note(pending: int, planned: int, *, of: str = "") -> list[str]:
    """That some questions are pending, in a sentence; nothing where none is. `of`: the study, where there are two.

    Questions are asked in the order of the files: what an interrupted run has asked is no draw from all of them.

    >>> pending_note(300, 1200)[0].partition(": ")[0], pending_note(0, 1200)
    ('300 of 1,200 questions are pending', [])
    """
    if not pending:
        return []
    where = f" of {of}" if of else ""
    return [
        f"{pending:,} of {planned:,} questions{where} are pending: figures are over what was asked so far, the "
        "first questions of the files, which is no sample."
    ]


def said_first(warnings: Sequence[str], text: str) -> str:
    """A text after what must be known before it.

    >>> said_first(["Take care."], "All is well."), said_first([], "All is well.")
    ('Take care. All is well.', 'All is well.')
    """
    return " ".join((*warnings, text))
