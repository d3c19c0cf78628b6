"""Shapes and words → SVG that stands in a page, without a style of its own.

Colours, fonts and line widths are the page's, by class, so a drawing is light or dark as the page is. Every text
is escaped here, and measured generously, as nobody knows the reader's font. The same shapes give the same bytes.
"""

import re
from collections.abc import Sequence
from html import escape
from typing import Literal
from unicodedata import combining, east_asian_width

WIDE, NARROW = 720, 304
"""Pixels across: a chart is drawn for a window and for a telephone, and the page shows the one that fits."""
SIZE, SMALL = 12.0, 11.0
"""Pixels of a letter; as in page.css."""
LINE = 15.0
"""Pixels from one line of words to the next."""

Anchor = Literal["start", "middle", "end"]
Point = tuple[float, float]
_WORDS = re.compile(r"[^ \-_/.:…]*[ \-_/.:…]+|[^ \-_/.:…]+")
_PATTERNS = {
    "green": "M1 1h1M4 4h1",
    "orange": "M0 6L6 0",
    "purple": "M0 0L6 6",
    "vermillion": "M0 6L6 0M0 0L6 6",
    "grey": "M0 3H6",
}
"""What distinguishes areas in print without colours; blue is dark and sky is light."""
_SHAPES = {
    "circle": "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "square": "m-3.5-3.5h7v7h-7z",
    "up": "m0-4.5l4.5 8h-9z",
    "diamond": "m0-5l5 5l-5 5l-5-5z",
    "down": "m0 4.5l4.5-8h-9z",
    "left": "m-4.5 0l8-4.5v9z",
    "right": "m4.5 0l-8-4.5v9z",
    "plus": "m-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
    "bar": "m-5-2h10v4h-10z",
}
SHAPES = tuple(_SHAPES)


def text_width(text: str, size: float = SIZE) -> float:
    """Pixels that a text takes at most, in the fonts that pages have.

    >>> text_width("ab", 10), text_width("日本", 10)
    (13.0, 21.0)
    """
    return round(size * sum(map(_em, text)), 3)


def _em(character: str) -> float:
    if combining(character):
        return 0.0
    if east_asian_width(character) in "FW":
        return 1.05
    if character in "mwMW@%…—":
        return 1.0
    if character in " fijlrt.,:;|'()[]-":
        return 0.42
    return 0.8 if character.isupper() else 0.6 if character in "ckszvxy_" else 0.65


def wrapped(text: str, room: float, size: float = SIZE) -> list[str]:
    """The text in lines of that width, broken between words where it can be, and never cut.

    >>> wrapped("accuracy over all outputs", 100), wrapped("aaaa", 16)
    (['accuracy over', 'all outputs'], ['aa', 'aa'])
    """
    lines = [""]
    for word in _WORDS.findall(text):
        if text_width((lines[-1] + word).rstrip(), size) <= room:
            lines[-1] += word
            continue
        if lines[-1]:
            lines.append("")
        for character in word:
            if lines[-1] and text_width((lines[-1] + character).rstrip(), size) > room:
                lines.append("")
            lines[-1] += character
    return [line.strip() for line in lines]


def widest(lines: Sequence[str], size: float = SIZE) -> float:
    """Pixels that the longest of these takes."""
    return max((text_width(line, size) for line in lines), default=0.0)


