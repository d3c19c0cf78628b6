"""`used_prompt_manifest.md`: every prompt that was really used, with its id, its digest and where it was used.

A prompt is listed as the template that its questions were made from; `items.jsonl` fills it, and `prompt_sha256`
in every record is the digest of what came out. Where a model's own template turned the messages into another text,
one of these is shown word for word; all of them are in the records.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from affidavit.archive.disk import Disk, storage_errors
from affidavit.archive.layout import MANIFEST
from affidavit.json_values import digest
from affidavit.judging.plan import JudgeCell, JudgingPlan
from affidavit.judging.prompt import PROMPT_IDS
from affidavit.models.model import Message
from affidavit.plain_text import plain
from affidavit.reading.tally import Tally
from affidavit.study.crossing import Cell
from affidavit.study.plan import Plan

Rendered = tuple[str, str]
"""A key, and the text that a model's own template made of its messages."""


def manifest_page(study: str, sections: Iterable[str], *, asked_here: bool = True) -> str:
    """The manifest as Markdown: every prompt that was used, with its digest and where.

    `asked_here`: whether the outputs were; others were made elsewhere, and prompts can only be those of judges.
    """
    used = list(sections)
    elsewhere = "The outputs were made elsewhere: no model was asked for them here.\n"
    how = "Written by the run from its records. `{…}` is filled from the item; everything else is word for word.\n"
    said = [*([] if asked_here else [elsewhere]), *([how] if asked_here or used else [])]
    return "\n".join((f"# Prompts used in {plain(study)}\n", *said, *used))


def task_sections(plan: Plan, tallies: Mapping[Cell, Tally], rendered: Mapping[Cell, Rendered]) -> Iterator[str]:
    """A section for each prompt of a task; one under which nothing was asked yet has none."""
    # By name: a frozen study does not know the order of its file.
    templates = sorted(plan.templates(), key=lambda each: each[:2])
    for number, (task, condition, conversation) in enumerate(templates, 1):
        uses = [
            _Use(f"asked of {_span(cell.model)}", _asked(tallies[cell]), cell.model, rendered.get(cell))
            for cell in sorted(tallies)
            if (cell.task, cell.condition) == (task, condition)
        ]
        yield from _section(f"TP-{number:03}: {_span(task)}, {_span(condition)}", conversation, uses)


def judge_sections(
    plan: JudgingPlan, tallies: Mapping[JudgeCell, Tally], rendered: Mapping[JudgeCell, Rendered]
) -> Iterator[str]:
    """A section for each prompt that judges were given."""
    for method in plan.terms.methods:
        uses = [
            _Use(
                f"asked of {_span(cell.judge)}, {cell.judging_condition},",
                _asked(tallies[cell]),
                cell.judge,
                rendered.get(cell),
            )
            for cell in sorted(tallies)
            if plan.terms.blind or cell.method == method
        ]
        terms = plan.terms
        how = f"{method}{', blind' * terms.blind}{', without the words of the task' * terms.without_task}"
        title = f"{PROMPT_IDS[method]}: {how}, judging `{plan.terms.digest[:16]}…`"
        yield from _section(title, plan.terms.template(method), uses)


class _Use:
    """Where a prompt was used, how often, and one text that a model's template made of it."""

    def __init__(self, where: str, times: int, model: str, rendered: Rendered | None) -> None:
        self.where, self.times, self.model, self.rendered = where, times, model, rendered


def _asked(tally: Tally) -> int:
    return tally.n - tally.pending


def _section(title: str, conversation: tuple[Message, ...], uses: Sequence[_Use]) -> Iterator[str]:
    used = [each for each in uses if each.times]
    if used:
        yield "\n".join(_lines(title, conversation, used))


def _lines(title: str, conversation: tuple[Message, ...], used: Sequence[_Use]) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield f"- sha256 `{digest(conversation)}`"
    for each in used:
        yield f"- {each.where} {each.times:,} {'time' if each.times == 1 else 'times'}"
    for turn in conversation:
        yield ""
        yield f"{turn['role']}:"
        yield ""
        yield from _fenced(turn["content"])
    for each in used:
        if each.rendered is not None:
            key, words = each.rendered
            yield ""
            yield f"What the template of {_span(each.model)} made of the question `{key[:16]}…`:"
            yield ""
            yield from _fenced(words)
    yield ""


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


def write_manifest(directory: Path, page: str, disk: Disk) -> None:
    """The list of prompts, whole or not at all."""
    with storage_errors(str(directory / MANIFEST)):
        disk.place(directory / MANIFEST, page.encode())
