"""What asking costs, with bounds; run by `make bench`. Exit code 1 if one is not held.

Whole processes, asking the mock server of mock_server.py over 100 connections. `affidavit run` freezes the study,
asks, reads every answer by its contract, syncs every record to the disk and seals; with the page it also counts
them and draws. Beside it is what anybody would write who needs none of that: an aiohttp loop that posts the same
bodies and keeps the texts in a list.

1. A server that takes 50 ms to answer, as the quickest real ones do: most of the time is waiting; without the page
   at the end, and with it.
2. A server that answers at once: all of the time is ours.
3. Ten times the items: a large study must stay small in memory, and so must what makes its columnar copy.
4. A finished study that is run again: it has to say so at once. Beside it is what nobody can do without who looks
   at every byte: a loop that hashes the files and has `json.loads` read every record.

The disk is a real one, because waiting for it is part of what is measured. The machine may be noisy: what is
compared takes turns, and the least of all rounds counts; of memory, the most. `--quick` has a tenth of the items.
"""

import argparse
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import NamedTuple

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode, as aiohttp has here

from affidavit.archive.disk import Disk
from affidavit.archive.study_directory import StudyDirectory
from affidavit.models.model import Completion
from affidavit.running.ledger import QuestionLedger
from affidavit.study.files import load
from affidavit.study.freezing import draft, frozen_items
from columns import MEASURE, Cost
from contracts import sentence
from mock_server import ANSWER

del os.environ["POLARS_MAX_THREADS"]  # `columns` sets it for its own processes; these are run as users run them

ITEMS, MANY_ITEMS, RECORDS, CONNECTIONS = 10_000, 100_000, 200_000, 100
ROUNDS, FINISHED_ROUNDS = 4, 5
MOST_WALL, MOST_WALL_WITH_PAGE, MOST_CPU, MOST_MB = 1.1, 1.25, 2.0, 150.0
LEAST_RATE, MOST_GROWTH = 0.5, 1.2
FINISHED_SECONDS, FINISHED_RATIO, FINISHED_MB = 3.0, 1.35, 300.0

STUDY = """
[study]
name = "bench"

[models.mock]
base_url = "http://127.0.0.1:{port}/v1"
connections = {connections}

[tasks.choices]
contract = "mcqa"
items = "items.jsonl"
"""

BARE = """
import asyncio, json, sys
import aiohttp

path, port, connections = sys.argv[1:]
url = f"http://127.0.0.1:{port}/v1/chat/completions"
instruction = "Answer the following multiple-choice question, and give nothing but <answer>X</answer>."


def body(number, line):
    item = json.loads(line)
    options = "\\n".join(f"{letter}. {option}" for letter, option in zip("ABCD", item["options"]))
    content = "\\n\\n".join((instruction, item["question"], options))
    asked = [{"role": "user", "content": content}]
    said = {"model": "mock", "messages": asked, "temperature": 0.0, "max_tokens": 256, "seed": number}
    return json.dumps(said).encode()


async def work(session, lines, texts):
    for number, line in lines:
        async with session.post(url, data=body(number, line), headers={"Content-Type": "application/json"}) as got:
            answer = json.loads(await got.read())
        texts.append(answer["choices"][0]["message"]["content"])


async def main():
    texts = []
    connector = aiohttp.TCPConnector(limit=int(connections))
    with open(path) as stream:
        lines = enumerate(stream)
        async with aiohttp.ClientSession(connector=connector) as session:
            await asyncio.gather(*(work(session, lines, texts) for _ in range(int(connections))))
    return texts


asyncio.run(main())
"""

LOOKED_AT = """
import json, sys
from hashlib import file_digest

items, records = sys.argv[1:]
for path in (items, records):
    with open(path, "rb") as stream:
        file_digest(stream, "sha256")
with open(records, "rb") as stream:
    for line in stream:
        json.loads(line)
"""


# --- what is asked, and who answers ---


