"""Messages between two processes of ours: few bytes through a socket, many through memory that both see.

A message is bytes that the two agree on. Its body, if it has one, is written into memory without a name: whoever
receives it reads it where it is. When nobody looks at it any more, the same memory takes a later body. Nothing of
it is code, and nothing of it outlives the two.
"""

import mmap
import os
import socket
import struct
import tempfile
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple
from weakref import finalize

_HEAD = struct.Struct("<QQQQ")
"""The sizes of a message and of its body, which memory the body is in, and a bit for each memory that is free."""
_AT_ONCE = 1 << 30
"""Bytes that are written together: the system takes no more than two of these."""
_MOST_KEPT = 64
"""Memories that are used again, one for each bit; nobody has that many bodies waiting."""
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
        self._free: set[int] = set()
        self._ours: dict[int, int] = {}
        """Files of memory that bodies are written to, by number."""
        self._theirs: dict[int, _Seen] = {}
        self._let_go: deque[int] = deque()
        """Memory of the other end that nobody looks at any more."""

    def fileno(self) -> int:
        """Of the socket: there is something to receive when it can be read from."""
        return self._end.fileno()

    def send(self, content: bytes, body: Sequence[Bytes] = ()) -> None:
        """Say something; it may be done before it is heard."""
        size, place = sum(len(part) for part in body), 0
        given: list[int] = []
        if size:
            if not self._free:
                self._add_memory(given)
            place = self._free.pop()
            written = 0
            for part in body:
                written += _write(self._ours[place], part, written)
        head = _HEAD.pack(len(content), size, place, self._freed())
        if given:
            socket.send_fds(self._end, [head], given)  # so few bytes go at once, or not at all
            self._end.sendall(content)
        else:
            self._end.sendall(head + content)

    def _add_memory(self, given: list[int]) -> None:
        place = len(self._ours)
        self._ours[place] = _unnamed_memory()
        self._free.add(place)
        given.append(self._ours[place])

    def _freed(self) -> int:
        freed = 0
        while self._let_go:
            freed |= 1 << self._let_go.popleft()
        return freed

    def receive(self) -> Message:
        """What is said next; EOFError if the other end is closed."""
        head, files, *_ = socket.recv_fds(self._end, _HEAD.size, 1)
        head += self._exactly(_HEAD.size - len(head))
        length, size, place, freed = _HEAD.unpack(head)
        for file in files:
            self._theirs[place] = _Seen(file)
        self._free.update(number for number in range(freed.bit_length()) if freed >> number & 1)
        content = self._exactly(length)
        return Message(content, self._body(place, size) if size else memoryview(b""))

    def _body(self, place: int, size: int) -> memoryview:
        import numpy as np  # noqa: PLC0415 - heavy, and workers are started before it is needed

        # The array is what the views of a body hold on to: it is gone when the last of them is.
        looked_at = np.frombuffer(self._theirs[place].of(size), np.uint8, size)
        if place < _MOST_KEPT:
            finalize(looked_at, self._let_go.append, place).atexit = False
        return looked_at.data

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
        for file in [*self._ours.values(), *(seen.file for seen in self._theirs.values())]:
            os.close(file)
        self._ours, self._theirs = {}, {}


class _Seen:
    """Memory of the other end."""

    def __init__(self, file: int) -> None:
        self.file = file
        self._seen: mmap.mmap | None = None

    def of(self, size: int) -> mmap.mmap:
        """The memory, at least so many bytes of it."""
        if self._seen is None or len(self._seen) < size:
            self._seen = mmap.mmap(self.file, 0, access=mmap.ACCESS_READ)
        return self._seen


def _unnamed_memory() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("affidavit")
    with tempfile.TemporaryFile() as stream:
        return os.dup(stream.fileno())


def _write(file: int, part: Bytes, start: int) -> int:
    """Write a part at its place; how long it is."""
    rest = memoryview(part)
    while rest:
        written = os.pwrite(file, rest[:_AT_ONCE], start)
        rest, start = rest[written:], start + written
    return len(part)
