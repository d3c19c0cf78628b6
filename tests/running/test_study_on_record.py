"""A study on record, of several contracts, a user's own among them: it verifies as it did when it was written."""

import shutil
from pathlib import Path

import pytest

from affidavit.archive.checked_lines import checked_fields, checked_line
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.errors import StorageError
from affidavit.running.rederivation import Rederivation
from affidavit.running.verify import verify

STUDIES = Path(__file__).parents[1] / "golden" / "studies"
OWN = """\
from affidavit import AnswerReading, Validation


class Own:
    name, version, params = "own", 1, {}

    def instruction(self, item=None):
        return "Say the number."

    def read(self, raw, item=None):
        return AnswerReading(raw.strip() or None)

    def validate(self, reading, item):
        return Validation(
            reading.extracted_answer == item["answer"],
            "ok" if reading.extracted_answer == item["answer"] else "wrong",
        )

    def grammar(self, item=None):
        return None


own = Own()
"""
ROOT = "9ba49d4db24b5bcd607fc6d5537c898d0de3e2fa00e7c297fb2e7987f88ab4d0"


@pytest.fixture
def study(tmp_path) -> StudyDirectory:
    """Multiple choice in shuffled order, an open task and a contract of a user's own; three samples, a control."""
    (tmp_path / "own.py").write_text(OWN)
    return StudyDirectory(shutil.copytree(STUDIES / "mixed", tmp_path / "mixed"))


def test_it_verifies_with_the_root_digest_that_it_had(study):
    found = verify(study, GivenContracts([f"{study.path.parent}/own.py:own"]))
    assert (found.sealed, found.differing, found.differences) == (True, 0, [])
    assert (found.root_sha256, found.records) == (ROOT, 90)


def test_a_change_in_it_is_found(study):
    segment = study.path / "records" / "000001.jsonl"
    content = segment.read_bytes()
    at = content.index(b'"raw_output":"') + len(b'"raw_output":"')
    segment.write_bytes(content[:at] + b"!" + content[at + 1 :])
    with pytest.raises(StorageError, match=r"records/000001\.jsonl:1: expected"):
        verify(study, GivenContracts([f"{study.path.parent}/own.py:own"]))


def test_a_study_of_the_first_format_is_refused_with_its_version(study):
    fields = checked_fields((study.path / "study.json").read_bytes())
    (study.path / "study.json").write_bytes(checked_line({**fields, "v": 1}))
    with pytest.raises(StorageError, match=r"study\.json:1: expected version 3 of the format, found version 1"):
        study.frozen()


def test_a_summary_that_does_not_follow_is_named_with_its_file(tmp_path):
    """The first of them: each rests on those before it."""
    directory = StudyDirectory(shutil.copytree(STUDIES / "imported", tmp_path / "imported"))
    study, seal = directory.frozen(), directory.seal()
    again = Rederivation(directory, study, None)
    where, said = again.other_summary(seal)
    assert (where, said) == (study.where, "it describes other outputs than the records are"), "none was shown"
    for line in directory.walk():
        assert again.difference(line) is None
    assert again.other_summary(seal) is None
    (directory.path / "used_prompt_manifest.md").write_text("another")
    assert again.other_summary(seal) == (
        str(directory.path / "used_prompt_manifest.md"), "it is not the list of the prompts in the records",
    )  # fmt: skip
