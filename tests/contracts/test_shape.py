"""The shape of a contract: every built-in one has it, and what has not is named by its first part that does not fit."""

import pytest

from affidavit import MultipleChoice
from affidavit.contracts.registry import BUILT_IN
from affidavit.contracts.shape import misfit


@pytest.mark.parametrize("contract", [*BUILT_IN.values(), MultipleChoice("A-E")])
def test_ours_fit(contract):
    assert misfit(contract) is None


def changed(**parts: object) -> object:
    return type("Changed", (MultipleChoice,), parts)()


@pytest.mark.parametrize(
    ("contract", "expected", "found"),
    [
        (None, "with a text in 'name'", "nothing of that name"),
        (MultipleChoice, "an object", "is it MultipleChoice() that was meant?"),
        (changed(params={"x": (1, 2)}), "a mapping of JSON values in 'params'", "{'x': (1, 2)}"),
        (changed(params={1: 2}), "a mapping of JSON values in 'params'", "{1: 2}"),
        (changed(params={"x": float("inf")}), "a mapping of JSON values in 'params'", "inf"),
        (changed(read=None), "a method in 'read'", "None"),
        (
            changed(params=property(lambda self: 1 / 0)),
            "a mapping of JSON values in 'params'",
            "ZeroDivisionError",
        ),
    ],
)
def test_what_does_not_fit_is_named(contract, expected, found):
    odd = misfit(contract)
    assert odd is not None
    assert expected in odd.expected
    assert found in odd.found
