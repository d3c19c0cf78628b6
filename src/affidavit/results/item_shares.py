"""Shares of outputs with their intervals over items (ruling S1), from a frame with a row for each item."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from affidavit.statistics.estimate import Estimate
from affidavit.statistics.shares import ClusterSums, share


def cluster_sums(
    name: str, successes: str | pl.Expr, n: str | pl.Expr, *, times: str | None = None
) -> dict[str, pl.Expr]:
    """Aggregations over items, under names that begin with this one, that `share_of` makes a share of.

    Whole numbers are added up: the order of the items changes nothing. A row stands for as many items as `times`
    says.
    """
    part, size = (
        (pl.col(each) if isinstance(each, str) else each).fill_null(0).cast(pl.Int64) for each in (successes, n)
    )
    many = pl.lit(1, dtype=pl.Int64) if times is None else pl.col(times)
    sums = ClusterSums(
        clusters=((size > 0) * many).sum(),  # type: ignore[arg-type]  # expressions here, their values in `share_of`
        n=(size * many).sum(),  # type: ignore[arg-type]
        squares=(size * size * many).sum(),  # type: ignore[arg-type]
        successes=(part * many).sum(),  # type: ignore[arg-type]
        squared_successes=(part * part * many).sum(),  # type: ignore[arg-type]
        products=(part * size * many).sum(),  # type: ignore[arg-type]
    )
    return {f"{name} {field}": value for field, value in sums._asdict().items()}


def share_of(row: Mapping[str, Any], name: str) -> Estimate | None:
    """The share in a row of such sums; None of nothing."""
    sums = sums_of(row, name)
    return share(sums) if sums.n else None


def sums_of(row: Mapping[str, Any], name: str) -> ClusterSums:
    """The sums of one share in a row."""
    return ClusterSums(*(int(row[f"{name} {field}"]) for field in ClusterSums._fields))
