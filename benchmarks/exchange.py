"""Logs of other harnesses, taken into a study, beside what their own tools take to read them.

    python benchmarks/exchange.py [--quick]

Bounds: an Inspect log of 10,000 samples is imported in at most half the time that Inspect's own `read_eval_log`
takes; a hundred thousand samples of lm-eval in at most three times what `json.loads` of the lines and `json.dumps`
of the records take, and in at most 1.5 times the memory of a thousand. All are real commands in processes of
their own, in turn, and the least of all rounds counts. Inspect's part needs the environment that `make interop`
makes, and says so where it is not there. `--quick` has a tenth of the samples.

The program that stands for json starts Python too, and reads the records before it writes them: what that takes of
its time is told. Start-up is what the import of a log of one sample takes: of ten thousand samples it is a large
part, so that these are told, and the bound is over more.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from imports import timed

ROOT = Path(__file__).parents[1]
INSPECT = ROOT / ".venv-interop" / "inspect" / "bin" / "python"
MOST_INSPECT, MOST_LM_EVAL, MOST_MEMORY, ROUNDS = 0.5, 3.0, 1.5, 3
TIME = "2026-01-02T03-04-05.678901"
_READ = "import sys; from inspect_ai.log import read_eval_log; assert read_eval_log(sys.argv[1]).samples"
_READ_RECORDS = "import json, sys; records = [json.loads(line) for line in open(sys.argv[1])]"
_FLOOR = (
    "import json, sys\n"
    "records = [json.loads(line) for line in open(sys.argv[2])]\n"
    "with open(sys.argv[1]) as log, open(sys.argv[3], 'w') as out:\n"
    "    for line, record in zip(log, records):\n"
    "        json.loads(line)\n"
    "        out.write(json.dumps(record) + '\\n')\n"
)


def write_inspect(path: Path, count: int) -> None:
    """A log of one scorer, its samples with the events that Inspect keeps of each."""
    about = {"version": 2, "status": "success"}
    spec = {
        "run_id": "r",
        "created": "2026-01-02T03:04:05+00:00",
        "task": "quiz",
        "task_id": "t",
        "task_version": 0,
        "task_attribs": {},
        "task_args": {},
        "dataset": {"name": "quiz", "samples": count, "sample_ids": list(range(1, count + 1)), "shuffled": False},
        "model": "mock/tiny",
        "model_args": {},
        "config": {"epochs": 1},
        "packages": {},
    }
    metric = {"name": "accuracy", "value": 0.5, "params": {}}
    score = {"name": "match", "scorer": "match", "params": {}, "metrics": {"accuracy": metric}}
    results = {"total_samples": count, "completed_samples": count, "scores": [score]}
    plan = {"name": "plan", "steps": [], "config": {}}
    header = {**about, "eval": spec, "plan": plan, "results": results, "stats": _stats()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as log:
        log.writestr("_journal/start.json", json.dumps({"version": 2, "eval": spec, "plan": plan}))
        for number in range(1, count + 1):
            log.writestr(f"samples/{number}_epoch_1.json", json.dumps(_sample(number)))
        log.writestr("header.json", json.dumps(header))


def _stats() -> dict[str, object]:
    return {
        "started_at": "2026-01-02T03:04:05+00:00",
        "completed_at": "2026-01-02T03:05:05+00:00",
        "model_usage": {},
    }


def _sample(number: int) -> dict[str, object]:
    question = f"[{number}] Is the following statement something you would say? " + "I like tests. " * 12
    text = f"Let me think about {number}. " * 8 + "ANSWER: " + "AB"[number % 2]
    user = {"id": f"u{number}", "content": question, "source": "input", "role": "user"}
    message = {"id": f"a{number}", "content": text, "source": "generate", "role": "assistant", "model": "tiny"}
    output = {"model": "tiny", "choices": [{"message": message, "stop_reason": "stop"}], "completion": text}
    stamp = "2026-01-02T03:04:05.000000+00:00"
    steps = [
        {"timestamp": stamp, "event": "step", "action": action, "type": "solver", "name": name}
        for name in ("system_message", "multiple_choice", "generate")
        for action in ("begin", "end")
    ]
    asked = {
        "timestamp": stamp,
        "event": "model",
        "model": "mock/tiny",
        "input": [user],
        "tools": [],
        "tool_choice": "none",
        "config": {"max_tokens": 2048},
        "output": output,
        "call": {"request": {"messages": [user]}, "response": {"choices": [message]}},
    }
    return {
        "id": number,
        "epoch": 1,
        "input": question,
        "choices": ["yes", "no"],
        "target": "A",
        "messages": [user, message],
        "output": output,
        "scores": {"match": {"value": "CI"[number % 2], "answer": "AB"[number % 2], "explanation": text}},
        "metadata": {"subject": f"subject-{number % 57}"},
        "store": {},
        "events": [*steps, asked],
        "model_usage": {},
        "attachments": {},
    }


def write_lm_eval(folder: Path, count: int) -> Path:
    """Samples of one filter."""
    folder.mkdir()
    path = folder / f"samples_quiz_{TIME}.jsonl"
    with path.open("w") as stream:
        for number in range(count):
            question = f"[{number}] How many? " + "Somebody has apples. " * 12
            row = {
                "doc_id": number,
                "doc": {"question": question, "answer": f"#### {number}"},
                "target": str(number),
                "arguments": {"gen_args_0": {"arg_0": [question * 3], "arg_1": {"until": ["Question:"]}}},
                "resps": [["They have them. " * 10 + f"#### {number}"]],
                "filtered_resps": [str(number)],
                "filter": "strict-match",
                "metrics": ["exact_match"],
                "doc_hash": f"{number:064x}",
                "prompt_hash": f"{number:064x}",
                "target_hash": f"{number:064x}",
                "exact_match": 1.0,
            }
            stream.write(json.dumps(row) + "\n")
    return path


def seconds(order: list[str]) -> float:
    """What a program takes."""
    start = perf_counter()
    subprocess.run(order, check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - start


def least(measure: Callable[[int], float]) -> float:
    """The least of all rounds."""
    return min(measure(turn) for turn in range(ROUNDS))


def main() -> int:
    """Measure, and say which bound is not held."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    count = 1_000 if parser.parse_args().quick else 10_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        held = [_inspect(folder, count), _lm_eval(folder, count), _memory(folder, count)]
    return 0 if all(held) else 1


