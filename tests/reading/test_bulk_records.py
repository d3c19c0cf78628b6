"""Lines that are made in columns are those that are made row by row, to the byte; what is not usual is left alone."""

import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.archive.record import content_digest, encode
from affidavit.archive.record_columns import NEVER_IMPORTED, RecordColumns
from affidavit.contracts.mcqa import AUTO, MultipleChoice, mcqa
from affidavit.contracts.text import text
from affidavit.reading.bulk_records import BulkRecords, kind_of
from affidavit.reading.output_columns import Role, columns_of
from affidavit.reading.output_rows import OutputRows
from affidavit.reading.record_batch import RecordBatch
from affidavit.reading.repeat_counts import RepeatCounts
from affidavit.reading.source import Row

ODD = 'say "B"\\ \n\r\t\b\f / <answer>B</answer>'
plain = st.text(st.sampled_from('aB"\\\n\t /<>{}:,1é\x7f\x01\u2028😀'), max_size=6)
outputs = st.none() | plain | st.sampled_from(["<answer>A</answer>", "B.", ODD, "", "<answer>E</answer>"])
name = st.sampled_from(["q1", "q 2", 'q"3', "\\"])
rows = st.lists(
    st.fixed_dictionaries(
        {
            "id": name, "model": name, "answer": st.sampled_from(["A", "B", None]), "raw_output": outputs,
            "subject": plain, "prompt": st.none() | plain,
        }
    ),
    min_size=1,
    max_size=8,
)  # fmt: skip


def row_by_row(found: list[dict], columns, contract=mcqa):
    placed = [Row(f"f:{number}", number, each) for number, each in enumerate(found, 1)]
    return list(OutputRows(lambda: placed, columns).records("s", contract))


def lines_of(found: list[dict]) -> bytes:
    return "".join(json.dumps(each, ensure_ascii=True) + "\n" for each in found).encode()


def made(bulk: BulkRecords, content: bytes, before: int, repeats: RepeatCounts) -> RecordBatch | None:
    coded = bulk.coded(content, before, repeats)
    return None if coded is None else bulk.made(coded)


