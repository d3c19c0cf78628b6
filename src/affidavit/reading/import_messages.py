"""What is said between an import and its workers."""

from pathlib import Path

import msgspec

from affidavit.json_values import Fields
from affidavit.reading.utf8 import BYTE_ORDER_MARK


class ImportSetup(msgspec.Struct, frozen=True):
    """What is the same for all ranges."""

    study: str
    first: Fields
    """The first row."""
    columns: dict[str, str]
    contract: str
    options: str
    described: Fields
    """What is frozen of the contract."""


class Look(msgspec.Struct, frozen=True, tag=True):
    """Look at whole lines of a file."""

    path: str
    start: int
    size: int


class Make(msgspec.Struct, frozen=True, tag=True):
    """Make the records of the lines that were looked at last; the body has the samples, unless all are 0."""

    before: int
    """Records that come before."""
    part: str | None
    """Where their columns go."""


class Made(msgspec.Struct, frozen=True):
    """Records that were made: the body has their lines and, behind these, their entries."""

    lines: int
    """Bytes of lines."""
    counts: list[tuple[bytes, int]]
    """The line of one record of each kind, and how many there are."""
    samples: int
    part_sha256: str | None
    """None: the columns are nowhere."""


def range_of(path: str, start: int, size: int) -> bytes:
    """Bytes of a file, without a byte order mark at its beginning."""
    with Path(path).open("rb", buffering=0) as stream:
        stream.seek(start)
        content = stream.read(size)
    return content if start else content.removeprefix(BYTE_ORDER_MARK)
