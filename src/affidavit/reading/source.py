"""A source of rows: bytes with a name, unpacked as they are read.

A `Source` says where the bytes are; its `Stream` gives them. What they hold is a `Format`'s matter, and which
format that is, is told in `sources.py`. Every row comes with its place, `file:line` where the format has lines and
`file:row N` where it has none.
"""

import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from affidavit.errors import InputError
from affidavit.json_values import Fields
from affidavit.reading.compressed import Compression, compression_of

HEAD = 64 * 1024
"""Bytes by which a file is told."""
LONGEST_ROW = 1 << 28
"""Bytes of text that one row may have: an unclosed quote, or a file that unpacks for ever, ends here."""


class Row(NamedTuple):
    """One row of a source."""

    where: str
    number: int
    """The line of JSON Lines; otherwise rows are counted from 1, without a header."""
    fields: Fields


Columns = Callable[[list[str]], list[str] | None]
"""What a reader of a table makes of the cells of its first row: the same cells where they are names that it looks
for; other names where the file has no header; None where it knows neither, and then the row is a header."""


class Stream(io.BufferedReader):
    """The bytes of a source, unpacked."""

    def __init__(self, origin: io.RawIOBase | BinaryIO, *, name: str) -> None:
        self._taken = _Rejoined(b"", origin)
        self._told = 0
        self.compression: Compression | None = None
        try:
            with reading_on(name):
                super().__init__(self._unpacked(), HEAD)
        except InputError:
            self._taken.close()
            raise

    def _unpacked(self) -> "_Rejoined":
        raw = _Rejoined(_filled(self._taken), self._taken)
        self.compression = compression_of(raw.head)
        if self.compression is None:
            return raw
        unpacked = self.compression.unpacked(raw)
        return _Rejoined(_filled(unpacked), unpacked)

    def head(self) -> bytes:
        """The first bytes, as long as none were read."""
        return self.peek(HEAD)

    def bytes_taken(self) -> int:
        """The bytes of the file itself that were read since this was last asked."""
        count = self._taken.count - self._told
        self._told = self._taken.count
        return count


class _Rejoined(io.RawIOBase):
    """Bytes that were looked at, and all that follow them."""

    def __init__(self, head: bytes, rest: io.RawIOBase | BinaryIO) -> None:
        super().__init__()
        self.head = head
        self.count = 0
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if self.head:
            count = min(len(buffer), len(self.head))
            buffer[:count], self.head = self.head[:count], self.head[count:]
        else:
            count = self._rest.readinto(buffer) or 0  # type: ignore[union-attr]
        self.count += count
        return count

    def close(self) -> None:
        self._rest.close()
        super().close()


def _filled(stream: io.RawIOBase) -> bytes:
    """The first bytes of a stream: as many as a file is told by, or all that there are."""
    head = b""
    while len(head) < HEAD and (more := stream.read(HEAD - len(head))):
        head += more
    return head


@dataclass(frozen=True, slots=True)
class Source:
    """Where rows are: a name for messages, and the way to the bytes, opened when their turn comes."""

    name: str
    opened: Callable[[], AbstractContextManager[Stream]]
    path: Path | None = None
    """The file, where it is one that can be opened again."""
    format: "Format | None" = None
    """What its rows are, where whoever made the source knows; otherwise its content tells."""


def file_source(path: Path) -> Source:
    """The rows of a file; InputError if there is none.

    What is no plain file, such as a pipe, is opened once and read once.
    """
    try:
        if path.is_dir():
            hint = f"Name the files in it, for example {path / '*.jsonl'}."
            raise InputError(str(path), expected="a file to read", found="a directory", hint=hint)
        raw = path.open("rb", buffering=0)
    except OSError as error:
        raise InputError(str(path), expected="a file to read", found=_reason(error)) from error
    if not path.is_file():
        return stream_source(str(path), raw)
    raw.close()
    return Source(str(path), partial(_opened, path), path)


def _opened(path: Path) -> Stream:
    with reading_on(str(path)):
        raw = path.open("rb", buffering=0)
    return Stream(raw, name=str(path))


def stream_source(name: str, raw: io.RawIOBase | BinaryIO) -> Source:
    """The rows of bytes that come once, such as standard input."""
    once = cache(lambda: Stream(raw, name=name))
    return Source(name, lambda: nullcontext(once()))


def bytes_source(name: str, content: bytes) -> Source:
    """The rows of bytes that are at hand."""
    return Source(name, lambda: Stream(io.BytesIO(content), name=name))


@contextmanager
def reading_on(name: str) -> Iterator[None]:
    """Turn the system's refusal to read, or compressed bytes that are broken, into an error naming the file."""
    try:
        yield
    except OSError as error:
        raise InputError(name, expected="the rest of the file", found=_reason(error)) from error


def too_long(where: str) -> InputError:
    """The refusal of a row that does not end."""
    hint = "A quote may not be closed, or the line feeds are missing."
    return InputError(where, expected=f"a row of at most {LONGEST_ROW:,} bytes", found="a longer one", hint=hint)


def _reason(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file that holds rows: how it is told, and its reader."""

    name: str
    endings: tuple[str, ...]
    """Of its files. They decide only where the content does not."""
    recognises: Callable[[bytes], bool]
    """Whether a file that begins with these bytes is certainly of this format; they are not blank."""
    rows: Callable[[Source, Columns], Iterator[Row]]
    """Every row in its order; InputError at the first that is none."""
    may_be_any_text: bool = False
    """Whether any text at all may have been meant for it."""
    names: Callable[[Source], list[str]] | None = None
    """The names of the columns, where a file says them before its rows."""
