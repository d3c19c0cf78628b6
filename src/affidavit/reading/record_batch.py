"""Records that are ready to be written, many at a time."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from affidavit.archive.record import Failed, Response

if TYPE_CHECKING:
    import polars as pl

    from affidavit.archive.copy_parts import CopyPart


@dataclass(frozen=True)
class RecordBatch:
    """Records that are ready to be written."""

    size: int
    """How many there are."""
    lines: memoryview
    entries: memoryview
    """Of each record half of its key and the digest of what it says, as the root digest takes them."""
    counts: tuple[tuple[Response | Failed, int], ...]
    """One record of each kind, and how many there are."""
    samples: int
    """One more than the greatest number of a sample."""
    columns: "pl.DataFrame | CopyPart | None"
    """What tables are counted from, as far as outputs from elsewhere have any: at hand, or in a file already; None
    if there is no place for a copy."""
