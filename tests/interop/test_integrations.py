"""Contracts inside real runs of Inspect and lm-eval: their figures are those of `affidavit read` on the same outputs.

Outside CI: `make interop` makes the environments and runs this file.
"""

import json
import os
import subprocess
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from support.command import affidavit
from support.fault_server import Asked, FaultServer, body, chat, every, status
from support.pages import ROOT

ENVIRONMENTS = ROOT / ".venv-interop"
OFFLINE = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "NO_PROXY": "127.0.0.1"}
PAGE = ROOT / "docs" / "inside-other-harnesses.md"
FIGURES = {
    "compliance": "compliance",
    "accuracy_over_answers": "accuracy_over_compliant",
    "accuracy_over_all_outputs": "yield",
}
"""Their names in both harnesses, and in the summary of `affidavit read`."""


def said(_asked: Asked) -> dict[str, object]:
    """What a server must say of itself for Inspect."""
    return {"id": "chatcmpl-1", "model": "tiny", "created": 0}


def run(harness: str, *order: str | Path, folder: Path, package: Path = ROOT / "src") -> str:
    """What a command of a harness prints that finds our package in this folder."""
    command = ENVIRONMENTS / harness / "bin" / ("inspect" if harness == "inspect" else "lm_eval")
    with TemporaryDirectory() as cache:
        env = {**OFFLINE, "PYTHONPATH": str(package), "HF_HOME": cache}
        done = subprocess.run([command, *order], capture_output=True, text=True, check=False, env=env, cwd=folder)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def evaluate(server: FaultServer, task: str | Path, folder: Path, *more: str) -> str:
    """A run of Inspect."""
    asked = ("--model", "openai-api/mock/tiny", "--model-base-url", server.url, "-M", "api_key=none")
    patience = (
        "--max-retries",
        "0",
        "--no-fail-on-error",
        "--display",
        "plain",
        "--log-dir",
        str(folder / "logs"),
    )
    return run("inspect", "eval", str(task), *asked, *patience, *more, folder=ROOT if task == EXAMPLE else folder)


def lm_evaluate(server: FaultServer, task: str, tasks: str | Path, folder: Path, *, cwd: Path) -> str:
    """A run of lm-eval."""
    arguments = f"model=tiny,base_url={server.url}/chat/completions,num_concurrent=1,tokenizer_backend=None"
    asked = ("--model", "local-chat-completions", "--model_args", arguments, "--apply_chat_template")
    where = ("--include_path", str(tasks), "--tasks", task, "--log_samples", "--output_path", str(folder / "out"))
    return run("lm_eval", *asked, *where, folder=cwd)


def read(contract: str, log: Path) -> dict:
    """The summary of `affidavit read`."""
    return json.loads(affidavit("read", contract, str(log), "--json").stdout)


def only(folder: Path, pattern: str) -> Path:
    (found,) = folder.rglob(pattern)
    return found


EXAMPLE = "examples/inside_harnesses/inspect_quiz.py"
RECORDED = ROOT / "examples" / "smollm2-answers"


def recorded() -> dict[str, str]:
    """What a small model said once under the plain instruction, by the question."""
    lines = (ROOT / "examples" / "demo_questions.jsonl").read_text().splitlines()
    questions = {item["id"]: item["question"] for item in map(json.loads, lines)}
    records = map(json.loads, only(RECORDED / "records", "*.jsonl").read_text().splitlines())
    return {questions[each["item_id"]]: each["raw_output"] for each in records if each["condition"] == "free"}


@pytest.fixture(scope="module")
def small_model():
    answers = recorded()

    def answer(asked: Asked) -> str:
        return next(text for question, text in answers.items() if question in asked.prompt)

    with FaultServer(answer=answer, said=said) as server:
        yield server


def shown(first: str) -> str:
    """The block of the page that begins so."""
    page = PAGE.read_text()
    return page[page.index(f"```\n{first}") + 4 :].partition("```")[0]


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def test_the_example_of_inspect_gives_what_the_page_shows(small_model, tmp_path):
    printed = evaluate(small_model, EXAMPLE, tmp_path)
    expected = lines(shown("contract_scorer\n"))
    assert len(expected) > 4
    assert [line for line in expected if line not in lines(printed)] == []
    summary = read("mcqa", only(tmp_path / "logs", "*.eval"))
    assert (summary["n"], summary["compliant"]) == (40, 0)


