"""Roots, held to the library that finds them in the same steps."""

from collections.abc import Callable
from math import atan, exp

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from affidavit.statistics.roots import root_between

FORMS: dict[str, Callable[[float, float, float], Callable[[float], float]]] = {
    "cubic": lambda a, b, c: lambda x: a + b * x + c * x**2 + x**3,
    "steep": lambda a, b, c: lambda x: atan(1e3 * a * (x - b)) + c / 10,
    "flat": lambda a, b, c: lambda x: 1e-60 * a * (x - b) ** 9,
    "of all sizes": lambda a, b, c: lambda x: exp(200 * a * x) - exp(b) + c,
    "broken": lambda a, b, c: lambda x: a if x < b else -a,
}
PARAMETER = st.floats(-3, 3)


@given(
    form=st.sampled_from(sorted(FORMS)),
    parameters=st.tuples(PARAMETER, PARAMETER, PARAMETER),
    ends=st.tuples(st.floats(-1, 0), st.floats(0, 1)),
    digits=st.floats(3, 18),
)
def test_a_root_is_the_librarys_to_the_last_bit(form, parameters, ends, digits):
    """Same steps, same root: no figure moved when its library was left out."""
    function, tolerance = FORMS[form](*parameters), 10**-digits
    try:
        expected = brentq(function, *ends, xtol=tolerance, maxiter=500)
    except ValueError:
        with pytest.raises(ValueError, match="signs that differ"):
            root_between(function, *ends, tolerance=tolerance)
    else:
        assert root_between(function, *ends, tolerance=tolerance) == expected


@pytest.mark.parametrize("root", [0.0, 1.0])
def test_an_end_may_be_the_root(root):
    """Then it is given as it is."""
    assert root_between(lambda x: x - root, 0.0, 1.0, tolerance=1e-9) == root


def test_what_is_no_number_has_no_root():
    """A function that gives none is refused rather than followed."""
    with pytest.raises(ValueError, match="a number everywhere"):
        root_between(lambda x: x if abs(x) == 1 else float("nan"), -1.0, 1.0, tolerance=1e-9)
