"""Every exception that Affidavit raises on purpose.

    AffidavitError
    ├── UsageError      what was asked for cannot be done            exit code 2
    ├── InputError      a file or value does not say what it must    exit code 2
    │   ├── ParameterError  a parameter of a contract does not fit
    │   └── MistakesError   more than one of these, told together
    ├── StorageError    the disk refused, or what it holds is broken exit code 5
    └── LockedError     another run holds the directory              exit code 6

A model that breaks its contract is a value, never an exception: see `contract.py`.
"""

import difflib
import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from textwrap import indent


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint at the known name that is most like another; empty if none is.

    >>> did_you_mean("mqca", ["mcqa", "game24"]), did_you_mean("zebra", ["mcqa"])
    ('Did you mean mcqa?', '')
    """
    nearest = difflib.get_close_matches(name, list(known), 1)
    return f"Did you mean {nearest[0]}?" if nearest else ""


class AffidavitError(Exception):
    """Something a person can mend: where it is, what was expected, what was found, what to do.

    >>> print(InputError("a.jsonl:3", expected="an object", found="[1, 2]", hint="One object per line."))
    a.jsonl:3: expected an object, found [1, 2]
    One object per line.
    """

    exit_code = 2

    def __init__(self, where: str, *, expected: str, found: str, hint: str = "") -> None:
        self.where = where
        self.expected = expected
        self.found = found
        self.hint = hint
        super().__init__(where, expected, found, hint)

    def __str__(self) -> str:
        message = f"{self.where}: expected {self.expected}, found {self.found}"
        return f"{message}\n{self.hint}" if self.hint else message


class UsageError(AffidavitError):
    """What was asked for cannot be done."""


class InputError(AffidavitError):
    """A file or a value does not say what it must."""


class ParameterError(InputError):
    """A parameter of a contract that does not fit; its hint spells parameters as they are given where it is read.

    `say` are the parameters that stand for `{}` in the hint.

    >>> labels = [("labels", ["bug", "question"])]
    >>> error = ParameterError("labels", expected="a list", found="3", hint="Say {}.", say=labels)
    >>> print(error)
    parameters.labels: expected a list, found 3
    Say labels = ["bug", "question"].
    >>> print(error.typed())
    --param labels: expected a list, found 3
    Say --param 'labels=["bug", "question"]'.
    """

    def __init__(
        self, name: str, *, expected: str, found: str, hint: str = "", say: Sequence[tuple[str, object]] = ()
    ) -> None:
        self.name = name
        self._hint, self._say = hint, say
        written = [f"{each} = {json.dumps(value, ensure_ascii=False)}" for each, value in say]
        filled = hint.format(*written) if say else hint
        super().__init__(f"parameters.{name}", expected=expected, found=found, hint=filled)

    def typed(self) -> InputError:
        """The same for somebody who types a command."""
        words = [f"{each}={json.dumps(value, ensure_ascii=False)}" for each, value in self._say]
        hint = self._hint.format(*(f"--param {shlex.quote(word)}" for word in words)) if words else self._hint
        return InputError(f"--param {self.name}", expected=self.expected, found=self.found, hint=hint)


class MistakesError(InputError):
    """More than one mistake, told together; each is an error of its own, and may be mended by itself.

    >>> one = InputError("s.toml", expected="a name", found="none", hint="Give it one.")
    >>> print(MistakesError([one, UsageError("s.toml", expected="a file of items", found="no file")]))
    2 mistakes
    1. s.toml: expected a name, found none
       Give it one.
    2. s.toml: expected a file of items, found no file
    """

    def __init__(self, mistakes: Sequence[AffidavitError], untold: int = 0) -> None:
        """`untold`: how many more there are, which are not among these."""
        self.mistakes = tuple(mistakes)
        self.untold = untold
        first = self.mistakes[0]
        super().__init__(first.where, expected=first.expected, found=first.found, hint=first.hint)

    def __str__(self) -> str:
        lines = [f"{len(self.mistakes) + self.untold:,} mistakes"]
        for number, mistake in enumerate(self.mistakes, 1):
            mark = f"{number}. "
            lines.append(mark + indent(str(mistake), " " * len(mark)).lstrip())
        lines += [f"and {self.untold:,} more"] if self.untold else []
        return "\n".join(lines)


class Mistakes:
    """Gathers what independent checks refuse, so that all of it is told at once.

    >>> mistakes = Mistakes()
    >>> for place in ("first", "second"):
    ...     with mistakes.gathered():
    ...         raise InputError(place, expected="a text", found="none")
    >>> mistakes.refuse()
    Traceback (most recent call last):
    affidavit.errors.MistakesError: 2 mistakes
    1. first: expected a text, found none
    2. second: expected a text, found none
    """

    def __init__(self) -> None:
        self._found: dict[str, AffidavitError] = {}

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._found)

    def add(self, mistake: AffidavitError) -> None:
        """One more; what was told already is not told again."""
        for each in mistake.mistakes if isinstance(mistake, MistakesError) else (mistake,):
            self._found.setdefault(str(each), each)

    @contextmanager
    def gathered(self) -> Iterator[None]:
        """Keep a mistake that is raised inside; whatever else is raised goes on."""
        try:
            yield
        except (InputError, UsageError) as error:
            self.add(error)

    def refuse(self, most: int | None = None) -> None:
        """Raise what was found: one mistake as it is, several together, at most so many; else nothing."""
        found = list(self._found.values())
        if found:
            told = found[:most]
            raise found[0] if len(found) == 1 else MistakesError(told, len(found) - len(told))


class StorageError(AffidavitError):
    """The disk refused, or what it holds is broken."""

    exit_code = 5


class LockedError(AffidavitError):
    """Another run holds the directory."""

    exit_code = 6


def not_posix() -> UsageError:
    """The error for Windows, which has neither the locks nor the synced directories that a record is kept by.

    >>> print(not_posix())
    this system: expected Linux, macOS or another POSIX system, found Windows
    Run it in the Windows Subsystem for Linux, or in a container.
    """
    hint = "Run it in the Windows Subsystem for Linux, or in a container."
    return UsageError("this system", expected="Linux, macOS or another POSIX system", found="Windows", hint=hint)