def _said(what: str, value: float, most: float) -> bool:
    held = value <= most
    print(f"{'ok ' if held else 'NOT HELD'} {what}: {value:.2f} times, at most {most}")
    return held


def _inspect(folder: Path, count: int) -> bool:
    if not INSPECT.exists():
        print("not measured: Inspect's own reader (`make interop` makes its environment)")
        return True
    log = folder / "log.eval"
    write_inspect(log, count)
    theirs = least(lambda _turn: seconds([str(INSPECT), "-c", _READ, str(log)]))
    ours = least(lambda turn: timed(folder, "import", log, "-o", folder / f"inspect-{turn}")[0])
    print(f"{count:,} samples: read_eval_log {theirs:.2f} s, import {ours:.2f} s")
    return _said("an Inspect log against its own reader", ours / theirs, MOST_INSPECT)


def _lm_eval(folder: Path, count: int) -> bool:
    one = write_lm_eval(folder / "one", 1)
    start = least(lambda turn: timed(folder, "import", one, "-o", folder / f"one-{turn}")[0])
    print(f"start-up of an import: {start:.2f} s")
    few, many = (_against_json(folder, size) for size in (count, count * 10))
    print(f"told  {count:,} lm-eval samples against json: {few:.2f} times")
    return _said(f"{count * 10:,} lm-eval samples against json", many, MOST_LM_EVAL)


def _against_json(folder: Path, count: int) -> float:
    """How many times as long as with json alone an import of so many samples takes."""
    place = folder / f"lm_eval-{count}"
    log = write_lm_eval(place, count)
    ours = least(lambda turn: timed(folder, "import", log, "-o", place / f"study-{turn}")[0])
    records = place / "study-0" / "records" / "000001.jsonl"
    order = [sys.executable, "-c", _FLOOR, str(log), str(records), str(folder / "out.jsonl")]
    floor = least(lambda _turn: seconds(order))
    before = least(lambda _turn: seconds([sys.executable, "-c", _READ_RECORDS, str(records)]))
    print(f"{count:,} rows: json {floor:.2f} s, of which {before:.2f} s for the records to be there")
    print(f"{count:,} rows: import {ours:.2f} s")
    return ours / floor


def _memory(folder: Path, count: int) -> bool:
    used = []
    for size in (count // 10, count * 10):
        log = write_lm_eval(folder / f"of-{size}", size)
        used.append(timed(folder, "import", log, "-o", folder / f"memory-{size}")[1])
    return _said(f"memory of {count * 10:,} against {count // 10:,} samples", used[1] / used[0], MOST_MEMORY)


if __name__ == "__main__":
    sys.exit(main())
