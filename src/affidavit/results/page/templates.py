"""The templates of pages, compiled when this module is loaded: a run loads it while it waits for its answers."""

import re

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from affidavit.results.page.cells import LONGEST_CELL
from affidavit.results.page.text import brief, visible
from affidavit.results.words import label_of

_SEPARATORS = re.compile(r"([_=,/:.])(?=[^\s_=,/:.])")


def breakable(text: str) -> Markup:
    """A name on one line that may be broken after its separators, where a screen is narrow; escaped.

    >>> breakable("a_b <i>")
    Markup('a_<wbr>b &lt;i&gt;')
    """
    # An escape such as &#34; has none of the separators, and so stays whole.
    return Markup(_SEPARATORS.sub(r"\1<wbr>", str(escape(brief(text, LONGEST_CELL)))))  # noqa: S704 - escaped here


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
    made.filters["breakable"] = breakable
    made.filters["brief"] = lambda text: brief(text, LONGEST_CELL)
    made.filters["drawing"] = lambda chart: Markup(chart.svg)  # noqa: S704 - made by charts.py, text escaped
    return made


TEMPLATES = _environment()
for _name in ("page.css", "parts.html", "page.html"):
    TEMPLATES.get_template(_name)