@pytest.mark.slow
@settings(max_examples=settings().max_examples // 4)
@given(rows, st.integers(0, 3))
def test_lines_digests_counts_and_columns_are_those_of_row_by_row(found, cut):
    columns = columns_of(found[0], {}, where="f:1")
    bulk, repeats = BulkRecords("s", found[0], columns, mcqa), RepeatCounts()
    assert bulk.possible
    expected = row_by_row(found, columns)
    record_columns, done = RecordColumns({"imported": mcqa}), 0
    for part in (found[:cut], found[cut:]):
        if not part:
            continue
        batch, wanted = made(bulk, lines_of(part), done, repeats), expected[done : done + len(part)]
        assert batch.lines == b"".join(
            encode(record, seq=number, group=1) for number, record in enumerate(wanted, done + 1)
        )
        assert batch.entries == b"".join(
            bytes.fromhex(record.key[:32]) + content_digest(record) for record in wanted
        )
        assert sum(times for _, times in batch.counts) == batch.size == len(part)
        assert batch.samples == max(record.subject.sample for record in wanted) + 1
        frame = record_columns.frame(map(record_columns.row, wanted))
        assert frame.select(pl.col(NEVER_IMPORTED).is_null().all()).row(0) == (True,) * len(NEVER_IMPORTED)
        assert batch.columns.equals(frame.drop(NEVER_IMPORTED))
        done += len(part)


def test_rows_without_names_are_numbered_and_fields_are_sorted():
    found = [{"z": "1", "raw_output": "B", "a": "2"}, {"z": "", "raw_output": None, "a": "x"}]
    columns = columns_of(found[0], {}, where="f:1")
    bulk = BulkRecords("s", found[0], columns, MultipleChoice("A-E"))
    batch = made(bulk, lines_of(found), 0, RepeatCounts())
    expected = row_by_row(found, columns, MultipleChoice("A-E"))
    assert batch.lines == b"".join(encode(each, seq=n, group=1) for n, each in enumerate(expected, 1))
    assert [json.loads(line)["item_id"] for line in bytes(batch.lines).splitlines()] == ["1", "2"]


FIRST = {"id": "q1", "raw_output": "x", "answer": "A", "more": "m"}


@pytest.mark.parametrize(
    "line",
    [
        {**FIRST, "raw_output": "\ud800"},
        {**FIRST, "id": "\u2028"},
        {**FIRST, "id": " "},
        {**FIRST, "id": 5},
        {**FIRST, "more": None},
        {**FIRST, "more": 1.5},
        {**FIRST, "answer": "Z"},
        {**FIRST, "extra": "x"},
        {"id": "q1", "raw_output": "x"},
        {**FIRST, "raw_output": ["x"]},
    ],
)
def test_what_is_not_usual_is_left_to_row_by_row(line):
    bulk = BulkRecords("s", FIRST, columns_of(FIRST, {}, where="f:1"), mcqa)
    assert made(bulk, lines_of([FIRST]), 0, RepeatCounts()) is not None
    assert made(bulk, lines_of([FIRST, line]), 0, RepeatCounts()) is None
    for odd in (b'{"id": "a"\n', b"\n", b'{"raw_output": "\xff"}\n'):
        assert made(bulk, lines_of([FIRST]) + odd, 0, RepeatCounts()) is None


@pytest.mark.parametrize(
    ("first", "given_columns", "contract"),
    [
        (FIRST, {}, text),
        (FIRST, {}, mcqa.with_options(AUTO)),
        ({**FIRST, "sample": "0"}, {}, mcqa),
        ({**FIRST, "output_id": "0"}, {}, mcqa),
        ({**FIRST, "more": 1}, {}, mcqa),
        ({"raw": {"text": "x"}}, {"text": "raw.text"}, mcqa),
        ({**FIRST, "gold": "A"}, {"answer": "gold"}, mcqa),
    ],
)
def test_files_of_other_kinds_are_read_row_by_row(first, given_columns, contract):
    assert not BulkRecords("s", first, columns_of(first, given_columns, where="f:1"), contract).possible


def test_what_the_lines_of_a_kind_share_holds_the_quotes_of_what_is_their_own():
    (record,) = row_by_row([FIRST], columns_of(FIRST, {}, where="f:1"))
    kind = kind_of(record)
    assert kind.line[0].endswith('"item_id":"')
    assert len(kind.between) == 5


def both_ways(found: list[dict], given: dict | None = None, content: bytes | None = None):
    """The lines in columns, or None, and row by row."""
    columns = columns_of(found[0], given or {}, where="f:1")
    bulk = BulkRecords("s", found[0], columns, mcqa)
    batch = made(bulk, content or lines_of(found), 0, RepeatCounts()) if bulk.possible else None
    slow = b"".join(encode(each, seq=n, group=1) for n, each in enumerate(row_by_row(found, columns), 1))
    return None if batch is None else bytes(batch.lines), slow


@pytest.mark.parametrize(
    "odd", ["*", "^z$", "^.*$", "^(answer|q)$", "field_0", "key", "own", "literal", "", "a b"]
)
def test_whatever_a_field_is_called_it_keeps_its_value(odd):
    """Polars takes some names for patterns."""
    found = [
        {"id": "1", "raw_output": "A", "answer": "A", odd: f"mine {n}", "z": "zval", "q": "x"} for n in range(2)
    ]
    fast, slow = both_ways(found)
    assert fast == slow


@pytest.mark.parametrize("odd", ["\0", 'x"\0', "\0\0", 'x"\0\0"', "a\0b", '"\\u0000"'])
@pytest.mark.parametrize("role", ["model", "condition", "task"])
def test_whatever_a_cell_is_called_it_is_no_place_of_a_line(role, odd):
    found = [{"id": "1", "raw_output": "A", "answer": "A", role: name} for name in ("m", odd, f"m{odd}", "\0\0\0")]
    fast, slow = both_ways(found)
    assert fast == slow


@pytest.mark.parametrize("odd", ["a\\b", 'a"b', "a\nb", "a\0b", "a\ud800"])
def test_fields_that_the_quick_decoder_cannot_name_are_read_row_by_row(odd):
    assert both_ways([{"id": "1", "raw_output": "A", odd: "x"}])[0] is None


@pytest.mark.parametrize(
    "content",
    [
        b'{"id":"1","raw_output":"A"}\n\n{"id":"2","raw_output":"A"}{"id":"3","raw_output":"B"}\n',
        b'{"id":"1","raw_output":"A"}{"id":"2","raw_output":"A"}\n{"id":"3",\n"raw_output":"B"}\n',
        b'{"id":"1",\n"raw_output":"A"}{"id":"2","raw_output":"A"}\n',
    ],
)
def test_lines_that_are_not_one_object_each_are_left_to_row_by_row(content):
    assert both_ways([{"id": "1", "raw_output": "A"}], content=content)[0] is None


@pytest.mark.parametrize(
    ("role", "column"), [("id", "model"), ("prompt", "id"), ("condition", "model"), ("task", "id")]
)
def test_a_column_of_our_names_may_be_named_as_another(role, column):
    found = [
        {"id": "1", "raw_output": "A", "answer": "A", "model": "m"},
        {"id": "2", "raw_output": "B", "answer": "A", "model": "n"},
    ]
    fast, slow = both_ways(found, {Role(role): column})
    assert fast == slow
