"""Files of one checked line: given back as they were frozen, refused if they are anything else."""

import pytest

from affidavit.archive.checked_lines import checked_line
from affidavit.archive.disk import Disk
from affidavit.archive.frozen_files import freeze_fields, frozen_fields
from affidavit.archive.versions import FORMAT
from affidavit.errors import StorageError


def test_what_was_frozen_is_given_back(tmp_path):
    path = tmp_path / "labels.json"
    assert frozen_fields(path, "the draws") is None
    freeze_fields(path, {"kind": "labels", "v": FORMAT, "draws": []}, Disk())
    assert frozen_fields(path, "the draws") == {"kind": "labels", "v": FORMAT, "draws": []}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{}\n", "expected the draws, found a line that does not fit its checksum"),
        (b"", "expected the draws"),
        (checked_line({"v": FORMAT, "draws": []})[:-2], "expected the draws"),
        (checked_line({"v": FORMAT}) * 2, "expected the draws"),
        (checked_line({"v": FORMAT + 1}), "version"),
    ],
)
def test_anything_else_is_corruption_with_its_place(tmp_path, content, why):
    path = tmp_path / "labels.json"
    path.write_bytes(content)
    with pytest.raises(StorageError, match=why):
        frozen_fields(path, "the draws")
