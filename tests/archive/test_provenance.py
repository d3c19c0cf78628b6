"""What a result depends on beside the study."""

import json
import platform
import subprocess

import pytest

import affidavit
from affidavit.archive import provenance


@pytest.fixture(autouse=True)
def _forgotten() -> None:
    """The state of a directory is looked at once in a process."""
    provenance.git_state.cache_clear()


def test_versions_are_ours_pythons_and_those_of_the_packages_that_take_part(monkeypatch):
    found = provenance.versions()
    assert (found["affidavit"], found["python"]) == (affidavit.__version__, platform.python_version())
    assert all(isinstance(version, str) for version in found.values())
    monkeypatch.setattr(provenance, "_PACKAGES", ("no-such-package-at-all",))
    assert provenance.versions()["no-such-package-at-all"] is None


def test_the_machine_is_told_without_its_name():
    found = provenance.machine()
    assert json.dumps(found)
    assert platform.node() not in found.values()


@pytest.mark.parametrize(("changed", "expected"), [("", False), (" M a.py", True)])
def test_a_repository_is_told_by_its_commit_and_whether_anything_is_changed(
    tmp_path, monkeypatch, changed, expected
):
    said = {"rev-parse": "0123abc", "status": changed}
    monkeypatch.setattr(provenance, "_git", lambda directory, *words: said[words[0]])
    assert provenance.git_state(tmp_path) == {"commit": "0123abc", "changed": expected}


@pytest.mark.parametrize(
    "error",
    [FileNotFoundError("git"), subprocess.CalledProcessError(128, "git"), subprocess.TimeoutExpired("git", 5)],
)
def test_without_a_repository_or_without_git_nothing_is_said(tmp_path, monkeypatch, error):
    def fails(*_):
        raise error

    monkeypatch.setattr(provenance, "_git", fails)
    assert provenance.git_state(tmp_path) is None
