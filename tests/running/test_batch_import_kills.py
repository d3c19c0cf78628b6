"""An import that is killed, or loses power, loses nothing that was finished; the same command ends as if undisturbed."""

import random
import shutil
from pathlib import Path

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.running.batch_export import ExportOptions, export_study
from affidavit.running.batch_import import Imported, ImportOptions, import_answers
from affidavit.running.verify import verify
from affidavit.study.files import load
from support.batch_service import failed, requests_in, said, write_lines
from support.command import affidavit
from support.crash_disk import InstantDisk, State, TraceDisk, broken_by, kills, losses, whole_lines
from support.killed_command import calls, killed
from support.studies import fine, records, told_by_verify, write_study

pytestmark = pytest.mark.slow

COUNT, GROUP = 7, 3
"""Questions, and records that are synced together."""


def lines_for(requests: list[dict]) -> list[dict]:
    """Answers to all but the last, a failure among them, and one double, in an order of their own."""
    keys = [each["custom_id"] for each in requests]
    lines = [said(key, f"<answer>{'ABCD'[number % 4]}</answer>") for number, key in enumerate(keys[:-2])]
    return [*reversed(lines), failed(keys[-2], "late"), said(keys[0], "It is B.")]


def taken_in(folder: Path, disk: InstantDisk | None = None) -> Imported:
    options = ImportOptions(disk=disk or InstantDisk(), group=GROUP)
    return import_answers(StudyDirectory(folder / "out"), [folder / "answers.jsonl"], GivenContracts(), options)


def exported(folder: Path) -> None:
    write_study(folder, "http://127.0.0.1:9/v1", count=COUNT)
    export_study(load(folder / "study.toml"), folder / "out", ExportOptions(folder / "batch", disk=InstantDisk()))
    write_lines(folder / "answers.jsonl", lines_for(requests_in((folder / "batch").glob("*.jsonl"))))


class Undisturbed:
    """An import that nothing disturbed, with what it did to the disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        exported(folder)
        self.disk = TraceDisk(folder / "out")
        imported = taken_in(folder, self.disk)
        self.root, self.records = imported.root_sha256, len(records(folder / "out"))

    def goes_on_from(self, state: State) -> None:
        """Whatever was whole stays, nothing is there twice, and all ends as if nothing had happened."""
        out = self.folder / "out"
        state.rebuild(out)
        imported = taken_in(self.folder)
        assert imported.root_sha256 == self.root
        keys = [each["key"] for each in records(out)]
        assert len(set(keys)) == len(keys) == self.records
        assert imported.counts.added == self.records - whole_lines(state)
        found = verify(StudyDirectory(out), GivenContracts())
        assert found, found.differences


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Undisturbed:
    return Undisturbed(tmp_path_factory.mktemp("import"))


def test_an_import_goes_on_after_a_kill_at_any_call(undisturbed):
    assert broken_by(undisturbed.goes_on_from, kills(undisturbed.disk)) == []


def test_an_import_goes_on_after_any_loss_of_power(undisturbed):
    rng = random.Random(5)  # noqa: S311
    assert broken_by(undisturbed.goes_on_from, losses(undisturbed.disk, rng, 2)) == []


EXPORT = ("batch", "export", "study.toml", "--directory", "out", "-o", "batch")
TAKE_IN = ("batch", "import", "out", "answers.jsonl")


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_an_export_that_is_killed_at_any_name_leaves_whole_files_or_none(tmp_path):
    """Processes that are ended by SIGKILL before each call that makes, moves or takes away a name."""
    write_study(tmp_path / "whole", "http://127.0.0.1:9/v1", count=COUNT)
    shutil.copytree(tmp_path / "whole", tmp_path / "begun")
    last = calls(*EXPORT, cwd=tmp_path / "whole")
    for at in range(1, last + 1, 3):
        folder = shutil.copytree(tmp_path / "begun", tmp_path / f"killed-{at}")
        killed(at, *EXPORT, cwd=folder)
        if not (folder / "batch").exists():
            assert fine(affidavit(*EXPORT, cwd=folder), 0)
        assert content(folder / "batch") == content(tmp_path / "whole" / "batch")


def test_an_import_that_is_killed_at_any_name_goes_on(tmp_path):
    begun = tmp_path / "begun"
    exported(begun)
    lines = [said(each["custom_id"], "A") for each in requests_in((begun / "batch").iterdir())]
    write_lines(begun / "answers.jsonl", lines)
    whole = shutil.copytree(begun, tmp_path / "whole")
    last, root = calls(*TAKE_IN, cwd=whole), told_by_verify(whole / "out")["root_sha256"]
    for at in range(1, last + 1, 3):
        folder = shutil.copytree(begun, tmp_path / f"killed-{at}")
        killed(at, *TAKE_IN, cwd=folder)
        assert fine(affidavit(*TAKE_IN, cwd=folder), 0)
        told_of = told_by_verify(folder / "out")
        assert (told_of["root_sha256"], told_of["records"], told_of["differences"]) == (root, COUNT, [])
