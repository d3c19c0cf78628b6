"""Files of outputs through a contract, in this process: rows in, the same rows with new fields out.

JSON Lines are read in batches of bounded size, so memory does not grow with the file.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from affidavit.errors import InputError
from affidavit.json_values import Fields
from affidavit.reading.jsonl import Batch, decode_row, splice
from affidavit.reading.row_cache import Gained, OnceReader
from affidavit.reading.rows import RowReader, RowResult
from affidavit.reading.tally import Tally

if TYPE_CHECKING:
    from affidavit.reading.choices import ChoiceReader, Choices

BATCH = 512 * 1024
"""Bytes of lines that are read and decoded together: few enough to stay in the cache."""
ROWS_AT_ONCE = 96 * 1024
"""Rows that are read in columns together: enough to forget what each step costs by itself."""

_LFS = b"version https://git-lfs.github.com/spec/"
_BOM = b"\xef\xbb\xbf"


@dataclass
class Result:
    """What was read: the counts, and what a person should be told once."""

    tally: Tally = field(default_factory=Tally)
    unchecked: int = 0
    """Rows without the field that the contract needs to check answers."""
    replaced: set[str] = field(default_factory=set)
    """Fields that were in the rows already and now hold what this contract says."""

    def count(self, gained: Gained, reader: RowReader, row: Fields, *, times: int = 1) -> None:
        """Count what a row gained, and what a person should be told of it."""
        self.tally.add(gained.fields, has_key=gained.has_key, parts=reader.parts, times=times)
        self.unchecked += bool(reader.parts.checked_by) and row.get(reader.parts.checked_by) is None


Progress = Callable[[Tally, int], None]
"""Called after every batch: the counts so far, and the bytes read since the last time."""
EachRow = Callable[[object, RowResult, str], None]
"""Called for every row that is read by itself: its text, what was said of it, and its place."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file of outputs: its name, for messages, and the way to its bytes, opened when its turn comes."""

    name: str
    opened: Callable[[], AbstractContextManager[BinaryIO]]

    def batches(self) -> Iterator[Batch]:
        """Whole lines, some hundreds at a time."""
        with self.opened() as stream:
            yield from self._batches(stream)

    def _batches(self, stream: BinaryIO) -> Iterator[Batch]:
        number = 1
        try:
            while content := stream.read(BATCH):
                if not content.endswith(b"\n"):
                    content += stream.readline()
                if number == 1:
                    refuse_pointer(content, where=f"{self.name}:1")
                    content = content.removeprefix(_BOM)
                batch = Batch(self.name, number, content)
                yield batch
                number += batch.height
                del batch, content  # so that their memory, still in the cache, takes what comes next
        except OSError as error:
            where, reason = f"{self.name}:{number}", error.strerror or str(error)
            raise InputError(where, expected="to read on", found=reason) from error


def refuse_pointer(line: bytes, *, where: str) -> None:
    """Refuse what Git LFS puts in place of a file."""
    if line.startswith(_LFS):
        raise InputError(
            where,
            expected="rows of outputs",
            found="a Git LFS pointer, which stands for a file that was not downloaded",
            hint="Run `git lfs pull` in its repository.",
        )


def open_source(path: Path) -> BinaryIO:
    """The file's bytes."""
    try:
        return path.open("rb")
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(str(path), expected="a file to read", found=reason) from error


def read_lines(
    sources: list[Source],
    reader: RowReader,
    *,
    out: BinaryIO | None,
    each_row: EachRow | None = None,
    progress: Progress | None = None,
) -> Result:
    """Read every row of every source in order; write the rows with their new fields to `out`."""
    lines = _LineEngine(reader, out, each_row)
    for source in sources:
        for batch in source.batches():
            lines.read(batch)
            if progress is not None:
                progress(lines.result.tally, len(batch.content))
            del batch  # the last one to hold it
    lines.read_waiting()
    return lines.result


_end = attrgetter("end")


class _LineEngine:
    """Batches of lines on their way through a contract."""

    def __init__(self, reader: RowReader, out: BinaryIO | None, each_row: EachRow | None) -> None:
        self.result = Result()
        self._reader = reader
        self._out = out
        self._each_row = each_row
        self._careful = OnceReader(reader)
        self._choices: ChoiceReader | None = None
        if reader.in_columns:
            from affidavit.reading.choices import ChoiceReader as Fast  # noqa: PLC0415 - Polars, for those who need it

            self._choices = Fast(reader)
        self._waiting: list[Choices] = []
        self._rows_waiting = 0

    def read(self, batch: Batch) -> None:
        """Read a batch now, or with others when there are enough."""
        choices = None if self._choices is None else self._choices.decode(batch)
        if choices is None:
            self.read_waiting()
            self._read_carefully(batch)
            return
        self._waiting.append(choices)
        self._rows_waiting += batch.height
        if self._rows_waiting >= ROWS_AT_ONCE:
            self.read_waiting()

    def read_waiting(self) -> None:
        """Read whatever has been waiting for company."""
        if self._choices is not None and self._waiting:
            all_gained = iter(self._choices.read(self._waiting))
            counted: Counter[Gained] = Counter()
            for choices in self._waiting:
                gained = list(islice(all_gained, len(choices.keys)))
                if None in gained:
                    self._read_carefully(choices.heads.batch())
                else:
                    counted.update(cast("list[Gained]", gained))
                    self._write(choices.heads.lines, cast("list[Gained]", gained))
            for each, times in counted.items():
                self._count(each, times)
            self._waiting, self._rows_waiting = [], 0

    def _write(self, heads: list[bytes], gained: list[Gained]) -> None:
        """Lines end where what they gained begins."""
        if self._out is not None:
            parts = [b""] * (2 * len(heads))
            parts[::2] = heads
            parts[1::2] = map(_end, gained)
            self._out.write(b"".join(parts))

    def _count(self, gained: Gained, times: int) -> None:
        self.result.tally.add(gained.fields, has_key=gained.has_key, parts=self._reader.parts, times=times)

    def _read_carefully(self, batch: Batch) -> None:
        """Count and write a batch line by line."""
        for where, text in batch.lines():
            row = decode_row(text, where=where)
            result, gained = self._careful.read(row, where=where)
            self.result.count(gained, self._reader, row)
            self.result.replaced.update(row.keys() & gained.fields.keys())
            if self._out is not None:
                self._out.write(f"{splice(text, row, gained.fields)}\n".encode())
            if self._each_row is not None:
                self._each_row(row[self._reader.field], result, where)
