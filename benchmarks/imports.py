"""Outputs that exist already, taken into a study, beside the same outputs read into rows.

    python benchmarks/imports.py [--quick]

Bounds: `read --out DIR` of a million rows of multiple choice takes at most 2.5 times as long as `read -o FILE` of
the same rows; a million rows need at most 1.5 times the memory of a quarter of them; the page of the study, from
the copy that the command leaves, takes at most ten seconds. All are the real commands, in turn, and the least of
all rounds counts. `--quick` has a tenth of the rows.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path
from time import perf_counter

MOST_TIMES, MOST_MEMORY, MOST_SECONDS, ROUNDS = 2.5, 1.5, 10.0, 2
TEXTS = (
    "<answer>{}</answer>",
    "<answer>{}</answer>\n",
    "{}. Paris, because it is the capital.",
    "<think>Let me think about this question.</think><answer>{}</answer>",
)


def write_rows(path: Path, count: int) -> None:
    """Three models' outputs to a third as many items."""
    chance = random.Random(24)
    with path.open("w") as stream:
        for number in range(count):
            item = number // 3
            row = {
                "id": f"q{item}",
                "model": ("small", "medium", "large")[number % 3],
                "answer": "ABCD"[item % 4],
                "subject": f"subject-{item % 57}",
                "raw_output": chance.choice(TEXTS).format(chance.choice("ABCD")),
            }
            stream.write(json.dumps(row) + "\n")


def timed(folder: Path, *arguments: object) -> tuple[float, float]:
    """Seconds that a command takes, and the most megabytes that it needs.

    Its modules are compiled in the first round and kept, as whoever installs a package has them.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"AFFIDAVIT_CACHE": str(folder / "cache"), "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    order = [sys.executable, "-m", "affidavit", *map(str, arguments)]
    start = perf_counter()
    with subprocess.Popen(order, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, order
    return perf_counter() - start, used.ru_maxrss / 1024


def main() -> int:
    """Measure, and say which bound is not held."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    count = 100_000 if parser.parse_args().quick else 1_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(folder / "rows.jsonl", count)
        with (folder / "rows.jsonl").open() as whole, (folder / "quarter.jsonl").open("w") as stream:
            stream.writelines(islice(whole, count // 4))
        _, quarter = timed(folder, "read", "mcqa", folder / "quarter.jsonl", "--out", folder / "quarter")
        rows, study, page, memory = [], [], [], 0.0
        for turn in range(ROUNDS):
            given, out = folder / "rows.jsonl", folder / f"study-{turn}"
            rows.append(timed(folder, "read", "mcqa", given, "-o", folder / "read.jsonl")[0])
            seconds, memory = timed(folder, "read", "mcqa", given, "--out", out)
            study.append(seconds)
            page.append(timed(folder, "report", out)[0])
    times = min(study) / min(rows)
    found = (
        ("read --out against read -o", times, MOST_TIMES, "times"),
        (f"memory against {count // 4:,} rows ({memory:.0f} MB)", memory / quarter, MOST_MEMORY, "times"),
        ("the page", min(page), MOST_SECONDS, "s"),
    )
    print(f"{count:,} rows: read -o {min(rows):.1f} s, read --out {min(study):.1f} s")
    for what, value, most, unit in found:
        print(f"{'ok ' if value <= most else 'NOT HELD'} {what}: {value:.2f} {unit}, at most {most}")
    return int(any(value > most for _, value, most, _ in found))


if __name__ == "__main__":
    sys.exit(main())