def write_study(directory: Path, items: int, port: int = 9) -> Path:
    """A study file with its items beside it."""
    directory.mkdir(exist_ok=True)
    chance = random.Random(5)
    with (directory / "items.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(items):
            options = [f"{word} {sentence(chance, 3)}" for word in ("the", "a", "any", "no")]
            item = {"id": f"q{number:06}", "question": f"{sentence(chance, 20)}?", "options": options}
            stream.write(json.dumps({**item, "answer": chance.choice("ABCD")}) + "\n")
    study = directory / "study.toml"
    study.write_text(STUDY.format(port=port, connections=CONNECTIONS), encoding="utf-8")
    return study


@contextmanager
def mock_server(latency_ms: float) -> Iterator[int]:
    """The port of a server in a process of its own."""
    command = [sys.executable, str(Path(__file__).with_name("mock_server.py")), "--latency-ms", str(latency_ms)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield int(server.stdout.readline())
        server.communicate("")


def affidavit(study: Path, *, page: bool = False) -> list[str]:
    program = Path(sys.executable).with_name("affidavit")
    return [
        str(program),
        "run",
        str(study),
        "--out",
        str(study.with_name("run")),
        *([] if page else ["--no-page"]),
    ]


def bare(study: Path, port: int) -> list[str]:
    return [sys.executable, "-c", BARE, str(study.with_name("items.jsonl")), str(port), str(CONNECTIONS)]


def looked_at(study: Path) -> list[str]:
    run = study.with_name("run")
    return [sys.executable, "-c", LOOKED_AT, str(run / "items.jsonl"), str(run / "records" / "000001.jsonl")]


# --- measuring ---


def cost(command: Sequence[str]) -> Cost:
    run = subprocess.run([sys.executable, "-c", MEASURE, *command], check=True, capture_output=True, text=True)
    status, *numbers = json.loads(run.stdout)
    assert status == 0, run.stderr
    return Cost(*numbers)


def peaks(command: Sequence[str]) -> tuple[float, float]:
    """The most memory of the process itself, and of the largest one of those that it started; in MB."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        own = 0.0
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            with suppress(OSError, ValueError, StopIteration):
                lines = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii").splitlines()
                own = float(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) * 1024 / 1e6
            sleep(0.02)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return own, usage.ru_maxrss * 1024 / 1e6


def run_cost(study: Path, items: int, *, page: bool = False) -> Cost:
    """What a run took that began with nothing; everything that it wrote is removed."""
    found = cost(affidavit(study, page=page))
    assert study.with_name("run").joinpath("report.html").exists() == page
    with next(study.with_name("run").glob("records/*.jsonl")).open("rb") as stream:
        assert sum(1 for _ in stream) == items
    shutil.rmtree(study.with_name("run"))
    return found


def best(costs: Sequence[Cost]) -> Cost:
    """The least of all rounds; of memory, the most."""
    return Cost(
        min(each.wall for each in costs), min(each.cpu for each in costs), max(each.megabytes for each in costs)
    )


@dataclass(frozen=True)
class Bound:
    """A figure and how far it may go; `least` is what it may not go below."""

    name: str
    value: float
    most: float = math.inf
    least: float = -math.inf
    digits: int = 2

    def held(self) -> bool:
        return self.least <= self.value <= self.most

    def __str__(self) -> str:
        most = [f"at most {self.most:g}"] if self.most < math.inf else []
        least = [f"at least {self.least:g}"] if self.least > -math.inf else []
        return ", ".join((f"{self.value:.{self.digits}f}", *most, *least))


def told(bounds: Sequence[Bound]) -> Iterator[str]:
    """Print them; yield those that are not held."""
    for bound in bounds:
        print(f"  {bound.name:<32} {bound}")
        if not bound.held():
            yield f"{bound.name}: {bound}"
    print()


def table(title: str, costs: dict[str, Cost]) -> None:
    print(f"{title}\n\n{'':<34} {'wall':>7}{'cpu':>7}{'MB':>7}")
    for name, each in costs.items():
        print(f"{name:<34} {each}")


# --- the four cases ---


class Contest(NamedTuple):
    """What each took; the least of all rounds."""

    ours: Cost
    with_page: Cost
    theirs: Cost


def contest(directory: Path, items: int, latency_ms: float, *, page: bool = False) -> Contest:
    """Ours and the bare loop's, in turn; without `page`, the run that writes one is left out."""
    ours, with_page, theirs = list[Cost](), list[Cost](), list[Cost]()
    with mock_server(latency_ms) as port:
        study = write_study(directory / f"{items}-{latency_ms:.0f}", items, port)
        for _ in range(ROUNDS):
            theirs.append(cost(bare(study, port)))
            ours.append(run_cost(study, items))
            if page:
                with_page.append(run_cost(study, items, page=True))
    return Contest(best(ours), best(with_page or ours), best(theirs))


def with_latency(directory: Path, items: int) -> Iterator[str]:
    ours, with_page, theirs = contest(directory, items, 50, page=True)
    title = f"1. {items:,} items, {CONNECTIONS} connections, 50 ms; seconds, the least of {ROUNDS} rounds; peak MB"
    table(title, {"affidavit run": ours, "affidavit run, page written": with_page, "bare aiohttp loop": theirs})
    yield from told(
        [
            Bound("50 ms: wall / bare", ours.wall / theirs.wall, MOST_WALL),
            Bound("50 ms: wall / bare, page written", with_page.wall / theirs.wall, MOST_WALL_WITH_PAGE),
            Bound("50 ms: CPU / bare", ours.cpu / theirs.cpu, MOST_CPU),
            Bound("50 ms: peak MB", ours.megabytes, MOST_MB, digits=0),
        ]
    )


def at_once(directory: Path, items: int, many: int) -> Iterator[str]:
    """The rate against the bare loop's; then the memory of ten times the items, once."""
    ours, _, theirs = contest(directory, items, 0)
    table(f"2. {items:,} items, no latency", {"affidavit run": ours, "bare aiohttp loop": theirs})
    rates = f"{items / ours.wall:,.0f} and {items / theirs.wall:,.0f} items a second"
    print(f"  {rates}")
    yield from told([Bound("no latency: rate / bare", theirs.wall / ours.wall, least=LEAST_RATE)])
    with mock_server(0) as port:
        study = write_study(directory / "many", many, port)
        own, copy = peaks(affidavit(study))
    print(f"\n3. {many:,} items, no latency, once; peak MB of the run, and of what makes its columnar copy")
    print(f"\n  {own:.0f} and {copy:.0f}\n")
    shutil.rmtree(study.with_name("run"))
    yield from told(
        [
            Bound("ten times the items: memory", own / ours.megabytes, MOST_GROWTH),
            Bound("columnar copy: peak MB", copy, MOST_MB, digits=0),
        ]
    )


def finished(directory: Path, records: int) -> Iterator[str]:
    study = write_study(directory / "finished", records)
    write_finished(study)
    said = subprocess.run(affidavit(study), check=True, capture_output=True, text=True).stdout
    assert "nothing to do" in said, said
    ours, bare_loop = list[Cost](), list[Cost]()
    for _ in range(FINISHED_ROUNDS):
        bare_loop.append(cost(looked_at(study)))
        ours.append(cost(affidavit(study)))
    again, least = best(ours), best(bare_loop)
    title = f"4. {records:,} finished records, run again; the least of {FINISHED_ROUNDS}"
    table(title, {"affidavit run": again, "SHA-256 and json.loads": least})
    # Of a tenth of the records, most is the start of a process.
    most = FINISHED_RATIO if records >= RECORDS else math.inf
    yield from told(
        [
            Bound("finished: CPU / bare", again.cpu / least.cpu, most),
            Bound("finished: seconds", again.wall, FINISHED_SECONDS),
            Bound("finished: peak MB", again.megabytes, FINISHED_MB, digits=0),
        ]
    )


class _Hasty(Disk):
    """Waits for nothing: what it writes is thrown away soon."""

    def sync(self, file: int) -> None:
        return


def write_finished(study: Path) -> None:
    """The directory as a run leaves it, written by the same classes without asking anybody."""
    directory, files = StudyDirectory(study.with_name("run")), load(study)
    directory.path.mkdir()
    drafted = draft(directory, files, _Hasty())
    drafted.freeze(_Hasty())
    plan = drafted.plan
    archive, ledger = directory.archive(_Hasty()), QuestionLedger(plan)
    completion = Completion(ANSWER, "stop", None, {"prompt_tokens": 90, "completion_tokens": 7})
    for name, item in frozen_items(directory):
        for question in plan.questions(plan.tasks[name], item, "mock"):
            record = plan.response(question, completion)
            archive.append(record)
            ledger.add(record)
    archive.seal(ledger.counts())


def main() -> int:
    parser = argparse.ArgumentParser(description="What `affidavit run` costs, with bounds.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the items")
    part = 10 if parser.parse_args().quick else 1
    with tempfile.TemporaryDirectory(prefix="affidavit-bench-") as name:
        directory = Path(name)
        broken = [*with_latency(directory, ITEMS // part)]
        broken += at_once(directory, ITEMS // part, MANY_ITEMS // part)
        broken += finished(directory, RECORDS // part)
    for bound in broken:
        print(f"bound not held: {bound}")
    if not broken:
        print("all bounds held")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
