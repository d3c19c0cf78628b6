"""Figures with their intervals as points with whiskers: two against one another, and differences from zero."""

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from affidavit.results.page.chart_rows import Label, named_rows, room_of_names
from affidavit.results.page.svg import LINE, SMALL, Drawing, text_width, wrapped
from affidavit.statistics.estimate import Estimate, signed


def ends(value: Estimate) -> tuple[float, float]:
    """Below and above the value, as far as its interval is known."""
    low, high = value.value - value.low, value.high - value.value
    return (max(0.0, low) if isfinite(low) else 0.0), (max(0.0, high) if isfinite(high) else 0.0)


def interval_on(value: Estimate, low: float, high: float) -> tuple[float, float]:
    """The ends of the interval, as far as they are on the axis."""
    below, above = ends(value)
    return max(low, value.value - below), min(high, value.value + above)


# --- the scatter plot ---


class Dot(NamedTuple):
    """A point of a scatter plot: its name, its shares across and up, its colour and its shape."""

    label: Label
    across: Estimate
    up: Estimate
    colour: str
    shape: str
    told: str


_LEFT, _TOP = 44.0, 34.0
"""Pixels beside and above the scatter plot, for the words of its scale."""
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def scatter_plot(drawing: Drawing, dots: Sequence[Dot], across: str, up: str) -> None:
    """Two shares against one another; names stand beside, led to their points, or numbers where room is scarce."""
    side = drawing.width - _LEFT - 52 if drawing.narrow else 330.0
    column = _LEFT + side + 30
    names = [
        [f"{number}"] if drawing.narrow else wrapped(dot.label.short, drawing.width - column - 12)
        for number, dot in enumerate(dots, 1)
    ]
    sizes = [LINE * len(lines) + 2 for lines in names]
    floor = max(_TOP + side, sum(sizes))
    _scales(drawing, side, across, up)
    at = [(_LEFT + side * dot.across.value, _TOP + side * (1 - dot.up.value)) for dot in dots]
    order = sorted(range(len(dots)), key=lambda place: (at[place][1], -at[place][0]))
    middles = spread([at[place][1] for place in order], [sizes[place] for place in order], 0, floor)
    for place, middle in zip(order, middles, strict=True):
        drawing.line([at[place], (column - 14, middle), (column - 6, middle)], "lead-line")
    for dot, (x, y) in zip(dots, at, strict=True):
        (left, right), (low, high) = interval_on(dot.across, 0, 1), interval_on(dot.up, 0, 1)
        wide = [(_LEFT + side * left, y), (_LEFT + side * right, y)]
        tall = [(x, _TOP + side * (1 - low)), (x, _TOP + side * (1 - high))]
        drawing.lines([wide, tall], f"whisker {dot.colour}")
    for dot, centre in zip(dots, at, strict=True):
        drawing.mark(centre, dot.shape, f"mark {dot.colour}", told=dot.told)
    for place, middle in zip(order, middles, strict=True):
        dot = dots[place]
        if drawing.narrow:
            drawing.words((column - 4, middle), names[place], size=SMALL)
        else:
            drawing.mark((column, middle), dot.shape, f"mark {dot.colour}")
            drawing.words((column + 12, middle), names[place], full=dot.label.full)
    bottom = max(floor, _TOP + side + 40)
    drawing.height = _numbered(drawing, dots, bottom + 4) if drawing.narrow else bottom


def _scales(drawing: Drawing, side: float, across: str, up: str) -> None:
    right, floor = _LEFT + side, _TOP + side
    for tick in _TICKS:
        x, y = _LEFT + side * tick, floor - side * tick
        drawing.lines([[(x, _TOP), (x, floor)], [(_LEFT, y), (right, y)]], "grid")
        drawing.words((_LEFT - 6, y), [f"{tick:.0%}"], anchor="end", size=SMALL)
        drawing.words((x, floor + 13), [f"{tick:.0%}"], anchor="middle", size=SMALL)
    drawing.line([(_LEFT, _TOP), (_LEFT, floor), (right, floor)], "axis")
    drawing.words((0, 9), [up])
    drawing.words((right, floor + 31), [across], anchor="end")


