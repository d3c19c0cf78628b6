"""Rows of outputs become records, and every record can be made again from what it holds (rulings C1, C2, M6)."""

import io
from collections import Counter
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from affidavit.archive.record import Failed, Response, encode
from affidavit.archive.record_lines import decode
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.game24 import game24
from affidavit.contracts.mcqa import AUTO, mcqa
from affidavit.contracts.text import text
from affidavit.errors import InputError, StorageError
from affidavit.json_values import digest
from affidavit.reading.cell_values import cell_value, unknown_if_empty
from affidavit.reading.imported_records import NO_CONTENT, ImportFacts, RecordMaker, frozen_columns
from affidavit.reading.json_cells import json_cells
from affidavit.reading.output_columns import OutputColumns, columns_of
from affidavit.reading.output_rows import OutputRows
from affidavit.reading.record_fields import LONGEST_READ, record_fields_of
from affidavit.reading.repeat_counts import RepeatCounts, hashes_of
from affidavit.reading.rows import RowReader
from affidavit.reading.source import Row, stream_source
from affidavit.reading.spooled import read_again
from support.strategies import any_text


def outputs(*rows: dict, columns: OutputColumns | None = None) -> OutputRows:
    placed = [Row(f"f:{number}", number, row) for number, row in enumerate(rows, 1)]
    return OutputRows(lambda: placed, columns or columns_of(rows[0], {}, where="f:1"))


def made(*rows: dict, contract=mcqa) -> list[Response | Failed]:
    return list(outputs(*rows).records("s", contract))


def test_a_row_becomes_a_record_with_everything_that_it_held():
    row = {
        "id": 7,
        "model": "m",
        "answer": "B",
        "subject": "art",
        "score": 0.5,
        "raw_output": "<answer>B</answer>",
    }
    (record,) = made(row)
    subject = record.subject
    assert (subject.task, subject.item_id, subject.model, subject.condition) == ("imported", "7", "m", "base")
    assert (subject.sample, subject.output_id, subject.prompt) == (0, None, None)
    assert subject.row == {"answer": "B", "subject": "art", "score": 0.5}
    assert subject.key == digest(["imported", "imported", "7", "base", "m", 0, None])
    assert record.fields == {"extracted_answer": "B", "deviation": None, "correct": True, "right_answer": "B"}
    assert (record.protocol_compliant, record.keyed, record.contract) == (True, True, "mcqa/1")


def test_a_row_whose_text_is_null_is_a_failure_on_the_record():
    # rulings C1 and S6
    known, unknown = made({"answer": "B", "raw_output": None}, {"raw_output": None})
    assert (known, unknown) == (
        Failed(known.subject, NO_CONTENT, True), Failed(unknown.subject, NO_CONTENT, False)
    )  # fmt: skip
    assert [each.subject.item_id for each in (known, unknown)] == ["1", "2"], "without an id, by its number"


def test_repeated_rows_of_an_item_are_its_samples():
    rows = [{"id": name, "model": model, "raw_output": "x"} for name, model in ("am", "am", "an", "bm", "am")]
    assert [each.subject.sample for each in made(*rows)] == [0, 1, 0, 0, 2]
    numbered = [{"id": "a", "sample": number, "raw_output": "x"} for number in (3, "1")]
    assert [each.subject.sample for each in made(*numbered)] == [3, 1]


@pytest.mark.parametrize("name", ["sample", "output_id"])
def test_a_row_that_names_what_another_has_named_is_refused_with_both_places(name):
    rows = [{"id": "a", name: value, "raw_output": "x"} for value in (1, 2, 1)]
    with pytest.raises(InputError) as refused:
        made(*rows)
    assert str(refused.value).startswith("f:3: expected an output that no other row has, found the names of f:1: ")


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ({"id": "b", "model": "m"}, "f:2: expected a field 'raw_output', found the fields 'id'"),
        ({"id": "b", "raw_output": "x"}, "f:2: expected a name in 'model', found null"),
        ({"id": "b", "model": "m", "raw_output": 5}, "f:2: expected a text in 'raw_output', found 5"),
        (
            {"id": "b", "model": "m", "raw_output": "x", "task": "t"},
            "f:2: expected no 'task', as in the first row",
        ),
        (
            {"id": "b", "model": "m", "raw_output": "x", "answer": "Z"},
            "f:2: expected one of A, B, C, D in 'answer'",
        ),
    ],
)
def test_a_row_that_does_not_fit_is_refused_with_its_place(second, said):
    with pytest.raises(InputError) as refused:
        made({"id": "a", "model": "m", "raw_output": "x"}, second)
    assert str(refused.value).startswith(said.partition(" one of")[0])


def test_each_item_may_have_options_of_its_own():
    # ruling M3
    rows = [
        {"raw_output": "<answer>C</answer>", "options": list("xyz")[:count], "answer": "A"} for count in (2, 3)
    ]
    records = made(*rows, contract=mcqa.with_options(AUTO))
    assert [each.contract_params["options"] for each in records] == ["A-B", "A-C"]
    assert [each.protocol_compliant for each in records] == [False, True]


cell = st.none() | st.booleans() | st.integers() | st.floats() | any_text
row = st.fixed_dictionaries(
    {"raw_output": st.none() | any_text | st.sampled_from(["<answer>A</answer>", "1+2"])},
    optional={
        "answer": st.sampled_from(["A", None]),
        "numbers": st.just([1, 2, 3]),
        "extra": cell | st.lists(cell),
    },
)


