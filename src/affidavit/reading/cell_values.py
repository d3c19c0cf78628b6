"""Cells of a table as the values that a contract takes: cells are text, and an empty one may say: nobody knows."""

import json
from collections.abc import Collection

from affidavit.contracts.parts import Parts

_EMPTY_IS_UNKNOWN = ("answer", "numbers", "target", "judged_output", "asked")


def unknown_if_empty(parts: Parts, answer: str = "answer") -> tuple[str, ...]:
    """The columns in which an empty cell says that nobody knows; `answer` is the one of right answers."""
    return (answer, *_EMPTY_IS_UNKNOWN, parts.checked_by, *(parts.item_fields or ()))


def cell_value(name: str, cell: str, unknown: Collection[str]) -> object:
    """The cell as the contract takes it; an empty one in these columns says that nobody knows.

    >>> cell_value("target", "24", ()), cell_value("numbers", "[1, 2]", ()), cell_value("answer", "", ("answer",))
    (24, [1, 2], None)
    >>> cell_value("options", '["Rome", "Paris"]', ()), cell_value("options", "Rome; Paris", ())
    (['Rome', 'Paris'], 'Rome; Paris')
    """
    if name in unknown and not cell:
        return None
    if name == "target" and cell.removeprefix("-").isdecimal() and cell.isascii() and len(cell) <= 500:
        return int(cell)
    if name in ("numbers", "asked", "options") and cell[:1] in ("[", "{"):
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            return cell
    return cell