def test_the_example_of_lm_eval_gives_what_the_page_shows(small_model, tmp_path):
    printed = lm_evaluate(small_model, "quiz", "examples/inside_harnesses", tmp_path, cwd=ROOT)
    expected = lines(shown("|Tasks|"))
    assert len(expected) == 4
    assert [line for line in expected if line not in lines(printed)] == []
    summary = read("mcqa", only(tmp_path / "out", "samples_*.jsonl"))
    assert (summary["n"], summary["compliant"]) == (40, 0)


# --- outputs of every kind ---

FORMS = ("<answer>B</answer>", "B", " \n", "<answer>A</answer>", "<answer>B</answer>", "It is B.")
OWN = '''
from affidavit import AnswerReading, Pattern, Validation

letter = Pattern("letter", 1, "[A-D]|<answer>(?P<answer>[A-D])</answer>", "One letter.")


class First:
    """The first character; none that is no capital."""

    name, version, params = "first", 1, {}

    def instruction(self, item=None):
        return "Begin with a letter."

    def read(self, raw, item=None):
        if raw.startswith("It"):
            raise ValueError("never again")
        return AnswerReading(raw[0]) if raw[:1].isupper() else AnswerReading.nothing()

    def validate(self, reading, item):
        if reading.extracted_answer is None:
            return None
        return Validation(reading.extracted_answer == item["answer"], "compared")

    def grammar(self, item=None):
        return None


first = First()
'''
TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.solver import generate

from affidavit import Pattern
from affidavit.integrations.inspect import contract_prompt, contract_scorer

letter = Pattern("letter", 1, "[A-D]|<answer>(?P<answer>[A-D])</answer>", "One letter.")

@task
def forms():
    names = [f"q{number}" for number in range(1, 13)]
    choices = ["w", "x", "y", "z"]
    return Task(
        dataset=MemoryDataset([Sample(id=name, input=f"[{name}] Which?", choices=choices, target="B") for name in names]),
        solver=[contract_prompt("mcqa"), generate()],
        scorer=[contract_scorer("mcqa"), contract_scorer("own.py:first"), contract_scorer(letter)],
    )
"""
READ_BY = ("mcqa", "own.py:first", "own.py:letter")


def answer(asked: Asked) -> str:
    """By the question's number, and another one each time that it is asked."""
    return FORMS[(int(asked.question.removeprefix("q")) + 5 * asked.attempt) % len(FORMS)]


NOTHING = {
    "q7": every(status(400)),
    "q9": every(body(chat({"content": ""}, "content_filter", model="tiny", created=0))),
}


def test_three_contracts_in_inspect_score_as_they_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "task.py").write_text(TASK)
    with FaultServer(NOTHING, answer=answer, said=said) as server:
        evaluate(server, "task.py", tmp_path)
    log = only(tmp_path / "logs", "*.eval")
    scores = scores_of(log)
    assert len(scores) == len(READ_BY)
    for contract, metrics in zip(READ_BY, scores, strict=True):
        summary = json.loads(affidavit("read", contract, str(log), "--json").stdout)
        assert (summary["n"], summary["failed"]) == (12, 2)
        assert (contract == "own.py:first") == (summary["unread"] > 0)
        for name, ours in FIGURES.items():
            share = summary[ours]
            found = {part: metrics[f"{name}{part}"] for part in ("", "_low", "_high", "_n")}
            expected = {"": share["value"], "_low": share["low"], "_high": share["high"], "_n": share["n"]}
            assert found == pytest.approx(expected, abs=1e-12), (contract, name)


def scores_of(log: Path) -> list[dict[str, float]]:
    """What Inspect printed for each scorer, as it reads its own log."""
    script = (
        "import json, sys; from inspect_ai.log import read_eval_log; log = read_eval_log(sys.argv[1], header_only=True); "
        "print(json.dumps([{name: each.value for name, each in score.metrics.items()} for score in log.results.scores]))"
    )
    order = [ENVIRONMENTS / "inspect" / "bin" / "python", "-c", script, log]
    return json.loads(subprocess.run(order, capture_output=True, text=True, check=True, env=OFFLINE).stdout)


