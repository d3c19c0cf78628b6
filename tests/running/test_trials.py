"""A trial of the first items is a study of its own, and its answers are the beginning of the whole one."""

import json
from pathlib import Path

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import InputError, UsageError
from affidavit.running.taken_over import TakenOver, trial_directory
from support.command import affidavit
from support.fault_server import FaultServer
from support.studies import fine, laid_over, quiz, records, run, told_by_verify, write_study

TWO = {"conditions": {"plain": {}, "urged": {"preamble": "!"}}, "decoding": {"samples": 2}}


@pytest.mark.slow
def test_a_trial_is_whole_and_its_answers_are_taken_over(tmp_path):
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=10, changed=TWO)
        done = run(tmp_path, "--limit", "3", "--json")
        assert fine(done, 0)
        assert (quiz(done)["n"], quiz(done)["pending"]) == (12, 0)
        assert fine(affidavit("gate", tmp_path / "out-trial", "--min-compliance", "0.5"), 0)
        assert not (tmp_path / "out").exists()
        assert len(server.log) == 12
        done = run(tmp_path)
        assert fine(done, 0)
        assert b"12 answers to the same questions were taken over, and not asked for again" in done.stdout
        assert len(server.log) == 40
        once = told_by_verify(tmp_path / "out")["root_sha256"]
        write_study(tmp_path / "apart", server.url, count=10, changed=TWO)
        assert fine(run(tmp_path / "apart"), 0)
    assert told_by_verify(tmp_path / "apart" / "out")["root_sha256"] == once, "as if there had been no trial"
    assert len(records(tmp_path / "out")) == 40


@pytest.mark.slow
def test_a_trial_grows_and_does_not_shrink(tmp_path):
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=10)
        assert fine(run(tmp_path, "--limit", "2"), 0)
        done = run(tmp_path, "--limit", "4")
        assert fine(done, 0)
        assert done.stdout.startswith(b"A trial: the first 4 items of each task.\n")
        assert len(server.log) == 4
        done = run(tmp_path, "--limit", "3")
        assert fine(done, 2)
        assert b'the item "q3" of quiz is not there now' in done.stderr
        assert fine(run(tmp_path, "--limit", "4"), 0)


@pytest.mark.slow
def test_what_is_taken_over_is_asked_by_no_trial_of_the_models(tmp_path):
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=3)
        assert fine(run(tmp_path, "--limit", "3"), 0)
        assert fine(run(tmp_path), 0)
        assert len(server.log) == 3


@pytest.mark.slow
def test_what_was_answered_already_is_not_taken_over_once_more(tmp_path):
    """The study and its trial grow alike: of the trial, only what is new is taken over."""
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=3)
        assert fine(run(tmp_path, "--limit", "1"), 0)
        assert fine(run(tmp_path), 0)
        write_study(tmp_path, server.url, count=3, changed={"decoding": {"samples": 2}})
        assert fine(run(tmp_path, "--limit", "1"), 0)
        done = run(tmp_path)
        assert fine(done, 0)
        assert b"1 answers to the same questions were taken over" in done.stdout
        assert len(server.log) == 6
    assert len({each["key"] for each in records(tmp_path / "out")}) == len(records(tmp_path / "out")) == 6
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.slow
def test_other_questions_are_not_taken_over(tmp_path):
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=3)
        assert fine(run(tmp_path, "--limit", "3"), 0)
        write_study(tmp_path, server.url, count=3, changed={"decoding": {"temperature": 0.5}})
        assert fine(run(tmp_path), 0)
        assert len(server.log) == 6


