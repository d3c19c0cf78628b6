"""Rows of a chart: where each is, and its name beside it, or above it where there is no room."""

from collections.abc import Sequence
from typing import NamedTuple

from affidavit.results.page.svg import LINE, SMALL, Drawing, text_width, widest, wrapped

_GAP = 8.0
"""Pixels between a name and what it names."""


class Label(NamedTuple):
    """What a row is called: in short, and in full."""

    short: str
    full: str


class Rows(NamedTuple):
    """Where the rows are: from the left on, around these middles, down to the bottom."""

    left: float
    middles: Sequence[float]
    bottom: float


def room_of_names(drawing: Drawing, labels: Sequence[Label]) -> float:
    """Pixels that names beside the rows take; none where they stand above."""
    if drawing.narrow:
        return 0.0
    return _GAP + max((widest(_lines(drawing, label)) for label in labels), default=0.0)


def _lines(drawing: Drawing, label: Label) -> list[str]:
    return wrapped(label.short, drawing.width if drawing.narrow else 0.45 * drawing.width)


def named_rows(drawing: Drawing, labels: Sequence[Label], top: float, *, tall: float) -> Rows:
    """Rows below one another, each with its name; as tall as asked for, or as its name needs."""
    left, names = room_of_names(drawing, labels), [_lines(drawing, label) for label in labels]
    middles, y = [], top
    for label, lines in zip(labels, names, strict=True):
        high = LINE * len(lines)
        if drawing.narrow:
            drawing.words((0, y + high / 2 + 2), lines, full=label.full)
            middle, y = y + high + 3 + tall / 2, y + high + tall + 6
        else:
            row = max(tall, high + _GAP)
            middle, y = y + row / 2, y + row
            drawing.words((left - _GAP, middle), lines, anchor="end", full=label.full)
        middles.append(middle)
    return Rows(left, middles, y)


def key(drawing: Drawing, entries: Sequence[tuple[str, str]]) -> float:
    """Draw what the colours stand for, as many in a line as there is room; the height below it."""
    x, y = 0.0, 0.0
    for name, colour in entries:
        lines = wrapped(name, drawing.width - 20)
        wide = 20 + widest(lines) + 2 * _GAP
        if x > 0 and x + wide - 2 * _GAP > drawing.width:
            x, y = 0.0, y + 22
        middle = y + 10
        drawing.part((x + 0.5, middle - 6), (12, 12), colour)
        for number, line in enumerate(lines):
            drawing.words((x + 18, middle + LINE * number), [line])
        x, y = x + wide, y + LINE * (len(lines) - 1)
    return y + 28 if entries else 0.0


def room_for(texts: Sequence[str]) -> float:
    """Pixels that small words at the end of a row need, with the gap before them."""
    return _GAP + max((text_width(text, SMALL) for text in texts), default=0.0)
