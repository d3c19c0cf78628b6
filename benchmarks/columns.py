"""What columns and files cost, with bounds; run by `make bench`. Exit code 1 if one is not held.

1. Columns in this process. Multiple choice against a Python loop of `strip` and `re.fullmatch` that only collects
   letters, on a made corpus of outputs; Game of 24 and judge against their own row functions. Both sides begin
   with the data as they want it (a column, a list) and end with everything that they found, kept. lm-eval's
   RegexFilter and Inspect's pattern scorer are beside them where they are installed; they search anywhere in the
   text and diagnose nothing, so they have no bound.
2. Files. The whole process `affidavit read mcqa` against a whole process in which Polars reads and writes the
   same file and does nothing else, in the faster of its two ways. Peak memory is that of the process alone.

One thread throughout. The machine may be noisy: what is compared takes turns, and the least of all rounds counts.
`--quick` has files of a tenth of the rows.
"""

import argparse
import asyncio
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ["POLARS_MAX_THREADS"] = "1"  # before Polars is imported; the processes of part 2 inherit it
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode, as Polars has here

import polars as pl

from affidavit import Asked, game24, judge, mcqa
from affidavit.contracts.game24 import Hand
from affidavit.reading import columns
from contracts import evaluation, seconds
from made_outputs import Outputs

OUTPUTS, ROUNDS = 200_000, 21
LEAST_JSONL, LEAST_PARQUET = 0.7, 0.6
MOST_MB, MOST_GROWTH = 1000.0, 1.3
GAME24_DATA = Path(__file__).parents[2] / "shared" / "data" / "game24_gpt4_standard.jsonl"


# --- 1. columns ---


@dataclass(frozen=True)
class Contest:
    """Ours against theirs: how many times as fast ours has to be at least."""

    name: str
    ours: Callable[[], object]
    theirs: Callable[[], object]
    at_least: float


def compared(title: str, contests: Sequence[Contest], others: Mapping[str, Callable[[], object]]) -> Iterator[str]:
    """Print a table; yield every bound that is not held."""
    calls = {call: math.inf for each in contests for call in (each.theirs, each.ours)}
    calls |= dict.fromkeys(others.values(), math.inf)
    for _ in range(ROUNDS):
        for call in calls:
            calls[call] = min(calls[call], seconds(call))
    print(f"{title}\n\n{'':<34} {'ours':>8} {'theirs':>8}   ratio")
    for each in contests:
        ours, theirs = calls[each.ours], calls[each.theirs]
        print(f"{each.name:<34} {ours * 1000:8.1f} {theirs * 1000:8.1f} {theirs / ours:7.2f}", end="")
        print(f"  at least {each.at_least}")
        if theirs / ours < each.at_least:
            yield f"{each.name}: {theirs / ours:.2f} of their speed, less than {each.at_least}"
    for name, call in others.items():
        print(f"{name:<34} {'':>8} {calls[call] * 1000:8.1f}")
    print()


def choices() -> Iterator[str]:
    texts = list(islice(Outputs(24), OUTPUTS))
    column = pl.Series(texts)
    fullmatch = re.compile(r"<answer>([A-D])</answer>").fullmatch

    def loop() -> list[str | None]:
        letters = []
        for raw in texts:
            match = fullmatch(raw.strip())
            letters.append(None if match is None else match[1])
        return letters

    frame = columns.mcqa(column)
    assert frame["extracted_answer"].to_list() == loop()
    some = slice(0, 20_000)
    assert frame["deviation"][some].to_list() == [mcqa.read(raw).deviation for raw in texts[some]]
    size = sum(len(raw.encode()) for raw in texts) / len(texts)
    contests = [
        Contest("mcqa / loop", lambda: columns.mcqa(column, deviations=False), loop, 3.0),
        Contest("mcqa with deviations / loop", lambda: columns.mcqa(column), loop, 0.5),
    ]
    title = f"1. {OUTPUTS:,} outputs of {size:.0f} bytes; ms for all, the least of {ROUNDS} rounds"
    yield from compared(title, contests, dict(peers(texts)))


