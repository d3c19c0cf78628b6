"""A kind of file that a study's records are written out as, and what was asked of its writer.

A writer walks the records once, keeps no more of them in memory than it must, and makes its files appear whole or
not at all. What cannot be said in a format is left out and counted by kind, never written as something else.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from affidavit.exchange.study_records import StudyRecords


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOrder:
    """What is to be written, and where to."""

    records: StudyRecords
    out: Path
    at: datetime
    """When it is written, for formats that say so."""
    chosen: Mapping[str, str] = field(default_factory=dict)
    """The part of the study by task, model or condition, for formats that hold only a part."""
    organization: str = "unknown"
    """Whose evaluation it is, for formats that say so."""
    relationship: str = "other"
    """How that organization is related to the models."""


@dataclass(frozen=True, slots=True)
class Written:
    """What came of it."""

    rows: Counter[str] = field(default_factory=Counter)
    """Rows that were written, by what they are."""
    left_out: Counter[str] = field(default_factory=Counter)
    """What the format cannot say, by kind."""


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """One kind of file. A new one is a file with one of these, and a line in the registry."""

    name: str
    summary: str
    """What it is, in a few words."""
    ending: str
    """Of its files; empty if it is a directory of several."""
    write: Callable[[ExportOrder], Written]
    takes_a_part: bool = False
    """Whether a part of a study may be chosen, because the format has no names for the others."""
    names_who_evaluates: bool = False
    """Whether it says whose evaluation it is."""
