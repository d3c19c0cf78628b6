"""Options that an item has are shown under any contract, and shots are drawn, never from what is asked."""

from pathlib import Path

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import InputError
from affidavit.models.model import Completion
from affidavit.study.check import MOST_SHOTS
from affidavit.study.files import drawn_shots, load
from support.own_contracts import ECHO, LETTER
from support.studies import toml, write_items
from support.written_study import questions, tables, written

CONTRACTS = {"own.py:letter": {}, "own.py:echo": {}, "text": {"variants": {"bare": "{question}"}}, "mcqa": {}}


def prompts(folder: Path, contract: str, items: list[dict], **more: object) -> list[str]:
    """Every prompt of a study, from the first word to the last."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "own.py").write_text(ECHO + LETTER)
    said: list[str] = []

    def answer(question) -> Completion:
        said.append("\n\n".join(turn["content"] for turn in question.request.messages))
        return Completion("<answer>B</answer>")

    task = {"quiz": {"contract": contract, "items": "quiz.jsonl", **CONTRACTS[contract]}}
    written(folder, tables(tasks=task, **more), {"quiz": items}, answer)
    return said


@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_options_of_an_item_are_in_its_prompt_whatever_the_contract(tmp_path, contract):
    (said,) = prompts(tmp_path, contract, questions(1))
    assert said.endswith("[q0] Which one?\n\nA. w\nB. x\nC. y\nD. z")


@pytest.mark.parametrize("contract", ["own.py:letter", "own.py:echo", "text"])
def test_an_item_without_options_is_its_question(tmp_path, contract):
    (said,) = prompts(tmp_path, contract, [{"id": "q", "question": "Which one?", "answer": "B"}])
    assert said.endswith("Which one?")
    assert "A. " not in said


@pytest.mark.parametrize("options", ["w, x", {"A": "w"}, ["w", 5], [], ["x"] * 27])
def test_options_that_cannot_be_shown_are_refused_before_anything_is_asked(tmp_path, options):
    with pytest.raises(InputError) as refused:
        prompts(tmp_path, "own.py:letter", [*questions(1), {**questions(2)[1], "options": options}])
    assert str(refused.value).startswith(f"{tmp_path}/quiz.jsonl:2: expected a list of 1 to 26 texts in 'options'")
    assert not (tmp_path / "out/study.json").exists()


# --- shots ---

SHOWN = [
    {
        "id": f"s{n}",
        "question": f"[s{n}] Which of these?",
        "options": ["a", "b", "c", "d"],
        "answer": "ABCD"[n % 4],
    }
    for n in range(20)
]


def shots_in(said: str) -> list[str]:
    return [f"s{n}" for n in range(20) if f"[s{n}]" in said]


def of_shots(count: int, examples: object = "dev.jsonl", **more: object) -> dict:
    return {"conditions": {"worked": {"examples": examples, "shots": count, **more}}}


def test_shots_are_drawn_once_for_all_and_more_hold_fewer(tmp_path):
    found = []
    for count in (2, 5):
        folder = tmp_path / str(count)
        folder.mkdir()
        write_items(folder / "dev.jsonl", SHOWN)
        both = {"conditions": {name: {"examples": "dev.jsonl", "shots": count} for name in ("one", "two")}}
        drawn = {tuple(shots_in(said)) for said in prompts(folder, "mcqa", questions(3), **both)}
        assert len(drawn) == 1, "of every item and condition"
        found.append(drawn.pop())
    assert [len(each) for each in found] == [2, 5]
    assert set(found[0]) < set(found[1])
    rows = [(f"f:{n}", row) for n, row in enumerate(SHOWN, 1)]
    assert tuple(row["id"] for _, row in drawn_shots(rows, 5, seed=7, task="quiz")) == found[1]
    assert drawn_shots(rows[::-1], 5, seed=7, task="quiz")[::-1] == drawn_shots(rows, 5, seed=7, task="quiz")
    assert drawn_shots(rows, 5, seed=8, task="quiz") != drawn_shots(rows, 5, seed=7, task="quiz")


def test_only_rows_that_are_drawn_have_to_be_examples(tmp_path):
    ((_, drawn),) = drawn_shots([("", row) for row in SHOWN], 1, seed=7, task="quiz")
    rows = [row if row is drawn else {**row, "answer": None} for row in SHOWN]
    write_items(tmp_path / "dev.jsonl", rows)
    (said,) = prompts(tmp_path, "mcqa", questions(1), **of_shots(1))
    assert shots_in(said) == [drawn["id"]]


def test_shots_may_come_from_a_split_of_the_same_data_set(tmp_path, monkeypatch):
    asked = []

    def rows(source):
        asked.append(source)
        return iter([(f"{source}:{n}", dict(row)) for n, row in enumerate(SHOWN, 1)])

    monkeypatch.setattr("affidavit.study.files.hub_rows", rows)
    task = {"quiz": {"contract": "mcqa", "items": "hf:some/set@test"}}
    for split, drawn in (("dev", 4), ("test", None)):
        study = tables(tasks=task, **of_shots(4, f"hf:some/set@{split}"))
        (tmp_path / "study.toml").write_text("\n".join(toml(study)))
        if drawn is None:
            with pytest.raises(InputError, match="another file or split than the items of quiz"):
                load(tmp_path / "study.toml")
        else:
            assert len(load(tmp_path / "study.toml").examples["quiz", "worked"]) == drawn
    assert {source.split for source in asked} == {"dev", "test"}


@pytest.mark.parametrize(
    ("examples", "shots", "said"),
    [
        ("quiz.jsonl", 2, "expected another file or split than the items of quiz to draw shots from"),
        ("./quiz.jsonl", 2, "expected another file or split than the items of quiz to draw shots from"),
        ("dev.jsonl", 21, "dev.jsonl: expected at least 21 rows to draw shots from, found 20"),
        ("none.jsonl", 2, "none.jsonl: expected a file of worked examples, found no such file"),
        ("dev.jsonl", 0, f"expected 1 to {MOST_SHOTS:,} in conditions.worked.shots, found 0"),
        ("", 2, "expected a file or split to draw from in conditions.worked.examples, found shots alone"),
    ],
)
def test_shots_that_cannot_be_drawn_are_refused(tmp_path, examples, shots, said):
    write_items(tmp_path / "quiz.jsonl", questions(3))
    write_items(tmp_path / "dev.jsonl", SHOWN)
    (tmp_path / "study.toml").write_text("\n".join(toml(tables(**of_shots(shots, examples)))))
    with pytest.raises(InputError) as refused:
        load(tmp_path / "study.toml")
    assert said in str(refused.value)


def test_a_shot_that_is_one_of_the_items_is_refused(tmp_path):
    folder = tmp_path / "study"
    folder.mkdir()
    write_items(folder / "dev.jsonl", questions(3))
    with pytest.raises(InputError, match="an example of the prompt is this very question"):
        prompts(folder, "mcqa", questions(3), **of_shots(3))


def test_how_many_shots_there_were_is_frozen_with_the_shots(tmp_path):
    write_items(tmp_path / "dev.jsonl", SHOWN)
    prompts(tmp_path, "mcqa", questions(1), **of_shots(5))
    config = StudyDirectory(tmp_path / "out").frozen().config
    assert config["conditions"]["worked"]["shots"] == 5
    assert len(config["examples"]["quiz"]["worked"]) == 5
