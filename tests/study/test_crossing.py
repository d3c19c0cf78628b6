"""What crosses with what: each task meets its models and conditions, and what cannot be asked says why."""

import pytest

from affidavit.study.crossing import Cell, LeftOut, cells, condition_of, example_files
from affidavit.study.study_file import Study, decode_study
from support.studies import toml
from support.written_study import tables


def study(**changed: object) -> Study:
    return decode_study("\n".join(toml(tables(**changed))), where="study.toml")


def test_every_task_meets_every_model_under_every_condition():
    crossed = cells(study(models=("a", "b"), conditions={"plain": {}, "hint": {"preamble": "Think."}}))
    assert crossed == [Cell("quiz", model, condition) for model in "ab" for condition in ("plain", "hint")]


def test_a_task_keeps_to_its_own_lists_and_variants():
    tasks = {
        "quiz": {"contract": "mcqa", "items": "quiz.jsonl", "models": ["b"], "conditions": ["hint"]},
        "letter": {"contract": "text", "items": "quiz.jsonl", "variants": {"short": "{question} Be brief."}},
    }
    small = study(models=("a", "b"), tasks=tasks, conditions={"plain": {}, "hint": {"preamble": "Think."}})
    assert cells(small) == [Cell("quiz", "b", "hint"), Cell("letter", "a", "short"), Cell("letter", "b", "short")]
    assert cells(small, only="quiz") == [Cell("quiz", "b", "hint")]
    assert condition_of(small, "letter", "short").variant == "{question} Be brief."
    assert condition_of(small, "quiz", "hint").preamble == "Think."


@pytest.mark.parametrize(
    ("contract", "condition", "why"),
    [
        pytest.param("text", {"preamble": "Say {right_option}."}, "no options that", id="no options to name"),
        pytest.param("text", {"constrained": True}, "an open task has no grammar", id="no grammar"),
        pytest.param("mcqa", {"constrained": True}, "takes no grammar", id="a server without grammars"),
    ],
)
def test_what_cannot_be_asked_is_left_out_and_says_why(contract: str, condition: dict, why: str):
    tasks = {"quiz": {"contract": contract, "items": "quiz.jsonl"}}
    (left,) = cells(study(tasks=tasks, conditions={"only": condition}))
    assert isinstance(left, LeftOut)
    assert left.cell == Cell("quiz", "m", "only")
    assert why in left.why


def test_examples_are_one_file_for_all_tasks_or_one_for_each():
    tasks = {name: {"contract": "mcqa", "items": "quiz.jsonl"} for name in ("one", "two")}
    conditions = {"plain": {}, "all": {"examples": "e.jsonl"}, "each": {"examples": {"two": "t.jsonl"}}}
    crossed = study(tasks=tasks, conditions=conditions)
    assert {key: name for key, name in example_files(crossed).items() if key[0] in tasks} == {
        ("one", "all"): "e.jsonl",
        ("two", "all"): "e.jsonl",
        ("two", "each"): "t.jsonl",
    }
