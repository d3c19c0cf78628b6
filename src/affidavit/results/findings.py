"""What is wrong with outputs, and where in them, for contracts whose findings have a code and a path."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import polars as pl

from affidavit.results.counting import RecordSet, identity_of_tasks, names_of, place_of
from affidavit.results.groups import Group
from affidavit.results.table import Table
from affidavit.results.values import Value
from affidavit.statistics.shares import ClusterSums, share

_LIST = pl.List(pl.Struct({"code": pl.String, "path": pl.String}))
_SAID = pl.Struct({"deviation": pl.String, "findings": _LIST})
_LABEL = ("finding", "path")
_COLUMNS = (*_LABEL, "count", "share of outputs")
MOST = 30
"""Findings of a group that are shown, the most frequent first: a model may make up any name of a field."""
_ONCE = (
    "Every output counts once for each finding. Of a text that is no JSON object only the deviation is counted; "
    "[*] is any place of a list."
)


def findings_table(
    records: RecordSet, groups: Sequence[Group], tasks: Sequence[str], controls: Mapping[str, str]
) -> Table | None:
    """What is wrong with non-compliant outputs, and where (ruling O4), with the intervals of ruling S1?"""
    by = list(records.by)
    rows: list[tuple[Value, ...]] = []
    left_out = 0
    for names, found in groupby(_counted(records, tasks), key=lambda row: tuple(row[name] for name in by)):
        ranked = sorted(found, key=lambda row: (-row["successes"], *(row[name] for name in _LABEL)))
        left_out += max(0, len(ranked) - MOST)
        rows.extend(
            (*names_of(names), row["finding"], row["path"], row["successes"], share(_sums(row)))
            for row in ranked[:MOST]
        )
    if not rows:
        return None
    rare = (f"{left_out:,} findings that are rarer are not shown.",) if left_out else ()
    question, foot = "What is wrong with outputs, and where?", identity_of_tasks(records, groups, tasks)
    return Table("findings by path", question, (*by, *_COLUMNS), tuple(rows), foot, (_ONCE, *rare))


def _sums(row: Mapping[str, Any]) -> ClusterSums:
    return ClusterSums(**{name: int(row[name]) for name in ClusterSums._fields})


def _counted(records: RecordSet, tasks: Sequence[str]) -> list[dict[str, Any]]:
    """By group and finding: what its share of the outputs that were read is made of."""
    by, units, n, s = list(records.by), records.units, pl.col("n"), pl.col("s")
    read = records.outputs().filter(pl.col("task").is_in(list(tasks)) & pl.col("protocol_compliant").is_not_null())
    sizes = read.group_by(units).agg(n=pl.len().cast(pl.Int64))
    whole = sizes.group_by(by).agg(clusters=pl.len().cast(pl.Int64), squares=(n * n).sum(), n=n.sum())
    path = pl.col("path").str.replace_all(r"\[\d+\]", "[*]")
    found = (
        read.filter(~pl.col("protocol_compliant"))
        .with_row_index("output")
        .select(*units, "output", said=pl.col("fields").str.json_decode(_SAID))
        .unnest("said")
        .explode("findings")
        .unnest("findings")
        .filter((pl.col("code") == pl.col("deviation")) | pl.col("code").str.starts_with("schema_"))
        .select(*units, "output", finding="code", path=path)
        .unique()
        .group_by([*units, *_LABEL])
        .agg(s=pl.len().cast(pl.Int64))
        .join(sizes, on=units, nulls_equal=True)
        .group_by([*by, *_LABEL])
        .agg(successes=s.sum(), squared_successes=(s * s).sum(), products=(s * n).sum())
        .join(whole, on=by, nulls_equal=True)
        .collect(engine="streaming")
    )
    return sorted(found.iter_rows(named=True), key=lambda row: place_of(row[name] for name in by))
