"""Only regular files of a study's directory are opened: whatever else has one of our names is refused by what it is."""

import os
import socket
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import pytest

from affidavit.archive.layout import FILES, FOLDERS
from affidavit.archive.regular_files import check_kinds, open_regular, open_to_read, other_kind
from affidavit.errors import StorageError


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening, chdir(path.parent):
        listening.bind(path.name)  # a socket's whole name may have a hundred letters, and folders have long ones


ODD: dict[str, Callable[[Path], object]] = {
    "a symbolic link": lambda path: path.symlink_to("/etc/hostname"),
    "a pipe": os.mkfifo,
    "a directory": Path.mkdir,
    "a socket": a_socket,
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("name", FILES)
def test_a_name_of_ours_must_be_a_regular_file(tmp_path, name, kind):
    ODD[kind](tmp_path / name)
    for writing in (False, True):
        with pytest.raises(StorageError) as caught:
            check_kinds(tmp_path, writing=writing)
        assert (caught.value.where, caught.value.found) == (str(tmp_path / name), kind)
        assert caught.value.exit_code == 5


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_of_ours_must_be_one_of_its_own(tmp_path, name):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="expected a folder of its own, found a symbolic link"):
        check_kinds(tmp_path / "study", writing=False)


@pytest.mark.parametrize("kind", ODD)
def test_a_segment_must_be_a_regular_file(tmp_path, kind):
    (tmp_path / "records").mkdir()
    ODD[kind](tmp_path / "records" / "000001.jsonl")
    with pytest.raises(StorageError, match=f"000001.jsonl: expected a regular file, found {kind}"):
        check_kinds(tmp_path, writing=False)


def test_a_file_with_a_second_name_is_read_and_not_written(tmp_path):
    mine, theirs = tmp_path / "mine", tmp_path / "attempts.jsonl"
    mine.write_text("mine")
    theirs.hardlink_to(mine)
    check_kinds(tmp_path, writing=False)
    with open_to_read(theirs) as stream:
        assert stream.read() == b"mine"
    with pytest.raises(StorageError, match=r"expected a file of this directory alone, found one with 2 names"):
        check_kinds(tmp_path, writing=True)
    with pytest.raises(StorageError, match="2 names"):
        open_regular(theirs, os.O_WRONLY | os.O_APPEND)
    assert mine.read_text() == "mine"


@pytest.mark.parametrize("kind", ODD)
def test_what_takes_the_place_of_a_file_after_the_check_is_not_opened_either(tmp_path, kind):
    ODD[kind](tmp_path / "seal.json")
    with pytest.raises(StorageError, match=f"expected a regular file, found {kind}"):
        open_to_read(tmp_path / "seal.json")
    assert other_kind(tmp_path / "seal.json") == kind


def test_what_is_not_there_is_not_there(tmp_path):
    check_kinds(tmp_path, writing=True)
    assert other_kind(tmp_path / "nothing") is None
    with pytest.raises(FileNotFoundError):
        open_to_read(tmp_path / "nothing")


def test_names_that_are_nobodys_are_left_alone(tmp_path):
    (tmp_path / "notes.md").symlink_to("/etc/hostname")
    check_kinds(tmp_path, writing=True)
