"""What a judging came to, for a terminal: the tables of the report, those of scores laid out by dimension."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from affidavit.judging.terms import FrozenJudging
from affidavit.plain_text import plain
from affidavit.results.judging import JudgingFigures
from affidavit.results.judging_tables import BLIND, NAMES, judging_tables
from affidavit.results.table import Table
from affidavit.results.terminal import shown
from affidavit.results.values import Value

MOST_MISSING = 10


def judging_closing(frozen: FrozenJudging, figures: JudgingFigures, *, late: int = 0) -> RenderableType:
    """Validity, flags and quotes, then scores, differences, and what is missing."""
    tables = {table.name: table for table in judging_tables(figures)}
    pooled = "; evaluations of others' outputs and of own ones are pooled" if figures.pooled else ""
    blind = f"; {BLIND}" if figures.blind else ""
    title = f"  {len(frozen.terms.outputs):,} outputs, rubric {frozen.terms.rubric.name}{pooled}{blind}"
    parts: list[RenderableType] = [Text.assemble(("judging", "bold"), plain(title)), Text("")]
    parts += [shown(_without_counts(tables["judges"]), lines=[judge.identity for judge in figures.judges])]
    parts += [shown(_without_foot(tables[name])) for name in ("flags", "quotes") if tables[name].rows]
    parts.append(shown(by_dimension(tables["scores"])))
    if tables["score differences"].rows:
        parts.append(shown(_without_foot(tables["score differences"])))
    parts += [Text(line) for line in _missing(frozen, late)]
    return Group(*parts)


def _without_foot(table: Table) -> Table:
    """The table without the identities, which stand once below the first."""
    return Table(table.name, table.question, table.columns, table.rows, "")


def _without_counts(table: Table) -> Table:
    """Names and shares: the counts stand in the identities below."""
    shares = ("share valid", "valid, quotes aside")
    kept = [at for at, name in enumerate(table.columns) if name in (*NAMES, *shares)]
    rows = tuple(tuple(row[at] for at in kept) for row in table.rows)
    return Table(table.name, table.question, tuple(table.columns[at] for at in kept), rows, "")


def by_dimension(scores: Table) -> Table:
    """The table of scores with a row for each target and variant, and a column for each dimension."""
    at = {name: scores.columns.index(name) for name in ("target", "variant", "dimension", "mean")}
    cells: dict[tuple[Value, ...], dict[str, Value]] = {}
    for row in scores.rows:
        place = (*row[: len(NAMES)], row[at["target"]], row[at["variant"]])
        cells.setdefault(place, {})[str(row[at["dimension"]])] = row[at["mean"]]
    dimensions = list(dict.fromkeys(str(row[at["dimension"]]) for row in scores.rows))[::-1]
    heads = short_names(dimensions)
    rows = tuple((*place, *(means.get(name) for name in dimensions)) for place, means in cells.items())
    return Table(scores.name, scores.question, (*NAMES, "target", "variant", *heads), rows, "")


def short_names(names: list[str]) -> list[str]:
    """Names up to their first underscore, where that tells them apart.

    >>> short_names(["FORMAT_COMPLIANCE", "COMPLETENESS", "overall_score"]), short_names(["a_b", "a_c"])
    (['FORMAT', 'COMPLETENESS', 'overall'], ['a_b', 'a_c'])
    """
    short = [name.partition("_")[0] or name for name in names]
    return short if len(set(short)) == len(names) else list(names)


def _missing(frozen: FrozenJudging, late: int) -> Iterator[str]:
    missing = frozen.not_arrived
    for output in missing[:MOST_MISSING]:
        names = ", ".join(map(plain, (output.question_id, output.prompt_variant, output.target_model)))
        yield f"not judged, since it never arrived: {names}, sample {output.sample}: {plain(output.why)}"
    if len(missing) > MOST_MISSING:
        yield f"and {len(missing) - MOST_MISSING:,} more; judging.json lists all"
    if late:
        yield f"{late:,} outputs arrived after the set was frozen and are not judged"
