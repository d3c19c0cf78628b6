"""Messages between two processes of ours: few bytes through a socket, many through memory that both see.

A message is bytes that the two agree on. Its body, if it has one, is written once into memory without a name and
given away: whoever receives it reads it where it is, and it is gone when nobody looks at it any more. Nothing of
it is code, and nothing of it outlives the two.
"""

import mmap
import os
import socket
import struct
import tempfile
from collections.abc import Sequence
from typing import NamedTuple

_HEAD = struct.Struct("<QQ")
"""The sizes of a message and of its body."""
_AT_ONCE = 1 << 30
"""Bytes that are written together: the system takes no more than two of these."""
Bytes = bytes | bytearray | memoryview


class Message(NamedTuple):
    """What was said."""

    content: bytes
    body: memoryview
    """Empty where there is none."""


class Answer(NamedTuple):
    """What is to be said; the parts of its body are put one behind the other."""

    content: bytes
    body: Sequence[Bytes] = ()


class Channel:
    """One end of the way between two processes."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def send(self, content: bytes, body: Sequence[Bytes] = ()) -> None:
        """Say something; it may be done before it is heard."""
        size = sum(len(part) for part in body)
        head = _HEAD.pack(len(content), size)
        if not size:
            self._end.sendall(head + content)
            return
        file = _unnamed_memory()
        try:
            for part in body:
                _write(file, part)
            socket.send_fds(self._end, [head], [file])  # so few bytes go at once, or not at all
        finally:
            os.close(file)
        self._end.sendall(content)

    def receive(self) -> Message:
        """What is said next; EOFError if the other end is closed."""
        head, files, *_ = socket.recv_fds(self._end, _HEAD.size, 1)
        try:
            head += self._exactly(_HEAD.size - len(head))
            length, size = _HEAD.unpack(head)
            content = self._exactly(length)
            return Message(content, _seen(files[0], size) if size else memoryview(b""))
        finally:
            for file in files:
                os.close(file)

    def _exactly(self, size: int) -> bytes:
        found = bytearray()
        while len(found) < size:
            if not (some := self._end.recv(size - len(found))):
                raise EOFError
            found += some
        return bytes(found)

    def close(self) -> None:
        """Say nothing any more; the other end is told."""
        self._end.close()


def _unnamed_memory() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("affidavit")
    with tempfile.TemporaryFile() as stream:
        return os.dup(stream.fileno())


def _write(file: int, part: Bytes) -> None:
    rest = memoryview(part)
    while rest:
        rest = rest[os.write(file, rest[:_AT_ONCE]) :]


def _seen(file: int, size: int) -> memoryview:
    return memoryview(mmap.mmap(file, size, access=mmap.ACCESS_READ))
