"""Rows that several processes make records of become the study that one process makes of them, to the byte."""

import gzip
import json
import os
import signal
from pathlib import Path

import pytest

from affidavit.archive import copy_writer
from affidavit.archive.parquet_copy import copied_frame, copy_of, make_copy
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.frozen_contract import named_contract
from affidavit.errors import InputError, UsageError
from affidavit.reading.worker_process import workers
from affidavit.running.import_outputs import keep_outputs, name_in
from affidavit.running.import_workers import ImportWorkers
from support.kept_outputs import kept, opened
from support.outputs_elsewhere import write_jsonl
from support.studies import every_byte
from support.written_study import Hasty

pytestmark = pytest.mark.slow  # each starts processes that load a library or two

TEXTS = ("<answer>A</answer>", "B.", None, 'say "B"\n', "é — ☃", "\x00\x7f", "\\u0041", "")
ROWS = [
    {
        "id": f"q{number // 2 % 40}",
        "model": ("m", "n")[number % 2],
        "answer": ("A", None)[number % 7 == 0],
        "subject": "x" * (number % 5),
        "raw_output": TEXTS[number % len(TEXTS)],
    }
    for number in range(300)
]


def kept_by_workers(out: Path, *paths: Path, begun, range_bytes: int = 2_000):
    directory, files = StudyDirectory(out), opened(*paths)
    shared = ImportWorkers(begun, range_bytes)
    with directory.made(Hasty()):
        return keep_outputs(directory, files.imported(name_in(directory), named_contract("mcqa"), shared), Hasty())


def same_study(folder: Path, *paths: Path, range_bytes: int = 2_000) -> StudyDirectory:
    """Both ways give the same bytes; the study is given back."""
    with workers("import", 2) as begun:
        shared = kept_by_workers(folder / "shared" / "out", *paths, begun=begun, range_bytes=range_bytes)
    alone, _ = kept(folder / "alone" / "out", *paths)
    records = [each.directory.path / "records" / "000001.jsonl" for each in (alone, shared)]
    assert records[0].read_bytes() == records[1].read_bytes()
    assert shared.seal == alone.seal
    assert {cell: tally.n for cell, tally in shared.tallies.items()} == {
        cell: tally.n for cell, tally in alone.tallies.items()
    }
    assert shared.samples == alone.samples
    return shared.directory


@pytest.mark.parametrize("range_bytes", [1, 2_000, 1 << 20])
def test_records_seal_and_counts_are_those_of_one_process(tmp_path, range_bytes):
    rows = ROWS[:20] if range_bytes == 1 else ROWS
    same_study(tmp_path, write_jsonl(tmp_path / "rows.jsonl", rows), range_bytes=range_bytes)


def test_lines_that_are_not_usual_are_made_records_of_here(tmp_path):
    odd = [*ROWS[:100], {**ROWS[100], "more": 1}, *ROWS[101:200], {**ROWS[0], "subject": 5}, *ROWS[200:]]
    same_study(tmp_path, write_jsonl(tmp_path / "rows.jsonl", odd))


def test_several_files_a_mark_at_the_start_and_no_line_feed_at_the_end(tmp_path):
    first = write_jsonl(tmp_path / "a.jsonl", ROWS[:150])
    (tmp_path / "b.jsonl").write_bytes(
        b"\xef\xbb\xbf" + "\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS[150:]).encode()
    )
    same_study(tmp_path, first, tmp_path / "b.jsonl")


def test_a_bad_row_is_refused_with_its_place_and_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("AFFIDAVIT_CACHE", str(tmp_path / "cache"))
    path = write_jsonl(tmp_path / "rows.jsonl", [*ROWS[:200], {"id": "q"}, *ROWS[200:]])
    with workers("import", 2) as begun, pytest.raises(InputError, match=r"rows\.jsonl:201: expected"):
        kept_by_workers(tmp_path / "out", path, begun=begun)
    assert not every_byte(tmp_path / "out")
    assert not list((tmp_path / "cache").iterdir()), "nobody writes columns any more"


def test_files_that_are_packed_are_read_by_one_process(tmp_path):
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(write_jsonl(tmp_path / "rows.jsonl", ROWS).read_bytes()))
    same_study(tmp_path, path)


def test_a_worker_that_was_killed_is_told_of_and_nothing_is_kept(tmp_path):
    path = write_jsonl(tmp_path / "rows.jsonl", ROWS)
    with workers("import", 2) as begun:
        os.kill(begun[1].pid, signal.SIGKILL)
        with pytest.raises(UsageError, match=r"worker process \d+: expected .* found an end by SIGKILL"):
            kept_by_workers(tmp_path / "out", path, begun=begun)
    assert not every_byte(tmp_path / "out")


def test_the_columns_of_workers_are_those_of_the_journal(tmp_path, monkeypatch):
    monkeypatch.setenv("AFFIDAVIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(copy_writer, "WORTH_A_COPY", 10)
    rows = [*ROWS[:100], {**ROWS[100], "more": 1}, *ROWS[101:]]
    path = write_jsonl(tmp_path / "rows.jsonl", rows)
    with workers("import", 2) as begun:
        done = kept_by_workers(tmp_path / "out", path, begun=begun)
    files = sorted(path.name for path in (tmp_path / "cache").iterdir())
    assert len(files) > 4
    assert not [name for name in files if name.endswith(".partial")]
    found = copied_frame(done.directory, done.seal).collect()
    copy_of(done.directory, done.seal).unlink()
    assert copied_frame(done.directory, done.seal) is None, "a part is missing"
    make_copy(done.directory)
    assert copied_frame(done.directory, done.seal).collect().equals(found)
