"""Mean scores as shades: rows of names, a column for each dimension, in as many blocks as there is room for."""

from collections.abc import Sequence
from math import ceil

from affidavit.results.page.chart_rows import Label, named_rows, room_of_names
from affidavit.results.page.svg import LINE, SMALL, Drawing, text_width, widest, wrapped
from affidavit.statistics.estimate import Estimate

_ROW, _CELL = 30.0, 28.0
_NARROWEST, _ENOUGH, _WIDEST = 52.0, 88.0, 130.0
"""Pixels of a column: at least; for long words, which are broken beyond it; at most, beside names."""
_DEEPEST = 0.6
"""How much of the colour the highest mean has: as much as words on it can bear, in light and in dark."""


def heat_map(
    drawing: Drawing,
    labels: Sequence[Label],
    heads: Sequence[str],
    means: Sequence[Sequence[Estimate | None]],
    most: float,
) -> None:
    """A cell for each mean, the deeper the higher, up to `most`; where there is none, an empty one."""
    left = room_of_names(drawing, labels)
    room = drawing.width - left
    longest = max((widest(head.split(), SMALL) for head in heads), default=0.0) + 8
    per_block = max(1, int(room // min(_ENOUGH, max(_NARROWEST, longest))))
    per_block = ceil(len(heads) / ceil(len(heads) / per_block))
    column = room / per_block if drawing.narrow else min(_WIDEST, room / per_block)
    top = 0.0
    for first in range(0, len(heads), per_block):
        names = [wrapped(head, column - 6, SMALL) for head in heads[first : first + per_block]]
        high = LINE * max(map(len, names))
        for place, lines in enumerate(names):
            middle = top + LINE * len(lines) / 2
            drawing.words((left + column * (place + 0.5), middle), lines, anchor="middle", size=SMALL)
        rows = named_rows(drawing, labels, top + high + 4, tall=_ROW)
        for middle, row in zip(rows.middles, means, strict=True):
            for place, mean in enumerate(row[first : first + per_block]):
                _cell(drawing, (left + column * place, middle), column, mean, most)
        top = rows.bottom + 10
    drawing.height = max(0.0, top - 8)


def _cell(drawing: Drawing, place: tuple[float, float], column: float, mean: Estimate | None, most: float) -> None:
    x, middle = place
    corner, size = (x + 1, middle - _CELL / 2), (column - 2, _CELL)
    if mean is None:
        drawing.area(corner, size, "empty")
        words, full = "–", ""
    else:
        share = min(1.0, max(0.0, mean.value / most))
        drawing.area(corner, size, "heat", opacity=0.04 + (_DEEPEST - 0.04) * share)
        words = full = f"{mean.value:.2f} n={mean.n:,}"
        if text_width(words, SMALL) > column - 6:
            words = f"{mean.value:.2f}"
    drawing.words((x + column / 2, middle), [words], anchor="middle", size=SMALL, full=full)
