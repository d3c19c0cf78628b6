"""Small multiples: one little panel for each group, all on one scale, so that shapes compare at a glance."""

from collections.abc import Sequence
from typing import NamedTuple

from affidavit.results.page.chart_rows import Label
from affidavit.results.page.plots import Difference, interval_on, points_in_words
from affidavit.results.page.svg import LINE, SMALL, Drawing, wrapped
from affidavit.statistics.estimate import signed

_WIDE, _NARROW, _GAP = 4, 2, 18.0
"""Panels beside each other, in a window and on a telephone, and the pixels between them."""
_ROW, _NAME = 17.0, 16.0
"""Pixels of a row, and of its name beside it."""


class Multiple(NamedTuple):
    """One panel: what it is called, and a difference for each row, if there is one."""

    label: Label
    differences: Sequence[Difference | None]


def small_multiples(drawing: Drawing, rows: Sequence[str], panels: Sequence[Multiple], most: float) -> None:
    """Panels of the same rows, on a scale from minus to plus `most` with a line at zero."""
    per_line = min(len(panels), _NARROW if drawing.narrow else _WIDE)
    width = min(220.0, (drawing.width + _GAP) / per_line - _GAP)
    top = 0.0
    for first in range(0, len(panels), per_line):
        together = panels[first : first + per_line]
        titles = [wrapped(panel.label.short, width, SMALL) for panel in together]
        head = LINE * max(map(len, titles)) + 4
        for place, (panel, lines) in enumerate(zip(together, titles, strict=True)):
            left = place * (width + _GAP)
            drawing.words((left, top + LINE * len(lines) / 2), lines, size=SMALL, full=panel.label.full)
            _panel(drawing, rows, panel, _Place(left, top + head, width, most))
        top += head + _ROW * len(rows) + 30
    drawing.height = max(0.0, top - 8)


class _Place(NamedTuple):
    """Where a panel is, how wide, and the end of its scale."""

    left: float
    top: float
    width: float
    most: float


def _panel(drawing: Drawing, rows: Sequence[str], panel: Multiple, place: _Place) -> None:
    left, top, width, most = place
    inner = width - _NAME - 4
    start, bottom = left + _NAME, top + _ROW * len(rows)

    def at(value: float) -> float:
        return start + inner * (value + most) / (2 * most)

    drawing.line([(at(0), top), (at(0), bottom)], "zero")
    drawing.line([(start, bottom), (start + inner, bottom)], "axis")
    drawing.words((start, bottom + 10), [points_in_words(-most)], size=SMALL)
    drawing.words((start + inner, bottom + 10), [points_in_words(most)], anchor="end", size=SMALL)
    for number, (name, found) in enumerate(zip(rows, panel.differences, strict=True)):
        y = top + _ROW * (number + 0.5)
        drawing.words((left, y), [name], size=SMALL)
        if found is None:
            continue
        value, sure = found
        low, high = interval_on(value, -most, most)
        drawing.line([(at(low), y), (at(high), y)], "whisker blue")
        said = f"{name}: {signed(value.value * 100)} points"
        drawing.mark((at(value.value), y), "circle", "mark blue" if sure else "hollow blue", told=said)
