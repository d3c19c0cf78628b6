"""What several servers are worth, with bounds; run by `make bench`. Exit code 1 if one is not held.

1. One model at four servers, each a process of its own that takes 100 ms to answer, with 25 connections to each:
   the throughput against that of one such server. Counted is the time of asking, from the first attempt to the
   last answer, as attempts.jsonl has it; the start of the process and the seal have nothing to do with servers.

The machine may be noisy: one and four take turns, and the best of all rounds counts. `--quick` has fewer items.
"""

import argparse
import json
import math
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from runner import Bound, affidavit, cost, mock_server, told, write_study

ITEMS, QUICK_ITEMS, ROUNDS = 10_000, 2_000, 2
SERVERS, LATENCY_MS, CONNECTIONS = 4, 100.0, 25
LEAST_GAIN, LEAST_GAIN_QUICK = 3.5, 3.0
"""Of few items, more of the time is the trial and the slow start."""

STUDY = """
[study]
name = "bench"

[models.mock]
base_url = {urls}
connections = {connections}

[tasks.choices]
contract = "mcqa"
items = "items.jsonl"
"""


# --- one model at several servers ---


def asking_rate(directory: Path, ports: list[int], items: int) -> float:
    """Answers a second of a run that asks servers at these ports; everything that it wrote is removed."""
    study = write_study(directory, items)
    urls = [f"http://127.0.0.1:{port}/v1" for port in ports]
    study.write_text(STUDY.format(urls=json.dumps(urls), connections=CONNECTIONS), encoding="utf-8")
    cost(affidavit(study))
    began, ended, answered = math.inf, 0.0, 0
    with study.with_name("run").joinpath("attempts.jsonl").open(encoding="utf-8") as stream:
        for attempt in map(json.loads, stream):
            began, ended = min(began, attempt["began"]), max(ended, attempt["began"] + attempt["seconds"])
            answered += attempt["outcome"] == "response"
    assert answered == items, f"{answered} of {items} questions were answered"
    shutil.rmtree(study.with_name("run"))
    return items / (ended - began)


def several_servers(directory: Path, items: int, least: float) -> Iterator[str]:
    one, four = 0.0, 0.0
    with ExitStack() as stack:
        ports = [stack.enter_context(mock_server(LATENCY_MS)) for _ in range(SERVERS)]
        for _ in range(ROUNDS):
            one = max(one, asking_rate(directory, ports[:1], items))
            four = max(four, asking_rate(directory, ports, items))
    print(
        f"1. {items:,} items, {LATENCY_MS:.0f} ms, {CONNECTIONS} connections to each server; the best of {ROUNDS}"
    )
    print(f"\n  {one:,.0f} answers a second of one server, {four:,.0f} of {SERVERS}\n")
    yield from told([Bound(f"{SERVERS} servers: throughput / one", four / one, least=least)])


def main() -> int:
    parser = argparse.ArgumentParser(description="What several servers are worth, with bounds.")
    parser.add_argument("--quick", action="store_true", help="a fifth of the items")
    quick = parser.parse_args().quick
    items, least = (QUICK_ITEMS, LEAST_GAIN_QUICK) if quick else (ITEMS, LEAST_GAIN)
    with tempfile.TemporaryDirectory(prefix="affidavit-bench-") as name:
        directory = Path(name)
        broken = [*several_servers(directory / "servers", items, least)]
    for bound in broken:
        print(f"bound NOT HELD: {bound}")
    if not broken:
        print("all bounds HELD")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
