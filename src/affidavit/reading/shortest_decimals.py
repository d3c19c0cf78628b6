"""Numbers of single precision as the decimals that people wrote, for contracts that compare exactly.

A column of 32-bit floats holds no 0.1; as a double, its value is 0.10000000149011612, and no answer equals that.
The shortest decimal that denotes the same 32-bit float is the one that was meant, as for doubles (ruling N7).
"""

from typing import cast

import polars as pl


def with_shortest_decimals(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with columns of doubles in place of those of 32-bit floats, also within lists and structs.

    >>> frame = pl.DataFrame({"answer": [0.1]}, schema={"answer": pl.Float32})
    >>> frame["answer"].to_list(), with_shortest_decimals(frame)["answer"].to_list()
    ([0.10000000149011612], [0.1])
    """
    narrow = {name: kind for name, kind in frame.schema.items() if _replaced(kind, pl.Float64()) != kind}
    for name, kind in narrow.items():
        texts = frame.get_column(name).cast(_replaced(kind, pl.String()))
        frame = frame.with_columns(texts.cast(_replaced(kind, pl.Float64())))
    return frame


def _replaced(kind: pl.DataType, number: pl.DataType) -> pl.DataType:
    """The type with another in place of each 32-bit float in it."""
    match kind:
        case pl.Float32():
            return number
        case pl.List(inner=pl.DataType() as inner):
            return pl.List(_replaced(inner, number))
        case pl.Array(inner=pl.DataType() as inner, size=size):
            return pl.Array(_replaced(inner, number), size)
        case pl.Struct(fields=fields):
            inner_kinds = {each.name: cast("pl.DataType", each.dtype) for each in fields}
            return pl.Struct({name: _replaced(inner, number) for name, inner in inner_kinds.items()})
        case _:
            return kind
