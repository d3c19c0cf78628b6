"""A study of multiple choice after reasoning, from its file to its report, its page and its gate."""

import json
import shutil
from pathlib import Path

import pytest

from affidavit import mcqa_reasoned
from support.command import affidavit
from support.fault_server import FaultServer, every, says
from support.pages import ROOT
from support.studies import fine, records, run, told_by_verify, write_study
from support.weight_files import ready_to_run

pytestmark = pytest.mark.slow  # a whole study

EXAMPLE = ROOT / "examples" / "reasoned.toml"
SAID = {
    "q0": "<think><answer>A</answer>?</think>So it is x.\n<answer>B</answer>",
    "q1": "<answer>A</answer> or <answer>B</answer>",
    "q2": "<answer>B</answer> I hope this helps.",
    "q3": "<think>It is <answer>B</answer></think> x",
    "q4": "It is y. <answer>C</answer>",
}
CHANGED = {
    "models": {"m": {"flavour": "llamacpp"}},
    "tasks": {"quiz": {"contract": "mcqa-reasoned"}},
    "conditions": {"free": {}, "grammar": {"constrained": True}, "urged": {"preamble": "!", "control": "free"}},
}


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Path:
    """Run, with its page."""
    folder = tmp_path_factory.mktemp("reasoned")
    with FaultServer({name: every(says(text)) for name, text in SAID.items()}) as server:
        write_study(folder, server.url, count=len(SAID), changed=CHANGED)
        assert fine(affidavit("run", folder / "study.toml", "--out", folder / "out", page=True), 0)
        bodies = [asked.body for asked in server.log]
    (folder / "bodies.json").write_text(json.dumps(bodies))
    return folder


def test_the_instruction_and_the_grammar_are_its_own(study):
    bodies = json.loads((study / "bodies.json").read_text())
    asked = [body for body in bodies if "Which one?" in body["messages"][-1]["content"]]
    assert all(mcqa_reasoned.instruction() in body["messages"][-1]["content"] for body in asked)
    assert {body.get("grammar") for body in asked} == {None, mcqa_reasoned.grammar()}


def test_records_have_the_answer_with_its_place_or_the_deviation(study):
    found = {each["item_id"]: each for each in records(study / "out") if each["condition"] == "free"}
    assert {name: each["deviation"] for name, each in found.items()} == {
        "q0": None, "q1": "conflicting_answers", "q2": "text_after", "q3": "answer_in_reasoning", "q4": None,
    }  # fmt: skip
    for name in ("q0", "q4"):
        start, end = found[name]["answer_start"], found[name]["answer_end"]
        assert SAID[name][start:end] == found[name]["extracted_answer"]
    assert told_by_verify(study / "out")["differing"] == 0


def test_the_report_has_the_tables_of_multiple_choice(study):
    done = affidavit("report", study / "out", "--format", "json")
    assert fine(done, 0)
    tables = json.loads(done.stdout)["tables"]
    assert {"deviations", "chance", "letters", "other readings", "flips"} <= tables.keys()
    readings = tables["other readings"]["rows"]
    ours = [row for row in readings if row["reading"].startswith("mcqa")]
    assert {row["reading"] for row in ours} == {"mcqa-last-tag/1"}, "others of ours would refuse what complies"
    assert {row["answers"] for row in ours} == {len(SAID)}
    assert "lawbench-e30981b/1" in {row["reading"] for row in readings}


def test_the_page_shows_what_was_read_and_what_a_lens_would_read(study):
    page = (study / "out" / "report.html").read_text()
    assert "mcqa-reasoned/1" in page
    assert "answer_in_reasoning" in page
    assert "&lt;answer&gt;C&lt;/answer&gt;</mark>" in page, "the wrong answer is marked whole"


def test_a_gate_and_a_comparison_take_it(study):
    assert fine(affidavit("gate", study / "out", "--min-compliance", "0.05"), 0)
    assert fine(affidavit("gate", study / "out", "--min-compliance", "0.95"), 3)
    pair = (f"{study / 'out'}@condition=free", f"{study / 'out'}@condition=urged")
    assert fine(affidavit("compare", *pair), 0)


def test_options_of_each_item_and_another_order(tmp_path):
    changed = {"tasks": {"quiz": {"contract": "mcqa-reasoned", "options": "auto", "option_order": "rotate"}}}
    with FaultServer(answer=lambda asked: "So. <answer>B</answer>") as server:
        write_study(tmp_path, server.url, count=4, changed=changed)
        assert fine(run(tmp_path), 0)
    found = records(tmp_path / "out")
    assert {each["contract_params"]["options"] for each in found} == {"A-D"}
    assert {each["own_answer"] for each in found} <= {*"ABCD"}
    assert told_by_verify(tmp_path / "out")["differing"] == 0


def test_the_example_is_a_study():
    assert fine(affidavit("run", EXAMPLE, "--dry-run"), 0)


@pytest.mark.long
def test_under_its_grammar_every_output_that_came_to_its_end_complies(tmp_path):
    """Ruling M11, on the embedded model."""
    ready_to_run()
    study = EXAMPLE.read_text()
    free = study[study.index("[conditions.free]") : study.index("[conditions.grammar]")]
    (tmp_path / EXAMPLE.name).write_text(study.replace(free, ""))
    shutil.copy(EXAMPLE.with_name("reasoned_questions.jsonl"), tmp_path)
    assert fine(affidavit("run", tmp_path / EXAMPLE.name, "--out", tmp_path / "out"), 0)
    found = records(tmp_path / "out")
    assert len(found) == 6
    ended = [each for each in found if each["finish_reason"] == "stop"]
    assert ended
    assert all(each["protocol_compliant"] for each in ended)
