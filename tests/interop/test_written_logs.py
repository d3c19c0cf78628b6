"""Logs that other harnesses write here and now, against a server that breaks: read as they are, figures made again.

Outside CI: `make interop` makes the environments and runs this file.
"""

import json
import subprocess
from pathlib import Path

import pytest

from affidavit.exchange.logged_output import NoAnswer
from affidavit.exchange.registry import logs_of
from support.fault_server import Call, Fault, FaultServer, body, chat, every, first, hang, says, status
from support.inspect_runs import ENVIRONMENTS, OFFLINE, as_tiny, logs_by_inspect
from support.kept_logs import KEPT, keep, recounted
from support.kills import wait
from support.pages import ROOT


async def grading(call: Call) -> None:
    """A grader that gives a grade for one of the questions, and none for the others."""
    said = "It fits.\n\nGRADE: C" if "[q1]" in call.asked.prompt else "I would rather not."
    await as_tiny(said)(call)


@pytest.fixture(scope="module")
def inspect(tmp_path_factory) -> tuple[Path, list[dict]]:
    folder = tmp_path_factory.mktemp("inspect")
    answers = {
        "q1": every(as_tiny("I think so.\n\nANSWER: B")),
        "q2": every(as_tiny("ANSWER: C")),
        "q3": every(status(400)),
        "Task": every(grading),
        "q4": every(as_tiny("No idea", "length")),
    }
    return folder, logs_by_inspect(folder, answers)


def test_inspect_logs_are_read_as_inspect_reads_them(inspect):
    folder, said = inspect
    assert {each["file"].rpartition(".")[2] for each in said} == {"eval", "json"}
    for theirs in said:
        (log,) = logs_of([folder / theirs["file"]])
        outputs = {(output.item_id, output.sample + 1): output for output in log.outputs()}
        assert len(outputs) == len(theirs["samples"]) > 0
        for sample in theirs["samples"]:
            output = outputs[str(sample["id"]), sample["epoch"]]
            assert (output.error is not None) == sample["error"]
            assert output.raw_output == (sample["text"] or None)
            assert (output.no_answer is NoAnswer.ERROR) == (output.raw_output is None)
            verdicts = {word.scorer: word.correct for word in output.words}
            expected = {"C": True, "I": False}
            assert verdicts == {name: expected.get(value) for name, value in sample["scores"].items()}
        if theirs["task"] == "letters":
            assert sum(output.no_answer is NoAnswer.ERROR for output in outputs.values()) == 2
            assert {output.finish_reason for output in outputs.values()} == {"stop", "length", None}
        else:
            assert {word.no_answer for output in outputs.values() for word in output.words} == {
                None,
                NoAnswer.ERROR,
            }
        figures = recounted(log, list(outputs.values()))
        assert figures
        for (scorer, metric), (printed, again) in figures.items():
            assert theirs["scores"][scorer][metric] == printed
            assert again == pytest.approx(printed, abs=1e-12)


def test_a_small_log_of_inspect_is_kept(inspect):
    """What tests outside of this environment read; by the day, the place and the processor, logs differ."""
    folder, said = inspect
    name = next(each["file"] for each in said if each["task"] == "graded" and each["file"].endswith(".json"))
    keep(folder / name, "inspect/graded.json", folder)


def test_inspect_s_model_that_graded_itself_is_told(inspect):
    folder, said = inspect
    for theirs in said:
        (log,) = logs_of([folder / theirs["file"]])
        models = {output.model for output in log.outputs()}
        assert ({each.model for each in log.graders} == models) == (theirs["task"] == "graded")


def thinking(text: str) -> Fault:
    """An answer whose thoughts come in a field of their own."""
    return body(chat({"content": text, "reasoning_content": "Hm."}, model="tiny", id="chatcmpl-1", created=0))


EDGES = {
    "thoughts": {
        "q1": every(thinking("B")),
        "q2": every(as_tiny("<think>Well.</think>B")),
        "q3": every(thinking("")),
        "q4": every(as_tiny("B")),
    },
    "limits": {f"q{n}": every(as_tiny("B")) for n in range(1, 5)},
    "attached": {f"q{n}": every(as_tiny("B")) for n in range(1, 5)},
}


def edge(name: str, url: str, folder: Path) -> list[str | Path]:
    script = ROOT / "tests" / "support" / "write_inspect_edges.py"
    return [ENVIRONMENTS / "inspect" / "bin" / "python", "-W", "ignore", script, url, folder, name]


