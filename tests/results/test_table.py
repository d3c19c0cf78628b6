"""A table as programs take it: columns with their types, estimates apart into value, interval and n."""

import polars as pl
import pytest

from affidavit.results.table import Table
from affidavit.results.values import Chance, Mean, Points, estimate_of
from affidavit.results.words import form_of, in_cell, label_of
from affidavit.statistics.estimate import Estimate, Form
from affidavit.statistics.shares import wilson

ENDLESS = Estimate(0.5, float("-inf"), float("inf"), 2, "one cluster: no interval")
ENDS = ("", "_low", "_high", "_n", "_clusters")
TABLE = Table(
    "all kinds",
    "What is there?",
    ("name", "count", "share", "mean", "difference", "p", "fraction", "nothing"),
    (
        ("a\ud800", 3, wilson(1, 2), Mean(ENDLESS), Points(wilson(1, 4)), Chance(0.04), 0.25, None),
        ("b", None, None, None, None, None, None, None),
    ),
    "2 = 1 + 1",
)


def test_estimates_come_apart_and_types_hold():
    frame = TABLE.to_polars()
    apart = [f"{name}{part}" for name in ("share", "mean", "difference") for part in ENDS]
    assert frame.columns == ["name", "count", *apart, "p", "fraction", "nothing"]
    assert frame.schema["count"] == frame.schema["share_n"] == pl.Int64
    assert frame.schema["share"] == frame.schema["p"] == frame.schema["fraction"] == pl.Float64
    assert frame.row(0, named=True)["name"] == "a\\ud800"
    assert frame["mean_low"].to_list() == [None, None], "an interval that does not exist has no ends"
    assert frame["share"].to_list() == [0.5, None]
    assert frame["p"].to_list() == [0.04, None]


def test_pandas_has_the_same_columns():
    back = TABLE.to_pandas()
    assert list(back.columns) == TABLE.to_polars().columns
    assert str(back["count"].dtype) == "Int64"


def test_an_empty_table_has_its_columns():
    table = Table("none", "Anything?", ("a", "b"), (), "")
    assert table.to_polars().shape == (0, 2)
    assert str(table).splitlines()[0] == "Anything?"


def test_every_value_is_worded_once_for_all():
    cells = [in_cell(value) for value in TABLE.rows[0]]
    for cell in cells[1:]:
        assert cell in str(TABLE)
    assert form_of(Mean(ENDLESS)) is Form.MEAN
    assert estimate_of(Chance(0.5)) is None
    assert label_of("yield") == "accuracy over all outputs"


@pytest.mark.parametrize("column", ["share", "count"])
def test_columns_are_found_by_their_name(column):
    assert TABLE.column(column)[1] is None
    assert TABLE.counts("count") == [3, 0]
