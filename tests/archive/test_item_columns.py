"""Items as columns: a row for each, whatever their fields hold."""

import json

import polars as pl
import pytest

from affidavit.archive.item_columns import items_frame
from affidavit.archive.study_directory import FrozenItem


def column(*values: object) -> list[object]:
    items = [FrozenItem("quiz", f"q{n}", {"field": value}) for n, value in enumerate(values)]
    return items_frame(items).collect()["field"].to_list()


@pytest.mark.parametrize(
    "values",
    [("a", "b"), (1, None), (["w", "x"], ["y"]), (True, False)],
)
def test_fields_of_one_kind_are_as_they_are(values):
    assert column(*values) == list(values)


@pytest.mark.parametrize("values", [(1, "a"), ({"n": 1}, {"n": "x"}), ([1], "a"), ({"n": 1}, None)])
def test_fields_of_different_kinds_and_with_parts_are_json(values):
    assert column(*values) == [None if value is None else json.dumps(value) for value in values]


def test_task_and_id_are_those_of_the_item_whatever_its_fields_are_called():
    items = [FrozenItem("quiz", "q\ud800", {"task": "another", "id": 7, "answer": "B"})]
    found = items_frame(items).collect()
    assert found.rows(named=True) == [{"task": "quiz", "item_id": "q\\ud800", "answer": "B"}]
    assert found.schema["item_id"] == pl.String
