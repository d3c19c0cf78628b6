"""Files are read in batches: each by itself, anywhere, and their results add up."""

import io
import json
import pickle
import random
import tracemalloc
from itertools import islice
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit import Pattern, game24, judge, mcqa
from affidavit.contracts.text import text
from affidavit.errors import InputError, UsageError
from affidavit.reading import batches, cell_batches, line_batches, parquet_files
from affidavit.reading.batches import BatchResult, Result, RowBatches
from affidavit.reading.engines import BATCH_READERS, ENGINES, batch_reader, common_format, local, read_files
from affidavit.reading.frame_batches import FrameBatches
from affidavit.reading.rows import RowReader
from affidavit.reading.source import bytes_source, file_source
from affidavit.reading.sources import FORMATS
from affidavit.reading.tally import Tally
from support.peak_memory import peak_memory
from support.read_rows import EVALUATION
from support.row_files import COMPRESS, WRITERS, json_lines

TEXTS = [
    "<answer>A</answer>", "<answer>B</answer>\n", "B. Paris", "", "hm", "<think>x</think><answer>C</answer>",
    "(13-9)*(10-4)", "<answer>(13-9)*(10-4)</answer>", "Output: 1+1", json.dumps(EVALUATION), "{}", "#### 7", "é,;\t\"'",
]  # fmt: skip
NUMBER = Pattern(name="n", version=1, pattern=r"(?s).*#### ([0-9]+)", words="...")
READERS = {
    "mcqa": RowReader(mcqa),
    "mcqa with lenses": RowReader(mcqa, lenses=True),
    "another field": RowReader(mcqa, field="completion"),
    "game24": RowReader(game24),
    "judge": RowReader(judge),
    "pattern": RowReader(NUMBER),
    "text": RowReader(text),
}


def rows(texts: list[str]) -> list[dict[str, str]]:
    extra = {"answer": "A", "numbers": "4 9 10 13", "deviation": "old", "judged_output": "a fine answer"}
    return [{"id": str(n), "raw_output": raw, "completion": raw, **extra} for n, raw in enumerate(texts)]


def small_batches(monkeypatch: pytest.MonkeyPatch, rows_at_once: int) -> None:
    """Batches of few rows, so that short files have several."""
    monkeypatch.setattr(line_batches, "PIECE", 1)
    monkeypatch.setattr("affidavit.reading.json_lines.PIECE", 1)
    monkeypatch.setattr(line_batches, "PIECES", rows_at_once)
    monkeypatch.setattr(batches, "ROWS_AT_ONCE", rows_at_once)
    monkeypatch.setattr(cell_batches, "ROWS_AT_ONCE", rows_at_once)
    monkeypatch.setattr(parquet_files, "ROWS_AT_ONCE", rows_at_once)


def read_in_batches(kind: str, reader: RowReader, content: bytes) -> list[BatchResult]:
    source = bytes_source(f"x.{kind}", content)
    way = batch_reader(common_format([source], None), reader, keep_readings=True)
    return [way.read_batch(pickle.loads(pickle.dumps(batch))) for batch in way.batches([source])]  # noqa: S301


def joined(kind: str, parts: list[BatchResult]) -> object:
    """All rows of some batches, as one."""
    if kind == "Parquet":
        return pl.concat([part.content for part in parts]).rows(named=True)
    return b"".join(line for part in parts for line in part.content)


# --- the law ---


@pytest.mark.slow
@pytest.mark.parametrize("contract", READERS)
@pytest.mark.parametrize("kind", WRITERS)
def test_results_of_batches_add_up_to_the_result_of_the_whole(kind, contract):
    content, reader = WRITERS[kind](rows(TEXTS)), READERS[contract]
    whole = read_in_batches(kind, reader, content)
    with pytest.MonkeyPatch.context() as patched:
        small_batches(patched, 2)
        parts = read_in_batches(kind, reader, content)
    assert len(parts) > len(whole)
    assert joined(kind, parts) == joined(kind, whole)
    total = sum((part.result for part in parts), Result())
    assert total == sum((part.result for part in whole), Result())
    assert total.tally.n == len(TEXTS)
    assert total.replaced >= {"deviation"} if contract.startswith("mcqa") else True
    readings = [reading.where for part in parts for reading in part.row_readings]
    assert readings == [reading.where for part in whole for reading in part.row_readings]


