"""What a run came to, for people and for programs: one table for each task, whose rows add up.

Compliance, accuracy over compliant outputs and yield stand apart, each with its counts and interval (rulings C5
and M6).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from affidavit.contracts.parts import Parts
from affidavit.json_values import Fields
from affidavit.plain_text import plain
from affidavit.reading.summary import figures, identity
from affidavit.reading.tally import Tally, ranked
from affidavit.statistics.estimates import wilson
from affidavit.study.study_file import Cell

MOST_LABELS = 6
"""Labels of a breakdown that are named; the others are counted together."""


@dataclass(frozen=True, kw_only=True)
class Standings:
    """Everything that the tables are made of."""

    contracts: Mapping[str, str]
    parts: Mapping[str, Parts]
    """Of each task's contract."""
    tallies: Mapping[Cell, Tally]
    flips: Iterable[Mapping[str, Any]] = ()
    samples: int = 1

    def of_task(self, task: str) -> dict[Cell, Tally]:
        """The cells of one task."""
        return {cell: tally for cell, tally in self.tallies.items() if cell.task == task}

    def of_model(self, model: str) -> Tally:
        """All that one model was asked."""
        return Tally.total(tally for cell, tally in self.tallies.items() if cell.model == model)


def as_json(standings: Standings) -> Fields:
    """The tables as JSON values."""
    names = standings.contracts
    return {
        "tasks": {
            task: figures(Tally.total(standings.of_task(task).values()), names[task], {}, standings.parts[task])
            for task in names
        },
        "cells": [
            {**cell._asdict(), **figures(tally, names[cell.task], {}, standings.parts[cell.task])}
            for cell, tally in standings.tallies.items()
        ],
        "flips": list(standings.flips),
        "tokens": {model: dict(sorted(standings.of_model(model).tokens.items())) for model in _models(standings)},
    }


def _models(standings: Standings) -> list[str]:
    return list(dict.fromkeys(cell.model for cell in standings.tallies))


def as_tables(standings: Standings) -> RenderableType:
    """The tables for a terminal."""
    parts: list[RenderableType] = []
    for task, contract in standings.contracts.items():
        tallies = standings.of_task(task)
        total = Tally.total(tallies.values())
        parts += [
            Text.assemble((plain(task), "bold"), f"  {contract}"),
            Text(""),
            Padding.indent(_shares(tallies), 2),
            Text(""),
            *(Text(f"  {line}") for line in _breakdowns(tallies, standings.parts[task].counted)),
            *([Text("")] if any(_breakdowns(tallies, standings.parts[task].counted)) else []),
            Text(f"  {identity(total, standings.parts[task])}"),
            Text(""),
        ]
    if flips := list(standings.flips):
        parts += [
            Text.assemble(
                ("flips", "bold"),
                "  of those that can be told, against the most frequent answer under the control",
            ),
            Text(""),
            Padding.indent(_flips_table(flips), 2),
            Text(""),
        ]
    parts += [Text(line) for line in _notes(standings)]
    return Group(*parts)


def _shares(tallies: Mapping[Cell, Tally]) -> Table:
    table = plain_table("model", "condition", "compliant", "right, of compliant", "yield")
    rare = {
        name: name
        for name in ("truncated", "unread", "failed", "pending")
        if any(getattr(tally, name) for tally in tallies.values())
    }
    for name in rare:
        table.add_column(name, justify="right")
    for cell, tally in tallies.items():
        table.add_row(
            plain(cell.model),
            plain(cell.condition),
            told_share(tally.compliant, tally.arrived),
            told_share(tally.right, tally.compared),
            told_share(tally.right, tally.keyed),
            *(f"{getattr(tally, name):,}" for name in rare),
        )
    return table


def plain_table(*columns: str) -> Table:
    """A table without lines, for a terminal."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    for column in columns:
        table.add_column(column)
    return table


def told_share(successes: int, n: int) -> str:
    """Counts, share and interval in a few characters; a dash where there is nothing to share.

    >>> told_share(22, 80), told_share(0, 0)
    ('22/80 27.5% [18.9, 38.1]', '–')
    """
    if not n:
        return "–"
    found = wilson(successes, n)
    return f"{successes:,}/{n:,} {found.value:.1%} [{found.low:.1%}, {found.high:.1%}]".replace("%,", ",").replace(
        "%]", "]"
    )


def _breakdowns(tallies: Mapping[Cell, Tally], titles: Mapping[str, str]) -> Iterator[str]:
    """What the outputs of each cell were like, in a line for each block."""
    for cell, tally in tallies.items():
        for title, counts in tally.blocks(titles):
            yield f"{plain(cell.model)}, {plain(cell.condition)}, {title}: {listed(counts)}"
        if tally.failures:
            yield f"{plain(cell.model)}, {plain(cell.condition)}, failed: {listed(tally.failures)}"


def listed(counts: Counter[str]) -> str:
    """The most frequent labels with their counts, in one line."""
    named = [f"{count:,} {plain(label)[:40]}" for label, count in ranked(counts)]
    if len(named) > MOST_LABELS:
        rest = sum(count for _, count in ranked(counts)[MOST_LABELS:])
        named[MOST_LABELS:] = [f"{rest:,} others"]
    return ", ".join(named)


def _flips_table(flips: Iterable[Mapping[str, Any]]) -> Table:
    table = plain_table(
        "task", "model", "condition", "control", "flipped, of decidable", "to wrong", "to right", "other"
    )
    table.add_column("undecidable")
    for each in flips:
        flipped = each["to_right"] + each["to_wrong"] + each["to_other"]
        table.add_row(
            *(plain(each[name]) for name in ("task", "model", "condition", "control")),
            told_share(flipped, flipped + each["kept"]),
            *(f"{each[name]:,}" for name in ("to_wrong", "to_right", "to_other")),
            listed(Counter(each["undecidable"])) or "0",
        )
    return table


def _notes(standings: Standings) -> Iterator[str]:
    for model in _models(standings):
        tokens = standings.of_model(model).tokens
        if tokens:
            told = f"{tokens['prompt_tokens']:,} in, {tokens['completion_tokens']:,} out"
            yield f"tokens of {plain(model)}: {told}, as counted by the server for {tokens['outputs']:,} outputs"
    note = ", as if the samples of an item were independent; the report goes by items"
    yield "intervals: Wilson 95%" + (note if standings.samples > 1 else "")
