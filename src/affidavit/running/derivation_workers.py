"""The lines of a large journal, derived again by several processes: ranges go out, and come back in order."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle

import msgspec

from affidavit.archive.segments import Line
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.reading.worker_process import WorkerProcess
from affidavit.running.derivation_job import DerivationSetup, found_in
from affidavit.running.rederivation import Derived

RANGE = 1 << 20
"""Bytes of lines that a worker takes at once."""
_AHEAD = 2
"""Ranges that wait for each worker, so that none waits for us."""


def derived_lines(
    lines: Iterable[Line],
    workers: Sequence[WorkerProcess],
    directory: StudyDirectory,
    given: GivenContracts,
    *,
    range_bytes: int = RANGE,
) -> Iterator[tuple[Line, Derived | None]]:
    """Each line in its order with what a worker found of it; nothing is found where there are no workers."""
    if not workers:
        yield from ((line, None) for line in lines)
        return
    setup = msgspec.msgpack.encode(DerivationSetup(str(directory.path), given.places))
    for worker in workers:
        worker.ask(setup)
    waiting: deque[tuple[list[Line], WorkerProcess]] = deque()
    for several, worker in zip(_ranges(lines, range_bytes), cycle(workers), strict=False):
        worker.ask(b"", [b"".join(line.content for line in several)])
        waiting.append((several, worker))
        if len(waiting) > _AHEAD * len(workers):
            yield from _taken(*waiting.popleft())
    while waiting:
        yield from _taken(*waiting.popleft())


def _ranges(lines: Iterable[Line], most: int) -> Iterator[list[Line]]:
    several, size = list[Line](), 0
    for line in lines:
        several.append(line)
        size += len(line.content)
        if size >= most:
            yield several
            several, size = [], 0
    if several:
        yield several


def _taken(lines: list[Line], worker: WorkerProcess) -> Iterator[tuple[Line, Derived]]:
    found = dict(found_in(worker.answer().body))
    return ((line, found.get(number, Derived())) for number, line in enumerate(lines))
