"""Without Inspect, which is no dependency: what is there, and what is said. The rest is in `make interop`."""

import importlib.util
import sys

import pytest

from affidavit.errors import UsageError
from affidavit.integrations import inspect
from affidavit.integrations.figures import FIGURES

WITHOUT = importlib.util.find_spec("inspect_ai") is None


def test_nothing_of_inspect_is_imported_before_it_is_used():
    assert inspect.SCORER
    assert "inspect_ai" not in sys.modules


@pytest.mark.skipif(not WITHOUT, reason="Inspect is in this environment")
@pytest.mark.parametrize("name", [inspect.SCORER, inspect.SOLVER, *FIGURES])
def test_it_is_said_that_inspect_is_missing(name):
    with pytest.raises(UsageError) as refused:
        getattr(inspect, name)
    assert "expected Inspect in this environment, found no module inspect_ai" in str(refused.value)


def test_there_are_no_other_names():
    with pytest.raises(AttributeError, match="no attribute 'contract_score'"):
        _ = inspect.contract_score