results = st.builds(
    Result,
    st.builds(
        Tally,
        compliant=st.integers(0, 9),
        failed=st.integers(0, 9),
        breakdowns=st.dictionaries(
            st.sampled_from(["deviation", "flags"]),
            st.from_type(type(Tally().errors)).map(lambda _: Tally().errors),
        ),
        lenses=st.dictionaries(st.text(max_size=2), st.integers(0, 9), max_size=2),
    ),
    st.integers(0, 9),
    st.frozensets(st.text(max_size=2), max_size=2),
)


@pytest.mark.slow
@settings(max_examples=50)
@given(results, results, results)
def test_adding_results_forgets_nothing_and_knows_no_order(one, two, three):
    assert (one + two) + three == one + (two + three)
    assert one + two == two + one
    assert one + Result() == one
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301


# --- a batch is read by itself ---


def test_a_batch_of_lines_can_be_kept_sent_and_read_again():
    reader = READERS["mcqa"]
    lines = json_lines(rows(TEXTS))
    way = line_batches.LineBatches(reader)
    with pytest.MonkeyPatch.context() as patched:
        small_batches(patched, 3)
        kept = list(way.batches([bytes_source("x", lines)]))
    assert [batch.first for batch in kept] == [1, 4, 7, 10, 13]
    once = [list(way.read_batch(batch).content) for batch in kept]
    sent = [pickle.loads(pickle.dumps(batch)) for batch in reversed(kept)]  # noqa: S301
    again = [pickle.loads(pickle.dumps(way.read_batch(batch))).content for batch in sent]  # noqa: S301
    assert once == again[::-1]


def test_a_fault_is_placed_whatever_the_batch():
    lines = json_lines(rows(TEXTS)) + b'{"raw_output": 7}\n'
    with pytest.MonkeyPatch.context() as patched:
        small_batches(patched, 3)
        way = line_batches.LineBatches(READERS["mcqa"])
        batch = list(way.batches([bytes_source("x", lines)]))[-1]
        with pytest.raises(InputError, match=r"^x:14: expected a text in 'raw_output', found 7"):
            way.read_batch(pickle.loads(pickle.dumps(batch)))  # noqa: S301


# --- engines ---


