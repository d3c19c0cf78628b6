"""A text in a terminal, with the stretches that a contract marked underlined; it cannot command the terminal.

>>> print("\\n".join(marked_lines("So <answer>B</answer>\\n", [Mark(3, 21, "answer")], width=80)))
So <answer>B</answer>
   ^^^^^^^^^^^^^^^^^^
"""

from collections.abc import Iterable, Iterator, Sequence

import click
from rich.cells import cell_len

from affidavit.contracts.parts import ANSWER, LENIENT, PLACE, Mark
from affidavit.plain_text import plain

STROKES = {ANSWER: "^", LENIENT: "~", PLACE: "~"}
"""What stands below a marked character, by what marked it."""
_COLOURS = {ANSWER: "green", LENIENT: "yellow", PLACE: "yellow"}


def marked_lines(text: str, marks: Iterable[Mark], *, width: int, colours: bool = False) -> Iterator[str]:
    """The lines of a text, cut at the width, each with a line of strokes below it where something is marked."""
    kinds: dict[int, str] = {}
    for start, end, kind in marks:
        kinds.update(dict.fromkeys(range(start, end), kind))
    at = 0
    for line in text.removesuffix("\n").split("\n"):
        cells = [(plain(character), kinds.get(at + place, "")) for place, character in enumerate(line)]
        for row in _rows(cells, width):
            yield "".join(_styled(shown, kind) if colours else shown for shown, kind in row)
            if any(kind for _, kind in row):
                yield "".join(STROKES.get(kind, " ") * cell_len(shown) for shown, kind in row).rstrip()
        at += len(line) + 1


def _rows(cells: Sequence[tuple[str, str]], width: int) -> Iterator[list[tuple[str, str]]]:
    """Characters with their marks, in rows of at most this width; an empty line is one row."""
    row: list[tuple[str, str]] = []
    used = 0
    for shown, kind in cells:
        size = cell_len(shown)
        if row and used + size > width:
            yield row
            row, used = [], 0
        row.append((shown, kind))
        used += size
    yield row


def _styled(shown: str, kind: str) -> str:
    return click.style(shown, fg=_COLOURS[kind], bold=True) if kind in _COLOURS else shown
