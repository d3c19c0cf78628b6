"""What has no value to be grouped by has a name, and one that no value is."""

import polars as pl
from hypothesis import example, given
from hypothesis import strategies as st

from affidavit.results.no_value import named_where_empty
from support.laws import few

NAMES = st.sampled_from(["", "art", "(no subject)", "((no subject))", "(no metadata.subject)"])


@few
@given(st.lists(NAMES, min_size=1))
@example(["", "(no subject)", "((no subject))"])
def test_every_group_has_a_name_of_its_own(values):
    column = "metadata.subject"
    frame = pl.DataFrame({column: values}, schema={column: pl.String})
    named = frame.with_columns(**named_where_empty(frame, [column]))[column].to_list()
    assert "" not in named
    assert len(set(named)) == len(set(values))
    assert all(now == was for now, was in zip(named, values, strict=True) if was)


def test_records_have_the_names_of_what_was_planned():
    """Records may lack the value that another name was taken by."""
    planned = pl.DataFrame({"metadata.a.b": ["", "(no a.b)"]})
    records = pl.DataFrame({"metadata.a.b": [""]})
    assert records.with_columns(**named_where_empty(planned, ["metadata.a.b"])).item() == "((no a.b))"


def test_a_column_that_is_no_metadata_is_named_as_it_is():
    frame = pl.DataFrame({"paradigm": ["", "pressure"]})
    assert frame.with_columns(**named_where_empty(frame, ["paradigm"])).rows() == [
        ("(no paradigm)",),
        ("pressure",),
    ]
