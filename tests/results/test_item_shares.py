"""Shares from the sums of a frame are those of the items, added up one by one."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.results.item_shares import cluster_sums, share_of, sums_of
from support.literal_shares import literal_share, same

clusters = st.lists(
    st.integers(0, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=12
)
SCHEMA = {"group": pl.String, "part": pl.Int64, "size": pl.Int64}


def summed(rows: list[tuple[str, int | None, int | None]]) -> dict[str, dict]:
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    found = frame.group_by("group").agg(**cluster_sums("right", "part", "size"))
    return {row["group"]: row for row in found.iter_rows(named=True)}


@pytest.mark.slow
@given(one=clusters, other=clusters)
def test_a_share_is_that_of_its_items_one_by_one(one, other):
    found = summed([("one", *each) for each in one] + [("other", *each) for each in other])
    for group, expected in (("one", one), ("other", other)):
        share = share_of(found[group], "right")
        if any(n for _, n in expected):
            assert same(share, literal_share(expected))
        else:
            assert share is None


@pytest.mark.slow
@given(given=clusters, data=st.data())
def test_the_order_of_items_changes_no_bit(given, data):
    turned = data.draw(st.permutations(given))
    first, second = (share_of(summed([("g", *each) for each in many])["g"], "right") for many in (given, turned))
    assert first == second


@pytest.mark.slow
@given(many=clusters, times=st.lists(st.integers(1, 4), min_size=12, max_size=12))
def test_a_row_stands_for_as_many_items_as_it_says(many, times):
    frame = pl.DataFrame(
        [(*each, count) for each, count in zip(many, times, strict=False)], ["part", "size", "times"], orient="row"
    )
    found = frame.select(**cluster_sums("right", "part", "size", times="times")).row(0, named=True)
    repeated = [("g", *each) for each, count in zip(many, times, strict=False) for _ in range(count)]
    assert sums_of(found, "right") == sums_of(summed(repeated)["g"], "right")


@pytest.mark.parametrize("missing", [(None, None), (None, 0), (0, None)])
def test_an_item_that_counts_nothing_is_no_cluster(missing):
    found = share_of(summed([("g", 1, 2), ("g", *missing), ("g", 3, 3)])["g"], "right")
    assert same(found, literal_share([(1, 2), (3, 3)]))
    assert found.clusters == 2


def test_expressions_are_summed_like_columns_and_names_do_not_meet():
    frame = pl.DataFrame([("g", 1, 2), ("g", 0, 3)], schema=SCHEMA, orient="row")
    wrong = cluster_sums("wrong", pl.col("size") - pl.col("part"), pl.col("size"))
    (row,) = frame.group_by("group").agg(**cluster_sums("right", "part", "size"), **wrong).iter_rows(named=True)
    assert share_of(row, "right").value == pytest.approx(1 / 5)
    assert share_of(row, "wrong").value == pytest.approx(4 / 5)
