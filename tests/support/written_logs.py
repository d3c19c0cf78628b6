"""Logs of lm-eval, as the tool writes them: a small one of three documents, of which one has no text, and long ones."""

import json
from pathlib import Path

TIME = "2026-01-02T03-04-05.678901"
NAME = f"samples_quiz_{TIME}.jsonl"


def row(doc: int, text: str | None, value: float, answer: str = "B") -> dict:
    return {
        "doc_id": doc,
        "doc": {"question": f"[{doc}] Which?", "choices": ["w", "x", "y", "z"]},
        "target": "B",
        "arguments": {"gen_args_0": {"arg_0": "Which?"}},
        "resps": [[text]],
        "filtered_resps": [answer],
        "filter": "strict",
        "metrics": ["exact_match"],
        "exact_match": value,
    }


ROWS = [row(0, "<answer>B</answer>", 1.0), row(1, "B. x", 1.0), row(2, None, 0.0, "[invalid]")]


def write_log(folder: Path, *, printed: float = 0.75, planned: int = 4) -> Path:
    """The log and the summary beside it, in a folder of their own."""
    path = folder / "tiny" / NAME
    path.parent.mkdir()
    path.write_text("".join(json.dumps(each) + "\n" for each in ROWS))
    results = {
        "results": {"quiz": {"exact_match,strict": printed}},
        "n-samples": {"quiz": {"effective": planned}},
        "model_name": "tiny",
    }
    (path.parent / f"results_{TIME}.json").write_text(json.dumps(results))
    return path


def write_long_log(folder: Path, count: int) -> Path:
    """A log of so many documents, with texts of the usual length."""
    path = folder / f"{count}" / NAME
    path.parent.mkdir()
    with path.open("w") as log:
        for doc in range(count):
            said = row(doc, f"{doc}: " + "Somebody has apples. " * 30, doc % 2, str(doc))
            log.write(json.dumps({**said, "doc": {"question": "How many apples? " * 20}}) + "\n")
    return path
