"""How often each compared field of an object is right, for contracts that compare answers field by field."""

from collections.abc import Mapping, Sequence

import polars as pl

from affidavit.results.counting import RecordSet, identity_of_tasks, names_of, place_of
from affidavit.results.groups import Group
from affidavit.results.item_shares import cluster_sums, share_of
from affidavit.results.table import Table

_LISTS = {"right_fields": pl.List(pl.String), "wrong_fields": pl.List(pl.String)}
_COLUMNS = ("field", "compared", "right", "accuracy over compliant")


def field_table(
    records: RecordSet, groups: Sequence[Group], tasks: Sequence[str], controls: Mapping[str, str]
) -> Table | None:
    """Which fields are right, of the outputs that hold an answer (ruling M6), with the intervals of ruling S1?"""
    by, units = list(records.by), records.units
    told = pl.col("fields").str.json_decode(pl.Struct(_LISTS))
    answered = (
        records.outputs()
        .filter(pl.col("task").is_in(list(tasks)) & pl.col("correct").is_not_null())
        .select(*units, told=told)
    )
    each = [
        answered.select(*units, field=pl.col("told").struct.field(name), right=pl.lit(name == "right_fields"))
        for name in _LISTS
    ]
    counted = (
        pl.concat(each)
        .explode("field")
        .drop_nulls("field")
        .group_by([*units, "field"])
        .agg(compared=pl.len().cast(pl.Int64), right=pl.col("right").sum().cast(pl.Int64))
        .group_by([*by, "field"])
        .agg(pl.col("compared", "right").sum(), **cluster_sums("accuracy", "right", "compared"))
        .collect(engine="streaming")
    )
    found = sorted(counted.iter_rows(named=True), key=lambda row: place_of(row[name] for name in (*by, "field")))
    rows = tuple(
        (*names_of(row[name] for name in (*by, "field")), row["compared"], row["right"], share_of(row, "accuracy"))
        for row in found
    )
    question, foot = "How often is each field right?", identity_of_tasks(records, groups, tasks)
    return Table("field accuracy", question, (*by, *_COLUMNS), rows, foot) if rows else None
