"""The parts of a plan that are missing, read by one process or by several, and committed here alone.

An engine gives back the parts of the numbers that it is given, in whatever order they are done; it commits none.
A new engine is a function and a line in `ENGINES`.
"""

import selectors
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec

from affidavit.reading.batches import Result
from affidavit.reading.part_files.counts import result_of
from affidavit.reading.part_files.folder import PartsFolder, result_of_parts
from affidavit.reading.part_files.part_job import PartJob, PartSetup, answered, written_or_raise
from affidavit.reading.part_files.part_reading import WrittenPart
from affidavit.reading.part_files.plan import Plan, Shard
from affidavit.reading.tally import Tally
from affidavit.reading.worker_process import WorkerProcess, workers

_AT_HAND = 2
"""Ranges that a worker has: one that it reads, and one that it goes on with."""
Parts = Generator[WrittenPart]
PartEngine = Callable[[PartSetup, Sequence[int], int], Parts]
"""Reads these ranges with so many workers."""
Progress = Callable[[Tally, int], None]


def _here(setup: PartSetup, numbers: Sequence[int]) -> Parts:
    job = PartJob(setup)
    for number in numbers:
        yield written_or_raise(job.read(number))


def local(setup: PartSetup, numbers: Sequence[int], count: int) -> Parts:
    """One range after another in this process, or in several of ours."""
    if count < 2 or len(numbers) < 2:
        yield from _here(setup, numbers)
        return
    with workers("part_files", min(count, len(numbers))) as begun:
        yield from _by_workers(setup, deque(numbers), begun)


def _by_workers(setup: PartSetup, left: deque[int], begun: Sequence[WorkerProcess]) -> Parts:
    """Whoever is done takes the next range."""
    said = msgspec.msgpack.encode(setup)
    waiting = dict.fromkeys(begun, 0)

    def give(worker: WorkerProcess) -> None:
        worker.ask(str(left.popleft()).encode())
        waiting[worker] += 1

    with selectors.DefaultSelector() as ready:
        for worker in begun:
            worker.ask(said)
            ready.register(worker, selectors.EVENT_READ, worker)
        for worker in [*begun] * _AT_HAND:
            if left:
                give(worker)
        while any(waiting.values()):
            for key, _ in ready.select():
                worker = key.data
                part = answered(worker.answer().content)
                waiting[worker] -= 1
                if left:
                    give(worker)
                yield part


def _on_ray(setup: PartSetup, numbers: Sequence[int], count: int) -> Parts:
    from affidavit.reading.part_files.ray_engine import on_ray  # noqa: PLC0415 - few have a cluster

    yield from on_ray(setup, numbers, count)


ENGINES: dict[str, PartEngine] = {"local": local, "ray": _on_ray}
"""Every way to have ranges read, by its name."""


class PartsRead(NamedTuple):
    """How ranges are read."""

    strict: bool = False
    own_file: str | None = None
    named: dict[str, str] = {}  # noqa: RUF012 - never changed
    workers: int = 1
    engine: str = "local"


def read_parts(
    plan: Plan,
    folder: PartsFolder,
    *,
    shard: Shard = Shard(),  # noqa: B008 - frozen
    how: PartsRead = PartsRead(),  # noqa: B008 - frozen
    progress: Progress | None = None,
) -> Result:
    """Read the missing parts of a shard and commit them; the counts of all its parts."""
    folder.begun(plan)
    folder.clear(plan, shard)
    mine = [number for number in range(len(plan.ranges)) if shard.has(number)]
    there = folder.parts(plan)
    total = result_of_parts([there[number] for number in mine if number in there])
    missing = [number for number in mine if number not in there]
    if not missing:
        return total
    setup = PartSetup(plan, str(folder.path.resolve()), str(Path.cwd()), how.strict, how.own_file, how.named)
    try:
        with closing(ENGINES[how.engine](setup, missing, how.workers)) as parts:
            for written in parts:
                folder.commit(written)
                total += result_of(written.part.counts)
                if progress is not None:
                    progress(total.tally, plan.bytes_of(written.part.number))
    finally:
        folder.clear(plan, shard)
    return total
