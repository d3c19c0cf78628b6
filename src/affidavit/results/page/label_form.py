"""What one rater is given, as a page of its own: without a network it keeps entries and saves them as a file.

It is the one page here with a script, a fixed one that its policy names by its digest. Task and output are escaped
like everything that came from a study; who gave the output, and what a judge said of it, are not on the page.
"""

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from affidavit.results.label_sheets import sheet_name
from affidavit.results.page.text import visible
from affidavit.running.label_draw import LabelSheet


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("affidavit.results.page", "files"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Whatever the form shows goes through here, so that no text can be forgotten.
        finalize=lambda value: visible(value) if type(value) is str else value,
    )


@cache
def _file(name: str) -> str:
    source = _environment().loader
    assert source is not None  # noqa: S101 - it was given one
    return source.get_source(_environment(), name)[0]


def _hash(content: str) -> str:
    return b64encode(sha256(content.encode()).digest()).decode()


def label_form(sheet: LabelSheet, *, draw_sha256: str) -> str:
    """The page; entries are kept in the browser under the digest of the draw, so that no two sheets share any."""
    style, script, question = _file("label_form.css"), _file("label_form.js"), sheet.question
    outputs = [(output, sheet.asked_of(output)) for output in sheet.outputs]
    name = sheet_name(question.about, sheet.rater, sheet.raters, sheet.draw)
    return (
        _environment()
        .get_template("label_form.html")
        .render(
            study=sheet.study,
            question=question,
            levels=sheet.levels,
            outputs=outputs,
            rater=sheet.rater,
            raters=sheet.raters,
            kept_as=json.dumps([draw_sha256, question.about, sheet.rater]),
            file_name=f"{name}-filled.csv",
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            style_hash=_hash(style),
            script_hash=_hash(script),
        )
    )
