"""How queries over records are worked through: many records in parts by all cores, few at once."""

from collections.abc import Sequence
from typing import Literal

import polars as pl

_MANY = 50_000
"""Below, dividing the work takes three times as long as doing it."""


def collected(query: pl.LazyFrame, rows: int) -> pl.DataFrame:
    """What a query over so many rows gives.

    >>> collected(pl.LazyFrame({"a": [1, 2]}).filter(pl.col("a") > 1), 2).rows()
    [(2,)]
    """
    return query.collect(engine=_engine(rows))


def all_collected(queries: Sequence[pl.LazyFrame], rows: int) -> list[pl.DataFrame]:
    """The same of several queries, which share what they have in common."""
    return pl.collect_all(queries, engine=_engine(rows))


def _engine(rows: int) -> Literal["streaming", "in-memory"]:
    return "streaming" if rows >= _MANY else "in-memory"
