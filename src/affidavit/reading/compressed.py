"""Compressed bytes, unpacked and packed as they pass: gzip and Zstandard, told by their first bytes.

Nothing is unpacked at once, so a small file that holds a huge one costs time and no memory. A file may hold
several members or frames, one after another: all of them are read. One that ends too early is an error, never a
shorter text.
"""

import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, cast

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_SLICE = 1 << 17
"""Bytes that are given to Zstandard at once; it gives back no more than it is asked for."""


@dataclass(frozen=True, slots=True)
class Compression:
    """One way to make bytes fewer."""

    name: str
    ending: str
    marks: tuple[bytes, ...]
    """What compressed bytes begin with."""
    unpacked: Callable[[io.RawIOBase], io.RawIOBase]
    packed: Callable[[BinaryIO], BinaryIO]
    unpack_command: str


def compression_of(head: bytes) -> Compression | None:
    """How bytes that begin like this are compressed; None if they are not.

    >>> compression_of(gzip.compress(b"x")).name, compression_of(b"x")
    ('gzip', None)
    """
    return next((way for way in COMPRESSIONS.values() if head.startswith(way.marks)), None)


def compression_by_ending(name: str) -> Compression | None:
    """How a file of this name is compressed; None if it is not.

    >>> compression_by_ending("rows.jsonl.gz").name, compression_by_ending("rows.jsonl")
    ('gzip', None)
    """
    return next((way for ending, way in COMPRESSIONS.items() if name.lower().endswith(ending)), None)


def without_compression_ending(name: str) -> str:
    """The name of the file that a compressed file of this name holds.

    >>> without_compression_ending("rows.jsonl.ZST"), without_compression_ending("rows.csv")
    ('rows.jsonl', 'rows.csv')
    """
    compression = compression_by_ending(name)
    return name if compression is None else name[: -len(compression.ending)]


@contextmanager
def packed_by_ending(stream: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """Where to write the bytes of a file of this name: compressed on their way where its ending says so."""
    compression = compression_by_ending(name)
    if compression is None:
        yield stream
    else:
        with compression.packed(stream) as packed:
            yield packed


class _Unpacked(io.RawIOBase):
    """Bytes as they are unpacked; whatever is wrong with them is an OSError."""

    def __init__(self, packed: io.RawIOBase) -> None:
        super().__init__()
        self._packed = io.BufferedReader(packed, 1 << 17)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._packed.close()
        super().close()


class _Gunzipped(_Unpacked):
    def __init__(self, packed: io.RawIOBase) -> None:
        super().__init__(packed)
        self._members = gzip.GzipFile(fileobj=self._packed, mode="rb")

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            return self._members.readinto(buffer)
        except EOFError as error:
            raise OSError(_cut("gzip")) from error
        except zlib.error as error:
            raise OSError(f"broken gzip data ({error})") from error


class _Unzstd(_Unpacked):
    def __init__(self, packed: io.RawIOBase) -> None:
        super().__init__(packed)
        self._frame = zstd.ZstdDecompressor()
        self._begun = False

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while True:
            packed = b""
            if self._frame.eof:
                packed = self._frame.unused_data
                self._frame, self._begun = zstd.ZstdDecompressor(), False
            if not packed and self._frame.needs_input:
                packed = self._packed.read(_SLICE)
                if not packed:
                    if self._begun:
                        raise OSError(_cut("Zstandard"))
                    return 0
            self._begun = True
            try:
                unpacked = self._frame.decompress(packed, max_length=len(buffer))
            except zstd.ZstdError as error:
                raise OSError(f"broken Zstandard data ({error})") from error
            if unpacked:
                buffer[: len(unpacked)] = unpacked
                return len(unpacked)


def _cut(name: str) -> str:
    return f"{name} data that end too early: the file was cut short"


def _gzipped(stream: BinaryIO) -> BinaryIO:
    # Without name and time, so that the same rows make the same bytes.
    return cast("BinaryIO", gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=stream, mtime=0))


def _zstd(stream: BinaryIO) -> BinaryIO:
    options: dict[int, int] = {zstd.CompressionParameter.checksum_flag: 1}
    return cast("BinaryIO", zstd.ZstdFile(stream, "wb", options=options))


_SKIPPABLE = tuple(bytes([first]) + b"\x2a\x4d\x18" for first in range(0x50, 0x60))
COMPRESSIONS = {
    way.ending: way
    for way in (
        Compression("gzip", ".gz", (b"\x1f\x8b",), _Gunzipped, _gzipped, "gunzip"),
        Compression("Zstandard", ".zst", (b"\x28\xb5\x2f\xfd", *_SKIPPABLE), _Unzstd, _zstd, "zstd -d"),
    )
}
"""Every compression that is read and written, by the ending of its files."""
