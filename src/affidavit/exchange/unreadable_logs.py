"""Logs that cannot be read, or do not fit what reads them: one ends everything, or is left out and named.

That one is left out is for a person to say. What is wrong with it is kept in the words in which it would have
ended everything.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from affidavit.errors import InputError
from affidavit.json_values import Fields

_WAY_ON = "--skip-unreadable goes on without logs such as this one, and names them."


@dataclass(frozen=True, slots=True)
class UnreadableLogs:
    """What happens to them, and those that were found."""

    skipped: bool = False
    """Whether they are left out."""
    several: bool = False
    """Whether there may be others, so that there is a way on."""
    found: dict[str, str] = field(default_factory=dict)
    """What is wrong with each that was left out, by its path."""
    without_outputs: dict[str, str] = field(default_factory=dict)
    """What files that belong to logs say of outputs that are in no log beside them, by their path."""

    @classmethod
    def among(cls, logs: Sequence[Path], *, skipped: bool) -> "UnreadableLogs":
        """For logs as they were given; a directory holds any number."""
        return cls(skipped, len(logs) > 1 or any(each.is_dir() for each in logs))

    @contextmanager
    def watched(self, path: str) -> Iterator[None]:
        """What reads a log stands in here: an InputError is kept, or goes on with a word on what to do.

        >>> unreadable = UnreadableLogs(skipped=True)
        >>> with unreadable.watched("a.json"):
        ...     raise InputError("a.json:3", expected="a text", found="null", hint="Write one.")
        >>> print(*unreadable.notes())
        left out: a.json:3: expected a text, found null
        """
        try:
            yield
        except InputError as error:
            if self.skipped:
                self.found[path] = f"{error.where}: expected {error.expected}, found {error.found}"
            elif not self.several:
                raise
            else:
                hint = "\n".join(each for each in (error.hint, _WAY_ON) if each)
                raise InputError(error.where, expected=error.expected, found=error.found, hint=hint) from error

    def notes(self) -> list[str]:
        """Which were left out, and why, and which outputs are not here, for people."""
        named = (why if why.startswith(path) else f"{path}: {why}" for path, why in self.found.items())
        not_here = [f"{path}: {said}" for path, said in self.without_outputs.items()]
        return [*(f"left out: {each}" for each in named), *not_here]

    def fields(self) -> list[Fields]:
        """The same for programs."""
        return [{"log": path, "why": why} for path, why in self.found.items()]
