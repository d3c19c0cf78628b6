"""The page for a pager: the same facts, sentences and tables, as text that fits 80 columns.

It has no charts and no samples; whoever wants these opens the page.
"""

from collections.abc import Iterator
from dataclasses import replace

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from affidavit.plain_text import plain
from affidavit.results.judging_closing import in_short
from affidavit.results.page.content import Content, Section
from affidavit.results.terminal import shown
from affidavit.results.words import label_of

WIDTH = 80
"""Characters of a line."""
_INDENT = 2


def text_page(content: Content) -> RenderableType:
    """The page as text, from top to bottom."""
    return Group(*_parts(content))


def _parts(content: Content) -> Iterator[RenderableType]:
    marks = [*(["a trial"] if content.trial else []), *([] if content.sealed else ["not sealed"])]
    marked = f" ({', '.join(marks)})" if marks else ""
    yield Text(plain(f"{content.name}{marked}"), "bold")
    yield Text("")
    yield from _entries((fact.name, list(fact.lines)) for fact in content.overview)
    if content.root_sha256 is not None:
        yield Text(f"root digest {content.root_sha256}")
    yield Text("")
    for warning in content.warnings:
        yield Text(plain(warning), "bold")
        yield Text("")
    for section in content.sections:
        yield from _section(section)
    yield Text("")
    for table in content.tables:
        yield shown(table)
    for what, table in content.comparisons.items():
        yield shown(table, title=what)
    if content.models is not None:
        yield shown(content.models)
    for note in content.notes:
        yield Text(plain(note))


def _section(section: Section) -> Iterator[RenderableType]:
    """The sentences of a task, and the tables of the summary."""
    title = section.summary.title or ""
    if title:
        yield Text(plain(title), "bold")
        yield Text("")
    yield from _entries((answer.question, [answer.answer]) for answer in section.summary.answers)
    yield Text("")
    for each in section.tables:
        figures = ", ".join(label_of(name) for name in each.axes)
        # Why a mean has no interval is said in the tables below.
        short = tuple(tuple(map(in_short, row)) for row in each.table.rows)
        asked = each.table.question or f"{title or 'All tasks'}: {figures}"
        yield shown(replace(each.table, rows=short), title=asked)


def _entries(entries: Iterator[tuple[str, list[str]]]) -> Iterator[RenderableType]:
    """What something is about, and what is said of it, indented where it goes on."""
    for name, lines in entries:
        yield Text.assemble((f"{plain(name)}: ", "dim"), plain(lines[0] if lines else ""))
        for line in lines[1:]:
            yield Padding.indent(Text(plain(line)), _INDENT)