def peers(texts: Sequence[str]) -> Iterator[tuple[str, Callable[[], object]]]:
    """Other harnesses on the same texts, where they are installed."""
    pattern = r"<answer>([A-D])</answer>"
    try:
        found = import_module("lm_eval.filters.extraction").RegexFilter(pattern)
        yield "lm-eval, RegexFilter", lambda: found.apply([[text] for text in texts], [{}] * len(texts))
    except ImportError:
        print("lm-eval: not installed")
    try:
        inspect: Any = import_module("inspect_ai.scorer")
        score, target = inspect.pattern(pattern), inspect.Target("A")
        # All of the state that the scorer looks at; in an evaluation it is there already.
        states = [SimpleNamespace(answer=text, output=SimpleNamespace(completion=text)) for text in texts]

        async def score_all() -> list[object]:
            return [await score(state, target) for state in states]

        yield "Inspect, pattern", lambda: asyncio.run(score_all())
    except ImportError:
        print("Inspect: not installed")
    print()


def games() -> Iterator[str]:
    if not GAME24_DATA.exists():
        print(f"game24: skipped, there is no {GAME24_DATA}\n")
        return
    rows = [json.loads(line) for line in GAME24_DATA.read_text(encoding="utf-8").splitlines()]
    texts, hands = [row["raw_output"] for row in rows], [row["numbers"] for row in rows]
    raw, numbers = pl.Series(texts), pl.Series(hands)

    def one_by_one() -> list[object]:
        found: list[object] = []
        for text, hand in zip(texts, hands, strict=True):
            item = Hand(tuple(hand))
            reading = game24.read(text, item)
            found.append((reading, game24.validate(reading, item)))
        return found

    contest = Contest("game24 / row function", lambda: columns.game24(raw, numbers), one_by_one, 5.0)
    yield from compared(f"   {len(texts):,} outputs, {len(set(texts)):,} of them distinct", [contest], {})


def judgements() -> Iterator[str]:
    chance = random.Random(24)
    distinct = [evaluation(chance, number) for number in range(2000)]
    repeated = distinct[:500] * 4
    chance.shuffle(repeated)
    contests = [_judged("judge / row function, distinct", distinct), _judged("  every one four times", repeated)]
    yield from compared(f"   {len(distinct):,} evaluations, evidence on", contests, {})


def _judged(name: str, evaluations: Sequence[tuple[str, Asked]]) -> Contest:
    raws, outputs = [raw for raw, _ in evaluations], [asked.judged_output for _, asked in evaluations]
    raw, judged = pl.Series(raws), pl.Series(outputs)

    def one_by_one() -> list[object]:
        return [judge.read(text, Asked(judged_output=output)) for text, output in zip(raws, outputs, strict=True)]

    return Contest(name, lambda: columns.judge(raw, judged), one_by_one, 1.0)


# --- 2. files ---

FILE_ROUNDS = 5
# A process of its own, because Linux counts the memory of whoever starts a process as the process's own.
MEASURE = """
import json, os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
wall = time.perf_counter() - start
print(json.dumps([status, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6]))
"""


@dataclass(frozen=True)
class Cost:
    """What a process took."""

    wall: float
    cpu: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.wall:7.2f}{self.cpu:7.2f}{self.megabytes:7.0f}"


def cost(command: Sequence[str], out: Path) -> Cost:
    """Run a command that writes `out`; remove what it wrote."""
    run = subprocess.run([sys.executable, "-c", MEASURE, *command], check=True, capture_output=True, text=True)
    status, *numbers = json.loads(run.stdout)
    assert status == 0, run.stderr
    out.unlink()
    return Cost(*numbers)


def write_rows(path: Path, rows: int) -> None:
    outputs, chance = iter(Outputs(3)), random.Random(3)
    with path.open("wb") as stream:
        for start in range(0, rows, 50_000):
            count = min(50_000, rows - start)
            frame = pl.DataFrame(
                {
                    "id": [f"q{number:07}" for number in range(start, start + count)],
                    "model": chance.choices(("large-2", "small-1", "small-2"), k=count),
                    "raw_output": list(islice(outputs, count)),
                    "answer": chance.choices("ABCD", k=count),
                }
            )
            frame.write_ndjson(stream)


