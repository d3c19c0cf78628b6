# ruff: noqa: PLC0415 - what is imported late is not in the environment of tests
"""Run by Inspect's own environment: one log of samples that end oddly, and what Inspect itself reads in it, as JSON.

python write_inspect_edges.py URL FOLDER thoughts|limits|attached|interrupted
"""

import base64
import json
import sys

IMAGE = "data:image/png;base64," + base64.b64encode(bytes(range(256)) * 4).decode()


def task_of(name: str):
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText
    from inspect_ai.scorer import match
    from inspect_ai.solver import generate

    def asked(number: int):
        words = f"[q{number}] Say it."
        if name != "attached":
            return words
        return [ChatMessageUser(content=[ContentText(text=words), ContentImage(image=IMAGE)])]

    samples = [Sample(id=f"q{number}", input=asked(number), target="B") for number in range(1, 5)]
    limits = {"token_limit": 10} if name == "limits" else {}
    return Task(name=name, dataset=MemoryDataset(samples), solver=generate(), scorer=match(), **limits)


def main(url: str, folder: str, name: str) -> None:
    from inspect_ai import eval as run_eval
    from inspect_ai.log import read_eval_log
    from inspect_ai.model import get_model

    model = get_model("openai-api/mock/tiny", base_url=url, api_key="none")
    (done,) = run_eval(
        task_of(name), model=model, log_dir=folder, display="none", fail_on_error=False, max_retries=0, max_samples=1,
        log_buffer=1,
    )  # fmt: skip
    log = read_eval_log(done.location, resolve_attachments=True)
    said = [
        {
            "id": sample.id,
            "text": sample.output.completion if sample.output.choices else None,
            "limit": sample.limit.type if sample.limit else None,
            "parts": [part.type for part in _parts(sample.output)],
            "score": {each: str(score.value) for each, score in (sample.scores or {}).items()},
        }
        for sample in log.samples or []
    ]
    sys.stdout.write(json.dumps(said))


def _parts(output):
    content = output.choices[0].message.content if output.choices else ""
    return content if isinstance(content, list) else []


if __name__ == "__main__":
    main(*sys.argv[1:])
