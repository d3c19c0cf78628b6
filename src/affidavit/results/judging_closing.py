"""The tables of a judging, for a terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from affidavit.judging.plan import FrozenJudging
from affidavit.plain_text import plain
from affidavit.results.closing_tables import listed, plain_table, told_share

MOST_MISSING = 10


def judge_report(frozen: FrozenJudging, tables: Mapping[str, Any], *, late: int = 0) -> RenderableType:
    """Coverage and validity, then scores, differences and what judges give themselves."""
    judges: Sequence[Mapping[str, Any]] = tables["judges"]
    title = f"  {len(frozen.terms.outputs):,} outputs, rubric {frozen.terms.rubric.name}"
    pooled = "; evaluations of others' outputs and of own ones are pooled" if tables["pooled"] else ""
    return Group(
        Text.assemble(("judging", "bold"), plain(title + pooled)),
        Text(""),
        Padding.indent(_validity(judges), 2),
        Text(""),
        *(Text(f"  {line}") for line in _lines(judges)),
        Text(""),
        *_scores(judges),
        *(Text(line) for line in _differences(judges)),
        *(Text(line) for line in _self_preference(tables["self_preference"])),
        *(Text(line) for line in _missing(frozen, late)),
    )


def _validity(judges: Sequence[Mapping[str, Any]]) -> Table:
    table = plain_table("judge", "condition", "method", "valid", "valid, quotes aside", "fabricated quotes")
    for each in judges:
        fabricated = each["quotes"]["fabricated"]
        shares = (_share(share) for share in (each["valid"], each["valid_quotes_aside"], fabricated))
        table.add_row(*_names(each), *shares)
    return table


def _names(judge: Mapping[str, Any]) -> tuple[str, str, str]:
    return plain(judge["judge"]), judge["judging_condition"], judge["method"]


def _share(share: Mapping[str, Any] | None) -> str:
    """Counts, share and interval; a dash where there is nothing to share."""
    return told_share(0, 0) if share is None else told_share(round(share["value"] * share["n"]), share["n"])


def _lines(judges: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for each in judges:
        who, counts = ", ".join(_names(each)), each["coverage"]
        parts = " + ".join(f"{counts[name]:,} {name}" for name in ("valid", "invalid", "failed", "pending"))
        yield f"{who}: {counts['planned']:,} planned = {parts}"
        flags = Counter({flag: round(share["value"] * share["n"]) for flag, share in each["flags"].items()})
        if flags:
            yield f"{who}, flags: {listed(flags)}"
        kinds = Counter({kind: count for kind, count in each["quotes"].items() if kind != "fabricated" and count})
        if kinds:
            yield f"{who}, quotes: {listed(kinds)}"


def _scores(judges: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    rows = [(each, row) for each in judges for row in each["scores"]]
    if not rows:
        yield Text("scores: there is no valid evaluation")
        yield Text("")
        return
    dimensions = list(dict.fromkeys(row["dimension"] for _, row in rows))
    heads = short_names(dimensions)
    table = plain_table("judge", "condition", "method", "target", "variant", *map(plain, reversed(heads)))
    cells: dict[tuple[str, str, str, str, str], dict[str, str]] = {}
    for each, row in rows:
        place = (*_names(each), plain(row["target_model"]), plain(row["prompt_variant"]))
        cells.setdefault(place, {})[row["dimension"]] = _mean(row)
    for place, means in cells.items():
        table.add_row(*place, *(means.get(dimension, "–") for dimension in reversed(dimensions)))
    yield Text.assemble(("scores", "bold"), "  means over valid evaluations; in brackets with the quotes aside")
    yield Text("")
    yield Padding.indent(table, 2)
    yield Text("")


def short_names(names: Sequence[str]) -> list[str]:
    """Names up to their first underscore, where that tells them apart.

    >>> short_names(["FORMAT_COMPLIANCE", "COMPLETENESS", "overall_score"]), short_names(["a_b", "a_c"])
    (['FORMAT', 'COMPLETENESS', 'overall'], ['a_b', 'a_c'])
    """
    short = [name.partition("_")[0] or name for name in names]
    return short if len(set(short)) == len(names) else list(names)


def _mean(row: Mapping[str, Any]) -> str:
    valid, aside = row["mean"], row["mean_quotes_aside"]
    strict = "–" if valid is None else f"{valid['value']:.2f} n={valid['n']:,}"
    return strict if aside is None or aside == valid else f"{strict} ({aside['value']:.2f} n={aside['n']:,})"


def _interval(estimate: Mapping[str, Any]) -> str:
    if estimate["low"] is None:
        return f"{estimate['value']:+.2f}, n={estimate['n']:,}: one question, no interval"
    return f"{estimate['value']:+.2f} [{estimate['low']:+.2f}, {estimate['high']:+.2f}] n={estimate['n']:,}"


def _differences(judges: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for each in judges:
        for row in each["variant_differences"]:
            moved = f"{plain(row['from'])} → {plain(row['to'])} of {plain(row['target_model'])}"
            yield f"{', '.join(_names(each))}, overall score, {moved}: {_interval(row['difference'])}"


def _self_preference(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        who = f"{plain(row['judge'])}, {row['judging_condition']}"
        gap = "no output has a valid evaluation of both kinds" if row["gap"] is None else _interval(row["gap"])
        yield f"{who}, own outputs against what others give the same: {gap}"


def _missing(frozen: FrozenJudging, late: int) -> Iterator[str]:
    missing = frozen.not_arrived
    for each in missing[:MOST_MISSING]:
        names = ", ".join(map(plain, (each.question_id, each.prompt_variant, each.target_model)))
        yield f"not judged, since it never arrived: {names}, sample {each.sample}: {plain(each.why)}"
    if len(missing) > MOST_MISSING:
        yield f"and {len(missing) - MOST_MISSING:,} more; judging.json lists all"
    if late:
        yield f"{late:,} outputs arrived after the set was frozen and are not judged"