@pytest.mark.slow
def test_answers_are_taken_over_from_sealed_studies_alone(tmp_path):
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=3)
        assert fine(run(tmp_path), 0)
        (tmp_path / "out" / "seal.json").unlink()
        done = affidavit("run", tmp_path / "study.toml", "--out", tmp_path / "new", "--reuse", tmp_path / "out")
        assert fine(done, 2)
        assert b"expected a sealed study, found one that is not sealed" in done.stderr
        assert not (tmp_path / "new").exists()
    with pytest.raises(InputError):
        TakenOver([StudyDirectory(tmp_path / "out")])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "asked"),
    [
        ({"limit": 4}, ["q0", "q1", "q2", "q3"]),
        ({"sample": 4}, ["q0", "q2", "q3", "q6"]),
        ({"sample": 2}, ["q0", "q2"]),
        ({"sample": 99}, sorted(f"q{n}" for n in range(12))),
    ],
)
def test_a_task_names_the_items_that_are_asked_about(tmp_path, table, asked):
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=12, changed={"tasks": {"quiz": table}})
        assert fine(run(tmp_path), 0)
    assert sorted(each["item_id"] for each in records(tmp_path / "out")) == asked


@pytest.mark.slow
def test_a_larger_sample_is_a_growth(tmp_path):
    with FaultServer() as server:
        for size, asked in ((2, 2), (4, 4)):
            write_study(tmp_path, server.url, count=12, changed={"tasks": {"quiz": {"sample": size}}})
            assert fine(run(tmp_path), 0)
            assert len(server.log) == asked
    assert told_by_verify(tmp_path / "out")["revisions"][1]["added"] == ["2 items of quiz"]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"limit": 0}, "a whole number from 1 in tasks.quiz.limit, found 0"),
        ({"sample": -1}, "a whole number from 1 in tasks.quiz.sample, found -1"),
        ({"limit": 2, "sample": 2}, "either limit or sample in tasks.quiz, found both"),
    ],
)
def test_which_items_is_said_in_one_way(tmp_path, table, said):
    write_study(tmp_path, "http://127.0.0.1:9/v1", changed={"tasks": {"quiz": table}})
    done = run(tmp_path)
    assert fine(done, 2)
    assert said in done.stderr.decode()


@pytest.mark.slow
def test_a_dry_run_counts_the_trial(tmp_path):
    write_study(
        tmp_path, "http://127.0.0.1:9/v1", count=12, changed=laid_over(TWO, {"tasks": {"quiz": {"sample": 9}}})
    )
    done = run(tmp_path, "--dry-run", "--limit", "3", "--json")
    assert fine(done, 0)
    assert [cell["requests"] for cell in json.loads(done.stdout)["cells"]] == [6, 6]


def test_where_a_trial_is_kept():
    assert trial_directory(Path("a/b.c")) == Path("a/b.c-trial")


@pytest.mark.slow
def test_where_all_is_taken_over_no_server_and_no_key_is_needed(tmp_path):
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=3)
        assert fine(run(tmp_path, "--limit", "3"), 0)
        url = server.url
    write_study(tmp_path, url, count=3, changed={"models": {"m": {"key_env": "NOBODY_HAS_THIS_KEY"}}})
    assert fine(run(tmp_path), 0)
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.slow
def test_a_study_may_be_where_one_stands_and_a_limit_may_be_any_number(tmp_path):
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=3)
        place = tmp_path / "place"
        place.mkdir()
        study = tmp_path / "study.toml"
        assert fine(affidavit("run", study, "--out", ".", "--limit", 2**70, cwd=place), 0)
        assert fine(affidavit("run", study, "--out", ".", cwd=place), 0)
        assert len(server.log) == 3
    assert StudyDirectory(tmp_path / "place-trial").is_study
    with pytest.raises(UsageError, match="expected a directory with a name"):
        trial_directory(Path("/"))


@pytest.mark.slow
@pytest.mark.parametrize("out", ["trial", "."])
def test_files_of_the_user_are_not_written_over(tmp_path, out):
    """The study's own items may lie where its directory would be."""
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=3)
        (tmp_path / "trial").mkdir()
        (tmp_path / "trial" / "items.jsonl").write_bytes((tmp_path / "items.jsonl").read_bytes())
        before = (tmp_path / out / "items.jsonl").read_bytes()
        done = affidavit("run", "study.toml", "--out", out, cwd=tmp_path)
        assert fine(done, 2)
        assert b"found items.jsonl, which is of no study" in done.stderr
        assert (tmp_path / out / "items.jsonl").read_bytes() == before
        assert server.log == []
