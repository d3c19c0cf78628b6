"""Numbers in a report: their tables beside those of other contracts, and equal numbers as equal answers."""

import pytest

from affidavit.contracts.registry import frozen_parts
from affidavit.errors import InputError
from support.written_study import here, questions, reported, tables, written

SAID = ["<answer>1,072</answer>", "<answer>1072.0</answer>", "<answer>7</answer>"]
"""What the three samples of an item say: twice the same number, and another."""


@pytest.fixture
def study(tmp_path):
    sums = {"contract": "number", "items": "sums.jsonl", "parameters": {"unit": "$", "tolerance": 0.5}}
    items = [{"id": f"s{n}", "question": "How many?", "answer": "1 + 1071\n#### 1,072"} for n in range(4)]

    def answer(question) -> str:
        if question.task.name == "quiz":
            return "B"
        return "It is 1072." if question.item.id == "s3" else SAID[question.sample]

    given = tables(tasks={"sums": sums}, decoding={"samples": 3})
    return written(tmp_path, given, {"sums": items, "quiz": questions(2)}, answer)


def test_the_tables_of_two_contracts_stand_side_by_side(study):
    found = reported(here("report", study, "--format", "json"))
    (methods,) = found["extraction methods"]["rows"]
    assert (methods["extraction_method"], methods["count"]) == ("answer_block", 9)
    deviations = {(row["task"], row["deviation"]): row["count"] for row in found["deviations"]["rows"]}
    assert deviations == {("sums", "no_answer"): 3, ("quiz", "bare_letter"): 6}
    accuracy = {row["task"]: (row["right"], row["compared"]) for row in found["accuracy"]["rows"]}
    assert accuracy["sums"] == (6, 9)
    assert here("verify", study).returncode == 0


def test_a_majority_is_over_values(study):
    """Ruling N8: 1,072 and 1072.0 are one answer, and two of three samples."""
    (row,) = reported(here("report", study, "--format", "json"))["majorities"]["rows"]
    assert (row["with a majority"], row["tied"]) == (3, 0)
    assert row["mean share of the leader"]["value"] == pytest.approx(2 / 3)
    assert row["majority right"]["value"] == 1


@pytest.mark.parametrize("forged", [{"marker": 5}, {"unit": ["$"]}, {"tolerance": {"a": []}}, {"thousands": None}])
def test_parameters_that_were_forged_are_refused_at_their_name(forged):
    (name,) = forged
    with pytest.raises(InputError, match=rf"parameters\.{name}: expected "):
        frozen_parts("number", {"contract": "number/1", "params": forged})
