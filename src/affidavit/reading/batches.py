"""A contract over files, batch by batch: what a batch is read into, and how the results of batches are joined.

`read_batch` is a function of its batch alone: what it remembers of earlier ones saves time and changes nothing. So
batches may be read here or anywhere, and their results are added up: `read_batch(a).result + read_batch(b).result`
is the result of reading both.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import BinaryIO, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from affidavit.contracts.parts import Advice
from affidavit.json_values import Fields
from affidavit.reading.csv_files import any_header
from affidavit.reading.row_cache import AddedFields, RowCache
from affidavit.reading.rows import RowReader, RowResult
from affidavit.reading.source import Columns, Row, Source
from affidavit.reading.tally import Tally


@dataclass
class Result:
    """What was read: the counts, and what a person should be told once."""

    tally: Tally = field(default_factory=Tally)
    unchecked: int = 0
    """Rows without the field that the contract needs to check answers."""
    replaced: frozenset[str] = frozenset()
    """Fields that were in the rows already and now hold what this contract says."""
    advised: Counter[Advice] = field(default_factory=Counter)
    """Parameters that outputs call for, by how many do."""
    empty_cells: int = 0
    """Texts of a format without nulls that are empty: nobody can tell whether an output arrived."""

    def count(self, added: AddedFields, reader: RowReader, row: Fields, *, times: int = 1) -> None:
        """Count what a row added, and what a person should be told of it."""
        known = added.right_answer_known
        self.tally.add(added.fields, right_answer_known=known, parts=reader.parts, times=times)
        self.tally.add_readings(added.fields, added.right_readings, right_answer_known=known, times=times)
        self.unchecked += bool(reader.parts.checked_by) and row.get(reader.parts.checked_by) is None
        if isinstance(raw := reader.text.of(row), str) and (advice := reader.parts.advice(raw, added.fields)):
            self.advised[advice] += times

    def __add__(self, other: "Result") -> "Result":
        return Result(
            Tally.total([self.tally, other.tally]),
            self.unchecked + other.unchecked,
            self.replaced | other.replaced,
            self.advised + other.advised,
            self.empty_cells + other.empty_cells,
        )


class RowReading(NamedTuple):
    """What was said of one row, for whoever keeps it elsewhere."""

    raw: object
    """The row's text; null where no output arrived."""
    result: RowResult
    where: str


Batch = TypeVar("Batch", bound="AnyBatch")
Content = TypeVar("Content")
"""What rows are written as: bytes of lines, or a frame."""


class AnyBatch(Protocol):
    """Rows that follow each other in a file, on their way to be read."""

    @property
    def size(self) -> int:
        """The bytes of the file that were taken for them."""

    def halves(self) -> "tuple[AnyBatch, AnyBatch] | None":
        """The same rows in two batches, so that a bad one can be found; None of a single row."""


@dataclass(frozen=True, slots=True)
class BatchResult(Generic[Content]):
    """A batch, read: its rows with their new fields, and what was counted."""

    content: Content
    result: Result
    row_readings: Sequence[RowReading] = ()
    size: int = 0


class BatchReader(Protocol[Batch, Content]):
    """One contract over the files of one format."""

    binary: ClassVar[bool]
    """Whether the output is no text, so that it has to be a file with a name."""

    def batches(self, sources: Iterable[Source]) -> Iterator[Batch]:
        """The rows of all sources in their order."""

    def read_batch(self, batch: Batch) -> BatchResult[Content]:
        """The rows of a batch with their new fields, and what was counted."""

    def write(self, contents: Iterator[Content], out: BinaryIO | None) -> None:
        """Write rows as they come; None: nowhere, but they are made all the same."""


OnRow = Callable[[RowReading], None]
"""Called for every row that was read, in their order."""
RowsOf = Callable[[Source, Columns], Iterator[Row]]
"""The rows of a source, as a format gives them."""

ROWS_AT_ONCE = 8 * 1024
"""Rows of an ordinary format that are read together."""


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Rows of a format that has no way of its own to be read in batches."""

    rows: list[Row]
    size: int = 0

    def halves(self) -> "tuple[RowBatch, RowBatch] | None":
        """The rows in two."""
        middle = len(self.rows) // 2
        return (RowBatch(self.rows[:middle]), RowBatch(self.rows[middle:])) if middle else None


class RowBatches:
    """Rows one by one, from any format; they come out as JSON Lines."""

    binary: ClassVar[bool] = False

    def __init__(self, reader: RowReader, rows: RowsOf, *, keep_readings: bool = False) -> None:
        self._reader = reader
        self._rows = rows
        self._once = RowCache(reader)
        self._keep_readings = keep_readings

    def batches(self, sources: Iterable[Source]) -> Iterator[RowBatch]:
        """Some rows at a time."""
        for source in sources:
            rows = self._rows(source, any_header)
            while batch := list(islice(rows, ROWS_AT_ONCE)):
                yield RowBatch(batch)

    def read_batch(self, batch: RowBatch) -> BatchResult[Iterable[bytes]]:
        """Each row as an object on a line of its own."""
        result, lines, readings = Result(), list[bytes](), list[RowReading]()
        for where, _, row in batch.rows:
            row_result, added = self._once.read(row, where=where)
            result.count(added, self._reader, row)
            result.replaced |= row.keys() & added.fields.keys()
            kept = {name: value for name, value in row.items() if name not in added.fields}
            lines.append(json.dumps({**kept, **added.fields}).encode() + b"\n")
            if self._keep_readings:
                readings.append(RowReading(self._reader.text.of(row), row_result, where))
        return BatchResult(lines, result, readings, batch.size)

    def write(self, contents: Iterator[Iterable[bytes]], out: BinaryIO | None) -> None:
        """Line after line."""
        write_bytes(contents, out)


def write_bytes(contents: Iterator[Iterable[bytes]], out: BinaryIO | None) -> None:
    """Write bytes as they come; None: nowhere, but they are made all the same."""
    for content in contents:
        if out is not None:
            for part in content:
                out.write(part)
        del content  # the last one to hold the batch
