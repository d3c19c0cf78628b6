"""What stood in the rows of outputs from elsewhere is the metadata of their records."""

import polars as pl

from affidavit.reading.output_columns import OutputColumns
from affidavit.results.row_values import items_of_rows, row_names, row_values

ROWS = ['{"gold": "B", "meta": {"level": 3}}', '{"gold": "C"}', '{"gold": "D", "odd": "\\ud800"}']
RECORDS = pl.LazyFrame({"task": ["t"] * 4, "item_id": ["a", "a", "b", "c"], "row": [*ROWS, None]})


def test_fields_of_rows_are_texts_and_empty_where_there_is_none():
    found = RECORDS.select(
        gold=row_values("gold"), level=row_values("meta.level"), odd=row_values("odd")
    ).collect()
    assert found["gold"].to_list() == ["B", "C", "D", ""]
    assert found["level"].to_list() == ["3", "", "", ""]
    assert found["odd"].to_list() == ["", "", "\\ud800", ""]
    assert row_names(RECORDS) == ["gold", "meta", "odd"]


def test_items_are_what_their_first_rows_say_with_the_answer_by_our_name():
    columns = OutputColumns.of({"text": "raw_output", "answer": "gold"})
    found = {item.id: item.fields["answer"] for _, item in items_of_rows(RECORDS, columns)}
    assert found == {"a": "B", "b": "D"}
