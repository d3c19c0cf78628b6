"""The lines of files with batch answers, found by the key that each is about, however many there are.

Files are read twice: once for where each line stands, which takes 16 bytes of memory a line, and once by the
questions of the plan, in their order. So answers may stand in any order, and be more than memory holds.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple, Self

import msgspec
import numpy as np

from affidavit.errors import InputError
from affidavit.exchange.batch_output import is_requests
from affidavit.exchange.log import HEAD
from affidavit.exchange.raw_object import RawObject
from affidavit.json_values import shown
from affidavit.reading.source import LONGEST_ROW, reading_on, too_long
from affidavit.reading.utf8 import BYTE_ORDER_MARK, decoded

NAMED = 3
"""Of many things of one kind, so many are named."""
_MOST_FILES, _PLACE = 1 << 16, 48


class ReadFile(NamedTuple):
    """A file of answers, as it was read."""

    name: str
    sha256: str
    lines: int


class NamedFew:
    """So many things of one kind, the first of them by name."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[str] = []

    def add(self, name: str) -> None:
        """One more."""
        self.count += 1
        if len(self.first) < NAMED:
            self.first.append(name)

    def extend(self, other: "NamedFew") -> None:
        """All of another, too."""
        self.count += other.count
        self.first += other.first[: NAMED - len(self.first)]

    def __str__(self) -> str:
        more = self.count - len(self.first)
        return ", ".join(self.first) + (f" and {more:,} more" if more else "")


class _Line(msgspec.Struct):
    custom_id: str


_quick = msgspec.json.Decoder(_Line)


class AnswerLines:
    """All lines of some files, by the keys that they are about.

    An id that is no key of ours, and a line without an id, is counted and left; so is, in the end, every key that
    nobody has looked up.
    """

    def __init__(self, paths: Sequence[Path], progress: Callable[[int], None] = lambda _lines: None) -> None:
        """`progress` is told how many lines were read."""
        self._progress = progress
        if len(paths) > _MOST_FILES:
            raise InputError("the files", expected=f"at most {_MOST_FILES:,}", found=f"{len(paths):,}")
        self._paths = paths
        self._starts, self._places = array("Q"), array("Q")
        self._before = 0
        """Lines of the files that were read to their ends."""
        self.files: list[ReadFile] = []
        self.foreign = NamedFew()
        """Ids that are no keys at all."""
        self.unreadable = NamedFew()
        """Lines without an id that could be read, with their places."""
        for number, path in enumerate(paths):
            with reading_on(str(path)), path.open("rb") as stream:
                self._read(path, number, stream)
        self._sort()
        self._seen = bytearray(len(self._starts))
        self._opened = ExitStack()
        self._streams: list[BinaryIO] = []

    def _read(self, path: Path, number: int, stream: BinaryIO) -> None:
        if is_requests(stream.read(HEAD), path):
            hint = "Give the files that the batch service wrote: their lines have a response or an error."
            raise InputError(str(path), expected="answers of a batch", found="its requests", hint=hint)
        stream.seek(0)
        place, lines, content_sha256 = 0, 0, sha256()
        while line := stream.readline(LONGEST_ROW + 1):
            if len(line) > LONGEST_ROW:
                raise too_long(f"{path}:{lines + 1}")
            content_sha256.update(line)
            lines += 1
            self._progress(self._before + lines)
            if not line.isspace():
                self._add(line, number << _PLACE | place, f"{path}:{lines}")
            place += len(line)
        self._before += lines
        self.files.append(ReadFile(path.name, content_sha256.hexdigest(), lines))

    def _add(self, line: bytes, place: int, where: str) -> None:
        try:
            if not line.isascii():
                decoded(line, where=where)  # what is looked for may be read without the rest
            custom_id = _id_of(line, where)
        except InputError as error:
            self.unreadable.add(f"{where} ({error.found})")
            return
        if (key := _key_of(custom_id)) is None:
            self.foreign.add(shown(custom_id))
        else:
            self._starts.append(int.from_bytes(key[:8]))
            self._places.append(place)

    def _sort(self) -> None:
        """By key; lines of one key stay in the order in which they were given."""
        starts = np.frombuffer(self._starts, np.uint64)
        order = np.argsort(starts, kind="stable")
        for name, column in (("_starts", starts), ("_places", np.frombuffer(self._places, np.uint64))):
            ordered = array("Q")
            ordered.frombytes(column[order].tobytes())
            setattr(self, name, ordered)

    def __len__(self) -> int:
        return len(self._starts)

    def __enter__(self) -> Self:
        for path in self._paths:
            with reading_on(str(path)):
                self._streams.append(self._opened.enter_context(path.open("rb")))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._opened.close()

    def count(self, key: bytes) -> int:
        """How many lines there are about a question, by the beginning of its key: none is read for it."""
        indices = self._beginning_like(key)
        for index in indices:
            self._seen[index] = 1
        return len(indices)

    def of(self, key: bytes) -> Iterator[tuple[str, RawObject]]:
        """The lines about a question, in the order in which they were given, each with the name of its file."""
        custom_id = key.hex()
        for index in self._beginning_like(key):
            name, line = self._line_at(self._places[index])
            if line.value("custom_id") == custom_id:
                self._seen[index] = 1
                yield name, line

    def _beginning_like(self, key: bytes) -> range:
        """The lines whose keys begin as this one does: of digests, all and only its own."""
        start = int.from_bytes(key[:8])
        first = bisect_left(self._starts, start)
        return range(first, bisect_right(self._starts, start, lo=first))

    def _line_at(self, place: int) -> tuple[str, RawObject]:
        path, stream = self._paths[place >> _PLACE], self._streams[place >> _PLACE]
        where = f"{path}, at byte {place & (1 << _PLACE) - 1:,}"
        with reading_on(str(path)):
            stream.seek(place & (1 << _PLACE) - 1)
            line = stream.readline(LONGEST_ROW + 1)
        return path.name, _line_of(line, where)

    def unknown(self) -> NamedFew:
        """The ids that nobody has looked up: no question of the plan has them."""
        found, at = NamedFew(), self._seen.find(0)
        while at >= 0:
            if len(found.first) < NAMED:
                found.add(str(self._line_at(self._places[at])[1].value("custom_id")))
            else:
                found.count += 1
            at = self._seen.find(0, at + 1)
        found.extend(self.foreign)
        return found


def _line_of(line: bytes, where: str) -> RawObject:
    return RawObject(decoded(line.removeprefix(BYTE_ORDER_MARK), where=where), where=where)


def _id_of(line: bytes, where: str) -> str:
    if line.count(b'"custom_id"') == 1 and b"\\u00" not in line:
        with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return _quick.decode(line).custom_id
    # What it refuses may still be a line, such as one whose body is no JSON; and it takes the last of several ids.
    custom_id = _line_of(line, where).value("custom_id")
    if not isinstance(custom_id, str):
        raise InputError(where, expected="a text in 'custom_id'", found=shown(custom_id))
    return custom_id


def _key_of(custom_id: str) -> bytes | None:
    """The key that an id is; None if it is none that we write."""
    if len(custom_id) != 64:
        return None
    try:
        key = bytes.fromhex(custom_id)
    except ValueError:
        return None
    return key if key.hex() == custom_id else None  # blanks between digits are read over