def _numbered(drawing: Drawing, dots: Sequence[Dot], top: float) -> float:
    """The names of the numbers, below one another; the height below them."""
    y = top
    for number, dot in enumerate(dots, 1):
        lines = wrapped(dot.label.short, drawing.width - 40)
        high = LINE * len(lines) + 3
        drawing.words((18, y + LINE / 2), [f"{number}"], anchor="end", size=SMALL)
        drawing.mark((28, y + LINE / 2), dot.shape, f"mark {dot.colour}")
        drawing.words((40, y + LINE * len(lines) / 2), lines, full=dot.label.full)
        y += high
    return y


def spread(wanted: Sequence[float], sizes: Sequence[float], top: float, bottom: float) -> list[float]:
    """Middles of that order and those sizes, none over another, each near where it is wanted.

    >>> spread([50, 52, 99], [10, 10, 10], 0, 100)
    [50, 60.0, 95.0]
    """
    middles: list[float] = []
    for number, (place, size) in enumerate(zip(wanted, sizes, strict=True)):
        above = middles[-1] + sizes[number - 1] / 2 if middles else top
        middles.append(max(place, above + size / 2))
    for number in range(len(middles) - 1, -1, -1):
        last = number == len(middles) - 1
        below = bottom if last else middles[number + 1] - sizes[number + 1] / 2
        middles[number] = min(middles[number], below - sizes[number] / 2)
    return middles


# --- differences ---

Difference = tuple[Estimate, bool]
"""A difference, and whether it is distinguishable from zero."""
_ROW, _GAP = 34.0, 20.0
"""Pixels of a row of differences, and between two panels."""


class Panel(NamedTuple):
    """One measure: what it is called, and its differences row by row."""

    title: str
    differences: Sequence[Difference | None]


def forest_plot(drawing: Drawing, labels: Sequence[Label], panels: Sequence[Panel], most: float) -> None:
    """Differences on one scale from minus to plus `most`, a panel for each measure, with a line at zero."""
    start = room_of_names(drawing, labels) + (0 if drawing.narrow else _GAP / 2)
    width = (drawing.width - start + _GAP) / len(panels) - _GAP
    titles = [wrapped(panel.title, width, SMALL) for panel in panels]
    top = LINE * max(map(len, titles)) + 6
    rows = named_rows(drawing, labels, top, tall=_ROW)
    for number, (panel, lines) in enumerate(zip(panels, titles, strict=True)):
        x = start + (width + _GAP) * number
        drawing.words((x, LINE * len(lines) / 2), lines, size=SMALL)
        _panel(drawing, panel, (x, width), (rows.middles, rows.bottom), most)
    drawing.height = rows.bottom + 22


def _panel(
    drawing: Drawing,
    panel: Panel,
    across: tuple[float, float],
    down: tuple[Sequence[float], float],
    most: float,
) -> None:
    (left, width), (middles, bottom) = across, down

    def at(value: float) -> float:
        return left + width * (value + most) / (2 * most)

    drawing.lines([[(at(0), y - _ROW / 2), (at(0), y + _ROW / 2)] for y in middles], "zero")
    drawing.line([(left, bottom), (left + width, bottom)], "axis")
    drawing.lines([[(at(tick), bottom), (at(tick), bottom + 4)] for tick in (-most, 0, most)], "axis")
    # The words at both ends stay within the panel, so that those of neighbours do not touch.
    drawing.words((left, bottom + 13), [points_in_words(-most)], size=SMALL)
    drawing.words((at(0), bottom + 13), ["0"], anchor="middle", size=SMALL)
    drawing.words((left + width, bottom + 13), [points_in_words(most)], anchor="end", size=SMALL)
    for found, middle in zip(panel.differences, middles, strict=True):
        if found is None:
            continue
        value, sure = found
        low, high = interval_on(value, -most, most)
        y, x = middle + 7, at(value.value)
        drawing.line([(at(low), y), (at(high), y)], "whisker blue")
        drawing.mark((x, y), "circle", "mark blue" if sure else "hollow blue")
        said = signed(value.value * 100)
        half = text_width(said, SMALL) / 2
        x = min(max(x, left + half), left + width - half)
        drawing.words((x, middle - 8), [said], anchor="middle", size=SMALL, look="halo")


def points_in_words(tick: float) -> str:
    """A difference of shares as whole percentage points."""
    return signed(tick * 100).partition(".")[0]
