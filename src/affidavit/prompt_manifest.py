"""`used_prompt_manifest.md`: every prompt that was really used, with its id, its digest and where it was used.

A prompt is listed as the template that its questions were made from; `items.jsonl` fills it, and `prompt_sha256`
in every record is the digest of what came out. Where a model's own template turned the messages into another text,
one of these is shown word for word; all of them are in the records.
"""

import re
from collections.abc import Iterator, Mapping

from affidavit.model import Message
from affidavit.plan import Plan
from affidavit.record import digest
from affidavit.study import Cell
from affidavit.tally import Tally
from affidavit.terminal import plain

MANIFEST = "used_prompt_manifest.md"


def manifest(plan: Plan, tallies: Mapping[Cell, Tally], rendered: Mapping[Cell, tuple[str, str]]) -> str:
    """The page; a prompt under which nothing was asked yet is not in it."""
    return "\n".join((*_lines(plan, tallies, rendered), ""))


def _lines(plan: Plan, tallies: Mapping[Cell, Tally], rendered: Mapping[Cell, tuple[str, str]]) -> Iterator[str]:
    yield f"# Prompts used in {plan.study.study.name}"
    yield ""
    yield "Written by the run from its records. `{…}` is filled from the item; everything else is word for word."
    # By name: a frozen study does not know the order of its file.
    for number, (task, condition, conversation) in enumerate(sorted(plan.templates(), key=_names), 1):
        used = {
            cell: asked
            for cell, tally in sorted(tallies.items(), key=_cell)
            if (cell.task, cell.condition) == (task, condition) and (asked := tally.n - tally.pending)
        }
        if used:
            yield ""
            yield f"## TP-{number:03}: {_span(task)}, {_span(condition)}"
            yield ""
            yield f"- sha256 `{digest(conversation)}`"
            yield from _section(conversation, used, rendered)


def _names(template: tuple[str, str, object]) -> tuple[str, str]:
    return template[:2]


def _cell(counted: tuple[Cell, Tally]) -> Cell:
    return counted[0]


def _section(
    conversation: tuple[Message, ...], used: Mapping[Cell, int], rendered: Mapping[Cell, tuple[str, str]]
) -> Iterator[str]:
    for cell, count in used.items():
        yield f"- asked of {_span(cell.model)} {count:,} {'time' if count == 1 else 'times'}"
    for turn in conversation:
        yield ""
        yield f"{turn['role']}:"
        yield ""
        yield from _fenced(turn["content"])
    for cell in used:
        if cell in rendered:
            key, words = rendered[cell]
            yield ""
            yield f"What the template of {_span(cell.model)} made of the question `{key[:16]}…`:"
            yield ""
            yield from _fenced(words)


def _span(name: str) -> str:
    """A name as code, whatever it holds."""
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", name)), default=0))
    return f"{ticks}{plain(name)}{ticks}"


def _fenced(text: str) -> Iterator[str]:
    """The text between fences that it does not close, whatever it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}text"
    yield text.encode("utf-8", "backslashreplace").decode()
    yield fence
