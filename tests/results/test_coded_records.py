"""Numbers in place of names: whatever is counted by them is what a literal count finds."""

from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.results import choices, counting
from affidavit.results.coded_records import GROUP, UNIT, CodedRecords, coded_records, numbers_of
from affidavit.results.counting import groups, label_counts
from support.record_sets import choice, record_set

SCHEMA = {
    "model": pl.String,
    "sample": pl.Int64,
    "metadata.unit": pl.String,
    "item": pl.String,
    **dict.fromkeys("abcdef", pl.Boolean),
}
FLAGS = "abcdef"
BY, WITHIN = ("model", "sample", "metadata.unit"), {UNIT: ("item",), "number of the cluster": ("metadata.unit",)}
Row = tuple[str | None, int | None, str | None, str | None, *tuple[bool | None, ...]]


def coded(rows: list[Row], by: tuple[str, ...] = BY) -> CodedRecords:
    records = pl.LazyFrame(rows, schema=SCHEMA, orient="row")
    return coded_records(records, by, WITHIN, {name: pl.col(name) for name in FLAGS})


def kinds(found: CodedRecords, chosen: pl.Expr, unit: str = UNIT) -> Counter[tuple]:
    """How many units of each group count what."""
    counts = found.kinds(chosen, {name: pl.col(name) for name in FLAGS}, unit=unit)
    return Counter({(*found.names[row[0]], *row[1:-1]): row[-1] for row in counts.iter_rows()})


def literal_kinds(
    rows: list[Row], by: tuple[str, ...], within: tuple[str, ...], chosen: str | None
) -> Counter[tuple]:
    """The same, record by record."""
    units: dict[tuple, list[dict]] = {}
    for row in rows:
        record = dict(zip(SCHEMA, row, strict=True))
        if chosen is None or record[chosen]:
            units.setdefault((tuple(record[name] for name in (*by, *within)),), []).append(record)
    return Counter(
        (*(records[0][name] for name in by), *(sum(bool(record[name]) for record in records) for name in FLAGS))
        for records in units.values()
    )


names = st.sampled_from([None, "", "x", "y", "é"])
rows = st.tuples(
    names,
    st.sampled_from([None, -3, 0, 2, 2**40]),
    names,
    st.sampled_from([None, "", "x", "1", "2"]),
    *[st.sampled_from([None, False, True])] * len(FLAGS),
)


@pytest.mark.slow
@given(
    many=st.lists(rows, max_size=30),
    by=st.sampled_from([BY, ("model",), ("metadata.unit", "model")]),
    chosen=st.sampled_from([None, "a"]),
)
def test_units_count_what_their_records_hold(many, by, chosen):
    """Whatever is missing, and however far apart values are."""
    found = coded(many, by)
    which = pl.lit(value=True) if chosen is None else pl.col(chosen)
    assert kinds(found, which) == literal_kinds(many, by, ("item",), chosen)
    assert kinds(found, which, "number of the cluster") == literal_kinds(many, by, ("metadata.unit",), chosen)


@pytest.mark.slow
@given(many=st.lists(rows, max_size=30))
def test_records_keep_their_order_and_numbers_tell_values_apart(many):
    found = coded(many)
    assert found.frame.select(list(FLAGS)).rows() == [row[4:] for row in many]
    numbered = found.where(pl.lit(value=True)).select(GROUP, UNIT).collect().rows()
    assert [found.names[group] for group, _ in numbered] == [row[:3] for row in many]
    pairs = {(unit, row[:4]) for (_, unit), row in zip(numbered, many, strict=True)}
    assert len(pairs) == len({unit for unit, _ in pairs}) == len({values for _, values in pairs})


_FAR = 2**63 - 1


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({}, []),
        ({"a": []}, []),
        ({"a": [7, 7, 9]}, [0, 0, 1]),
        ({"a": [None, None]}, [0, 0]),
        ({"a": [0, 1, None], "b": [5, 5, 4]}, [1, 2, 0]),
        ({"a": [-_FAR - 1, _FAR, None, _FAR]}, [1, 2, 0, 2]),
        ({"a": [None, -_FAR - 1], "b": [_FAR, _FAR]}, [0, 1]),
        ({"a": [_FAR, 0, _FAR], "b": [_FAR, 0, 1]}, [2, 0, 1]),
    ],
)
def test_numbers_of_a_few_values(columns, expected):
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Int64))
    assert numbers_of(frame, list(columns)).to_list() == expected


values = st.sampled_from([None, -_FAR - 1, -2, 0, 1, 2, 7, 1000, _FAR])


@pytest.mark.slow
@given(rows=st.lists(st.tuples(st.integers(0, 3), values, values), max_size=40))
def test_numbers_have_no_gaps_and_are_equal_where_the_values_are(rows):
    frame = pl.DataFrame(rows, schema=dict.fromkeys("wab", pl.Int64), orient="row")
    for columns, within in (("wab", None), ("ab", frame["w"])):
        numbers = numbers_of(frame, list(columns), within=within).to_list()
        assert set(numbers) == set(range(len(set(rows))))
        assert len(set(zip(numbers, rows, strict=True))) == len(set(rows))


def test_a_column_more_is_counted_like_the_others():
    found = coded([("m", 0, "u", "i", *[True] * 6)] * 3).plus(pl.Series("more", [True, False, True]))
    assert found.kinds(pl.lit(value=True), {"more": pl.col("more")})["more"].to_list() == [2]


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [1, 2, 3, 2**15 - 1, 2**15, 2**18])
def test_a_unit_may_have_any_number_of_outputs(outputs):
    """Six counts are in one pack, in two, and in three, as the largest unit needs."""
    rows = [("m", 0, "u", "i", *[True] * 6)] * outputs + [("m", 0, "v", "i", True, False, True, False, True, True)]
    assert kinds(coded(rows), pl.col("a")) == {
        ("m", 0, "u", *[outputs] * 6): 1,
        ("m", 0, "v", 1, 0, 1, 0, 1, 1): 1,
    }


# --- what is counted in parts, so that it takes less time ---

answers = st.lists(
    st.tuples(
        st.sampled_from("pqr"),
        st.sampled_from(["m", "n"]),
        st.sampled_from([None, *"ABCDEFG"]),
        st.sampled_from([None, *"ABG"]),
        st.sampled_from([None, "no_tag", "text_around", "empty"]),
    ),
    max_size=25,
)


@pytest.mark.slow
@settings(max_examples=30)
@given(many=answers)
def test_few_labels_and_many_are_counted_alike(many):
    records = record_set(
        choice(item, letter, right, model=model, deviation=deviation, options="A-G")
        for item, model, letter, right, deviation in many
    )
    broken = pl.col("arrived") & ~pl.col("compliant")
    asked = (records, pl.col("arrived"), broken & pl.col("deviation").is_not_null(), ["deviation", "right_letter"])
    with pytest.MonkeyPatch.context() as patch:
        found = []
        for few in (0, 100):
            patch.setattr(counting, "_FEW", few)
            found.append(label_counts(*asked))
    assert found[0] == found[1]


@pytest.mark.slow
@settings(max_examples=30)
@given(many=answers)
def test_letters_are_counted_alike_however_many_at_once(many):
    records = record_set(
        choice(item, letter, right, model=model, options="A-G") for item, model, letter, right, _ in many
    )
    with pytest.MonkeyPatch.context() as patch:
        found = []
        for at_once in (1, 3, 100):
            patch.setattr(choices, "_LETTERS_AT_ONCE", at_once)
            found.append(choices.letter_table(records, groups(records), ["quiz"], {}))
    assert found[0] == found[1] == found[2]
