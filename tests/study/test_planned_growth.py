"""A dry run compares a study with what was answered in its directory, and refuses what a run refuses."""

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import UsageError
from affidavit.models.model import Failure
from affidavit.study.files import load
from affidavit.study.freezing import draft, planned_growth
from support.studies import laid_over, toml, write_items
from support.written_study import Hasty, here, questions, tables, written

STUDY = tables(conditions={"plain": {}, "urged": {"preamble": "Think!"}})


def answered(folder, answer="<answer>B</answer>"):
    return written(folder, STUDY, {"quiz": questions(3)}, lambda _: answer)


def changed(folder, change=(), rows=None):
    (folder / "study.toml").write_text("\n".join(toml(laid_over(STUDY, dict(change)))))
    if rows is not None:
        write_items(folder / "quiz.jsonl", rows)
    return load(folder / "study.toml")


CHANGES = {
    "a preamble": (
        {"conditions": {"urged": {"preamble": "Hurry!"}}},
        None,
        "conditions.urged.preamble: was 'Think!'",
    ),
    "a condition goes": ({"conditions": {"urged": None}}, None, "conditions.urged: was"),
    "a temperature": ({"decoding": {"temperature": 0.5}}, None, "decoding.temperature: was"),
    "a right answer": (
        {},
        [*questions(2), {**questions(3)[2], "answer": "C"}],
        'the item "q2" of quiz has changed',
    ),
    "an item goes": ({}, questions(2), 'the item "q2" of quiz is not there now'),
}


@pytest.mark.parametrize(("change", "rows", "said"), CHANGES.values(), ids=CHANGES)
def test_a_dry_run_refuses_what_a_run_refuses_in_the_same_words(tmp_path, change, rows, said):
    directory = StudyDirectory(answered(tmp_path))
    files, before = changed(tmp_path, change, rows), sorted(directory.path.rglob("*"))
    with pytest.raises(UsageError) as planned:
        planned_growth(directory, files)
    assert said in str(planned.value)
    assert sorted(directory.path.rglob("*")) == before, "nothing is written"
    with pytest.raises(UsageError) as run:
        draft(directory, files, Hasty())
    assert str(run.value) == str(planned.value)


def test_a_dry_run_says_what_would_be_added(tmp_path):
    directory = answered(tmp_path)
    changed(tmp_path, {"conditions": {"asked": {"preamble": "Please:"}}}, questions(5))
    done = here("run", tmp_path / "study.toml", "--out", directory, "--dry-run")
    assert done.returncode == 0
    assert b"a run would add to the study: the condition asked, 2 items of quiz" in done.stdout
    assert not (directory / "revisions").exists()


def test_a_dry_run_of_a_changed_study_ends_as_its_run_would(tmp_path):
    directory = answered(tmp_path)
    changed(tmp_path, {"decoding": {"temperature": 0.5}})
    done = here("run", tmp_path / "study.toml", "--out", directory, "--dry-run")
    assert done.returncode == 2
    assert b"expected the study that was begun there, found another one" in done.stderr


def test_where_nothing_was_answered_anything_may_change(tmp_path):
    directory = StudyDirectory(answered(tmp_path, Failure("server_error", "no")))
    assert planned_growth(directory, changed(tmp_path, {"decoding": {"temperature": 0.5}}, questions(2))) == []
    assert planned_growth(StudyDirectory(tmp_path / "nothing"), load(tmp_path / "study.toml")) == []


def test_a_trial_of_a_changed_study_may_be_deleted(tmp_path):
    directory = StudyDirectory(answered(tmp_path))
    files = changed(tmp_path, rows=[{**row, "answer": "C"} for row in questions(3)]).limited(3)
    with pytest.raises(UsageError, match=r"rm -r .*out`\. The whole run, without --limit, works without it"):
        planned_growth(directory, files)


def test_the_heading_of_a_dry_run_says_that_a_part_is_answered(tmp_path):
    directory = answered(tmp_path)
    order = ("run", tmp_path / "study.toml", "--out", directory, "--dry-run")
    assert here(*order).stdout.startswith(b"trial  nothing is left to ask\n")
    changed(tmp_path, rows=questions(5))
    assert here(*order).stdout.startswith(b"trial  a part is answered already; this is the rest\n")
    assert here("run", tmp_path / "study.toml", "--dry-run").stdout.startswith(b"trial  nothing is asked yet\n")
