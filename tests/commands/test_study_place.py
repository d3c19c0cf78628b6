"""A study file in place of its results is refused with the directory where these are."""

from pathlib import Path

import pytest

from affidavit.commands.study_place import refuse_study_file
from affidavit.errors import InputError
from support.written_study import here, questions, tables, written


@pytest.mark.parametrize("command", ["report", "gate", "verify"])
def test_a_study_file_or_its_folder_is_refused_with_where_its_results_are(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    out = written(tmp_path / "made", tables(), {"quiz": questions(1)}, lambda _: "<answer>B</answer>")
    out.rename(tmp_path / "trial")
    for given in ("made/study.toml", "made"):
        done = here(command, given)
        assert done.returncode == 2
        words = f"{given}: expected the directory of a study's results, found a study file"
        assert words in done.stderr.decode()
        assert f"in the directory of the study's name: `affidavit {command} trial`." in done.stderr.decode()


def test_a_study_that_was_not_run_is_to_be_run_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("music.toml").write_text('[study]\nname = "my music"\n')
    with pytest.raises(
        InputError, match=r"Once `affidavit run music.toml` has .*: `affidavit report 'my music'`\."
    ):
        refuse_study_file(Path("music.toml"), "report")
    Path("music.toml").write_text("[study")
    with pytest.raises(InputError, match="in the directory of the study's `name`"):
        refuse_study_file(Path("music.toml"), "report")
    refuse_study_file(Path("nothing"), "report")
