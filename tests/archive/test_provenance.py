"""What a result depends on beside the study."""

import json
import platform
import subprocess
from pathlib import Path

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


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(["git", "-C", folder, *who, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "a.txt").write_text("a")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def test_a_repository_is_told_by_its_commit_and_whether_anything_is_changed(repository):
    found = provenance.git_state(repository)
    assert (len(found["commit"]), found["changed"]) == (40, False)
    provenance.git_state.cache_clear()
    (repository / "a.txt").write_text("b")
    assert provenance.git_state(repository) == {"commit": found["commit"], "changed": True}


def a_program(folder: Path) -> tuple[str, Path]:
    """A program that leaves a trace, and the trace."""
    program, trace = folder / "program", folder / "trace"
    program.write_text(f"#!/bin/sh\ntouch {trace}\ncat\n")
    program.chmod(0o755)
    return str(program), trace


@pytest.mark.parametrize(
    "setting", ["core.fsmonitor", "core.pager", "pager.status", "core.hooksPath", "filter.x.clean"]
)
def test_no_program_that_a_repository_names_is_run(tmp_path, repository, setting):
    program, trace = a_program(tmp_path)
    hooks = repository / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "fsmonitor-watchman", "query-watchman"):
        (hooks / name).write_text(Path(program).read_text())
        (hooks / name).chmod(0o755)
    git(repository, "config", setting, str(hooks) if setting == "core.hooksPath" else program)
    (repository / ".gitattributes").write_text("* filter=x\n")
    (repository / "a.txt").write_text("changed")
    found = provenance.git_state(repository)
    assert not trace.exists()
    assert found["changed"] is (None if setting.startswith("filter") else True)


def test_without_a_repository_or_without_git_nothing_is_said(tmp_path, monkeypatch):
    assert provenance.git_state(tmp_path) is None
    provenance.git_state.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provenance.git_state(tmp_path) is None
