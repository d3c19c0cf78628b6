"""What a judging came to, for a terminal: the tables of the report, those of scores laid out by dimension."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite

from rich.console import Group, RenderableType
from rich.text import Text

from affidavit.judging.plan import JudgeCell
from affidavit.judging.terms import FrozenJudging
from affidavit.plain_text import counted_noun, plain
from affidavit.reading.tally import Tally
from affidavit.results.judged_summary import target_summary
from affidavit.results.judging import JudgingFigures
from affidavit.results.judging_tables import (
    BLIND,
    OWN,
    OWN_ALONE,
    WITHOUT_TASK,
    judging_tables,
    tasks_note,
)
from affidavit.results.table import Table
from affidavit.results.terminal import shown
from affidavit.results.token_counts import tallies_by, token_line
from affidavit.results.values import Mean, Value
from affidavit.statistics.estimate import Form, worded

MOST_MISSING = 10


def judging_closing(
    frozen: FrozenJudging,
    figures: JudgingFigures,
    tallies: Mapping[JudgeCell, Tally],
    *,
    late: int = 0,
    people: Sequence[str] = (),
) -> RenderableType:
    """Every table, those of own outputs after the others, the judges' tokens, and what is missing.

    `people` is what those who labelled say of the judges' figures.
    """
    tables = {table.name: table for table in judging_tables(figures)}
    pooled = "; evaluations of others' outputs and of own ones are pooled" if figures.pooled else ""
    blind = f"; {BLIND}" if figures.blind else ""
    alone = f"; {WITHOUT_TASK}" if figures.without_task else ""
    outputs = counted_noun(len(frozen.terms.outputs), "output")
    title = f"  {outputs}, rubric {frozen.terms.rubric.name}{pooled}{blind}{alone}"
    parts: list[RenderableType] = [Text.assemble(("judging", "bold"), plain(title)), Text("")]
    over_tasks = tasks_note(figures)
    parts += [part for note in over_tasks for part in (Text(plain(note)), Text(""))]
    said_once = (BLIND, WITHOUT_TASK, *over_tasks)
    for side, end in ((figures.primary, ""), (figures.own, OWN)):
        if f"judges{end}" in tables and side.judges:
            first = _without(tables[f"judges{end}"], _COUNTED)
            parts.append(shown(first, lines=[judge.identity for judge in side.judges]))
        parts += [_shown(tables[f"{name}{end}"], said_once) for name in _SHOWN if f"{name}{end}" in tables]
    if "self-preference" in tables:
        parts.append(_shown(tables["self-preference"], said_once))
    parts += [Text(line) for line in (*_tokens(tallies), *_missing(frozen, late))]
    parts.append(_summary(figures, people))
    return Group(*parts)


_COUNTED = ("planned", "valid", "invalid", "failed", "pending", "share invalid", "share of planned failed")
"""Counts of the first table that stand in the identities below it, and shares that follow from them."""
_SHOWN = (
    "flags", "quotes", "quotes by kind", "verdicts", "verdicts by judge", "pooled scores", "scores by target",
    "scores by variant", "scores", "pooled score bounds", "score bounds", "pooled score differences",
    "score differences", "pooled agreement", "agreement", "test-retest",
)  # fmt: skip


def _shown(table: Table, said_once: Sequence[str]) -> RenderableType:
    """The table without the identities, which stand once below the first; scores laid out by dimension."""
    laid_out = by_dimension(table) if "mean, quotes aside" in table.columns else table
    notes = tuple(note for note in laid_out.notes if note not in said_once)
    return shown(replace(laid_out, foot="", notes=notes))


def _summary(figures: JudgingFigures, people: Sequence[str]) -> RenderableType:
    """What most people judge for, at the end, where it is seen at once."""
    table = target_summary(figures)
    if not table.rows:
        return Text(f"{_why_no_target(figures)}\n")
    rows = tuple(tuple(map(in_short, row)) for row in table.rows)
    notes = (*table.notes, *people)
    return shown(replace(table, columns=tuple(short_names(list(table.columns))), rows=rows, notes=notes))


def _why_no_target(figures: JudgingFigures) -> str:
    others, own = (any(judge.planned for judge in side.judges) for side in (figures.primary, figures.own))
    if own and not others:
        return OWN_ALONE
    whose = "" if figures.pooled else " of others' outputs"
    return f"No evaluation{whose} is valid, so no target has a verdict or a score."


def _without(table: Table, left_out: Sequence[str]) -> Table:
    kept = [at for at, name in enumerate(table.columns) if name not in left_out]
    rows = tuple(tuple(row[at] for at in kept) for row in table.rows)
    return Table(table.name, table.question, tuple(table.columns[at] for at in kept), rows, "")


def by_dimension(scores: Table) -> Table:
    """A table of scores with a row for each group and a column for each dimension; why a mean has no interval is
    said once, below.
    """
    first = scores.columns.index("dimension")
    at = scores.columns.index("mean")
    cells: dict[tuple[Value, ...], dict[str, Value]] = {}
    bare = set()
    for row in scores.rows:
        mean = row[at]
        cells.setdefault(row[:first], {})[str(row[first])] = in_short(mean)
        if isinstance(mean, Mean) and not isfinite(mean.estimate.low):
            bare.add(mean.estimate.method)
    dimensions = list(dict.fromkeys(str(row[first]) for row in scores.rows))
    rows = tuple((*place, *(means.get(name) for name in dimensions)) for place, means in cells.items())
    columns = (*scores.columns[:first], *short_names(dimensions))
    return Table(scores.name, scores.question, columns, rows, "", (*sorted(bare), *scores.notes))


def in_short(mean: Value) -> Value:
    """A mean without the reason why it has no interval."""
    if not isinstance(mean, Mean):
        return mean
    return " ".join(part for part in worded(mean.estimate, Form.MEAN) if part)


def short_names(names: list[str]) -> list[str]:
    """Names up to their first underscore, where that tells them apart.

    >>> short_names(["FORMAT_COMPLIANCE", "COMPLETENESS", "overall_score"]), short_names(["a_b", "a_c"])
    (['FORMAT', 'COMPLETENESS', 'overall'], ['a_b', 'a_c'])
    """
    short = [name.partition("_")[0] or name for name in names]
    return short if len(set(short)) == len(names) else list(names)


def by_judge(tallies: Mapping[JudgeCell, Tally]) -> dict[str, Tally]:
    """All that each judge was asked, of others' outputs and of its own."""
    return tallies_by((cell.judge, tally) for cell, tally in tallies.items())


def _tokens(tallies: Mapping[JudgeCell, Tally]) -> Iterator[str]:
    """A model that also answered has a line for that of its own: what judging takes is seen apart."""
    for judge, tally in by_judge(tallies).items():
        if (line := token_line(f"the judge {judge}", tally, "judgement")) is not None:
            yield line


def _missing(frozen: FrozenJudging, late: int) -> Iterator[str]:
    missing = frozen.not_arrived
    for output in missing[:MOST_MISSING]:
        names = ", ".join(map(plain, (output.question_id, output.prompt_variant, output.target_model)))
        yield f"not judged, since it never arrived: {names}, sample {output.sample}: {plain(output.why)}"
    if len(missing) > MOST_MISSING:
        yield f"and {len(missing) - MOST_MISSING:,} more; judging.json lists all"
    if late:
        verb = "is" if late == 1 else "are"
        yield f"{counted_noun(late, 'output')} arrived after the set was frozen and {verb} not judged"
