"""Scores that we write are taken by `inspect score`, and its accuracy is ours over all outputs.

Outside CI: `make interop` makes the environments and runs this file.
"""

import json
import math

import pytest

from affidavit.exchange.inspect_scores import INSPECT_SCORES
from support.exports import exported, of_logs
from support.fault_server import every, status
from support.inspect_runs import as_tiny, by_inspect, logs_by_inspect
from support.written_study import here, reported


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_inspect_takes_our_scores(tmp_path, ending):
    answers = {
        "q1": every(as_tiny("<answer>B</answer>")),
        "q2": every(as_tiny("<answer>C</answer>")),
        "q3": every(status(400)),
        "Task": every(as_tiny("GRADE: C")),
        "q4": every(as_tiny("It is B.")),
    }
    said = logs_by_inspect(tmp_path, answers)
    log = next(each["file"] for each in said if each["task"] == "letters" and each["file"].endswith(ending))
    study, scores = of_logs(tmp_path, tmp_path / log, contract="mcqa"), tmp_path / "scores.jsonl"
    written = exported(study, INSPECT_SCORES, scores)
    assert written.rows == {"scored": 6, "unscored": 2}
    options = (
        "--action",
        "append",
        "--output-file",
        f"scored.{ending}",
        "--display",
        "plain",
        "--model",
        "mockllm/model",
    )
    by_inspect(
        "inspect", "score", log, "--scorer", "inspect_ai/precomputed_scores", "-S", f"scores={scores}", *options,
        cwd=tmp_path,
    )  # fmt: skip
    found = json.loads(by_inspect("inspect", "log", "dump", f"scored.{ending}", cwd=tmp_path))
    theirs = {(each["id"], each["epoch"]): each["scores"]["precomputed_scores"] for each in found["samples"]}
    expected = {"q1": ("C", None), "q2": ("I", None), "q4": ("N", "invalid_response_format")}
    for (name, _), score in theirs.items():
        if name == "q3":
            assert math.isnan(score["value"])
            assert score["reason"] == "scoring_failed"
            assert score["metadata"]["affidavit"]["outcome"] == "failed"
        else:
            assert (score["value"], score.get("reason")) == expected[name]
    assert len(theirs) == 8
    (ours,) = [each for each in found["results"]["scores"] if each["name"] == "precomputed_scores"]
    (accuracy,) = reported(here("report", study, "--format", "json"))["accuracy"]["rows"]
    assert ours["metrics"]["accuracy"]["value"] == pytest.approx(accuracy["yield"]["value"])
