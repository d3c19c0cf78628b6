"""What is on the disk is not what was written: how that is told, and a guard around whatever reads it.

Every line has its checksum, and whoever forges a directory computes checksums anew. So nothing that a file says is
of the type that it should be until somebody has looked, and whatever comes of it is corruption with a place.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from affidavit.errors import InputError, StorageError
from affidavit.json_values import shown

ODD_VALUES = (
    LookupError,
    TypeError,
    AttributeError,
    ValueError,
    ArithmeticError,
    RecursionError,
    InputError,
)
"""What comes of values that nobody checked; also our own word for a value that is not what it must be."""


def corrupt(where: str, expected: str, found: str) -> StorageError:
    """What is on the disk is not what was written."""
    hint = (
        "It was changed or damaged after it was written. Restore it from a copy, or ask whoever sent it for "
        "another; do not use its figures."
    )
    return StorageError(where, expected=expected, found=found, hint=hint)


def in_words(error: Exception) -> str:
    """What an odd value came to, on one line.

    >>> in_words(KeyError("options"))
    "KeyError: 'options'"
    """
    said = f"{error.expected}, found {error.found}" if isinstance(error, InputError) else str(error)
    return shown(said)[1:-1] if isinstance(error, InputError) else f"{type(error).__name__}: {shown(said)[1:-1]}"


@contextmanager
def as_written(where: str, expected: str) -> Iterator[None]:
    """Use values of a file in this block: what they cannot be used for is told as corruption, with the file."""
    try:
        yield
    except ODD_VALUES as error:
        raise corrupt(where, expected, in_words(error)) from error


@contextmanager
def contract_as_written(where: str, task: str) -> Iterator[None]:
    """Make a contract of what was frozen for a task: what it refuses is corruption at the very value.

    >>> with contract_as_written("study.json:1", "topics"):
    ...     raise InputError("parameters.labels", expected="a list of labels", found="null")
    Traceback (most recent call last):
    affidavit.errors.StorageError: study.json:1: contracts.topics.params.labels: expected a list of labels, found null
    It was changed or damaged after it was written. Restore it from a copy, or ask whoever sent it for another; do not use its figures.
    """  # noqa: E501
    try:
        yield
    except InputError as error:
        named, dot, parameter = error.where.partition(".")
        place = f".params{dot}{parameter}" if named == "parameters" else ""
        raise corrupt(f"{where}: contracts.{shown(task)[1:-1]}{place}", error.expected, error.found) from error
