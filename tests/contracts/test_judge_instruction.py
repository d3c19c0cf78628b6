"""The words given to a judge are made from its rubric, and a judge that follows them is read as valid."""

import json

from affidavit.contracts.evaluation import META, Asked
from affidavit.contracts.evaluation_reader import read_evaluation
from affidavit.contracts.judge_instruction import judge_instruction
from affidavit.contracts.rubric import DEFAULT, Dimension, Level, Rubric, Thresholds

ASKED = {
    "judge_model": "j",
    "target_model": "t",
    "question_id": "q",
    "prompt_variant": "v",
    "output_id": "o",
    "method": "cross_judge",
    "timestamp": "2026-01-31",
}
FINER = Rubric(
    "finer",
    (Dimension("tone", "Tone", "Is it kind?"), Dimension("facts", "Facts", "Is it true?")),
    tuple(Level(score, f"level {score}", f"worth {score}") for score in range(5)),
    Thresholds(6, 2, ("facts",)),
)


def shape(words: str) -> dict:
    return json.loads(words[words.index("{\n") :])


def filled_in(rubric: Rubric, score: int, verdict: str) -> dict:
    """The shape as a judge fills it in that follows every rule."""
    answer = shape(judge_instruction(rubric, ASKED))
    answer["scores"] = dict.fromkeys(rubric.ids, score) | {"overall_score": score * len(rubric.ids)}
    answer["verdict"] = verdict
    for each in answer["evidence"]:
        each["quote"], each["reason"] = "the words", "they show it"
    return answer


def test_a_judge_that_fills_in_the_shape_is_valid():
    for rubric, score, verdict in (
        (DEFAULT, 2, "PASS"),
        (DEFAULT, 0, "FAIL"),
        (FINER, 4, "PASS"),
        (FINER, 2, "PARTIAL"),
    ):
        asked = Asked(ASKED, "These are the words.", rubric)
        assert read_evaluation(filled_in(rubric, score, verdict), asked, rubric).findings == ()


def test_every_part_of_a_rubric_stands_in_the_words():
    words = judge_instruction(FINER, {})
    for each in FINER.dimensions:
        assert f"- {each.id} ({each.title}): {each.words}" in words
    for level in FINER.scale:
        assert f"- {level.score} = {level.title}: {level.words}." in words
    assert "FAIL if overall_score <= 2; else PASS if overall_score >= 6 and facts > 0; else PARTIAL." in words


def test_meta_that_is_known_stands_in_the_shape_and_the_rest_is_marked():
    assert shape(judge_instruction(DEFAULT, ASKED))["meta"] == ASKED
    assert shape(judge_instruction(DEFAULT, {}))["meta"] == {name: f"<{name}>" for name in META}