@settings(max_examples=settings().max_examples // 5)
@given(st.lists(row, min_size=1, max_size=4), st.sampled_from([mcqa, game24, text]))
def test_every_record_is_made_again_from_its_own_line(rows, contract):
    # ruling C2
    source = outputs(*rows)
    maker = RecordMaker("s", source.columns, contract)
    for record in source.records("s", contract):
        kept = decode(encode(record, seq=1, group=1)).record
        assert maker.again(kept, kept.subject) == kept


def test_what_is_frozen_does_not_depend_on_the_order_of_rows():
    rows = [{"id": name, "model": "m", "raw_output": name} for name in "abc"]
    configs = []
    for order in (rows, rows[::-1]):
        facts = ImportFacts("s")
        for record in made(*order):
            facts.add(record, encode(record, seq=1, group=1)[:32])
        configs.append(facts.config())
    assert configs[0] == configs[1]
    assert configs[0]["imported"]["cells"] == [["imported", "m", "base", 3]]


# --- the parts ---


@settings(max_examples=settings().max_examples // 5)
@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), max_size=8))
def test_repeats_are_counted_as_a_counter_counts_them(batches):
    repeats, seen = RepeatCounts(), Counter()
    for batch in batches:
        expected = []
        for name in batch:
            expected.append(seen[name])
            seen[name] += 1
        assert repeats.before(hashes_of([batch])).tolist() == expected


def test_values_that_json_has_no_word_for_are_told_in_words():
    odd = {
        "nan": float("nan"), "inf": [float("-inf")], "day": date(2026, 1, 31), "when": datetime(2026, 1, 31, 12),
        "hour": time(1), "exact": Decimal("1.10"), "bytes": b"\x00", "fine": {"a": (1, 2.5)},
    }  # fmt: skip
    assert json_cells(odd, where="f:1") == {
        "nan": "NaN", "inf": ["-Infinity"], "day": "2026-01-31", "when": "2026-01-31T12:00:00", "hour": "01:00:00",
        "exact": "1.10", "bytes": "00", "fine": {"a": [1, 2.5]},
    }  # fmt: skip
    assert json_cells({"o": {1: "x"}, "l": ["x", (None,)], "p": {"a": "b"}}, where="f:1") == {
        "o": {"1": "x"}, "l": ["x", [None]], "p": {"a": "b"},
    }  # fmt: skip
    deep: object = 1
    for _ in range(300):
        deep = [deep]
    with pytest.raises(InputError, match="f:1: expected values of at most 200 levels"):
        json_cells({"deep": deep}, where="f:1")


def test_cells_are_taken_as_the_contract_takes_them():
    unknown = unknown_if_empty(mcqa, "gold")
    assert [cell_value(name, "", unknown) for name in ("gold", "answer", "subject")] == [None, None, ""]
    assert [cell_value("target", cell, ()) for cell in ("24", "x")] == [24, "x"]
    assert [cell_value("numbers", cell, ()) for cell in ("[1, 2]", "[1")] == [[1, 2], "[1"]


def test_what_was_read_is_cut_and_whether_it_is_known_is_said():
    long = record_fields_of(RowReader(game24), {"raw_output": f"Output: {'1+' * LONGEST_READ}1"}, where="f:1")
    assert len(long.own["candidate"]) == LONGEST_READ
    nothing = record_fields_of(RowReader(mcqa), {"raw_output": None, "answer": "A"}, where="f:1")
    assert (nothing.protocol_compliant, nothing.keyed, nothing.own["right_answer"]) == (None, True, "A")


def test_what_comes_once_can_be_read_as_often_as_it_is_needed():
    with read_again([stream_source("standard input", io.BytesIO(b"one\ntwo\n"))]) as (source,):
        for _ in range(2):
            with source.opened() as stream:
                assert stream.read() == b"one\ntwo\n"
        assert source.name == "standard input"
        path = source.path
    assert not path.exists()


@pytest.mark.parametrize("columns", [{}, {"id": "q"}, {"text": "raw_output", "name": "x"}])
def test_columns_that_no_import_could_have_frozen_are_corruption(columns):
    study = StudyDirectory(Path(__file__).parents[1] / "golden/studies/imported").frozen()
    forged = structs.replace(study, config={**study.config, "columns": columns})
    assert frozen_columns(study).text.text == "raw_output"
    with pytest.raises(StorageError, match=r"study\.json:1: expected the columns of the rows, found"):
        frozen_columns(forged)


@pytest.mark.parametrize(
    ("items", "one_each"),
    [
        (["a", "b"], True),
        (["a", "b", "a"], False),
        ([str(n) for n in range(1_300)], True),
        ([*(str(n) for n in range(1_300)), "7"], False),
    ],
)
def test_it_is_known_whether_an_item_has_two_outputs(items, one_each):
    facts = ImportFacts("s")
    rows = [{"id": item, "raw_output": "B", "output_id": str(n)} for n, item in enumerate(items)]
    for record in made(*rows):
        facts.count(record)
    assert facts.one_output_each is one_each
    assert facts.one_output_each is one_each
    facts.count_many(record, 2, samples=1)
    assert not facts.one_output_each  # of these nobody has looked at the items
