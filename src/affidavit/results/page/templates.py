"""The templates of pages, compiled when this module is loaded: a run loads it while it waits for its answers."""

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from affidavit.results.page.cells import LONGEST_CELL
from affidavit.results.page.text import brief, visible
from affidavit.results.words import label_of


def _environment() -> Environment:
    """The templates, in which whatever is shown is escaped."""
    made = Environment(
        loader=PackageLoader("affidavit.results.page", "files"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        # Whatever a template shows goes through here, so that no text can be forgotten.
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    made.filters["label"] = label_of
    made.filters["capitalised"] = lambda text: text[:1].upper() + text[1:]
    made.filters["brief"] = lambda text: brief(text, LONGEST_CELL)
    made.filters["drawing"] = lambda chart: Markup(chart.svg)  # noqa: S704 - made by charts.py, text escaped
    return made


TEMPLATES = _environment()
for _name in ("page.css", "parts.html", "page.html"):
    TEMPLATES.get_template(_name)
