"""A drawing as a part of the page: no style of its own, the page's colours, words for those who do not see it."""

from xml.etree import ElementTree as Tree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.results.page.plots import spread
from affidavit.results.page.svg import NARROW, SHAPES, WIDE, Drawing, text_width, wrapped
from support.crowded_page import crowded_page

HOSTILE = ["A title", "<b>&\"'", "]]>", "</title></svg><script>1</script>", '" onload="x']


def drawn(
    name: str = "chart", *, width: float = 300, words: str = "words", title: str = "A title"
) -> Tree.Element:
    drawing = Drawing(name, width)
    drawing.height = 200
    drawing.area((0, 0), (10, 20.04), "heat", opacity=0.5)
    drawing.part((0, 30), (50, 18), "orange", told=words)
    drawing.line([(0, 0), (-0.01, 7.25)], "axis")
    for shape in SHAPES:
        drawing.mark((5, 5), shape, "mark blue", told=words)
    drawing.words((10, 10), [words], full="full " + words)
    drawing.words((10, 40), [words, "more"], anchor="end")
    return Tree.fromstring(drawing.element(title, "What it shows"))  # noqa: S314 - our own


def test_it_has_no_style_no_script_and_no_colour_of_its_own():
    root = drawn()
    assert {element.tag for element in root.iter()} == {
        "svg", "title", "desc", "defs", "pattern", "path", "rect", "text", "tspan"
    }  # fmt: skip
    names = {name for element in root.iter() for name in element.attrib}
    assert not names & {"style", "stroke", "onload", "href"}
    assert {element.get("fill") for element in root.iter()} == {None, "url(#chart-orange)"}


def test_its_size_is_that_of_the_sheet_and_its_text_is_text():
    root = drawn()
    assert (root.get("viewBox"), root.get("width"), root.get("height")) == ("0 0 300 200", "300", "200")
    lines = [element for element in root.iter() if element.tag in ("text", "tspan")]
    assert {"words", "more"} <= {(each.text or "") + "".join(inner.tail or "" for inner in each) for each in lines}


def test_places_have_one_decimal_at_most():
    (rect, *_) = drawn().iter("rect")
    assert (rect.get("height"), rect.get("fill-opacity")) == ("20", "0.50")
    assert [path.get("d") for path in drawn().iter("path") if path.get("class") == "axis"] == ["M0 0L0 7.2"]


@pytest.mark.parametrize("text", HOSTILE)
def test_whoever_does_not_see_it_is_told_and_no_text_is_more_than_text(text):
    root = drawn(title=text, words=text)
    assert root.get("role") == "img"
    labels = {element.get("id"): element.text for element in root}
    assert [labels[name] for name in root.get("aria-labelledby").split()] == [text, "What it shows"]
    assert [element.tag for element in root.iter()] == [element.tag for element in drawn().iter()]
    assert f"full {text}" in [title.text for title in root.iter("title")]


def test_two_drawings_on_a_page_share_no_name():
    names = [{element.get("id") for element in drawn(name).iter()} - {None} for name in ("one", "two")]
    assert len(names[0]) == 3
    assert not names[0] & names[1]


def test_which_of_the_two_drawings_of_a_chart_is_shown_is_the_pages_matter():
    assert [drawn(width=width).get("class") for width in (WIDE, NARROW)] == ["chart wide", "chart narrow"]


@pytest.mark.slow
def test_the_same_tables_give_the_same_bytes():
    assert crowded_page() == crowded_page()


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=90), st.floats(20, 400))
def test_what_is_wrapped_is_whole_and_no_line_is_wider_than_its_room(text, room):
    lines = wrapped(text, room)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(text_width(line) <= room for line in lines)


@given(st.lists(st.tuples(st.floats(0, 300), st.floats(10, 40)), max_size=24))
def test_what_is_spread_keeps_its_order_and_never_overlaps(wanted):
    places, sizes = [place for place, _ in sorted(wanted)], [size for _, size in sorted(wanted)]
    floor = max(300, sum(sizes))
    found = spread(places, sizes, 0, floor)
    edges = [(middle - size / 2, middle + size / 2) for middle, size in zip(found, sizes, strict=True)]
    assert all(low >= -0.001 and high <= floor + 0.001 for low, high in edges)
    assert all(edges[at][1] <= edges[at + 1][0] + 0.001 for at in range(len(edges) - 1))
