"""The directory for sheets: chosen before anything is frozen, nothing in it written over."""

import pytest

from affidavit.commands.sheet_folder import SheetFolder
from affidavit.errors import UsageError
from affidavit.judging.label_draws import LabelDraw, Stratum
from affidavit.judging.label_questions import label_question
from affidavit.judging.plan import Output
from affidavit.running.label_draw import LabelSheet

DRAW = LabelDraw(
    "correct", None, ("t",), (), 1, 1, 1, "2026-01-31", 1, "0" * 64, 1, (Stratum((), 1, ("a" * 64,)),)
)
SHEET = LabelSheet(
    "s",
    1,
    1,
    label_question("correct", None, None),
    (),
    [Output("o-" + "0" * 32, None, "q", "c", "m", "m", 0, "text", "task")],
)


def folder_of(tmp_path, place=None) -> SheetFolder:
    found = SheetFolder(tmp_path / "study", place)
    found.check(DRAW, [SHEET])
    return found


def test_nothing_is_written_by_a_check_but_the_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = folder_of(tmp_path)
    assert [path.as_posix() for path in folder.paths] == ["study-labels/correct.csv", "study-labels/correct.html"]
    assert list((tmp_path / "study-labels").iterdir()) == []
    folder.write()
    assert all(path.is_file() for path in folder.paths)


def test_without_a_name_the_first_directory_that_has_no_other_sheet_is_taken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = folder_of(tmp_path)
    first.write()
    assert folder_of(tmp_path).paths == first.paths, "the same sheets are there"
    first.paths[1].unlink()
    assert folder_of(tmp_path).paths == first.paths, "one of them is"
    first.paths[0].write_text("filled in")
    assert folder_of(tmp_path).paths[0].parent.name == "study-labels-2"


def test_what_came_since_the_check_is_not_written_over(tmp_path):
    folder = folder_of(tmp_path, tmp_path / "sheets")
    folder.paths[0].write_text("filled in")
    with pytest.raises(UsageError, match="expected no other sheet there"):
        folder.write()
    assert folder.paths[0].read_text() == "filled in"


def test_a_link_in_the_place_of_a_sheet_is_refused(tmp_path):
    (tmp_path / "sheets").mkdir()
    (tmp_path / "sheets" / "correct.html").symlink_to(tmp_path / "else")
    with pytest.raises(UsageError, match="expected no other sheet there"):
        folder_of(tmp_path, tmp_path / "sheets")
