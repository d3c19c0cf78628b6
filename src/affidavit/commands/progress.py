"""A line that says how far a long job has come: rows, rate, compliance so far, and how long it will take.

Nothing is said of jobs that end within two seconds. On a terminal the line is written over and over; elsewhere
a new one comes every ten seconds.
"""

from collections.abc import Callable
from time import monotonic
from typing import Self, TextIO

from affidavit.reading.tally import Tally

SILENT_FOR = 2.0
"""Seconds."""


class StatusLine:
    """The line, on a stream; it is wiped at the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._started = monotonic()
        self._every = 0.2 if stream.isatty() else 10.0
        self._next = self._started + SILENT_FOR
        self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._stream.isatty() and self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()

    def show(self, line: Callable[[float], str]) -> None:
        """Say where things stand after so many seconds, if it is time to."""
        now = monotonic()
        if now < self._next:
            return
        self._next = now + self._every
        text = line(now - self._started)
        if self._stream.isatty():
            self._stream.write(f"\r{text:<{self._width}}")
        else:
            self._stream.write(f"{text}\n")
        self._width = max(self._width, len(text))
        self._stream.flush()


class Progress(StatusLine):
    """How far a file is read."""

    def __init__(self, stream: TextIO, total_bytes: int | None) -> None:
        super().__init__(stream)
        self._total = total_bytes
        self._bytes = 0

    def tell(self, tally: Tally, more_bytes: int) -> None:
        """Say where things stand, if it is time to."""
        self._bytes += more_bytes
        self.show(lambda seconds: progress_line(tally, seconds, self._bytes, self._total))


def progress_line(tally: Tally, seconds: float, read_bytes: int, total_bytes: int | None) -> str:
    """The line after so many seconds.

    >>> tally = Tally(compliant=300_000, non_compliant=100_000)
    >>> progress_line(tally, 4.0, 100, 500)
    '400,000 rows  100,000/s  75.0% compliant  16 s to go'
    """
    parts = [f"{tally.n:,} rows", f"{tally.n / seconds:,.0f}/s"]
    if tally.arrived:
        parts.append(f"{tally.compliant / tally.arrived:.1%} compliant")
    if total_bytes and read_bytes:
        parts.append(f"{max(0.0, seconds * (total_bytes / read_bytes - 1)):,.0f} s to go")
    return "  ".join(parts)
