"""Details that lighteval writes here and now, against a server that breaks: read, imported, audited, made again.

Outside CI: `make interop` makes the environments and runs this file.
"""

import json
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest

from affidavit.exchange.logged_output import NoAnswer
from affidavit.exchange.registry import logs_of
from support.command import affidavit
from support.fault_server import every, status
from support.kept_logs import keep, recounted
from support.lighteval_runs import MODEL, QUESTIONS, as_texts, details_by_lighteval

SAID = {
    "q1": ("B", "A"),
    "q2": ("<think>Hm.</think>\n\nA ", "B"),
    "q3": ("", "B"),
    "q5": ("It is B.", "B"),
}
"""What the server says when it is asked for one text, and for two; to q4 it says that it cannot."""
WRITTEN = {"q1": ("B", "A"), "q2": ("\n\nA ", "B"), "q3": ("", None), "q4": ("", None), "q5": ("It is B.", "B")}
"""What of it lighteval writes: without thoughts, nothing after an empty text, and an empty one for an error."""
EMPTY = "2 texts are empty: lighteval writes the same where every try to ask failed"


class Run(NamedTuple):
    """What lighteval wrote of a task."""

    folder: Path
    task: str
    rows: list[dict]
    results: dict[str, float]
    asked: int
    """Texts that were asked for, of each document."""


@pytest.fixture(scope="module", params=[("once", 1), ("twice", 2)], ids=lambda each: each[0])
def run(request, tmp_path_factory) -> Run:
    name, asked = request.param
    place = tmp_path_factory.mktemp(name)
    answers = {question: every(as_texts(*texts)) for question, texts in SAID.items()} | {"q4": every(status(400))}
    folder = details_by_lighteval(place, name, answers)
    (details,), (results,) = folder.rglob("*.parquet"), folder.rglob("results_*.json")
    keep(details, f"lighteval/{name}.parquet", place)
    keep(results, f"lighteval/{name}.json", place)
    task = f"{name}|0"
    rows = pl.read_parquet(details).to_dicts()
    return Run(folder, task, rows, json.loads(results.read_text())["results"][task], asked)


def test_lighteval_s_details_are_read_as_it_wrote_them(run):
    (log,) = logs_of([run.folder])
    outputs = list(log.outputs())
    assert (log.format, log.task, len(log.notes)) == ("lighteval details", run.task, 1)
    assert log.notes[0] == EMPTY
    theirs = {row["doc"]["id"]: row for row in run.rows}
    assert len(theirs) == len(QUESTIONS) == len(outputs) / run.asked
    for output in outputs:
        row, question = theirs[output.item_id], QUESTIONS[int(output.item_id)]
        assert output.raw_output == WRITTEN[question][output.sample]
        assert output.raw_output in (*row["model_response"]["text"], None)
        assert (output.no_answer is NoAnswer.MISSING) == (output.raw_output is None)
        assert output.verbatim == (question != "q2" or output.sample == 1)
        assert (output.reasoning == "Hm.") != output.verbatim
        assert (output.model, output.prompt, output.answer) == (MODEL, f"[{question}] Which?", "B")
        assert output.options == ["A", "B", "C", "D"]
        assert output.more == {"subject": "art"}
        assert {word.scorer: word.points for word in output.words} == row["metric"]


def test_one_text_has_a_verdict_and_of_several_none_has(run):
    (log,) = logs_of([run.folder])
    verdicts = {output.item_id: [word.correct for word in output.words] for output in log.outputs()}
    right, wrong = ([True], [False]) if run.asked == 1 else ([None, None], [None, None])
    assert verdicts == {str(number): wrong if number else right for number in range(5)}


def test_lighteval_s_figures_are_made_again(run):
    (log,) = logs_of([run.folder])
    figures = {scorer: figure for (scorer, _), figure in recounted(log, list(log.outputs())).items()}
    assert len(figures) == run.asked
    for scorer, (printed, again) in figures.items():
        assert printed == run.results[scorer]
        assert again == pytest.approx(printed, abs=1e-12)


def test_lighteval_s_log_is_audited_and_becomes_a_study(run, tmp_path):
    audited = affidavit("audit", run.folder, "--pattern", "(?P<answer>[A-D])", "--json")
    assert audited.returncode == 0, audited.stderr.decode()
    (log,) = json.loads(audited.stdout)["logs"]
    assert (log["model"], log["task"], log["outputs"]) == (MODEL, run.task, 5 * run.asked)
    assert log["source"]["printed"] == log["source"]["recomputed"] == run.results["em"]
    assert (log["missing"], log["not_verbatim"]) == (2 * (run.asked - 1), 1)
    imported = affidavit("import", run.folder, "-o", tmp_path / "study", "--contract", "text")
    assert imported.returncode == 0, imported.stderr.decode()
    assert EMPTY in imported.stderr.decode()
    assert affidavit("verify", tmp_path / "study").returncode == 0
