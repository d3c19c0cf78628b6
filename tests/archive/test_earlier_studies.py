"""Studies that an earlier version of the package wrote, byte for byte: they verify, with the same root digests."""

import shutil
from pathlib import Path

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.registry import task_contract_named
from affidavit.running.verify import verify

STUDIES = Path(__file__).parents[1] / "golden" / "studies"
ROOTS = {
    "imported": "c6ca3d291362cc09281f36d37bb686736e6ad9e1d6f2be8a6fc6cfa73761b187",
    "mixed": "75121dd4bb8992ad4055475837a487448bbfeb022a71966a0f66900fe6eba8f2",
    "planned": "525198c96a6652d2915002c9e48873a51e910b461becb33d47db3362b07ccff3",
}
"""Outputs from elsewhere, judged; multiple choice in shuffled order, an open task and a contract of a user's own, with
three samples and a control; a planned study, judged."""


@pytest.fixture(params=ROOTS)
def study(request, tmp_path) -> StudyDirectory:
    shutil.copytree(STUDIES / request.param, tmp_path / request.param)
    return StudyDirectory(tmp_path / request.param)


def test_they_verify_with_the_same_root_digest(study):
    found = verify(study, task_contract_named, beside=STUDIES)
    assert (found.sealed, found.differing, found.differences) == (True, 0, [])
    assert found.root_sha256 == ROOTS[study.path.name]
    assert found.records > 0


def test_a_change_in_one_of_them_is_still_found(study):
    (segment, *_) = sorted((study.path / "records").iterdir())
    content = segment.read_bytes()
    at = content.index(b'"raw_output":"') + len(b'"raw_output":"')
    segment.write_bytes(content[:at] + b"!" + content[at + 1 :])
    with pytest.raises(Exception, match=r"records/000001\.jsonl:1"):
        verify(study, task_contract_named, beside=STUDIES)