def backwards(read_batch, all_batches):
    """An engine that reads the last batch first and gives them back in order."""
    held = [pickle.loads(pickle.dumps(batch)) for batch in all_batches]  # noqa: S301
    done = {place: read_batch(held[place]) for place in reversed(range(len(held)))}
    return (done[place] for place in range(len(held)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", WRITERS)
def test_an_engine_is_one_function_and_one_line(monkeypatch, kind):
    assert ENGINES["local"] is local
    monkeypatch.setitem(ENGINES, "backwards", backwards)
    small_batches(monkeypatch, 2)
    content, written, found = WRITERS[kind](rows(TEXTS)), {}, {}
    for engine in ENGINES:
        source, out = bytes_source("x", content), io.BytesIO()
        way = batch_reader(common_format([source], None), RowReader(mcqa))
        found[engine] = read_files([source], way, out=out, engine=engine)
        written[engine] = out.getvalue()
    assert written["local"] == written["backwards"]
    assert found["local"] == found["backwards"]


def test_progress_tells_the_counts_and_the_bytes_of_the_file(tmp_path, monkeypatch):
    small_batches(monkeypatch, 2)
    for ending, compress in COMPRESS.items():
        path, told = tmp_path / f"x.jsonl{ending}", []
        path.write_bytes(compress(json_lines(rows(TEXTS))))
        source = file_source(path)
        way = batch_reader(common_format([source], None), READERS["mcqa"])
        read_files([source], way, out=None, progress=lambda tally, size, told=told: told.append((tally.n, size)))
        assert [n for n, _ in told] == [2, 4, 6, 8, 10, 12, 13]
        assert sum(size for _, size in told) == path.stat().st_size


# --- what comes out ---


def test_rows_come_out_in_the_kind_of_the_input():
    for kind in ("commas", "semicolons", "tabs"):
        content = WRITERS[kind]([{"a;b,c\td": "1", "raw_output": "x;y,\tz"}])
        source, out = bytes_source("x", content), io.BytesIO()
        read_files([source], batch_reader(FORMATS["CSV"], RowReader(text)), out=out)
        delimiter = {"commas": ",", "semicolons": ";", "tabs": "\t"}[kind]
        header, row = out.getvalue().decode().splitlines()
        assert header == delimiter.join(['"a;b,c\td"', "raw_output", "protocol_compliant"])
        assert row == delimiter.join(["1", '"x;y,\tz"', "true"])


def test_a_json_list_comes_out_as_json_lines():
    assert "a JSON list" not in BATCH_READERS
    source, out = bytes_source("x", b'[{"raw_output": "x",\n "n": 1.50, "protocol_compliant": 0}]'), io.BytesIO()
    way = batch_reader(common_format([source], None), RowReader(text))
    assert isinstance(way, RowBatches)
    assert read_files([source], way, out=out).replaced == {"protocol_compliant"}
    assert out.getvalue() == b'{"raw_output": "x", "n": 1.5, "protocol_compliant": true}\n'


@pytest.mark.parametrize("name", ["out.jsonl", "out.json", "out.txt", "out", "out.jsonl.gz"])
def test_the_name_of_the_output_may_fit_or_say_nothing(name):
    assert common_format([bytes_source("x", b'{"a": 1}')], Path(name)) is FORMATS["JSON Lines"]


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.tsv.zst"])
def test_the_name_of_the_output_may_not_say_otherwise(name):
    with pytest.raises(UsageError, match=r"^FILES and -o: expected files of one kind: .*, found x \(JSON Lines\)"):
        common_format([bytes_source("x", b'{"a": 1}')], Path(name))


def test_empty_files_among_others_have_no_rows():
    empty, full = bytes_source("e.parquet", b"\n"), bytes_source("x", json_lines(rows(TEXTS)))
    assert common_format([empty, full, empty], Path("out.jsonl")) is FORMATS["JSON Lines"]
    way = batch_reader(FORMATS["JSON Lines"], RowReader(text))
    assert read_files([empty, full, empty], way, out=None).tally.n == len(TEXTS)


def test_a_parquet_file_without_rows_has_columns():
    source, out = bytes_source("x", WRITERS["Parquet"](rows(TEXTS)[:1])), io.BytesIO()
    frame = next(islice(parquet_files.frames(source), 1))
    empty = io.BytesIO()
    frame.clear().write_parquet(empty)
    read_files([bytes_source("x", empty.getvalue())], FrameBatches(READERS["mcqa"]), out=out)
    assert pl.read_parquet(out.getvalue()).schema["protocol_compliant"] == pl.Boolean


# --- memory ---


class Nowhere(io.RawIOBase):
    def write(self, content: bytes) -> int:
        return len(content)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "ending", "contract"),
    [
        ("JSON Lines", "", "text"),
        ("JSON Lines", ".gz", "mcqa"),
        ("JSON Lines", ".zst", "mcqa"),
        ("commas", "", "mcqa"),
        ("commas", ".gz", "text"),
    ],
)
def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch, kind, ending, contract):
    monkeypatch.setattr(line_batches, "PIECES", 2)
    monkeypatch.setattr("affidavit.reading.row_cache.MEMORY", 100_000)  # the first file fills it
    chance, peaks = random.Random(1), []  # noqa: S311
    for count in (10_000, 40_000):
        path = tmp_path / f"{count}{ending}"
        texts = (str(chance.getrandbits(400)) if n % 5 == 0 else "hm" for n in range(count))
        path.write_bytes(COMPRESS[ending](WRITERS[kind]([{"raw_output": raw, "n": "1" * 60} for raw in texts])))
        source = file_source(path)
        way = batch_reader(common_format([source], None), RowReader(READERS[contract].contract))
        tracemalloc.start()
        read_files([source], way, out=Nowhere())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]


@pytest.mark.slow
def test_memory_does_not_grow_with_a_parquet_file(tmp_path):
    peaks = []
    for count in (200_000, 1_600_000):
        path = tmp_path / f"{count}.parquet"
        pl.select(n=pl.int_range(count)).with_columns(
            raw_output=pl.format("<answer>A</answer> {} {}", "n", pl.lit("words " * 30))
        ).write_parquet(path, row_group_size=4096)
        peaks.append(peak_memory("read", "mcqa", path, "-o", tmp_path / "out.parquet", cwd=tmp_path))
    assert peaks[1] < 1.5 * peaks[0]