def files(directory: Path, rows: int) -> Iterator[str]:
    """Print the tables; yield every bound that is not held."""
    lines, parquet = directory / "rows.jsonl", directory / "rows.parquet"
    write_rows(lines, rows)
    pl.scan_ndjson(lines).sink_parquet(parquet)
    print(f"2. Files, whole processes; seconds, the least of {FILE_ROUNDS} runs in turn; peak memory in MB\n")
    yield from one_kind(lines, "ndjson", rows, LEAST_JSONL)
    yield from one_kind(parquet, "parquet", rows, LEAST_PARQUET)


def one_kind(path: Path, kind: str, rows: int, at_least: float) -> Iterator[str]:
    out = path.with_stem("out")
    alone = f"import polars as pl; pl.{{}}_{kind}({str(path)!r}).{{}}_{kind}({str(out)!r})"
    ways = {
        "affidavit read mcqa": affidavit(path, out),
        "Polars alone, scan and sink": [sys.executable, "-c", alone.format("scan", "sink")],
        "Polars alone, read and write": [sys.executable, "-c", alone.format("read", "write")],
    }
    costs = [{name: cost(command, out) for name, command in ways.items()} for _ in range(FILE_ROUNDS)]
    title = f"{rows:,} rows in {path.stat().st_size / 1e6:,.0f} MB of {path.suffix[1:]}"
    print(f"{title:<34} {'wall':>7}{'cpu':>7}{'MB':>7}")
    least = [min((each[name] for each in costs), key=lambda each: each.wall) for name in ways]
    for name, each in zip(ways, least, strict=True):
        print(f"{name:<34} {each}")
    ratio = min(each.wall for each in least[1:]) / least[0].wall
    print(f"{'the faster Polars / affidavit':<34} {ratio:7.2f}  at least {at_least}")
    if ratio < at_least:
        yield f"{path.suffix}: {ratio:.2f} of the speed of Polars alone, less than {at_least}"
    megabytes = max(each["affidavit read mcqa"].megabytes for each in costs)
    print(f"{'affidavit, most memory of all runs':<34} {megabytes:21.0f}  below {MOST_MB:.0f}")
    if megabytes >= MOST_MB:
        yield f"{path.suffix}: {megabytes:.0f} MB for {rows:,} rows, not below {MOST_MB:.0f}"
    yield from growth(path, out, rows, megabytes)


def affidavit(path: Path, out: Path) -> list[str]:
    return [str(Path(sys.executable).with_name("affidavit")), "read", "mcqa", str(path), "-o", str(out)]


def growth(path: Path, out: Path, rows: int, megabytes: float) -> Iterator[str]:
    """Four times the rows, once."""
    large = path.with_stem("large")
    if path.suffix == ".parquet":
        pl.scan_parquet([path] * 4).sink_parquet(large)
    else:
        with large.open("wb") as stream:
            for _ in range(4):
                with path.open("rb") as part:
                    shutil.copyfileobj(part, stream, 1 << 20)
    found = cost(affidavit(large, out), out)
    large.unlink()
    times = found.megabytes / megabytes
    print(f"{f'affidavit on {4 * rows:,} rows':<34} {found}")
    print(f"{'  its memory / that above':<34} {times:21.2f}  at most {MOST_GROWTH}\n")
    if times > MOST_GROWTH:
        yield f"{path.suffix}: {times:.2f} times the memory for four times the rows, more than {MOST_GROWTH}"


def _place() -> Path | None:
    """Memory, where there is enough: a disk's moods would be measured with the programs."""
    memory = Path("/dev/shm")  # noqa: S108 - a directory of our own is made in it
    return memory if memory.is_dir() and shutil.disk_usage(memory).free > 16e9 else None


def main() -> int:
    parser = argparse.ArgumentParser(description="What the contracts cost over columns and files, with bounds.")
    parser.add_argument("--quick", action="store_true", help="files of a tenth of the rows")
    arguments = parser.parse_args()
    broken = [*choices(), *games(), *judgements()]
    with tempfile.TemporaryDirectory(prefix="affidavit-bench-", dir=_place()) as directory:
        broken += files(Path(directory), 100_000 if arguments.quick else 1_000_000)
    for bound in broken:
        print(f"bound not held: {bound}")
    if not broken:
        print("all bounds held")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