@pytest.mark.parametrize("name", EDGES)
def test_inspect_samples_that_end_oddly_are_read_as_inspect_reads_them(tmp_path, name):
    with FaultServer(EDGES[name]) as server:
        order = edge(name, server.url, tmp_path)
        done = subprocess.run(order, capture_output=True, text=True, check=False, env=OFFLINE, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    theirs = json.loads(done.stdout[done.stdout.index("[{") :])
    (log,) = logs_of([next(tmp_path.glob("*.eval"))])
    outputs = {output.item_id: output for output in log.outputs()}
    assert list(outputs) == [each["id"] for each in theirs] == ["q1", "q2", "q3", "q4"]
    for each in theirs:
        output = outputs[each["id"]]
        assert output.raw_output == each["text"]
        assert output.more.get("inspect_limit") == each["limit"]
        assert (output.reasoning is not None) == ("reasoning" in each["parts"])
        expected = {"C": True, "I": False}
        assert {word.scorer: word.correct for word in output.words} == {
            scorer: expected[value] for scorer, value in each["score"].items()
        }
    if name == "thoughts":
        assert (outputs["q1"].reasoning, outputs["q1"].raw_output) == ("Hm.", "B")
        assert not outputs["q2"].verbatim, "Inspect has cut its thoughts out"
        assert outputs["q4"].verbatim
    elif name == "limits":
        assert {each["limit"] for each in theirs} == {"token"}
    else:
        assert {output.prompt for output in outputs.values()} == {None}, "an image is no text"


def test_an_interrupted_run_of_inspect_is_read_as_far_as_it_came(tmp_path):
    """The samples that were written are there; how many are missing is told (ruling I4)."""
    answers = {"q1": every(as_tiny("B")), "q2": every(as_tiny("C")), "q3": every(hang), "q4": every(as_tiny("B"))}
    with FaultServer(answers) as server:
        process = subprocess.Popen(
            edge("interrupted", server.url, tmp_path), env=OFFLINE, cwd=tmp_path,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            wait(process, lambda: any("[q3]" in call.prompt for call in list(server.log)))
        finally:
            process.kill()
            process.wait()
    (log,) = logs_of([next(tmp_path.glob("*.eval"))])
    outputs = list(log.outputs())
    assert [(output.item_id, output.raw_output) for output in outputs] == [("q1", "B"), ("q2", "C")]
    assert (log.planned, log.facts["status"]) == (4, "started")
    assert log.printed == ()


LM_EVAL_TASK = """
task: quiz
dataset_path: json
dataset_kwargs:
  data_files: {data}
test_split: train
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
repeats: {repeats}
generation_kwargs:
  until: ["END"]
  max_gen_toks: 64
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
filter_list:
  - name: strict
    filter:
      - function: regex
        regex_pattern: "#### (\\\\-?[0-9]+)"
      - function: take_first
  - name: loose
    filter:
      - function: regex
        regex_pattern: "([0-9]+)"
        group_select: -1
      - function: take_first
"""


@pytest.mark.parametrize("repeats", [1, 2])
def test_lm_eval_logs_are_read_and_their_figures_made_again(tmp_path, repeats):
    rows = [{"question": f"[q{n}] How many?", "answer": str(n)} for n in range(1, 5)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    task = LM_EVAL_TASK.format(data=tmp_path / "data.jsonl", repeats=repeats)
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "quiz.yaml").write_text(task)
    answers = {
        "q1": every(says("One.\n#### 1")),
        "q2": every(says("It is 2.")),
        "q3": every(says("no number")),
        "q4": first(says("#### 5")),
    }
    with FaultServer(answers) as server:
        arguments = f"model=tiny,base_url={server.url}/chat/completions,num_concurrent=1,tokenizer_backend=None"
        order = [
            ENVIRONMENTS / "lm_eval" / "bin" / "lm_eval", "--model", "local-chat-completions", "--model_args", arguments,
            "--tasks", "quiz", "--include_path", "tasks", "--apply_chat_template", "--log_samples", "--output_path", "out",
        ]  # fmt: skip
        done = subprocess.run(order, capture_output=True, text=True, check=False, env=OFFLINE, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    (log,) = logs_of([tmp_path / "out"])
    outputs = list(log.outputs())
    assert (len(outputs), log.planned) == (4 * repeats, 4 * repeats)
    assert {output.model for output in outputs} == {"tiny"}
    assert outputs[0].raw_output == "One.\n#### 1"
    assert [word.scorer for word in outputs[0].words] == ["exact_match,strict", "exact_match,loose"]
    assert [word.no_answer for word in outputs[2 * repeats].words] == [NoAnswer.SENTINEL, NoAnswer.SENTINEL]
    for path in (tmp_path / "out").rglob("*.json*"):
        kind, _, _ = path.name.partition("_")
        name = f"{kind}_quiz_{KEPT}.jsonl" if kind == "samples" else f"{kind}_{KEPT}.json"
        keep(path, f"lm_eval/repeats-{repeats}/{name}", tmp_path)
    figures = recounted(log, outputs)
    assert len(figures) == 2
    for printed, again in figures.values():
        assert again == pytest.approx(printed, abs=1e-12)
