"""A small log of every format, with the outputs that are asked for; whatever is written may be changed on its way."""

import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from affidavit.exchange.batch_output import BATCH
from affidavit.exchange.every_eval_ever import EVERY_EVAL_EVER
from affidavit.exchange.helm_runs import HELM
from affidavit.exchange.inspect_json import INSPECT_JSON
from affidavit.exchange.inspect_zip import INSPECT_EVAL
from affidavit.exchange.lighteval_details import LIGHTEVAL
from affidavit.exchange.lm_eval_samples import LM_EVAL
from affidavit.exchange.opencompass_predictions import OPENCOMPASS
from affidavit.exchange.promptfoo_exports import PROMPTFOO

TIME = "2026-01-02T03-04-05.678901"
MARK = "beside"
"""A text within each output that no reader looks into: other JSON may be put in its place."""
TEXT = "<answer>B</answer>"
Spliced = Callable[[str], str]
"""What becomes of each JSON text before it is written."""
Writer = Callable[[Path, Sequence[str], Spliced], Path]


def as_it_is(text: str) -> str:
    """The text."""
    return text


def write_small_log(
    form: str, folder: Path, *, ids: Sequence[str] = ("1", "2", "3"), spliced: Spliced = as_it_is
) -> Path:
    """A log of a format with an output for each id: what is to be opened, a file or a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return WRITERS[form](folder, ids, spliced)


def _json(path: Path, value: object, spliced: Spliced) -> Path:
    path.write_text(spliced(json.dumps(value)))
    return path


def _lines(path: Path, rows: Sequence[object], spliced: Spliced) -> Path:
    path.write_text("".join(f"{spliced(json.dumps(row))}\n" for row in rows))
    return path


# --- Inspect ---

_HEADER = {
    "version": 2,
    "status": "success",
    "eval": {"task": "quiz", "model": "lab/tiny", "dataset": {"samples": 3}, "config": {"epochs": 1}},
    "plan": {},
    "results": {
        "total_samples": 3,
        "scores": [
            {"name": "match", "scorer": "match", "metrics": {"accuracy": {"name": "accuracy", "value": 1}}}
        ],
    },
}


def _inspect_sample(name: str) -> dict:
    message = {"role": "assistant", "content": TEXT}
    return {
        "id": name,
        "epoch": 1,
        "input": "Which?",
        "target": "B",
        "messages": [{"role": "user", "content": "Which?"}, message],
        "output": {"choices": [{"message": message, "stop_reason": "stop"}], "usage": {}},
        "scores": {"match": {"value": "C", "answer": "B"}},
        "metadata": {"subject": MARK},
    }


def _inspect_json(folder: Path, ids: Sequence[str], spliced: Spliced) -> Path:
    samples = [_inspect_sample(name) for name in ids]
    return _json(folder / "log.json", {**_HEADER, "samples": samples}, spliced)


def _inspect_eval(folder: Path, ids: Sequence[str], spliced: Spliced) -> Path:
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, name in enumerate(ids):
            content = spliced(json.dumps(_inspect_sample(name)))
            archive.writestr(f"samples/{number}_epoch_1.json", content)
        archive.writestr("header.json", spliced(json.dumps(_HEADER)))
    return path


# --- rows ---


def _lm_eval(folder: Path, ids: Sequence[str], spliced: Spliced) -> Path:
    rows = [
        {
            "doc_id": int(name),
            "doc": {"question": "Which?", "subject": MARK},
            "target": "B",
            "arguments": {"gen_args_0": {"arg_0": "Which?"}},
            "resps": [[TEXT]],
            "filtered_resps": ["B"],
            "filter": "strict",
            "metrics": ["exact_match"],
            "exact_match": 1.0,
        }
        for name in ids
    ]
    printed = {"exact_match,strict": 1.0}
    results = {"results": {"quiz": printed}, "n-samples": {"quiz": {"effective": 3}}, "model_name": "tiny"}
    _json(folder / f"results_{TIME}.json", {**results, "config": MARK}, spliced)
    return _lines(folder / f"samples_quiz_{TIME}.jsonl", rows, spliced)


def _batch(folder: Path, ids: Sequence[str], spliced: Spliced) -> Path:
    rows, asked = [], []
    for name in ids:
        choice = {"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}
        body = {"id": "c", "object": "chat.completion", "model": "tiny", "choices": [choice], "usage": MARK}
        response = {"status_code": 200, "request_id": "r", "body": body}
        rows.append({"id": f"b{name}", "custom_id": name, "response": response, "error": None})
        messages = [{"role": "user", "content": "Which?"}]
        sent = {"model": "tiny", "messages": messages, "user": MARK}
        asked.append({"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": sent})
    _lines(folder / "input.jsonl", asked, spliced)
    return _lines(folder / "output.jsonl", rows, spliced)


def _every_eval_ever(folder: Path, ids: Sequence[str], spliced: Spliced) -> Path:
    rows = [
        {
            "schema_version": "0.3.0",
            "evaluation_id": "quiz/lab/tiny/1",
            "model_id": "lab/tiny",
            "evaluation_name": "quiz",
            "sample_id": name,
            "interaction_type": "single_turn",
            "input": {"raw": "Which?", "formatted": None, "reference": ["B"], "choices": ["A", "B"]},
            "output": {"raw": [TEXT], "reasoning_trace": None},
            "answer_attribution": [],
            "evaluation": {"score": 1.0, "is_correct": True},
            "error": None,
            "metadata": {"subject": MARK},
        }
        for name in ids
    ]
    result = {
        "evaluation_name": "quiz",
        "metric_config": {"metric_name": "accuracy"},
        "score_details": {"score": 1.0},
    }
    summary = {
        "schema_version": "0.3.0",
        "evaluation_id": "quiz/lab/tiny/1",
        "retrieved_timestamp": "1",
        "eval_library": {"name": "own", "version": MARK},
        "evaluation_results": [result],
        "detailed_evaluation_results": {"format": "jsonl", "file_path": "run_samples.jsonl", "total_rows": 3},
    }
    _json(folder / "run.json", summary, spliced)
    return _lines(folder / "run_samples.jsonl", rows, spliced)


# --- documents ---


def _helm(folder: Path, ids: Sequence[str], spliced: Spliced) -> Path:
    run = folder / "run"
    run.mkdir(exist_ok=True)
    adapter = {"method": "generation", "model": "lab/tiny"}
    references = [{"output": {"text": "B"}, "tags": ["correct"]}]
    states = [
        {
            "instance": {"input": {"text": "Which?"}, "references": references, "split": "test", "id": name},
            "train_trial_index": 0,
            "request": {"prompt": "Which?"},
            "result": {"success": True, "completions": [{"text": TEXT}], "cached": MARK},
        }
        for name in ids
    ]
    stat = {"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 1.0, "mean": 1.0}
    stats = [
        {"instance_id": name, "train_trial_index": 0, "stats": [stat], "note": MARK} for name in dict.fromkeys(ids)
    ]
    spec = {"name": "quiz:model=lab_tiny", "adapter_spec": adapter, "note": MARK}
    _json(run / "run_spec.json", spec, spliced)
    _json(run / "scenario_state.json", {"adapter_spec": adapter, "request_states": states}, spliced)
    _json(run / "per_instance_stats.json", stats, spliced)
    _json(run / "stats.json", [stat], spliced)
    return run


def _promptfoo(folder: Path, ids: Sequence[str], spliced: Spliced) -> Path:
    rows = [
        {
            "testIdx": int(name),
            "promptIdx": 0,
            "provider": {"id": "lab:tiny"},
            "prompt": {"raw": "Which?", "label": "Which?"},
            "vars": {"n": MARK},
            "response": {"output": TEXT},
            "success": True,
            "score": 1,
            "failureReason": 0,
            "gradingResult": {"pass": True, "score": 1, "reason": "All assertions passed"},
            "testCase": {"assert": [], "options": {}},
        }
        for name in ids
    ]
    results = {
        "version": 3,
        "prompts": [{"raw": "Which?", "label": "Which?", "provider": "lab:tiny", "metrics": {"score": 3}}],
        "results": rows,
        "stats": {"successes": 3, "failures": 0, "errors": 0},
    }
    return _json(folder / "export.json", {"evalId": "e", "results": results, "config": {}}, spliced)


def _opencompass(folder: Path, ids: Sequence[str], spliced: Spliced) -> Path:
    path = folder / "tiny" / "1-2.json"
    path.parent.mkdir(exist_ok=True)
    row = {"origin_prompt": "Which?", "prediction": TEXT, "refr": "正确答案：B。", "note": MARK}
    members = ", ".join(f'"{name}": {json.dumps(row)}' for name in ids)
    path.write_text(spliced(f"{{{members}}}"))
    (folder / "results.csv").write_text("task,model_name,score,abstention_rate\n1-2,tiny,1.0,0.0\n")
    return path


# --- Parquet ---


def _lighteval(folder: Path, ids: Sequence[str], spliced: Spliced) -> Path:
    rows = [
        {
            "doc": {
                "id": name,
                "query": "Which?",
                "choices": ["A", "B"],
                "gold_index": [1],
                "specific": {"n": MARK},
            },
            "metric": {"em": 1.0},
            "model_response": {"input": "Which?", "text": [TEXT], "logprobs": []},
        }
        for name in ids
    ]
    path = folder / f"details_quiz_{TIME}.parquet"
    pl.DataFrame(rows).write_parquet(path)
    results = {"config_general": {"model_name": "lab/tiny"}, "results": {"quiz": {"em": 1.0}}, "versions": MARK}
    _json(folder / f"results_{TIME}.json", results, spliced)
    return path


WRITERS: dict[str, Writer] = {
    INSPECT_EVAL.name: _inspect_eval,
    INSPECT_JSON.name: _inspect_json,
    LM_EVAL.name: _lm_eval,
    HELM.name: _helm,
    PROMPTFOO.name: _promptfoo,
    OPENCOMPASS.name: _opencompass,
    BATCH.name: _batch,
    EVERY_EVAL_EVER.name: _every_eval_ever,
    LIGHTEVAL.name: _lighteval,
}
