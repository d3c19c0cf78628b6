"""The copy that is made on the way is the one that is made of the sealed journal."""

import pytest

from affidavit.archive import copy_writer, parquet_copy
from affidavit.archive.copy_writer import CopyWriter
from affidavit.archive.parquet_copy import copied_frame, copy_of, make_copy
from support.kept_outputs import kept
from support.outputs_elsewhere import write_jsonl

ROWS = [{"id": f"q{n}", "raw_output": (None, "<answer>A</answer>", "é")[n % 3], "answer": "A"} for n in range(30)]


@pytest.fixture
def few_are_many(monkeypatch, tmp_path):
    monkeypatch.setenv("AFFIDAVIT_CACHE", str(tmp_path / "cache"))
    for module in (copy_writer, parquet_copy):
        monkeypatch.setattr(module, "WORTH_A_COPY", 10)


@pytest.mark.slow
@pytest.mark.usefixtures("few_are_many")
def test_a_copy_made_on_the_way_is_that_of_the_journal(tmp_path):
    done, _ = kept(tmp_path / "out", write_jsonl(tmp_path / "rows.jsonl", ROWS))
    first = copied_frame(done.directory, done.seal).collect()
    assert len(first) == len(ROWS)
    copy_of(done.directory, done.seal).unlink()
    make_copy(done.directory)
    assert copied_frame(done.directory, done.seal).collect().equals(first)
    assert not list((tmp_path / "cache").rglob("*.arrow")), "nothing else is left"


def test_few_records_get_no_copy_and_leave_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("AFFIDAVIT_CACHE", str(tmp_path / "cache"))
    done, _ = kept(tmp_path / "out", write_jsonl(tmp_path / "rows.jsonl", ROWS))
    assert copied_frame(done.directory, done.seal) is None
    assert not CopyWriter().keep(done.directory, done.seal)
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
