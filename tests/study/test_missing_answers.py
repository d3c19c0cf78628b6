"""A misspelt `answer` is said before anything is asked, and never taken."""

import pytest

from affidavit.study.dry_run import dry_run
from affidavit.study.files import load
from affidavit.study.missing_answers import likely_key
from support.fault_server import FaultServer
from support.studies import fine, run, toml, write_items, write_study
from support.written_study import questions, tables


def misspelt(count, key):
    return [{name if name != "answer" else key: value for name, value in row.items()} for row in questions(count)]


def notes(folder, rows, **changed):
    write_items(folder / "quiz.jsonl", rows)
    (folder / "study.toml").write_text("\n".join(toml(tables(**changed))))
    return list(dry_run(load(folder / "study.toml")).notes)


@pytest.mark.parametrize("key", ["anwser", "target", "gold", "label", "Answer", "answerKey"])
def test_a_likely_key_is_named(tmp_path, key):
    (note,) = notes(tmp_path, misspelt(3, key))
    assert note == (
        f"3 of 3 items of quiz have no right answer in `answer`; rows have a key `{key}`: "
        "call it `answer` if it holds the right answers"
    )


def test_a_likely_key_of_a_published_format_is_named(tmp_path):
    row = {"id": "1", "question": "?", "choices": ["a", "b", "c", "d"], "anwser": "A"}
    (note,) = notes(tmp_path, [row])
    assert "1 of 1 item of quiz has no right answer in `answer`; rows have a key `anwser`" in note


def test_some_items_may_lack_one_and_a_null_is_none(tmp_path):
    (note,) = notes(tmp_path, [*questions(2), {**questions(3)[2], "answer": None}])
    assert note == "1 of 3 items of quiz has no right answer in `answer`"


def test_where_all_have_one_or_none_is_compared_nothing_is_said(tmp_path):
    assert notes(tmp_path, questions(2)) == []
    assert notes(tmp_path, misspelt(2, "target"), tasks={"quiz": {"contract": "text"}}) == []
    assert likely_key(["question", "options", "metadata", "id", "source", "author"]) is None


@pytest.mark.slow
def test_a_run_says_so_before_it_asks_and_at_its_end(tmp_path):
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=3)
        write_items(tmp_path / "items.jsonl", misspelt(3, "anwser"))
        done = run(tmp_path)
    assert fine(done, 0)
    assert (
        done.stderr.decode().count("note: 3 of 3 items of quiz have no right answer in `answer`; rows have") == 2
    )
