"""`judging.json`: what was frozen comes back, and what is no judging is refused by file and line."""

import shutil
from pathlib import Path

import pytest

from affidavit.archive.checked_lines import checked_fields, checked_line
from affidavit.archive.disk import Disk
from affidavit.archive.study_directory import NotArrived, StudyDirectory
from affidavit.errors import StorageError
from affidavit.judging.directory import read_judging, write_judging

STUDIES = Path(__file__).parents[1] / "golden" / "studies"


@pytest.fixture
def directory(tmp_path) -> StudyDirectory:
    return StudyDirectory(shutil.copytree(STUDIES / "planned", tmp_path / "planned"))


def test_what_was_frozen_is_written_again_to_the_byte(directory):
    before = (directory.path / "judging.json").read_bytes()
    judging = read_judging(directory)
    assert [judge.name for judge in judging.judges] == ["alpha", "beta"]
    assert judging.not_arrived == (NotArrived("a1", "firm", "beta", 0, "bad_request"),)
    write_judging(directory, judging, Disk())
    assert (directory.path / "judging.json").read_bytes() == before


def test_a_study_that_nobody_judged_has_none():
    assert read_judging(StudyDirectory(STUDIES / "own")) is None


MISTYPED = {
    "no terms": ({"terms": {}}, "the fields of a judging"),
    "no judges": ({"judges": None}, "the fields of a judging"),
    "a judge without an identity": ({"judges": {"alpha": {"decoding": {}}}}, "the fields of a judging"),
    "outputs that are numbers": ({"outputs": [1]}, "the fields of a judging"),
    "a count in words": ({"targets": {"alpha": "many"}}, "the fields of a judging"),
    "a missing output without a reason": ({"not_arrived": [{"question_id": "a1"}]}, "the fields of a judging"),
    "other outputs": ({"outputs": ["0" * 64]}, "terms with the digest "),
}


@pytest.mark.parametrize(("changed", "expected"), MISTYPED.values(), ids=MISTYPED)
def test_a_judging_of_other_types_is_corruption_although_its_checksum_fits(directory, changed, expected):
    path = directory.path / "judging.json"
    path.write_bytes(checked_line({**checked_fields(path.read_bytes()), **changed}))
    with pytest.raises(StorageError) as caught:
        read_judging(directory)
    assert caught.value.where == f"{path}:1"
    assert caught.value.expected.startswith(expected)
