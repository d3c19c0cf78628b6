"""Few rows and many are worked through in different ways, and give the same."""

import polars as pl
import pytest

from affidavit.results.collecting import all_collected, collected


@pytest.mark.parametrize("rows", [0, 1, 49_999, 50_000, 10**9])
def test_however_many_rows_there_are_said_to_be_a_query_gives_the_same(rows):
    frame = pl.LazyFrame({"name": ["a", "b", "a"], "n": [1, 2, 4]})
    summed = frame.group_by("name").agg(pl.col("n").sum())
    assert sorted(collected(summed, rows).rows()) == [("a", 5), ("b", 2)]
    both = all_collected([summed.sort("name"), frame.select(pl.len())], rows)
    assert [each.rows() for each in both] == [[("a", 5), ("b", 2)], [(3,)]]
