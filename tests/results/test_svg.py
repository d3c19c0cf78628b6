"""A drawing as a part of the page: no style of its own, the page's colours, words for those who do not see it."""

from xml.etree import ElementTree as Tree

import pytest

from affidavit.results.page.svg import INK, as_svg, drawing, plot, sheet


def drawn(name: str = "chart", title: str = "A title", description: str = "What it shows") -> Tree.Element:
    with drawing():
        figure, over = sheet(300, 200)
        axes = plot(figure, 50, 40, 200, 120)
        axes.plot([0, 1], [0, 1], color="#ff0000")
        over.text(10, 10, "words", color=INK)
        return Tree.fromstring(as_svg(figure, name, title, description))  # noqa: S314 - our own


def test_it_has_no_style_no_script_and_no_metadata():
    root = drawn()
    assert not {element.tag for element in root.iter()} & {"style", "metadata", "script"}
    assert not any("style" in element.attrib for element in root.iter())


def test_ink_is_the_colour_of_the_text_around_it_and_other_colours_stay():
    colours = {element.get(place) for element in drawn().iter() for place in ("fill", "stroke")}
    assert INK not in colours
    assert {"currentColor", "#ff0000"} <= colours


def test_its_size_is_that_of_the_sheet_and_its_text_is_text():
    root = drawn()
    assert (root.get("viewBox"), root.get("width"), root.get("height")) == ("0 0 300 200", "300", "200")
    assert "words" in [element.text for element in root.iter("text")]


@pytest.mark.parametrize("title", ["A title", "<b>&\"'", "]]>"])
def test_whoever_does_not_see_it_is_told(title):
    root = drawn(title=title)
    assert root.get("role") == "img"
    labels = {element.get("id"): element.text for element in root}
    assert [labels[name] for name in root.get("aria-labelledby").split()] == [title, "What it shows"]


def test_two_drawings_on_a_page_share_no_name():
    names = [{element.get("id") for element in drawn(name).iter()} - {None} for name in ("one", "two")]
    assert names[0]
    assert not names[0] & names[1]


def test_it_is_drawn_the_same_every_time():
    assert Tree.tostring(drawn()) == Tree.tostring(drawn())
