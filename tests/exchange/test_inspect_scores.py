"""Scores as Inspect takes them: by sample and epoch, no output without an answer called wrong."""

import json
import math
from pathlib import Path

import pytest

from affidavit.errors import UsageError
from affidavit.exchange.inspect_scores import INSPECT_SCORES
from support.exports import TIMEOUT, exported, imported, of_logs, planned
from support.golden_files import GOLDEN
from support.written_study import questions, tables, written

LOG = GOLDEN / "logs" / "inspect" / "graded.json"


def scores(study: Path, **chosen: str) -> list[dict]:
    out = study.parent / "scores.jsonl"
    exported(study, INSPECT_SCORES, out, **chosen)
    return [json.loads(line) for line in out.read_bytes().splitlines()]


@pytest.mark.parametrize(
    ("answer", "value", "reason", "said"),
    [
        ("<answer>B</answer>", "C", None, "compliant"),
        ("<answer>A</answer>", "I", None, "compliant"),
        ("It is <answer>B</answer>", "N", "invalid_response_format", "non-compliant: text_around"),
        ("I will not say.", "N", "invalid_response_format", "non-compliant: no_tag"),
        ("", "N", "no_response", "non-compliant: empty"),
        (" \n", "N", "no_response", "non-compliant: empty"),
        (TIMEOUT, None, "scoring_failed", "no output arrived: timeout"),
    ],
)
def test_what_inspect_is_told_of_an_output(tmp_path, answer, value, reason, said):
    (row,) = scores(planned(tmp_path, answer))
    assert (row["id"], row["epoch"]) == ("q0", 1)
    assert row["value"] == value if value else math.isnan(row["value"])
    assert row["explanation"] == said
    assert row["metadata"].get("unscored_reason") == reason
    ours = row["metadata"]["affidavit"]
    assert ours["outcome"] == said.partition(":")[0].replace("no output arrived", "failed")
    assert ours.get("failure") == ("timeout" if answer is TIMEOUT else None)
    assert row["answer"] == (answer[8] if value in ("C", "I") else None)


@pytest.mark.parametrize(
    ("contract", "row", "value", "reason"),
    [
        ("text", {"raw_output": "Fine words."}, None, None),
        ("mcqa", {"raw_output": "<answer>B</answer>"}, None, None),
        ("mcqa", {"raw_output": "B"}, None, "invalid_response_format"),
        ("game24", {"raw_output": "8 / (3 - 8/3)", "numbers": [3, 3, 8, 8]}, "C", None),
        ("game24", {"raw_output": "<answer>3+3+8+8</answer>", "numbers": [3, 3, 8, 8]}, "I", None),
        ("game24", {"raw_output": "I give up", "numbers": [3, 3, 8, 8]}, "N", "invalid_response_format"),
    ],
)
def test_no_verdict_is_no_score(tmp_path, contract, row, value, reason):
    """Where the right answer is not known, and where any extracted answer counts (ruling G12)."""
    (found,) = scores(imported(tmp_path, [{"id": "q", **row}], contract))
    assert found["value"] == value if value else math.isnan(found["value"])
    assert found["metadata"].get("unscored_reason") == reason


def test_scores_lead_back_to_the_samples_of_a_log(tmp_path):
    study = of_logs(tmp_path, LOG)
    rows = scores(study)
    samples = json.loads(LOG.read_bytes())["samples"]
    assert [(row["id"], row["epoch"]) for row in rows] == [(str(each["id"]), each["epoch"]) for each in samples]


@pytest.mark.parametrize("chosen", [{}, {"task": "quiz"}, {"model": "m"}])
def test_a_file_of_scores_is_of_one_log(tmp_path, chosen):
    conditions = {"conditions": {"plain": {}, "firm": {}}}
    study = written(tmp_path, tables(**conditions), {"quiz": questions(1)}, lambda _: "<answer>B</answer>")
    with pytest.raises(UsageError, match="found those of condition"):
        scores(study, **chosen)
    assert not (study.parent / "scores.jsonl").exists()
    assert len(scores(study, condition="firm")) == 1
    with pytest.raises(UsageError, match="found none"):
        scores(study, condition="other")


def test_two_logs_of_one_model_and_task_are_told_apart(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_bytes(LOG.read_bytes())
    study = of_logs(tmp_path, tmp_path / "first" / "run.json", tmp_path / "second" / "run.json")
    with pytest.raises(UsageError, match=r"those of first/run\.json and of second/run\.json"):
        scores(study)
