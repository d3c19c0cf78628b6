"""What a function is given is taken, or refused in words."""

from math import inf, nan

import numpy as np
import pytest

from affidavit.statistics.arguments import (
    MOST,
    finite,
    level_of_interval,
    numbers,
    one_of,
    row,
    together,
    whole,
    whole_numbers,
)


@pytest.mark.parametrize("value", [0, 3, 3.0, True, np.int64(3), np.float64(3), MOST])
def test_whole_numbers_are_taken_however_they_are_held(value):
    assert whole("n", value) == value
    assert type(whole("n", value)) is int
    assert whole_numbers("n", [value]).tolist() == [value]


@pytest.mark.parametrize("value", [-1, 0.5, nan, inf, -inf, MOST + 1, 10**400, "3", None])
def test_what_is_no_whole_number_is_refused(value):
    with pytest.raises(ValueError, match=r"^n: expected a whole number from 0 to 1,000,000,000,000, found "):
        whole("n", value)
    if value != "3":
        with pytest.raises(ValueError, match=r"^n: expected (whole numbers|a row of numbers)"):
            whole_numbers("n", [1, value])


@pytest.mark.parametrize("value", [nan, inf, -inf, 1e151, -1e151])
def test_what_cannot_be_reckoned_with_is_refused(value):
    with pytest.raises(ValueError, match=r"^x: expected a finite number of at most 1e\+150 in size, found "):
        finite("x", value)
    with pytest.raises(
        ValueError, match=r"^x: expected finite numbers of at most 1e\+150 in size, found .* at position 1"
    ):
        numbers("x", [0.0, value])
    with pytest.raises(ValueError, match=r"^level: expected a number from 1e-09 to 0.5, such as 0.05, found "):
        level_of_interval(value)


def test_columns_have_one_length_and_one_dimension():
    assert row("x", 2).ndim == 0
    with pytest.raises(ValueError, match=r"^x: expected a row of numbers, found 2 dimensions"):
        row("x", [[1, 2], [3, 4]])
    assert [each.tolist() for each in together(x=row("x", [1, 2]), y=row("y", 3))] == [[1, 2], [3, 3]]
    with pytest.raises(ValueError, match=r"^x, y: expected columns of one length, found 2 and 0"):
        together(x=row("x", [1, 2]), y=row("y", []))
    assert one_of("weights", "linear", ("linear", "quadratic")) == "linear"
