"""Any text as a page can show it: nothing invisible, nothing that reorders, nothing endless.

What a model wrote may hold control characters, marks that turn the direction of text, or halves of characters. On
the page each of them is spelt out, so that a reader sees what is there and a browser does nothing with it.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from affidavit.contracts.parts import Mark
from affidavit.plain_text import plain

HEAD, TAIL, AROUND, MOST_MARKS = 700, 200, 160, 12
"""Of a long text these many characters are shown: at its front, at its end, around each of the first marks."""


class Piece(NamedTuple):
    """A stretch of a text as it is shown; `kind` is empty for plain text."""

    text: str
    kind: str = ""


def visible(text: str) -> str:
    """The text with whatever cannot be seen spelt out; lines and tabs stay.

    >>> visible("a\\tb\\n\\x1b[31m\\u202e\\ud800\\x00")
    'a\\tb\\n\\\\u001b[31m\\\\u202e\\\\ud800\\\\u0000'
    """
    return "\n".join("\t".join(map(plain, line.split("\t"))) for line in text.split("\n"))


def brief(text: str, most: int) -> str:
    """The text on one line, cut when it is longer.

    >>> brief("one\\ntwo three", 9)
    'one two …'
    """
    line = plain(" ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def pieces(text: str, marks: Iterable[Mark] = (), *, whole: bool = False) -> list[Piece]:
    """The text in pieces, marked where it is, with what is left out of a long one said in its place.

    `whole`: nothing is left out.

    >>> pieces("so B it is", [Mark(3, 4, "answer")])
    [Piece(text='so ', kind=''), Piece(text='B', kind='answer'), Piece(text=' it is', kind='')]
    """
    chosen = _apart(marks, len(text))[:MOST_MARKS]
    found, at = [], 0
    for start, end in [(0, len(text))] if whole else _windows(len(text), chosen):
        if start > at:
            found.append(Piece(f"… {start - at:,} characters left out …", "gap"))
        found += _stretch(text, start, end, chosen)
        at = end
    if at < len(text):
        found.append(Piece(f"… {len(text) - at:,} characters left out …", "gap"))
    return found


def _apart(marks: Iterable[Mark], size: int) -> list[Mark]:
    """Marks in their order, none reaching into the one before."""
    found: list[Mark] = []
    for mark in sorted(marks):
        start = max(mark.start, found[-1].end if found else 0)
        end = min(mark.end, size)
        if start < end:
            found.append(Mark(start, end, mark.kind))
    return found


def _windows(size: int, marks: Sequence[Mark]) -> list[tuple[int, int]]:
    """The stretches that are shown, apart and in order."""
    wanted = [(0, HEAD), (size - TAIL, size)]
    for mark in marks:
        # A long mark is shown at both of its ends.
        wanted += [(mark.start - AROUND, mark.start + AROUND), (mark.end - AROUND, mark.end + AROUND)]
    found: list[tuple[int, int]] = []
    for start, end in sorted((max(0, start), min(size, end)) for start, end in wanted):
        if found and start <= found[-1][1] + AROUND:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        elif start < end:
            found.append((start, end))
    return found


def _stretch(text: str, start: int, end: int, marks: Sequence[Mark]) -> list[Piece]:
    found, at = [], start
    for mark in marks:
        low, high = max(mark.start, start), min(mark.end, end)
        if low < high:
            found += [Piece(visible(text[at:low])), Piece(visible(text[low:high]), mark.kind)]
            at = high
    found.append(Piece(visible(text[at:end])))
    return [piece for piece in found if piece.text]
