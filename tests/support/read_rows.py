"""Rows of outputs for `affidavit read`."""

import json


def rows(text: bytes) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def jsonl(*objects: object) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in objects)


META = {
    "judge_model": "J", "target_model": "T/1", "question_id": "Q1", "prompt_variant": "A", "output_id": "out-1",
    "method": "cross_judge", "timestamp": "2026-01-05",
}  # fmt: skip


DIMENSIONS = ("FORMAT_COMPLIANCE", "INSTRUCTION_COMPLIANCE", "SEMANTIC_FIDELITY", "COMPLETENESS")


EVALUATION = {
    "meta": META,
    "scores": {**dict.fromkeys(DIMENSIONS, 2), "overall_score": 8},
    "verdict": "PASS",
    "flags": [],
    "evidence": [{"dimension": name, "quote": "a fine answer", "reason": "r"} for name in DIMENSIONS],
}