class Drawing:
    """A sheet of some width, on which places are pixels from its upper left corner; `name` is unique on a page."""

    def __init__(self, name: str, width: float) -> None:
        self.width, self.height = width, 0.0
        self._name = name
        self._drawn: list[str] = []
        self._patterns: set[str] = set()

    @property
    def narrow(self) -> bool:
        """Whether names stand above what they name, as there is no room beside it."""
        return self.width < 500

    def words(  # noqa: PLR0913 - where, what, and how it looks
        self,
        place: Point,
        lines: Sequence[str],
        *,
        anchor: Anchor = "start",
        size: float = SIZE,
        look: str = "",
        full: str = "",
    ) -> None:
        """Lines of words whose middle is at a height; `full` is what they are short for."""
        (x, middle), classes = place, [anchor] * (anchor != "start") + ["small"] * (size == SMALL) + look.split()
        first = middle - (len(lines) - 1) * LINE / 2 + 0.35 * size
        at = [f'x="{_number(x)}" y="{_number(first + LINE * number)}"' for number in range(len(lines))]
        if len(lines) == 1:
            written = escape(lines[0])
        else:
            written = "".join(
                f"<tspan {where}>{escape(line)}</tspan>" for where, line in zip(at, lines, strict=True)
            )
        title = _title(full if full != lines[0] else "")
        self._drawn.append(f"<text{_classes(classes)} {at[0]}>{title}{written}</text>")

    def area(
        self, corner: Point, size: tuple[float, float], look: str, *, opacity: float = 1, told: str = ""
    ) -> None:
        """A rectangle; `told` is what a reader who points at it is told."""
        seen = f' fill-opacity="{opacity:.2f}"' if opacity < 1 else ""
        self._drawn.append(_element("rect", f"{_classes(look.split())} {_box(corner, size)}{seen}", told))

    def part(self, corner: Point, size: tuple[float, float], colour: str, *, told: str = "") -> None:
        """A rectangle of a colour that has to be told from others, with the colour's pattern over it."""
        self.area(corner, size, f"part {colour}", told=told)
        if colour in _PATTERNS:
            self._patterns.add(colour)
            fill = f'fill="url(#{self._name}-{colour})"'
            self._drawn.append(_element("rect", f' class="over" {_box(corner, size)} {fill}'))

    def line(self, points: Sequence[Point], look: str) -> None:
        """A line from point to point."""
        self.lines([points], look)

    def lines(self, all_points: Sequence[Sequence[Point]], look: str) -> None:
        """Several lines that look alike."""
        path = "".join(
            "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in points) for points in all_points if points
        )
        if path:
            self._drawn.append(_element("path", f'{_classes(look.split())} d="{path}"'))

    def mark(self, place: Point, shape: str, look: str, *, told: str = "") -> None:
        """A mark of one of `SHAPES` around a point."""
        path = f"M{_number(place[0])} {_number(place[1])}{_SHAPES[shape]}"
        self._drawn.append(_element("path", f'{_classes(look.split())} d="{path}"', told))

    def element(self, title: str, description: str) -> str:
        """All of it as an element of a page, with what it shows in words."""
        name = self._name
        size = f'viewBox="0 0 {_number(self.width)} {_number(self.height)}"'
        size += f' width="{_number(self.width)}" height="{_number(self.height)}"'
        patterns = "".join(
            f'<pattern id="{name}-{colour}" width="6" height="6" patternUnits="userSpaceOnUse">'
            f'<path class="pattern" d="{path}"/></pattern>'
            for colour, path in _PATTERNS.items()
            if colour in self._patterns
        )
        return (
            f'<svg class="chart {"narrow" if self.narrow else "wide"}" {size} role="img" '
            f'aria-labelledby="{name}-title {name}-desc"><title id="{name}-title">{escape(title)}</title>'
            f'<desc id="{name}-desc">{escape(description)}</desc>'
            f"{f'<defs>{patterns}</defs>' if patterns else ''}{''.join(self._drawn)}</svg>"
        )


def _number(value: float) -> str:
    """A place with at most one decimal.

    >>> _number(12.04), _number(-0.01), _number(7.25)
    ('12', '0', '7.2')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _box(corner: Point, size: tuple[float, float]) -> str:
    (x, y), (width, height) = map(_number, corner), map(_number, size)
    return f'x="{x}" y="{y}" width="{width}" height="{height}"'


def _classes(names: Sequence[str]) -> str:
    return f' class="{" ".join(names)}"' if names else ""


def _title(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""


def _element(tag: str, attributes: str, told: str = "") -> str:
    return f"<{tag}{attributes}>{_title(told)}</{tag}>" if told else f"<{tag}{attributes}/>"
