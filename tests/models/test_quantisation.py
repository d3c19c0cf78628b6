"""Weights quantised once more: named for what they are, never written over another, or refused with what to do."""

import sys
from pathlib import Path

import pytest

from affidavit.errors import InputError, UsageError
from affidavit.models import weights
from affidavit.models.quantisation import quantize
from support.weight_files import gguf_bytes, k_quantised, small_model


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    """A models directory of its own for each test."""
    monkeypatch.setenv("AFFIDAVIT_MODELS", str(tmp_path / "models"))
    (tmp_path / "models").mkdir()
    return tmp_path / "models"


def test_quantize_refuses_what_it_cannot_do(folder):
    (folder / "m.gguf").write_bytes(gguf_bytes([8, 0], {}))
    with pytest.raises(UsageError, match="Q4_0 or Q8_0"):
        quantize(folder / "m.gguf", "Q3_K")
    with pytest.raises(UsageError, match="only F32, Q8_0"):
        quantize(folder / "m.gguf", "Q8_0")


def test_quantize_without_the_library_says_what_to_install(folder, monkeypatch):
    (folder / "m.gguf").write_bytes(gguf_bytes([3, 0], {}))
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(UsageError, match=r"pip install 'affidavit\[embedded\]'"):
        quantize(folder / "m.gguf", "Q8_0")
    assert [path.name for path in folder.glob("*.gguf")] == ["m.gguf"]


def test_quantised_once_then_twice_each_says_so_and_none_is_written_over(folder, tmp_path):
    source = small_model(tmp_path / "m-f16.gguf")
    once = quantize(source, "Q8_0")
    assert once.name == "m-q8_0.gguf"
    assert (found := weights.describe(once)).quantisation == "Q8_0 (1), F32 (1)"
    assert found.quantised_twice_from is None
    twice = quantize(once, "Q4_0")
    assert twice.name == "m-q4_0-from-q8_0.gguf"
    assert weights.describe(twice).quantised_twice_from == weights.digest_of(once)
    before = twice.stat().st_ino
    assert quantize(once, "Q4_0") == twice
    assert twice.stat().st_ino == before, "not made again"
    other = tmp_path / "m.Q8_0.gguf"
    other.write_bytes(once.read_bytes() + bytes(32))
    for taken, kind in ((other, "Q4_0"), (source, "Q8_0")):
        with pytest.raises(UsageError, match="a name that is free"):
            quantize(taken, kind)
    assert list(folder.glob("*.partial")) == []


def test_quantize_never_replaces_the_file_that_it_reads(folder):
    source = small_model(folder / "m-q8_0.gguf")  # its name is wrong
    content = source.read_bytes()
    with pytest.raises(UsageError, match="a name that is free"):
        quantize(source, "Q8_0")
    assert source.read_bytes() == content


def test_quantize_refuses_what_the_library_cannot_read(folder, tmp_path):
    small = small_model(tmp_path / "m.gguf", columns=31)
    with pytest.raises(UsageError, match="none with two dimensions and rows of a multiple of 32"):
        quantize(small, "Q8_0")
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(small.read_bytes()[:-8])
    with pytest.raises(InputError, match="a whole GGUF file"):
        quantize(cut, "Q8_0")
    (tmp_path / "bare.gguf").write_bytes(gguf_bytes([3], {}) + bytes(4096))
    with pytest.raises(InputError, match=r"general\.architecture"):
        quantize(tmp_path / "bare.gguf", "Q8_0")
    (tmp_path / "k.gguf").write_bytes(k_quantised())
    with pytest.raises(InputError, match="can unpack, found Q8_K"):
        quantize(tmp_path / "k.gguf", "Q8_0")
    assert list(folder.glob("*.gguf")) == []
    assert list(folder.glob(".*.partial")) == []
