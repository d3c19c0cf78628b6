"""A drawing of the plotting library as SVG that stands in a page, without a style of its own.

The page's policy allows no style but the page's, so every style becomes attributes. What is drawn in `INK` takes
the colour of the text around it, in light and in dark. Title and description are for those who do not see it.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from xml.etree import ElementTree as Tree

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

INK = "#010203"
"""Stands for the colour of the page's text."""
_SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "affidavit",
    "text.parse_math": False,
    "font.size": 12,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": INK,
    "grid.alpha": 0.15,
}
_KEPT = {
    "fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
    "stroke-dashoffset", "stroke-linecap", "stroke-linejoin", "stroke-miterlimit", "opacity", "font-size",
    "font-weight", "text-anchor",
}  # fmt: skip
_HREF = "{http://www.w3.org/1999/xlink}href"


@contextmanager
def drawing() -> Iterator[None]:
    """Draw by our settings, whatever a user's own file says, and without a word about fonts."""
    with warnings.catch_warnings():
        # The page has its own fonts: that the library's have no glyph for a name is no matter.
        warnings.simplefilter("ignore")
        with matplotlib.style.context(["default", _SETTINGS]):
            yield


def sheet(width: int, height: int) -> tuple[Figure, Axes]:
    """An empty figure, and axes over all of it whose units are the page's pixels, from below."""
    figure = Figure(figsize=(width / 72, height / 72), dpi=72)
    figure.patch.set_visible(False)
    over = figure.add_axes((0, 0, 1, 1))
    over.set_xlim(0, width)
    over.set_ylim(0, height)
    over.axis("off")
    return figure, over


def plot(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Axes at a place, in pixels from below."""
    whole_width, whole_height = (72 * each for each in figure.get_size_inches())
    axes = figure.add_axes((left / whole_width, bottom / whole_height, width / whole_width, height / whole_height))
    axes.patch.set_visible(False)
    return axes


def as_svg(figure: Figure, name: str, title: str, description: str) -> str:
    """The figure as an element of a page; `name` is unique there."""
    written = StringIO()
    FigureCanvasSVG(figure).print_svg(written, metadata={"Date": None})  # type: ignore[no-untyped-call]
    root = Tree.fromstring(written.getvalue())  # noqa: S314 - written by ourselves a moment ago
    _cleaned(root, name)
    _, _, width, height = root.attrib["viewBox"].split()
    labels = {"title": title, "desc": description}
    for place, (tag, text) in enumerate(labels.items()):
        label = Tree.Element(tag, {"id": f"{name}-{tag}"})
        label.text = text
        root.insert(place, label)
    root.attrib = {
        "class": "chart",
        "viewBox": f"0 0 {width} {height}",
        "width": width,
        "height": height,
        "role": "img",
        "aria-labelledby": " ".join(f"{name}-{tag}" for tag in labels),
    }
    root.tail = None
    return Tree.tostring(root, encoding="unicode")


def _cleaned(root: Tree.Element, name: str) -> None:
    """Nothing but shapes and text, by attributes that any page allows."""
    used = set()
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        if (target := element.attrib.pop(_HREF, None)) is not None:
            element.set("href", target.replace("#", f"#{name}-", 1))
            used.add(target[1:])
        if "clip-path" in element.attrib:
            used.add(element.attrib["clip-path"][5:-1])
            element.set("clip-path", element.attrib["clip-path"].replace("#", f"#{name}-", 1))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in ("metadata", "style"):
                parent.remove(child)
        parent.tail = None
        if parent.tag != "text":
            parent.text = None
        _styled(parent)
        own = parent.attrib.pop("id", None)
        if own in used:
            parent.set("id", f"{name}-{own}")


def _styled(element: Tree.Element) -> None:
    for declaration in element.attrib.pop("style", "").split(";"):
        property_name, _, value = (part.strip() for part in declaration.partition(":"))
        if property_name == "font":
            element.set("font-size", value.split("px")[0].split()[-1])
        elif property_name in _KEPT:
            element.set(property_name, value.removesuffix("px"))
    for place in ("fill", "stroke"):
        if element.get(place) == INK:
            element.set(place, "currentColor")
    if element.tag == "text" and element.get("fill") is None:
        element.set("fill", "currentColor")
