"""Whatever is written under a name is there whole, or what was there before is."""

import os
import re
import stat
from hashlib import sha256
from pathlib import Path

import pytest

from affidavit.archive.disk import (
    WRITTEN_AT_ONCE,
    Disk,
    digests_below,
    new_directories,
    new_file,
    new_path,
    storage_errors,
    write_below,
)
from affidavit.errors import StorageError, UsageError


class Noting(Disk):
    """Writes down which calls are made, in which order."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def create(self, path):
        self.calls.append("create")
        return super().create(path)

    def write(self, file, content):
        self.calls.append("write")
        super().write(file, content)

    def sync(self, file):
        self.calls.append("sync")
        super().sync(file)

    def replace(self, old, new):
        self.calls.append("replace")
        super().replace(old, new)

    def sync_directory(self, path):
        self.calls.append("sync_directory")
        super().sync_directory(path)


@pytest.mark.slow
def test_a_file_is_on_the_disk_before_it_takes_its_name_and_its_name_before_anybody_goes_on(tmp_path):
    disk = Noting()
    (tmp_path / ".x.partial").write_bytes(b"left by a kill")
    disk.place(tmp_path / "x", b"content")
    assert disk.calls == ["create", "write", "sync", "replace", "sync_directory"]
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_bytes() == b"content"


@pytest.mark.parametrize(("there", "then"), [(b"", b"b\n"), (b"a\n", b"a\nb\n"), (b"a\nto", b"a\nto\nb\n")])
def test_a_line_that_a_kill_cut_short_ends_where_the_next_begins(tmp_path, there, then):
    path = tmp_path / "lines"
    path.write_bytes(there)
    disk = Disk()
    file = disk.reopen_lines(path)
    disk.write(file, b"b\n")
    disk.close(file)
    assert path.read_bytes() == then


@pytest.mark.parametrize("size", [0, 1, WRITTEN_AT_ONCE, WRITTEN_AT_ONCE + 1, 3 * WRITTEN_AT_ONCE + 7])
def test_whatever_its_length_all_of_the_content_is_written(tmp_path, size):
    content, disk = bytes(range(251)) * (size // 251 + 1), Disk()
    file = disk.create(tmp_path / "x")
    disk.write(file, memoryview(content)[:size])
    disk.close(file)
    assert (tmp_path / "x").read_bytes() == content[:size]


class BrokenError(Exception):
    """Whoever writes gives up."""


def fails_within(context) -> None:
    """Begin to write, and fail."""
    with context as made:
        made.write(b"half") if hasattr(made, "write") else made.write_bytes(b"half")
        raise BrokenError


@pytest.mark.parametrize("way", [new_file, new_path])
@pytest.mark.parametrize("old", [None, b"old"])
def test_a_block_that_fails_leaves_what_was_there_and_no_parts(tmp_path, way, old):
    path = tmp_path / "out"
    if old is not None:
        path.write_bytes(old)
    with pytest.raises(BrokenError):
        fails_within(way(path))
    assert [each.read_bytes() for each in tmp_path.iterdir()] == ([] if old is None else [old])


def test_a_new_file_has_the_rights_of_the_old_one_and_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").touch(0o640)
    (tmp_path / "link").symlink_to("real")
    with new_file(tmp_path / "link") as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (".", "found a directory"),
        ("no/where", "found no directory"),
        ("loop", "found links that lead in a circle|found Too many levels"),
        ("x" * 300, "found File name too long"),
    ],
)
def test_a_name_that_nothing_can_be_written_to_is_refused_before_anything_is_made(tmp_path, name, why):
    (tmp_path / "loop").symlink_to("loop")
    with (
        pytest.raises(UsageError, match=f"expected the name of a file to write, {why}"),
        new_file(tmp_path / name),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["loop"]


def test_a_device_is_written_to_as_it_is_and_is_no_place_for_a_file():
    null = Path(os.devnull)
    with new_file(null) as stream:
        stream.write(b"gone")
    with pytest.raises(UsageError, match="the name of a file to write, found a device or a pipe"), new_path(null):
        pass


def test_what_the_system_refuses_is_told_with_its_place(tmp_path):
    why = "here: expected to write it, found No such file or directory\nTry."
    with pytest.raises(StorageError, match=re.escape(why)), storage_errors("here", hint="Try."):
        (tmp_path / "no" / "where").write_bytes(b"")
    with pytest.raises(BrokenPipeError), storage_errors("here"):
        raise BrokenPipeError


def test_directories_appear_together_or_not_at_all(tmp_path):
    root = tmp_path / "root"
    with new_directories(root, ("a", "b")) as made:
        (made / "a" / "x").write_bytes(b"1")
        assert not (root / "a").exists()
    assert (root / "a" / "x").read_bytes() == b"1"
    assert sorted(path.name for path in root.iterdir()) == ["a", "b"]
    with pytest.raises(UsageError, match="expected a name that is free, found something there already"):
        new_directories(root, ("b", "c")).__enter__()
    with pytest.raises(BrokenError), new_directories(tmp_path / "other", ("a",)):
        raise BrokenError
    assert not (tmp_path / "other").exists()


def test_directories_made_anew_take_the_place_of_old_ones_and_of_what_a_kill_left(tmp_path):
    for name in ("a", ".anew.partial"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "old").write_bytes(b"")
    with new_directories(tmp_path, ("a",), anew=True) as made:
        (made / "a" / "new").write_bytes(b"")
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*"))] == ["a", "a/new"]


def test_a_path_may_be_longer_than_the_system_takes_in_one_piece(tmp_path):
    parts = ["x" * 200] * 40
    write_below(tmp_path, [*parts, "file"], b"deep")
    ((name, digest),) = digests_below(tmp_path)
    assert name == "/".join([*parts, "file"])
    assert digest == sha256(b"deep").hexdigest()
    assert len(name) > 4096


def test_links_and_devices_have_no_digest(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    found = dict(digests_below(tmp_path))
    assert (found["link"], found["pipe"]) == ("", "")
    assert found["file"].startswith("e3b0c44298fc1c14")
    assert list(digests_below(tmp_path / "nowhere")) == []
