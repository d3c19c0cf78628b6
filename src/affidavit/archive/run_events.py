"""`run_log.jsonl` read again: when the runs of a study began and ended, and what they knew of its models.

Nothing in it decides an answer. Of a sealed study only the part that was sealed is read, so that one seal tells
one time; a line that no run could have written says nothing, and is passed over.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from affidavit.archive.disk import storage_errors
from affidavit.archive.layout import RUN_LOG
from affidavit.archive.regular_files import open_to_read

MOST_BYTES = 32_000_000
"""Of a log: some thousand runs. What is beyond is not read."""


class RunEvent(msgspec.Struct, frozen=True):
    """One line of the log."""

    run: str
    event: str
    at: datetime
    models: dict[str, dict[str, Any]] = {}
    """Those that were asked, as the run knew them."""


@dataclass(frozen=True)
class RunTimes:
    """When a study was run, over all of its runs, interrupted ones among them."""

    runs: int = 0
    began: datetime | None = None
    """The first of them."""
    ended: datetime | None = None
    """The last that said so."""
    took: timedelta = timedelta()
    """All runs that said when they ended, added up."""
    without_end: int = 0
    """Runs that never said when they ended."""
    models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What the last run that asked a model knew of it: the file of its weights, their quantisation."""


def run_times(directory: Path, sealed_bytes: int | None = None) -> RunTimes:
    """The times of a study's runs, as far as its log has them; `sealed_bytes`: only so much of the log counts."""
    path = directory / RUN_LOG
    if not path.is_file():
        return RunTimes()
    with storage_errors(str(path)), open_to_read(path) as stream:
        lines = stream.read(min(MOST_BYTES, MOST_BYTES if sealed_bytes is None else sealed_bytes)).splitlines()
    return times_of(filter(None, map(_event, lines)))


def _event(line: bytes) -> RunEvent | None:
    try:
        found = msgspec.json.decode(line, type=RunEvent)
    except (msgspec.DecodeError, RecursionError):
        return None
    return found if found.at.tzinfo is not None else None


def times_of(events: Iterable[RunEvent]) -> RunTimes:
    """The times of runs from their events.

    >>> one, two = (datetime(2026, 3, 1, hour, tzinfo=UTC) for hour in (9, 11))
    >>> found = times_of([RunEvent("a", "began", one), RunEvent("a", "ended", two), RunEvent("b", "began", two)])
    >>> found.runs, found.took, found.without_end
    (2, datetime.timedelta(seconds=7200), 1)
    """
    began: dict[str, datetime] = {}
    ended: dict[str, datetime] = {}
    models: dict[str, Mapping[str, Any]] = {}
    for each in events:
        if each.event == "began":
            began.setdefault(each.run, each.at.astimezone(UTC))
            models |= each.models
        elif each.event == "ended" and each.run in began:
            ended[each.run] = each.at.astimezone(UTC)
    took = sum((max(timedelta(), end - began[run]) for run, end in ended.items()), timedelta())
    return RunTimes(
        len(began),
        min(began.values(), default=None),
        max(ended.values(), default=None),
        took,
        len(began) - len(ended),
        models,
    )