def test_epochs_are_clusters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "task.py").write_text(TASK)
    with FaultServer(NOTHING, answer=answer, said=said) as server:
        evaluate(server, "task.py", tmp_path, "--epochs", "3")
    log = only(tmp_path / "logs", "*.eval")
    tables = json.loads(affidavit("read", "mcqa", str(log), "--by", "model", "--json").stdout)["tables"]
    (row,) = tables["compliance"]["rows"]
    share, metrics = row["compliance"], scores_of(log)[0]
    assert (share["n"], share["clusters"]) == (30, 10)
    found = [metrics[f"compliance{part}"] for part in ("", "_low", "_high", "_n")]
    assert found == pytest.approx([share["value"], share["low"], share["high"], share["n"]], abs=1e-12)


def test_inspect_scores_a_log_again_by_the_name_of_the_scorer(tmp_path, monkeypatch):
    """As it finds what is installed: by the entry point of the package."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "task.py").write_text(TASK)
    with FaultServer(NOTHING, answer=answer, said=said) as server:
        evaluate(server, "task.py", tmp_path)
    installed = tmp_path / "site-packages"
    facts = installed / "affidavit-0.1.0.dist-info"
    facts.mkdir(parents=True)
    (installed / "affidavit").symlink_to(ROOT / "src" / "affidavit")
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: affidavit\nVersion: 0.1.0\n")
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["inspect_ai"]
    (facts / "entry_points.txt").write_text(
        "[inspect_ai]\n" + "".join(f"{name} = {at}\n" for name, at in points.items())
    )
    log, again = only(tmp_path / "logs", "*.eval"), tmp_path / "again.eval"
    order = ("--scorer", "affidavit/contract_scorer", "-S", "contract=text", "--action", "overwrite")
    where = ("--output-file", str(again), "--model", "mockllm/model")
    run("inspect", "score", str(log), *order, *where, folder=tmp_path, package=installed)
    (metrics,) = scores_of(again)
    summary = read("text", log)
    assert metrics["compliance"] == pytest.approx(summary["compliance"]["value"], abs=1e-12)
    assert "accuracy_over_answers" not in metrics


QUIZ = """
task: forms
dataset_path: json
dataset_kwargs:
  data_files: {data}
test_split: train
output_type: generate_until
repeats: {repeats}
doc_to_text: !function reading.prompt
doc_to_target: "{{{{answer}}}}"
process_results: !function reading.figures
generation_kwargs:
  until: []
filter_list:
  - name: ours
    filter:
      - function: !function reading.read
metric_list:
  - metric: compliance
    aggregation: mean
    higher_is_better: true
  - metric: accuracy_over_answers
    aggregation: mean
    higher_is_better: true
  - metric: accuracy_over_all_outputs
    aggregation: mean
    higher_is_better: true
"""
READING = """
from affidavit import Pattern
from affidavit.integrations.lm_eval import TaskContract

letter = Pattern("letter", 1, "[A-D]|<answer>(?P<answer>[A-D])</answer>", "One letter.")
contract = TaskContract({contract})
prompt, read, figures = contract.prompt, contract.read, contract.figures
"""


@pytest.mark.parametrize(
    ("given", "name", "repeats"),
    [
        ("'mcqa'", "mcqa", 1),
        ("'own.py:first'", "own.py:first", 1),
        ("letter", "own.py:letter", 1),
        ("'mcqa'", "mcqa", 2),
    ],
)
def test_a_contract_in_lm_eval_counts_as_it_reads(given, name, repeats, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "forms.yaml").write_text(QUIZ.format(data=tmp_path / "data.jsonl", repeats=repeats))
    (tmp_path / "tasks" / "reading.py").write_text(READING.format(contract=given))
    rows = [{"question": f"[q{n}] Which?", "options": ["w", "x", "y", "z"], "answer": "B"} for n in range(1, 13)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with FaultServer(answer=answer, said=said) as server:
        lm_evaluate(server, "forms", "tasks", tmp_path, cwd=tmp_path)
    found = json.loads(only(tmp_path / "out", "results_*.json").read_text())["results"]["forms"]
    log = only(tmp_path / "out", "samples_*.jsonl")
    summary = json.loads(affidavit("read", name, str(log), "--json").stdout)
    assert summary["n"] == 12 * repeats
    for theirs, ours in FIGURES.items():
        # With repeats, lm-eval's mean over answers is one of documents; the others have as many outputs each.
        if repeats == 1 or theirs != "accuracy_over_answers":
            assert found[f"{theirs},ours"] == pytest.approx(summary[ours]["value"], abs=1e-12), theirs
