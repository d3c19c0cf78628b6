"""Where a function of one number is nought: Brent's method, step by step as in `scipy.optimize.brentq`.

That library is right, and takes half a second to load, longer than most tables do; a test holds ours to it.
"""

from collections.abc import Callable
from math import copysign, isnan

RELATIVE = 2.0**-50
"""Of a root: what is nearer than this part of it, and within the tolerance, is not told from it."""
MOST_STEPS = 500


def root_between(function: Callable[[float], float], low: float, high: float, *, tolerance: float) -> float:
    """A number between the two at which the function is nought, to within the tolerance.

    At the two ends its signs differ, or one of them is a root.

    >>> root_between(lambda number: number * number - 2, 0.0, 2.0, tolerance=1e-12)
    1.4142135623731364
    >>> root_between(lambda number: number * number + 2, 0.0, 2.0, tolerance=1e-12)
    Traceback (most recent call last):
    ValueError: low, high: expected signs that differ, found 2.0 and 6.0
    """
    x, at_x, before, at_before = high, function(high), low, function(low)
    if at_before == 0 or at_x == 0:
        return before if at_before == 0 else x
    if not _apart(at_before, at_x):
        raise ValueError(f"low, high: expected signs that differ, found {at_before} and {at_x}")
    other, at_other, step, step_before = before, at_before, x - before, x - before
    for _ in range(MOST_STEPS):
        if _apart(at_before, at_x):
            other, at_other, step, step_before = before, at_before, x - before, x - before
        if abs(at_other) < abs(at_x):
            before, x, other = x, other, x
            at_before, at_x, at_other = at_x, at_other, at_x
        near, half = (tolerance + RELATIVE * abs(x)) / 2, (other - x) / 2
        if at_x == 0 or abs(half) < near:
            return x
        tried = None
        if abs(step_before) > near and abs(at_x) < abs(at_before):
            tried = _interpolated((x, at_x), (before, at_before), (other, at_other))
        if tried is not None and 2 * abs(tried) < min(abs(step_before), 3 * abs(half) - near):
            step_before, step = step, tried
        else:
            step_before = step = half
        before, at_before = x, at_x
        x += step if abs(step) > near else copysign(near, half)
        at_x = function(x)
        if isnan(at_x):
            raise ValueError(f"function: expected a number everywhere, found none at {x}")
    raise ValueError(f"function: expected a root within {MOST_STEPS} steps, found none between {low} and {high}")


_Point = tuple[float, float]


def _apart(one: float, other: float) -> bool:
    """Whether one is above nought and the other below."""
    return one < 0 < other or other < 0 < one


def _interpolated(here: _Point, before: _Point, other: _Point) -> float | None:
    """The step to where a line through two points, or a curve through three, is nought; None if nowhere."""
    (x, y), (x1, y1), (x2, y2) = here, before, other
    if x1 == x2:
        return -y * (x - x1) / (y - y1)
    slope1, slope2 = (y1 - y) / (x1 - x), (y2 - y) / (x2 - x)
    divisor = slope2 * slope1 * (y2 - y1)
    return -y * (y2 * slope2 - y1 * slope1) / divisor if divisor else None
