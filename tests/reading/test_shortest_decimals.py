"""Columns of 32-bit floats: contracts get the decimals that were written, and the columns stay what they are."""

import json

import numpy as np
import pandas
import polars as pl
import pytest

from affidavit import read_frame
from affidavit.reading.shortest_decimals import with_shortest_decimals
from affidavit.reading.source import file_source
from affidavit.reading.sources import rows_of
from support.written_study import here

TEXTS = [f"<answer>{answer}</answer>" for answer in ("0.1", "0.10000000149011612", "16777216", "-2.5")]
KEYS = [0.1, 0.1, 16777216, -2.5]
RIGHT = [True, False, True, True]
FRAME = pl.DataFrame({"raw_output": TEXTS, "answer": pl.Series(KEYS, dtype=pl.Float32)})


def test_a_frame_of_polars_keeps_its_types():
    read = read_frame(FRAME, "number")
    assert read["correct"].to_list() == RIGHT
    assert read["answer"].dtype == pl.Float32
    assert read["answer"].equals(FRAME["answer"])


def test_a_parquet_file_keeps_its_types(tmp_path):
    FRAME.write_parquet(tmp_path / "in.parquet")
    assert here("read", "number", tmp_path / "in.parquet", "-o", tmp_path / "out.parquet").returncode == 0
    read = pl.read_parquet(tmp_path / "out.parquet")
    assert read["correct"].to_list() == RIGHT
    assert read["answer"].equals(FRAME["answer"])
    assert read["answer"].dtype == pl.Float32


@pytest.mark.parametrize("kind", ["float32", "Float32", "float[pyarrow]"])
def test_a_frame_of_pandas_keeps_its_types(kind):
    frame = pandas.DataFrame({"raw_output": TEXTS, "answer": pandas.Series(KEYS, dtype=kind)})
    read = read_frame(frame, "number")
    assert read["correct"].tolist() == RIGHT
    assert read["answer"].dtype == frame["answer"].dtype


def test_missing_numbers_of_pandas_stay_missing():
    frame = pandas.DataFrame(
        {"raw_output": TEXTS, "answer": pandas.Series([0.1, None, None, None], dtype="Float32")}
    )
    assert read_frame(frame, "number")["correct"].isna().tolist() == [False, True, True, True]


def test_numpy_values_in_cells_of_pandas_count_by_their_decimals():
    frame = pandas.DataFrame({"raw_output": TEXTS, "answer": [np.float32(key) for key in KEYS]}, dtype=object)
    assert read_frame(frame, "number")["correct"].tolist() == RIGHT


def test_rows_of_a_file_hold_the_decimals(tmp_path):
    FRAME.write_parquet(tmp_path / "in.parquet")
    assert [row.fields["answer"] for row in rows_of(file_source(tmp_path / "in.parquet"))] == KEYS


NESTED = pl.DataFrame(
    {"list": [[0.1, None], None], "struct": [{"a": [0.3], "b": "x"}, None], "array": [[0.1, 0.2], None], "wide": [0.1, None]},
    schema={
        "list": pl.List(pl.Float32),
        "struct": pl.Struct({"a": pl.List(pl.Float32), "b": pl.String}),
        "array": pl.Array(pl.Float32, 2),
        "wide": pl.Float64,
    },
)  # fmt: skip


def test_numbers_within_other_values_count_by_their_decimals_too():
    assert with_shortest_decimals(NESTED).row(0) == ([0.1, None], {"a": [0.3], "b": "x"}, [0.1, 0.2], 0.1)
    assert with_shortest_decimals(NESTED).columns == NESTED.columns
    assert with_shortest_decimals(NESTED.clear()).shape == (0, 4)


def test_every_decimal_is_the_one_that_denotes_its_float():
    numbers = pl.Series("n", range(0, 2**31 - 2**24, 999_983), dtype=pl.UInt32).reinterpret(dtype=pl.Float32)
    doubles = with_shortest_decimals(numbers.to_frame())["n"]
    assert doubles.cast(pl.Float32).equals(numbers)
    assert max(len(json.dumps(number).partition("e")[0].replace(".", "").strip("0")) for number in doubles) <= 9


def test_what_is_no_number_stays_so():
    odd = pl.DataFrame({"n": [float("nan"), float("inf"), float("-inf"), None, -0.0]}, schema={"n": pl.Float32})
    assert [str(number) for number in with_shortest_decimals(odd)["n"]] == ["nan", "inf", "-inf", "None", "-0.0"]
