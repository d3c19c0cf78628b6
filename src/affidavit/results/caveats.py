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
