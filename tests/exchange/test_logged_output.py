"""One output of a log as the row that it becomes: under our names, nothing lost, nothing that is not known."""

import pytest

from affidavit.exchange.logged_output import LoggedOutput, NoAnswer, SourceWord


def output(**more) -> LoggedOutput:
    return LoggedOutput(**{"place": "line 1", "item_id": "q1", "model": "m", "raw_output": "B.", **more})


@pytest.mark.parametrize(
    ("answer", "alone", "as_it_stood"),
    [(" B\n", "B", " B\n"), ("B", "B", None), (None, None, None), ("", "", None), ("a b", "a b", None)],
)
def test_blanks_around_a_right_answer_decide_nothing(answer, alone, as_it_stood):
    """Outputs are read without theirs: a key that has some could be nobody's answer (ruling I5)."""
    row = output(answer=answer).row(log="a.jsonl", task="quiz")
    assert row["answer"] == alone
    assert row.get("source_right_answer") == as_it_stood


def test_what_is_not_known_is_left_out_and_all_else_is_there():
    bare = output().row(log="a.jsonl", task="quiz")
    assert set(bare) == {
        "id", "model", "task", "condition", "sample", "output_id", "raw_output", "prompt", "answer", "verbatim",
    }  # fmt: skip
    said = SourceWord(scorer="match", answer="B", correct=True, points=1.0, score="C")
    full = output(
        task="other", question="?", options=["a", "b"], finish_reason="length", reasoning="hm", error="boom",
        no_answer=NoAnswer.LIMIT, words=[said], more={"subject": "art"},
    ).row(log="a.jsonl", task="quiz")  # fmt: skip
    added = {name: value for name, value in full.items() if name not in bare}
    assert full["task"] == "other"
    assert added == {
        "question": "?",
        "options": ["a", "b"],
        "finish_reason": "length",
        "reasoning": "hm",
        "source_error": "boom",
        "source_no_answer": "limit",
        "source_scorer": "match",
        "source_answer": "B",
        "source_correct": True,
        "source_score": "C",
        "metadata": {"subject": "art"},
    }


def test_several_words_stand_together_beside_the_first():
    words = [SourceWord(scorer=name, correct=name == "a") for name in "ab"]
    row = output(words=words).row(log="a.jsonl", task="quiz")
    assert (row["source_scorer"], row["source_correct"]) == ("a", True)
    assert [each["source_scorer"] for each in row["source_words"]] == ["a", "b"]
