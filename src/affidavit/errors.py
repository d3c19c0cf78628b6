"""Every exception that Affidavit raises on purpose.

    AffidavitError
    ├── UsageError      what was asked for cannot be done            exit code 2
    ├── InputError      a file or value does not say what it must    exit code 2
    ├── StorageError    the disk refused, or what it holds is broken exit code 5
    └── LockedError     another run holds the directory              exit code 6

A model that breaks its contract is a value, never an exception: see `contract.py`.
"""

import difflib
from collections.abc import Iterable


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
