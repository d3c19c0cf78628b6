"""The files of a copy: all of them as they were written, or none is used."""

from hashlib import sha256

import polars as pl
import pytest

from affidavit.archive.copy_parts import CopyPart, about, part_path, place_parts, whole_parts
from affidavit.archive.parquet_file import ParquetFile


def placed(folder, *contents: bytes):
    parts = []
    for place, content in enumerate(contents):
        path = folder / f".{place}.partial"
        path.write_bytes(content)
        parts.append(CopyPart(path, 1, sha256(content).hexdigest()))
    place_parts(folder / "c.parquet", parts)
    return folder / "c.parquet"


@pytest.mark.parametrize("contents", [(b"a",), (b"a", b"", b"c")])
def test_parts_are_found_in_their_order(tmp_path, contents):
    copy = placed(tmp_path, *contents)
    found = whole_parts(copy)
    assert [path.read_bytes() for path in found] == list(contents)
    assert found[0] == copy
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.parametrize("place", [0, 1])
def test_a_part_that_is_not_as_it_was_written_leaves_none(tmp_path, place):
    copy = placed(tmp_path, b"a", b"b")
    part_path(copy, place).write_bytes(b"x")
    assert whole_parts(copy) is None
    part_path(copy, place).unlink()
    assert whole_parts(copy) is None
    about(copy).write_bytes(b"{}")
    assert whole_parts(copy) is None


def test_frames_become_one_file(tmp_path):
    file = ParquetFile(tmp_path / "f", {"a": pl.Int64()})
    assert all(file.takes(pl.DataFrame({"a": [n]})) for n in range(3))
    assert file.ended()
    assert pl.read_parquet(tmp_path / "f")["a"].to_list() == [0, 1, 2]
    file.drop()
    assert not (tmp_path / "f").exists()
