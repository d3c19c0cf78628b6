# ruff: noqa: PLC0415 - what is imported late is not in the environment of tests
"""Run by Inspect's own environment: logs against a server, and what Inspect itself reads in them, as JSON.

python write_inspect_logs.py URL FOLDER
"""

import json
import sys
from pathlib import Path

QUESTIONS = ("q1", "q2", "q3", "q4")


def dataset():
    from inspect_ai.dataset import MemoryDataset, Sample

    return MemoryDataset(
        [Sample(id=name, input=f"[{name}] Which?", choices=["w", "x", "y", "z"], target="B") for name in QUESTIONS]
    )


def open_dataset():
    from inspect_ai.dataset import MemoryDataset, Sample

    return MemoryDataset([Sample(id=name, input=f"[{name}] Say it.", target="B") for name in QUESTIONS[:2]])


def main(url: str, folder: str) -> None:
    from inspect_ai import Task
    from inspect_ai import eval as run_eval
    from inspect_ai.log import read_eval_log
    from inspect_ai.model import get_model
    from inspect_ai.scorer import choice, match, model_graded_qa
    from inspect_ai.solver import generate, multiple_choice

    model = get_model("openai-api/mock/tiny", base_url=url, api_key="none")
    settings = {"model": model, "log_dir": folder, "display": "none", "fail_on_error": False, "max_retries": 0}
    tasks = {
        "letters": Task(
            name="letters", dataset=dataset(), solver=multiple_choice(), scorer=[choice(), match()], epochs=2
        ),
        "graded": Task(name="graded", dataset=open_dataset(), solver=generate(), scorer=model_graded_qa()),
    }
    said = []
    for log_format in ("eval", "json"):
        for name, task in tasks.items():
            (done,) = run_eval(task, log_format=log_format, **settings)
            log = read_eval_log(done.location)
            path = Path(done.location.removeprefix("file://"))
            samples = [
                {
                    "id": sample.id,
                    "epoch": sample.epoch,
                    "text": sample.output.completion if sample.output.choices else None,
                    "error": sample.error is not None,
                    "scores": {each: str(score.value) for each, score in (sample.scores or {}).items()},
                }
                for sample in log.samples or []
            ]
            scores = {
                each.name: {metric: value.value for metric, value in each.metrics.items()}
                for each in (log.results.scores if log.results else [])
            }
            said.append({"task": name, "file": path.name, "samples": samples, "scores": scores})
    sys.stdout.write(json.dumps(said))


if __name__ == "__main__":
    main(*sys.argv[1:])
