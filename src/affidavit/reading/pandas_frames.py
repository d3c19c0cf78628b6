"""Frames of pandas, which is no dependency: they come in as columns of Polars, and go out as columns of pandas.

A missing value is null in both. In pandas, truth values and whole numbers get the types that have one (`boolean`,
`Int64`): a truth value that is missing must not pass for a true one.
"""

from collections.abc import Collection
from typing import Any

import polars as pl

from affidavit.errors import InputError, UsageError


def is_pandas(frame: object) -> bool:
    """Whether this is a frame of pandas, told without importing it."""
    kinds = type(frame).__mro__
    return any(kind.__name__ == "DataFrame" and kind.__module__.partition(".")[0] == "pandas" for kind in kinds)


def polars_frame(frame: Any, columns: Collection[str] | None) -> pl.DataFrame:  # noqa: ANN401
    """These columns of a pandas frame, as far as they are there; None: all that have a text as their name."""
    names = [name for name in frame.columns if isinstance(name, str) and (columns is None or name in columns)]
    for name in names:
        if names.count(name) > 1:
            raise InputError("frame", expected="columns of different names", found=f"{name!r} more than once")
    return pl.DataFrame([_series(name, frame[name]) for name in names])


def _series(name: str, series: Any) -> pl.Series:  # noqa: ANN401
    values = [
        None if missing else _plain(value) for value, missing in zip(_cells(series), series.isna(), strict=True)
    ]
    if any(isinstance(value, list | tuple | dict) for value in values):
        return pl.Series(name, values, dtype=pl.Object)
    try:
        return pl.Series(name, values)
    except (TypeError, UnicodeEncodeError, OverflowError):
        return pl.Series(name, values, dtype=pl.Object)  # mixed, or what no column of Polars can hold


def _cells(series: Any) -> Any:  # noqa: ANN401
    """The values of a column; those of single precision by themselves, as doubles would show other decimals."""
    kind = getattr(series.dtype, "numpy_dtype", series.dtype)  # Arrow's, and those that know missing values
    return series.to_numpy(dtype=kind, na_value=float("nan")) if _is_narrow(kind) else series.tolist()


def _is_narrow(kind: object) -> bool:
    return getattr(kind, "kind", "") == "f" and getattr(kind, "itemsize", 8) < 8


def _plain(value: Any) -> object:  # noqa: ANN401
    """A value of NumPy as one of Python: an array in a cell, as Parquet files give it, is a list to a contract.

    Numbers of single or half precision count by the shortest decimal that denotes them (ruling N7).
    """
    if not (hasattr(value, "tolist") and hasattr(value, "ndim")):
        return value
    return (value.astype(str).astype(float) if _is_narrow(value.dtype) else value).tolist()


def pandas_frame(frame: pl.DataFrame, index: object = None) -> Any:  # noqa: ANN401
    """The same columns as a pandas frame; its rows are called by `index`, or else by their numbers."""
    try:
        import pandas  # noqa: PLC0415 - few need it, and it need not be there
    except ImportError as error:
        raise UsageError(
            "pandas",
            expected="it to be installed",
            found=str(error),
            hint="pip install pandas, or use to_polars().",
        ) from error
    columns = {series.name: _column(series, index, pandas) for series in frame}
    return pandas.DataFrame(columns, index=index)


def _column(series: pl.Series, index: object, pandas: Any) -> Any:  # noqa: ANN401
    values = series.to_list()
    if series.dtype in _WITH_MISSING:
        return pandas.Series(values, index=index, dtype=_WITH_MISSING[series.dtype])
    if series.dtype.is_nested():
        return pandas.Series(values, index=index, dtype=object)
    return pandas.Series(values, index=index)


_WITH_MISSING: dict[Any, str] = {pl.Boolean(): "boolean", pl.Int64(): "Int64", pl.Float64(): "float64"}
