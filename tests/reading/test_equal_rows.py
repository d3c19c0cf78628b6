"""Equal rows are read once, and rows of multiple choice in columns: what they gain is what each gains by itself."""

import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit import MultipleChoice, Pattern, game24, mcqa
from affidavit.reading import row_cache
from affidavit.reading.choices import ChoiceColumns, ChoiceReader
from affidavit.reading.row_cache import RowCache
from affidavit.reading.row_lines import Batch
from affidavit.reading.rows import RowReader
from support.strategies import choice_texts

texts = choice_texts.map(lambda text: text.encode("utf-8", "replace").decode())
keys = st.sampled_from(["A", "B", "E", "", None])


class Counting(RowReader):
    """Counts how often a row is really read."""

    reads = 0

    def read(self, row, *, where):
        self.reads += 1
        return super().read(row, where=where)


def test_a_row_is_read_again_only_if_something_that_decides_differs():
    reader = Counting(mcqa)
    once = RowCache(reader)
    row = {"raw_output": "<answer>A</answer>", "answer": "A", "id": 1}
    known = once.read(row, where="x:1")[1]
    assert known.fields["correct"] is True
    assert once.read({**row, "id": 2}, where="x:2")[1] is known
    assert reader.reads == 1
    for changed in ({"answer": "B"}, {"answer": None}, {"raw_output": "<answer>B</answer>"}):
        assert once.read({**row, **changed}, where="x:3")[1] is not known
    assert reader.reads == 4
    assert "correct" not in once.read({"raw_output": row["raw_output"]}, where="x:4")[1].fields
    assert reader.reads == 5, "no answer at all is not the same as an unknown one"


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(row_cache, "MEMORY", 200)
    reader = Counting(game24)
    once = RowCache(reader)
    for number in range(50):
        once.read({"raw_output": f"{number}" * 10, "numbers": [1, 2]}, where="x:1")
    assert len(once._known) < 10
    once.read({"raw_output": "0" * 10, "numbers": [1, 2]}, where="x:1")
    assert reader.reads == 51, "forgotten, and read again"


@pytest.mark.slow
@given(st.lists(st.tuples(texts, keys), max_size=6))
def test_columns_say_of_a_row_what_the_row_says_of_itself(rows):
    reader = RowReader(MultipleChoice("A-D"))
    gained = ChoiceColumns(reader).of(
        pl.Series([raw for raw, _ in rows], dtype=pl.String), [key for _, key in rows]
    )
    for (raw, key), found in zip(rows, gained, strict=True):
        if found is None:
            assert key not in ("A", "B", None), "only a key that no output can give needs another look"
        else:
            assert found.fields == reader.read({"raw_output": raw, "answer": key}, where="x").added


@pytest.mark.parametrize(
    ("line", "in_columns"),
    [
        ({"raw_output": "<answer>A</answer>"}, True),
        ({"raw_output": None, "answer": "A"}, True),
        ({"raw_output": "x", "answer": None, "id": 5}, True),
        ({"raw_output": "x", "answer": 5}, False),
        ({"raw_output": 5}, False),
        ({"raw_output": "\ud800"}, False),
        ({"raw_output": "x", "correct": True}, False),
        ({"text": "x"}, False),
    ],
)
def test_a_line_out_of_the_ordinary_takes_the_careful_way(line, in_columns):
    batch = Batch("x", 1, json.dumps(line).encode() + b"\n")
    assert (ChoiceReader(RowReader(mcqa)).decode(batch) is not None) is in_columns


def test_only_contracts_that_read_columns_are_read_in_columns():
    pattern = Pattern(name="p", version=1, pattern="a", words="")
    with pytest.raises(TypeError, match="only contracts that read whole columns"):
        ChoiceColumns(RowReader(pattern)).of(pl.Series(["a"]), [None])
