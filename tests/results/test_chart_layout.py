"""Where things stand in charts: lengths are in proportion, names are beside or above, nothing leaves the sheet."""

import re
from itertools import pairwise
from xml.etree import ElementTree as Tree

import pytest

from affidavit.results.page.bars import Part, ranked_bars, stacked_bars
from affidavit.results.page.chart_rows import Label, key, named_rows, room_of_names
from affidavit.results.page.heat_map import heat_map
from affidavit.results.page.plots import Dot, Panel, forest_plot, scatter_plot
from affidavit.results.page.svg import NARROW, WIDE, Drawing
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.shares import wilson

NAMES = [Label("small", "small"), Label("m" * 40, "m" * 80), Label("日本語" * 13, "日本語" * 13)]
BOTH = pytest.mark.parametrize("width", [WIDE, NARROW])


def parsed(drawing: Drawing) -> Tree.Element:
    return Tree.fromstring(drawing.element("title", "description"))  # noqa: S314 - our own


def looking(root: Tree.Element, look: str) -> list[Tree.Element]:
    """The shapes and words of these classes."""
    return [each for each in root.iter() if set(look.split()) <= set((each.get("class") or "").split())]


def words(root: Tree.Element) -> list[str]:
    found = []
    for text in root.iter("text"):
        lines = [each.text or "" for each in text.iter("tspan")]
        found.append("".join(lines) or "".join([text.text or "", *(each.tail or "" for each in text)]))
    return found


def number(element: Tree.Element, name: str) -> float:
    return float(element.get(name, "0"))


def starts(element: Tree.Element) -> tuple[float, ...]:
    """Where a path begins."""
    return tuple(map(float, re.match(r"M([-\d.]+) ([-\d.]+)", element.get("d", "")).groups()))


@BOTH
def test_parts_of_a_bar_are_as_long_as_their_counts_and_have_them_where_there_is_room(width):
    drawing = Drawing("x", width)
    parts = [
        Part("right", "blue", [60, 0, 5]),
        Part("wrong", "orange", [39, 1000, 5]),
        Part("failed", "grey", [1, 0, 0]),
    ]
    stacked_bars(drawing, NAMES, parts)
    root = parsed(drawing)
    first = [bar for bar in looking(root, "part") if bar.find("title") is not None][:3]
    assert [bar.find("title").text for bar in first] == ["60 right", "39 wrong", "1 failed"]
    whole = sum(number(bar, "width") for bar in first)
    assert [round(number(bar, "width") / whole, 2) for bar in first] == [0.6, 0.39, 0.01]
    assert [number(bar, "x") + number(bar, "width") <= width for bar in first] == [True] * 3
    assert [each.text for each in looking(root, "inside")] == ["60", "39", "1,000", "5", "5"]
    assert [each.text for each in looking(root, "soft")] == ["100", "1,000", "10"]


@BOTH
def test_names_are_whole_and_those_in_short_are_there_in_full(width):
    drawing = Drawing("x", width)
    rows = named_rows(drawing, NAMES, 10, tall=26)
    root = parsed(drawing)
    assert words(root) == [name.short for name in NAMES]
    assert [each.text for each in root.iter("title")][1:] == ["m" * 80, "日本語" * 13]
    assert rows.left == room_of_names(drawing, NAMES)
    assert (rows.left == 0) == (width == NARROW)
    assert all(after - before >= 26 for before, after in pairwise(rows.middles))
    heights = [number(each, "y") for each in root.iter() if each.tag in ("text", "tspan")]
    assert min(heights) > 10
    assert max(heights) < rows.bottom


def test_a_key_takes_as_many_lines_as_it_needs():
    entries = [("a name of thirty characters!!!", "blue")] * 4
    assert key(Drawing("x", WIDE), []) == 0
    assert key(Drawing("x", WIDE), entries[:2]) == 28
    assert key(Drawing("x", NARROW), entries) > key(Drawing("x", WIDE), entries) > 28


