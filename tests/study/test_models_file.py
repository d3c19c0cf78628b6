"""Models from a TOML file: a study's own, or a file with nothing but models; and where a study's file is."""

import re
from pathlib import Path

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import InputError
from affidavit.study.models_file import read_models, study_file_of
from support.studies import write_study
from support.written_study import NOBODY, questions, tables, written


def test_the_models_of_a_study_are_read_and_the_rest_of_it_is_not_looked_at(tmp_path):
    path = tmp_path / "models.toml"
    path.write_text(
        f'[models.m]\nbase_url = "{NOBODY}"\nmodel = "org/m"\n[limits]\nattempts = 9\n[other]\nx = 1\n'
    )
    found = read_models(path)
    assert (found.models["m"].model, found.limits.attempts, found.beside) == ("org/m", 9, tmp_path)
    assert found.model("m").name == "m"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"[models", "expected a TOML file with [models.NAME], found Expected ']'"),
        (b"\xff", "expected a TOML file with [models.NAME], found 'utf-8' codec can't decode byte 0xff"),
        (b"x = 1", "expected a table [models], found none"),
        (b"[models.m]\nbase_ulr = 'http://h'", "expected known keys in models.m, found 'base_ulr'"),
        (b"[models.m]\nbase_url = 'h'", "expected an http:// or https:// address in models.m.base_url"),
        (None, "expected a TOML file with [models.NAME], found [Errno 2] No such file or directory"),
    ],
)
def test_what_holds_no_models_is_refused_with_its_name(tmp_path, content, why):
    path = tmp_path / "models.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(f"{path}: {why}")):
        read_models(path)


def test_the_file_of_a_study_is_found_here_and_neither_beside_it_nor_another_study_s(tmp_path, monkeypatch):
    written(tmp_path / "s", tables(), {"quiz": questions(1)}, lambda question: "x")
    directory = StudyDirectory(tmp_path / "s/out")
    monkeypatch.chdir(tmp_path)
    assert study_file_of(directory) is None, "who sends a directory may send a file beside it"
    monkeypatch.chdir(tmp_path / "s")
    assert study_file_of(directory) == Path("study.toml")
    Path("study.toml").rename("trial.toml")
    assert study_file_of(directory) == Path("trial.toml")
    Path("trial.toml").unlink()
    write_study(tmp_path / "s", NOBODY, changed={"study": {"name": "another"}})
    assert study_file_of(directory) is None
