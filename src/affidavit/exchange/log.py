"""A log that another harness wrote: whose outputs they are, what it printed, and its outputs one after another.

A format is told by content, never by name alone. What a source printed is kept beside what its own rows give, so
that the two can be compared; a file may hold fewer rows than it was scored over, and that is said, not hidden.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from affidavit.exchange.logged_output import LoggedOutput

HEAD = 64 * 1024
"""Bytes by which a file is told."""


class Recount(Protocol):
    """A source's score, made again from its rows."""

    def add(self, output: LoggedOutput) -> None:
        """One output more."""

    def value(self) -> float | None:
        """The score over what was added; None over nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedScore:
    """A score that a source printed."""

    scorer: str
    metric: str
    value: float
    recount: Callable[[], Recount] | None = None
    """What makes it again from the rows; None where the rows do not say enough."""
    model: str | None = None
    """Whose it is, where a log holds several models."""


@dataclass(frozen=True, slots=True)
class Grader:
    """A model that graded outputs."""

    model: str
    scorer: str | None = None
    """Whose words it gave; None where the log does not say."""


@dataclass(frozen=True, kw_only=True)
class Log:
    """One log, opened: its outputs can be walked as often as they are asked for, in one order."""

    path: Path
    format: str
    task: str
    outputs: Callable[[], Iterator[LoggedOutput]]
    printed: Sequence[PrintedScore] = ()
    planned: int | None = None
    """How many outputs it has by its own account; None where it does not say."""
    graders: Sequence[Grader] = ()
    has_mean: bool = False
    """Whether the mean over items of what its outputs count is its figure, though it printed none."""
    notes: Sequence[str] = ()
    """What a person should be told of how it is read."""
    facts: Mapping[str, object] = field(default_factory=dict)
    """What else it says of itself: the version of its format, how it ended, when it was written."""


@dataclass(frozen=True, slots=True)
class LogFormat:
    """One kind of log: how it is told, and its reader. A new one is a file with one of these, and a line."""

    name: str
    recognises: Callable[[bytes, Path], bool]
    """Whether a file that begins with these bytes (at most `HEAD`) is a log of this kind. A file that only belongs
    to one, such as the summary beside it, is none."""
    opened: Callable[[Path], Log]
    """The log; InputError if it is not what its beginning promised."""
    belongs: Callable[[bytes, Path], bool] = lambda _head, _path: False
    """Whether a file belongs to a log of this kind beside it: in a directory it is passed over without a word."""
    lacks: Callable[[Path], str | None] = lambda _path: None
    """What a file that belongs to logs says of outputs that are in no log beside it; None where all are there."""
    directories: Callable[[Path], bool] = lambda _path: False
    """Whether a directory as a whole is one log."""
