"""Large files of usual rows, made records of by several processes: ranges go out, and come back in their order.

Workers look at ranges and make records of them. What depends on all rows before is done here, range by range:
samples are counted, records are numbered. A range with a line that is not usual is left to the way row by row.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from os import fstat, pread
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from affidavit.archive.copy_parts import CopyPart
from affidavit.archive.record import Failed, Response
from affidavit.archive.record_lines import decode
from affidavit.reading import source as limits
from affidavit.reading.import_messages import ImportSetup, Look, Made, Make, range_of
from affidavit.reading.record_batch import RecordBatch
from affidavit.reading.repeat_counts import RepeatCounts
from affidavit.reading.source import Source, reading_on, too_long
from affidavit.reading.worker_process import WorkerProcess

RANGE = 4 << 20
"""Bytes of a file that a worker takes at once: enough to forget what each step over columns costs by itself."""
_WINDOW = 1 << 16
_made = msgspec.msgpack.Decoder(Made)
Records = RecordBatch | Sequence[Response | Failed]
"""Some records: ready to be written, or one by one."""
OneByOne = Callable[[Source, int, int, bytes], Sequence[Response | Failed]]
"""Makes records of the lines of a source, given the number of the first line and of records before."""


@dataclass(frozen=True)
class Range:
    """Whole lines of a file."""

    source: Source
    path: Path
    start: int
    size: int


@dataclass(frozen=True)
class ImportWorkers:
    """Workers, and how much each of them takes at once."""

    workers: Sequence[WorkerProcess]
    range_bytes: int = RANGE

    def end(self) -> None:
        """Have no part in it."""
        for worker in self.workers:
            worker.end()

    def ranges(self, sources: Sequence[Source]) -> Iterator[Range]:
        """All lines of plain files."""
        for source in sources:
            assert source.path is not None  # noqa: S101 - whoever has workers has files
            with reading_on(source.name), source.path.open("rb", buffering=0) as stream:
                size, start = fstat(stream.fileno()).st_size, 0
                while start < size:
                    end = _line_end(stream.fileno(), start + self.range_bytes, size, source.name)
                    yield Range(source, source.path, start, end - start)
                    start = end


def _line_end(file: int, place: int, size: int, name: str) -> int:
    """Where the line ends that a place is in, or the file."""
    start = place
    while place < size:
        if place - start > limits.LONGEST_ROW:
            raise too_long(name)
        window = pread(file, _WINDOW, place - 1)
        if (found := window.find(b"\n")) >= 0:
            return place + found
        place += len(window)
    return size


class _Asked(NamedTuple):
    """A range that is with a worker, or was made records of here."""

    number: int
    range: Range
    worker: WorkerProcess
    records: Sequence[Response | Failed] | None = None
    size: int = 0
    part: Path | None = None


class ImportRun:
    """The ranges of files on their way to workers and back."""

    def __init__(
        self,
        given: ImportWorkers,
        sources: Sequence[Source],
        repeats: RepeatCounts,
        one_by_one: OneByOne,
        part_path: Callable[[int], Path | None],
    ) -> None:
        self._given = given
        self._ranges = enumerate(given.ranges(sources))
        self._repeats = repeats
        self._one_by_one = one_by_one
        self._part_path = part_path
        self._count = 0
        self._lines = dict.fromkeys((source.name for source in sources), 1)
        self._looks: deque[_Asked] = deque()
        self._makes: deque[_Asked] = deque()

    def batches(self, setup: ImportSetup) -> Generator[Records]:
        """All records, in the order of the rows; if they are not wanted any more, workers end."""
        try:
            yield from self._batches(setup)
        except BaseException:
            self._given.end()  # before anybody clears away what they write
            raise

    def _batches(self, setup: ImportSetup) -> Generator[Records]:
        for worker in self._given.workers:
            worker.ask(msgspec.msgpack.encode(setup))
            self._look_on(worker)
        while self._looks:
            looked = self._looks.popleft()
            # A worker answers in its turn: what it made before comes before what it sees now.
            ready = [self._taken() for _ in range(self._until_free(looked.worker))]
            self._makes.append(self._in_turn(looked))
            self._look_on(looked.worker)
            yield from ready
        while self._makes:
            yield self._taken()

    def _look_on(self, worker: WorkerProcess) -> None:
        for number, each in islice(self._ranges, 1):
            worker.ask(msgspec.msgpack.encode(Look(str(each.path), each.start, each.size)))
            self._looks.append(_Asked(number, each, worker))

    def _until_free(self, worker: WorkerProcess) -> int:
        """How many ranges are to be taken back before a worker has said everything about those before."""
        waiting = [asked.worker is worker and asked.records is None for asked in self._makes]
        return len(waiting) - waiting[::-1].index(True) if any(waiting) else 0

    def _in_turn(self, looked: _Asked) -> _Asked:
        """Count the rows of a range, all those before it being counted, and have its records made."""
        number, each, worker, *_ = looked
        hashes = np.frombuffer(worker.answer().body, np.uint64)
        name, before = each.source.name, self._count
        if not len(hashes):
            content = range_of(str(each.path), each.start, each.size)
            records = self._one_by_one(each.source, self._lines[name], before, content)
            self._count += len(records)
            self._lines[name] += content.count(b"\n")
            return looked._replace(records=records)
        samples, part = self._repeats.before(hashes), self._part_path(number)
        body = (samples.data.cast("B"),) if samples.any() else ()
        worker.ask(msgspec.msgpack.encode(Make(before, None if part is None else str(part))), body)
        self._count += len(hashes)
        self._lines[name] += len(hashes)
        return looked._replace(size=len(hashes), part=part)

    def _taken(self) -> Records:
        asked = self._makes.popleft()
        if asked.records is not None:
            return asked.records
        content, body = asked.worker.answer()
        made = _made.decode(content)
        part = None
        if asked.part is not None and made.part_sha256 is not None:
            part = CopyPart(asked.part, asked.size, made.part_sha256)
        counts = tuple((_record(line), times) for line, times in made.counts)
        lines, entries = body[: made.lines], body[made.lines :]
        return RecordBatch(asked.size, lines, entries, counts, made.samples, part)


@lru_cache(maxsize=8192)
def _record(line: bytes) -> Response | Failed:
    """The record on a line of a worker: kinds are few, and come again with every range."""
    placed = decode(line)
    assert placed is not None  # noqa: S101 - a worker sends whole lines
    assert isinstance(placed.record, Response | Failed)  # noqa: S101 - of outputs
    return placed.record
