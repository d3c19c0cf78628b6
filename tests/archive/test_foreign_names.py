"""Whatever of somebody else's has a name that a study uses is refused, and stays as it was."""

from pathlib import Path

import pytest

from affidavit.archive.checked_lines import checked_line
from affidavit.archive.disk import Disk
from affidavit.archive.foreign_names import refuse_foreign_names
from affidavit.archive.layout import FILES, FOLDERS, ITEMS, LOCK, RECORDS, SEAL, STUDY
from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import UsageError


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("name", [name for name in FILES if name not in (STUDY, SEAL)])
def test_a_file_of_somebody_else_is_refused(tmp_path, name):
    (tmp_path / name).write_text("mine\n")
    with pytest.raises(UsageError, match=rf"found {name}, which is of no study"):
        refuse_foreign_names(tmp_path)
    with pytest.raises(UsageError), StudyDirectory(tmp_path).made(Disk()):
        pytest.fail("nothing may be done in it")
    assert (tmp_path / name).read_text() == "mine\n"
    assert names_in(tmp_path) == [name]


@pytest.mark.parametrize("name", [name for name in FOLDERS if name != RECORDS])
def test_a_folder_of_somebody_else_is_refused(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(UsageError, match=rf"found {name}, which is of no study"):
        refuse_foreign_names(tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("notes.txt", b"mine"),
        (LOCK, b""),
        (LOCK, b'{"pid": 1, "host": "here", "start": "2026-01-01"}\n'),
        (ITEMS, checked_line({"task": "quiz", "id": "q1"})),
    ],
    ids=["another name", "a lock before its introduction", "a lock that was left", "items before their plan"],
)
def test_what_is_in_nobodys_way_is_not_refused(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    refuse_foreign_names(tmp_path)


@pytest.mark.parametrize("name", [STUDY, SEAL, RECORDS])
def test_a_study_and_what_is_left_of_one_are_looked_at_elsewhere(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / ITEMS).write_text("anything")
    refuse_foreign_names(tmp_path)


def test_a_directory_that_was_there_stays(tmp_path):
    for there in (True, False):
        place = tmp_path / str(there)
        if there:
            place.mkdir()
        with StudyDirectory(place).made(Disk()):
            assert names_in(place) == [LOCK]
        assert place.is_dir() == there
        assert not there or names_in(place) == []
