"""lighteval's own command, run in its own environment against a server that says what is given here.

A run is one task: of several with other settings each, lighteval asks every question in every task's settings, and what
LiteLLM has kept of an answer cannot be taken without packages that neither brings. By default such a question is tried
eight times, over three minutes. Nothing is looked up elsewhere: items are files, LiteLLM has a table of prices of its
own, the model's length is given, and what one of lighteval's tasks fetches on its import is there, as an empty file.
"""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from support.fault_server import Call, Fault, FaultServer, Planned, response
from support.inspect_runs import ENVIRONMENTS, OFFLINE
from support.pages import ROOT

QUIZ = ROOT / "tests" / "support" / "lighteval_quiz.py"
QUESTIONS = ("q1", "q2", "q3", "q4", "q5")
FETCHED = "lib/python*/site-packages/lighteval/tasks/tasks"
MODEL = "openai/tiny"
_SETTINGS = {
    "provider": "openai",
    "api_key": "none",
    "concurrent_requests": 1,
    "max_model_length": 2048,
    "api_max_retry": 2,
    "api_retry_sleep": 0.0,
    "generation_parameters": {"temperature": 0.5},
}


def as_texts(*texts: str) -> Fault:
    """As many of these texts as are asked for, by a server that says which model it has."""

    async def fault(call: Call) -> None:
        asked = call.asked.body.get("n")
        choices = [
            {"index": number, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            for number, text in enumerate(texts[: asked if isinstance(asked, int) else 1])
        ]
        said = {"id": "chatcmpl-1", "created": 0, "model": "tiny", "object": "chat.completion"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        await call.send(response(json.dumps({**said, "choices": choices, "usage": usage}).encode()))

    return fault


def details_by_lighteval(folder: Path, task: str, answers: Mapping[str, Planned]) -> Path:
    """The folder with the results and the details of a task that lighteval writes below another one."""
    items = folder / "items"
    items.mkdir()
    rows = [{"question": f"[{name}] Which?", "subject": "art"} for name in QUESTIONS]
    (items / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for place in (ENVIRONMENTS / "lighteval").glob(FETCHED):
        (place / "tinyBenchmarks.pkl").touch()
    with FaultServer(answers) as server:
        settings = {**_SETTINGS, "model_name": MODEL, "base_url": server.url, "cache_dir": str(folder / "cache")}
        (folder / "model.yaml").write_text(json.dumps({"model_parameters": settings}))  # JSON is YAML
        order = [
            ENVIRONMENTS / "lighteval" / "bin" / "lighteval", "endpoint", "litellm", "model.yaml", f"{task}|0",
            "--custom-tasks", QUIZ, "--output-dir", "out", "--save-details",
        ]  # fmt: skip
        environment = {**OFFLINE, "HF_HOME": str(folder / "hub"), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        done = subprocess.run(
            order,
            capture_output=True,
            text=True,
            check=False,
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
        )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder / "out"