@BOTH
def test_ranked_bars_are_as_long_as_their_counts(width):
    drawing = Drawing("x", width)
    ranked_bars(drawing, [(NAMES[0], 300), (NAMES[1], 100)], 800, "orange")
    root = parsed(drawing)
    long, short = (number(bar, "width") for bar in looking(root, "part orange"))
    assert long == pytest.approx(3 * short, abs=0.2)
    assert {"300 (38%)", "100 (12%)"} <= set(words(root))


@BOTH
@pytest.mark.parametrize("dimensions", [1, 4, 23])
def test_a_heat_map_has_a_cell_for_every_mean_and_the_highest_is_the_deepest(width, dimensions):
    drawing = Drawing("x", width)
    means: list[list[Estimate | None]] = [[wilson(at, 23) for at in range(dimensions)] for _ in NAMES]
    means[1][0] = None
    heat_map(drawing, NAMES, [f"dimension {at}" for at in range(dimensions)], means, 22 / 23)
    root = parsed(drawing)
    cells = looking(root, "heat")
    assert (len(cells), len(looking(root, "empty"))) == (3 * dimensions - 1, 1)
    assert words(root).count("–") == 1
    assert all(number(cell, "x") + number(cell, "width") <= width for cell in cells)
    shades = sorted({number(cell, "fill-opacity") for cell in cells})
    assert len(shades) == dimensions
    assert shades[-1] == (0.6 if dimensions == 23 else shades[-1]) <= 0.6


def test_a_heat_map_of_nothing_but_zeros_is_drawn():
    drawing = Drawing("x", WIDE)
    heat_map(drawing, NAMES[:1], ["tone"], [[wilson(0, 5)]], 1.0)
    assert "0.00 n=5" in words(parsed(drawing))


@BOTH
def test_a_difference_that_is_distinguishable_is_filled_and_no_interval_leaves_its_panel(width):
    drawing = Drawing("x", width)
    sure, unsure = Estimate(-0.2, -0.3, -0.1, 9, ""), Estimate(0.2, float("-inf"), float("inf"), 9, "")
    wide = Estimate(0.0, -0.9, 0.9, 9, "")
    forest_plot(drawing, NAMES, [Panel("compliance", [(sure, True), (unsure, False), (wide, False)])] * 3, 0.5)
    root = parsed(drawing)
    assert (len(looking(root, "mark")), len(looking(root, "hollow"))) == (3, 6)
    axis = starts(looking(root, "axis")[0])[0]
    reached = [list(map(float, re.findall(r"[ML]([-\d.]+) ", each.get("d")))) for each in looking(root, "whisker")]
    assert reached[1][0] == reached[1][1], "no interval, no whisker"
    assert reached[2][0] == axis
    assert max(max(each) for each in reached) <= width
    assert {"−20.0", "+20.0", "0.0", "−50", "+50"} <= set(words(root))
    (zero, *_) = looking(root, "zero")
    assert starts(looking(root, "mark")[0])[0] < starts(zero)[0] < starts(looking(root, "hollow")[0])[0]


@BOTH
def test_points_stand_where_their_shares_are_and_have_a_name_each(width):
    drawing = Drawing("x", width)
    shares = [(0, 10), (10, 0), (5, 5)]
    dots = [Dot(label, wilson(a, 10), wilson(u, 10), "blue", "square", "told") for label, (a, u) in zip(NAMES, shares, strict=True)]  # fmt: skip
    scatter_plot(drawing, dots, "across", "up")
    root = parsed(drawing)
    (left, top), (right, bottom), middle = map(
        starts, [e for e in looking(root, "mark") if e.find("title") is not None]
    )
    assert (left < right, top < bottom) == (True, True)
    assert middle == pytest.approx(((left + right) / 2, (top + bottom) / 2), abs=0.11)
    assert {name.short for name in NAMES} | {"across", "up", "0%", "100%"} <= set(words(root))
    assert ("3" in words(root)) == (width == NARROW)
    assert len(looking(root, "lead-line")) == 3
