"""Columns that are named, read row by row and in columns, from every kind of file: the same readings."""

import csv
import io
import json
from pathlib import Path

import polars as pl
import pytest

from affidavit.contracts.mcqa import mcqa
from affidavit.contracts.text import text
from affidavit.errors import InputError
from affidavit.reading.engines import batch_reader, common_format, read_files
from affidavit.reading.first_row import first_names
from affidavit.reading.rows import RowReader
from affidavit.reading.source import bytes_source, file_source, stream_source

TEXTS = ["<answer>A</answer>", "<answer>B</answer>", "B.", ""]
FLAT = [{"answer": "what it said", "out": raw, "gold": gold} for raw in TEXTS for gold in ("A", "B")]
NESTED = [{"answer": "x", "body": {"out": each["out"], "n": [1]}, "gold": [each["gold"]]} for each in FLAT]


def write(path: Path, rows: list[dict]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows))
    elif path.suffix == ".parquet":
        pl.DataFrame(rows).write_parquet(path)
    else:
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return path


def read(path: Path, field: str, answer: str, *, keep: bool = False):
    sources, out = [file_source(path)], io.BytesIO()
    reader = RowReader(mcqa, field=field, answer=answer)
    batches = batch_reader(common_format(sources, None), reader, keep_readings=keep)
    return read_files(sources, batches, out=out), out.getvalue()


@pytest.mark.parametrize("kind", ["jsonl", "json", "csv", "parquet"])
def test_a_named_column_of_right_answers_is_compared_and_no_other(tmp_path, kind):
    result, _ = read(write(tmp_path / f"in.{kind}", FLAT), "out", "gold")
    assert (result.tally.right, result.tally.compared, result.tally.keyed) == (2, 4, 8)


@pytest.mark.parametrize("kind", ["jsonl", "json", "parquet"])
def test_a_way_into_nested_values_reads_the_same(tmp_path, kind):
    flat, _ = read(write(tmp_path / f"flat.{kind}", FLAT), "out", "gold")
    nested, written = read(write(tmp_path / f"nested.{kind}", NESTED), "body.out", "gold[0]")
    assert nested.tally == flat.tally
    if kind == "jsonl":
        first = json.loads(written.splitlines()[0])
        assert {**NESTED[0], "raw_output": TEXTS[0], "correct": True}.items() <= first.items()


def test_a_row_without_the_named_answer_has_none(tmp_path):
    rows = [{"raw_output": TEXTS[0], "answer": "A", "gold": "A"}, {"raw_output": TEXTS[0], "answer": "A"}]
    result, _ = read(write(tmp_path / "in.jsonl", rows), "raw_output", "gold")
    assert (result.tally.right, result.tally.keyed) == (1, 1)


def test_a_missing_column_of_texts_is_named_with_a_likely_one(tmp_path):
    for kind in ("jsonl", "csv", "parquet"):
        path = write(tmp_path / f"in.{kind}", [{"completion": "x", "id": "1"}])
        with pytest.raises(
            InputError, match="A column `completion` may hold the models' texts: name it with --field"
        ):
            read(path, "raw_output", "answer")


def test_the_first_row_tells_the_names_without_being_used_up(tmp_path):
    for kind in ("jsonl", "json", "csv", "parquet"):
        assert first_names(file_source(write(tmp_path / f"in.{kind}", FLAT))) == ["answer", "out", "gold"]
    stream = stream_source("standard input", io.BytesIO(b'{"raw_output": "x"}\n'))
    assert first_names(stream) == ["raw_output"]
    out = io.BytesIO()
    read_files([stream], batch_reader(common_format([stream], None), RowReader(text)), out=out)
    assert out.getvalue(), "what was looked at is still read"
    assert first_names(bytes_source("broken.jsonl", b"{")) == []
