"""What functions of statistics are given, refused in words where it is no number of the kind that they need.

Every refusal is a ValueError that says which argument, what was expected and what was found: a figure over odd
numbers would look like any other.
"""

from collections.abc import Sequence
from reprlib import repr as brief
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import bool_, float64
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[float64]

MOST = 10**12
"""Observations, clusters or pairs: of many more, an interval is narrower than a float can say."""
LARGEST = 1e150
"""Of any number: sums and squares of larger ones are no longer finite."""
LEAST_LEVEL, MOST_LEVEL = 1e-9, 0.5
"""Of an interval: beyond these its confidence would be written as certainty, or its width be lost in rounding."""


def whole(name: str, value: float, *, least: int = 0, most: int = MOST) -> int:
    """A whole number within limits.

    >>> whole("n", 30.0)
    30
    >>> whole("n", 0.9)
    Traceback (most recent call last):
    ValueError: n: expected a whole number from 0 to 1,000,000,000,000, found 0.9
    """
    if type(value) is int and least <= value <= most:
        return value  # a table asks a hundred thousand times
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        number = least - 1
    if number != value or not least <= number <= most:
        raise ValueError(f"{name}: expected a whole number from {least} to {most:,}, found {brief(value)}")
    return number


def finite(name: str, value: float) -> float:
    """A number that can be reckoned with.

    >>> finite("difference", float("nan"))
    Traceback (most recent call last):
    ValueError: difference: expected a finite number of at most 1e+150 in size, found nan
    """
    if not -LARGEST <= value <= LARGEST:
        raise ValueError(f"{name}: expected a finite number of at most {LARGEST:g} in size, found {brief(value)}")
    return value


def level_of_interval(level: float) -> float:
    """A level at which an interval can be given: 0.05 for one of 95 %.

    >>> level_of_interval(95)
    Traceback (most recent call last):
    ValueError: level: expected a number from 1e-09 to 0.5, such as 0.05, found 95
    """
    if not LEAST_LEVEL <= level <= MOST_LEVEL:
        expected = f"a number from {LEAST_LEVEL:g} to {MOST_LEVEL}, such as 0.05"
        raise ValueError(f"level: expected {expected}, found {brief(level)}")
    return level


def one_of(name: str, value: str, choices: Sequence[str]) -> str:
    """One of a closed list.

    >>> one_of("weights", "cubic", ["linear", "quadratic"])
    Traceback (most recent call last):
    ValueError: weights: expected linear or quadratic, found 'cubic'
    """
    if value not in choices:
        raise ValueError(f"{name}: expected {' or '.join(choices)}, found {brief(value)}")
    return value


def numbers(name: str, values: "ArrayLike") -> "Floats":
    """Finite numbers in a row.

    >>> numbers("sums", [1, float("nan")])
    Traceback (most recent call last):
    ValueError: sums: expected finite numbers of at most 1e+150 in size, found nan at position 1
    """
    import numpy as np

    given = row(name, values)
    with np.errstate(invalid="ignore"):
        good = np.abs(given) <= LARGEST
    _refuse(name, f"finite numbers of at most {LARGEST:g} in size", given, good)
    return given


def whole_numbers(name: str, values: "ArrayLike", *, least: int = 0) -> "Floats":
    """Whole numbers in a row, each of which a float holds exactly.

    >>> whole_numbers("times", [2, -1])
    Traceback (most recent call last):
    ValueError: times: expected whole numbers from 0 to 1,000,000,000,000, found -1 at position 1
    """
    import numpy as np

    given = row(name, values)
    good = (given >= least) & (given <= MOST) & (given == np.floor(given))
    _refuse(name, f"whole numbers from {least} to {MOST:,}", given, good)
    return given


def row(name: str, values: "ArrayLike") -> "Floats":
    """Numbers in a row, or a single one, whatever they are.

    >>> row("sums", [[1, 2], [3]])
    Traceback (most recent call last):
    ValueError: sums: expected a row of numbers, found [[1, 2], [3]]
    """
    import numpy as np

    try:
        given = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name}: expected a row of numbers, found {brief(values)}") from None
    if given.ndim > 1:
        raise ValueError(f"{name}: expected a row of numbers, found {given.ndim} dimensions")
    return given


def _refuse(name: str, expected: str, given: "Floats", good: "NDArray[bool_]") -> None:
    import numpy as np

    if not good.all():
        at = int(np.flatnonzero(~np.atleast_1d(good))[0])
        found = f"{np.atleast_1d(given)[at]:g}" + (f" at position {at}" if given.ndim else "")
        raise ValueError(f"{name}: expected {expected}, found {found}")


def together(**columns: "Floats") -> "list[Floats]":
    """Columns of one length; a single number stands for as many of it.

    >>> import numpy as np
    >>> together(right=np.array([1.0, 2.0]), times=np.array(1.0))[1].tolist()
    [1.0, 1.0]
    >>> together(right=np.array([1.0, 2.0]), times=np.array([1.0]))
    Traceback (most recent call last):
    ValueError: right, times: expected columns of one length, found 2 and 1
    """
    import numpy as np

    if len({column.size for column in columns.values() if column.ndim}) > 1:
        found = " and ".join(str(column.size) for column in columns.values() if column.ndim)
        raise ValueError(f"{', '.join(columns)}: expected columns of one length, found {found}")
    return [np.array(column) for column in np.broadcast_arrays(*columns.values())]
