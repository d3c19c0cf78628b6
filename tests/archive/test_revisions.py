"""The files of a plan that has grown: their names, their order, and what is refused."""

import pytest

from affidavit.archive.revisions import is_revision_name, last_revision, revision_names
from affidavit.errors import StorageError


def test_a_plan_that_has_not_grown_has_one_revision(tmp_path):
    assert (last_revision(tmp_path), revision_names(tmp_path)) == (1, [])


def test_revisions_are_counted_by_their_files(tmp_path):
    folder = tmp_path / "revisions"
    folder.mkdir()
    for name in ("000002.json", "000003.json", "000003.items.jsonl", "000004.items.jsonl"):
        (folder / name).touch()
    assert last_revision(tmp_path) == 3
    names = ["revisions/000002.json", "revisions/000003.json", "revisions/000003.items.jsonl"]
    assert revision_names(tmp_path) == names, "items whose revision never came to be are none"


@pytest.mark.parametrize("name", ["000001.json", "000003.json", "2.json", "000002-copy.json"])
def test_a_gap_in_the_numbers_is_corruption(tmp_path, name):
    (tmp_path / "revisions").mkdir()
    (tmp_path / "revisions" / name).touch()
    with pytest.raises(StorageError) as caught:
        last_revision(tmp_path)
    assert (caught.value.expected, caught.value.found) == ("the revision 000002.json", "another name")


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("revisions/000002.json", True),
        ("revisions/000002.items.jsonl", True),
        ("revisions/../seal.json", False),
        ("revisions/2.json", False),
        ("revisions/000002.json\n", False),
        ("/revisions/000002.json", False),
    ],
)
def test_only_such_names_are_sealed(name, fits):
    assert is_revision_name(name) is fits
