"""Counts as bars: parts of a whole one after the other, or one bar for each count."""

from collections.abc import Sequence
from typing import NamedTuple

from affidavit.results.page.chart_rows import Label, key, named_rows, room_for
from affidavit.results.page.svg import SMALL, Drawing, text_width

_ROW, _BAR = 26.0, 18.0
"""Pixels of a row, and of the bar in it."""


class Part(NamedTuple):
    """A part of every bar: what it is called, its colour, and its count in each bar."""

    name: str
    colour: str
    counts: Sequence[int]


def stacked_bars(drawing: Drawing, labels: Sequence[Label], parts: Sequence[Part]) -> None:
    """A bar for each row, its parts with their counts where there is room, their sum behind it."""
    totals = [sum(part.counts[at] for part in parts) for at in range(len(labels))]
    behind = room_for([f"{total:,}" for total in totals])
    rows = named_rows(drawing, labels, key(drawing, [(part.name, part.colour) for part in parts]), tall=_ROW)
    width = drawing.width - rows.left - behind - 1
    for at, middle in enumerate(rows.middles):
        x = rows.left
        for part in (part for part in parts if part.counts[at]):
            long, count = width * part.counts[at] / totals[at], f"{part.counts[at]:,}"
            drawing.part((x, middle - _BAR / 2), (long, _BAR), part.colour, told=f"{count} {part.name}")
            if long > 8 + text_width(count, SMALL):
                drawing.words(
                    (x + long / 2, middle), [count], anchor="middle", size=SMALL, look=f"inside {part.colour}"
                )
            x += long
        drawing.words((drawing.width, middle), [f"{totals[at]:,}"], anchor="end", size=SMALL, look="soft")
    drawing.height = rows.bottom + 2


def ranked_bars(drawing: Drawing, counts: Sequence[tuple[Label, int]], all_of: int, colour: str) -> None:
    """A bar for each count, with the count and its share of them all behind it."""
    words = [f"{count:,} ({count / all_of:.0%})" for _, count in counts]
    rows = named_rows(drawing, [label for label, _ in counts], 0, tall=_ROW)
    width = drawing.width - rows.left - room_for(words) - 1
    most = max(count for _, count in counts)
    for (_, count), said, middle in zip(counts, words, rows.middles, strict=True):
        long = width * count / most
        drawing.area((rows.left, middle - _BAR / 2), (long, _BAR), f"part {colour}")
        drawing.words((rows.left + long + 8, middle), [said], size=SMALL)
    drawing.height = rows.bottom + 2
