"""All mistakes of a study that can be found without asking anybody are told in one message."""

import pytest

from affidavit.errors import AffidavitError, InputError, MistakesError
from affidavit.study.files import load
from support.command import affidavit
from support.studies import laid_over, toml

FINE = {
    "study": {"name": "small"},
    "models": {"one": {"base_url": "http://127.0.0.1:1/v1"}},
    "tasks": {
        "quiz": {"contract": "mcqa", "items": "items.jsonl"},
        "more": {"contract": "text", "items": "open.jsonl"},
    },
    "conditions": {"plain": {}, "shown": {"examples": {"quiz": "examples.jsonl"}}},
}
WRONG = {
    "an unknown contract": (
        {"tasks": {"quiz": {"contract": "mcq"}}},
        "study.toml: tasks.quiz.contract: expected mcqa, game24, json, judge, text or my_file.py:name, found 'mcq'\n"
        "Did you mean mcqa?",
    ),
    "an unknown condition": (
        {"tasks": {"more": {"conditions": ["plan"]}}},
        "study.toml: expected plain, shown in tasks.more.conditions, found 'plan'\nDid you mean plain?",
    ),
    "no such items": (
        {"tasks": {"more": {"items": "none.jsonl"}}},
        "study.toml: tasks.more.items: expected a file of items, found no file 'none.jsonl'",
    ),
    "a misspelt file of items": (
        {"tasks": {"more": {"items": "opne.jsonl"}}},
        "study.toml: tasks.more.items: expected a file of items, found no file 'opne.jsonl'\nDid you mean open.jsonl?",
    ),
    "no such options": (
        {"tasks": {"quiz": {"options": "A-Z"}}},
        "study.toml: tasks.quiz.options: expected a run of 2 to 23 letters from A, written A-B up to A-W, found 'A-Z'",
    ),
    "no such examples": (
        {"conditions": {"shown": {"examples": {"quiz": "none.jsonl"}}}},
        "none.jsonl: expected a file of worked examples, found no such file",
    ),
    "no such rubric": (
        {"judging": {"judges": ["one"], "rubric": "none.toml"}},
        "none.toml: expected a rubric in UTF-8, found [Errno 2] No such file or directory: 'none.toml'",
    ),
    "no such weights": (
        {"models": {"two": {"gguf": "none.gguf"}}},
        "none.gguf: expected a file of weights, found No such file or directory",
    ),
    "a number out of its bounds": (
        {"limits": {"attempt": -1}},
        "study.toml: expected a positive, finite limits.attempt, found -1.0",
    ),
}
UNSET = {"models": {"one": {"key_env": "NO_SUCH_KEY"}}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    item = '{"id": "1", "question": "?", "options": ["a", "b", "c", "d"], "answer": "A"}\n'
    (tmp_path / "items.jsonl").write_text(item)
    example = '{"id": "e", "question": "!", "options": ["a", "b", "c", "d"], "answer": "A"}\n'
    (tmp_path / "examples.jsonl").write_text(example)
    (tmp_path / "open.jsonl").write_text('{"id": "1", "question": "Why?"}\n')
    return tmp_path


def refused(folder, *changes, with_weights=True) -> AffidavitError:
    study = FINE
    for each in changes:
        study = laid_over(study, each)
    (folder / "study.toml").write_text("\n".join(toml(study)))
    with pytest.raises(InputError) as caught:
        load((folder / "study.toml").relative_to(folder), with_weights=with_weights)
    return caught.value


def test_the_study_itself_fits(folder):
    (folder / "study.toml").write_text("\n".join(toml(FINE)))
    assert load(folder / "study.toml").study.study.name == "small"


@pytest.mark.parametrize("name", WRONG)
def test_one_mistake_is_told_by_itself(name, folder):
    changed, words = WRONG[name]
    error = refused(folder, changed)
    assert not isinstance(error, MistakesError)
    assert str(error).startswith(words)


def test_several_are_told_together_each_once_and_in_its_own_words(folder):
    names = [
        name for name in WRONG if name not in ("no such examples", "no such options", "a misspelt file of items")
    ]
    error = refused(folder, *(WRONG[name][0] for name in names), UNSET)
    assert isinstance(error, MistakesError)
    said = [str(each) for each in error.mistakes]
    for name in names:
        assert sum(each.startswith(WRONG[name][1]) for each in said) == 1
    assert said[-1].startswith("models.one.key_env: expected a value in the environment variable NO_SUCH_KEY")
    assert len(said) == len(names) + 1
    lines = str(error).splitlines()
    assert lines[0] == f"{len(said)} mistakes"
    assert [line for line in lines if line.startswith("1. ")]
    assert "   Did you mean mcqa?" in lines


def test_what_follows_from_another_mistake_is_not_told(folder):
    """Under an unknown contract nothing is said of options, and of an unknown condition nothing of examples."""
    changed = {"tasks": {"quiz": {"contract": "mcq", "options": "A-E", "conditions": ["shwon"]}}}
    error = refused(folder, changed)
    assert isinstance(error, MistakesError)
    assert [each.found for each in error.mistakes] == ["'shwon'", "'mcq'"]


def test_a_listing_needs_no_key(folder):
    error = refused(folder, WRONG["no such items"][0], UNSET, with_weights=False)
    assert not isinstance(error, MistakesError)


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_the_command_tells_them_together(options, folder):
    names = ("an unknown contract", "an unknown condition", "no such items")
    refused(folder, *(WRONG[name][0] for name in names))
    done = affidavit("run", "study.toml", *options)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.decode().startswith("affidavit: 3 mistakes\n1. study.toml: ")
    assert not (folder / "small").exists()
