"""JSON Lines through a contract: rows in, the same bytes with new fields out.

Lines are read in pieces that stay in the processor's cache, and multiple choice in columns of many pieces
together, so a batch is a number of pieces. Memory does not grow with the file.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from operator import attrgetter
from typing import TYPE_CHECKING, BinaryIO, ClassVar, cast

from affidavit.reading.batches import BatchResult, Result, RowReading, write_bytes
from affidavit.reading.json_lines import PIECE, pieces
from affidavit.reading.row_cache import AddedFields, RowCache
from affidavit.reading.row_lines import Batch as Lines
from affidavit.reading.row_lines import decode_row, splice
from affidavit.reading.rows import RowReader
from affidavit.reading.source import Source, Stream

if TYPE_CHECKING:
    from affidavit.reading.choices import ChoiceReader, Choices

PIECES = 128
"""Pieces that are read together: enough to forget what each step over columns costs by itself."""
BATCH = PIECES * PIECE
"""Bytes of a batch, about."""


class LineBatch:
    """Pieces of whole lines that follow each other in a file.

    They are read from the file when they are asked for, one by one, so that whoever decodes a piece finds it in
    the cache; a batch that is to be kept or sent elsewhere holds them first.
    """

    def __init__(self, name: str, first: int, pieces_of_lines: Iterable[bytes], size: int = 0) -> None:
        self.name = name
        self.first = first
        self.size = size
        self._pieces = pieces_of_lines
        self._height: int | None = None

    def pieces(self) -> Iterator[Lines]:
        """Piece after piece; of a batch that does not hold them, once."""
        number = self.first
        for content in self._pieces:
            lines = Lines(self.name, number, content)
            del content
            yield lines
            number += lines.height  # whoever has decoded them knows it without counting
        self._height = number - self.first

    def hold(self) -> int:
        """Read all pieces, unless they were read; gives the number of lines, blank ones too."""
        if self._height is None:
            self._pieces = list(self._pieces)
            self._height = sum(Lines(self.name, 1, content).height for content in self._pieces)
        return self._height

    def halves(self) -> "tuple[LineBatch, LineBatch] | None":
        """The lines in two, so that a bad one can be found; None of a single line."""
        self.hold()
        lines = [line for content in self._pieces for line in content.splitlines(keepends=True)]
        middle = len(lines) // 2
        if not middle:
            return None
        first, second = b"".join(lines[:middle]), b"".join(lines[middle:])
        return LineBatch(self.name, self.first, [first]), LineBatch(self.name, self.first + middle, [second])

    def __reduce__(self) -> tuple[type["LineBatch"], tuple[str, int, Iterable[bytes], int]]:
        self.hold()
        return LineBatch, (self.name, self.first, self._pieces, self.size)


class LineBatches:
    """JSON Lines under one contract."""

    binary: ClassVar[bool] = False

    def __init__(self, reader: RowReader, *, keep_readings: bool = False) -> None:
        self._reader = reader
        self._careful = RowCache(reader)
        self._keep_readings = keep_readings
        self._choices: ChoiceReader | None = None
        if reader.in_columns:
            from affidavit.reading.choices import ChoiceReader as Fast  # noqa: PLC0415 - Polars, for those who need it

            self._choices = Fast(reader)

    def batches(self, sources: Iterable[Source]) -> Iterator[LineBatch]:
        """Some thousands of lines at a time."""
        for source in sources:
            with source.opened() as stream:
                yield from _batches(stream, source.name)

    def read_batch(self, batch: LineBatch) -> BatchResult[Iterable[bytes]]:
        """The lines with their new fields; what is out of the ordinary is read line by line."""
        read = _ReadLines(self._reader, self._careful, keep_readings=self._keep_readings)
        decoded: list[Lines | Choices] = []
        for lines in batch.pieces():
            choices = None if self._choices is None else self._choices.decode(lines)
            decoded.append(lines if choices is None else choices)
        self._read_in_order(decoded, read)
        return BatchResult(read.content, read.result, read.readings, batch.size)

    def _read_in_order(self, decoded: list["Lines | Choices"], read: "_ReadLines") -> None:
        fast = [part for part in decoded if not isinstance(part, Lines)]
        all_added = iter(self._choices.read(fast) if self._choices is not None and fast else ())
        for part in decoded:
            if isinstance(part, Lines):
                read.carefully(part)
                continue
            added = list(islice(all_added, len(part.keys)))
            if None in added:
                read.carefully(part.heads.batch())
            else:
                read.at_once(part.heads.lines, cast("list[AddedFields]", added))
        read.count()

    def write(self, contents: Iterator[Iterable[bytes]], out: BinaryIO | None) -> None:
        """Line after line."""
        write_bytes(contents, out)


def _batches(stream: Stream, name: str) -> Iterator[LineBatch]:
    all_pieces = pieces(stream, name)
    number = 1
    while (first := next(all_pieces, None)) is not None:
        batch = LineBatch(name, number, chain([first], islice(all_pieces, PIECES - 1)), stream.bytes_taken())
        del first
        yield batch
        number += batch.hold()
        del batch  # the last one to hold it


_end = attrgetter("end")


class _LinesOut:
    """Lines with their new fields, put together when they are written: while they are in the cache."""

    def __init__(self) -> None:
        self._parts: list[tuple[list[bytes], list[AddedFields]]] = []

    def add(self, lines: list[bytes], added: list[AddedFields]) -> None:
        """Add lines that end where what they added begins; or whole ones, if nothing is given."""
        self._parts.append((lines, added))

    def __iter__(self) -> Iterator[bytes]:
        for lines, added in self._parts:
            pieces_of_lines = [b""] * (2 * len(lines))
            pieces_of_lines[::2] = lines
            pieces_of_lines[1 : 2 * len(added) : 2] = map(_end, added)
            yield b"".join(pieces_of_lines)

    def __reduce__(self) -> tuple[type[list[bytes]], tuple[list[bytes]]]:
        return list, (list(self),)


class _ReadLines:
    """What becomes of the lines of one batch."""

    def __init__(self, reader: RowReader, careful: RowCache, *, keep_readings: bool) -> None:
        self.content = _LinesOut()
        self.result = Result()
        self.readings: list[RowReading] = []
        self._reader = reader
        self._careful = careful
        self._keep_readings = keep_readings
        self._counted: Counter[AddedFields] = Counter()

    def at_once(self, heads: list[bytes], added: list[AddedFields]) -> None:
        """Lines of which all is known that they added."""
        self.content.add(heads, added)
        self._counted.update(added)

    def count(self) -> None:
        """Count what was read at once."""
        for added, times in self._counted.items():
            self.result.count(added, self._reader, {}, times=times)

    def carefully(self, lines: Lines) -> None:
        """Read line by line."""
        written: list[bytes] = []
        for number, text in lines.lines():
            where = f"{lines.name}:{number}"
            row = decode_row(text, where=where)
            result, added = self._careful.read(row, where=where)
            self.result.count(added, self._reader, row)
            self.result.replaced |= row.keys() & added.fields.keys()
            written.append(f"{splice(text, row, added.fields)}\n".encode())
            if self._keep_readings:
                self.readings.append(RowReading(self._reader.text.of(row), result, where))
        self.content.add(written, [])
