"""The name of a group of questions that have no value where others are told apart by theirs."""

from collections.abc import Iterable, Mapping

import polars as pl

METADATA = "metadata."
"""What the names of columns begin with that items, or the rows of outputs, have of their own."""


def named_where_empty(planned: pl.DataFrame, columns: Iterable[str]) -> Mapping[str, pl.Expr]:
    """The columns with a name for what is empty there; `planned` has every value that is in one of them.

    The name is no value of the column, whatever stands there: then it is put into one more pair of parentheses.

    >>> frame = pl.DataFrame({"metadata.subject": ["art", "", "(no subject)"], "metadata.level": ["1", "", "2"]})
    >>> frame.with_columns(**named_where_empty(frame, frame.columns)).rows()
    [('art', '1'), ('((no subject))', '(no level)'), ('(no subject)', '2')]
    """
    return {
        name: pl.when(pl.col(name) == "").then(pl.lit(_free_name(name, planned[name]))).otherwise(pl.col(name))
        for name in columns
    }


def _free_name(column: str, values: pl.Series) -> str:
    name, taken = f"(no {column.removeprefix(METADATA)})", set(values.unique())
    while name in taken:
        name = f"({name})"
    return name
