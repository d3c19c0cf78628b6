"""What ppi-python found of random data sets, kept; `make interop` finds it anew."""

import json
from pathlib import Path

import pytest

from support.labelled_numbers import data_set, ours

KEPT = Path(__file__).parents[1] / "golden" / "found_by_ppi.jsonl"
FOUND = [json.loads(line) for line in KEPT.read_text().splitlines()]


@pytest.mark.parametrize("seed", range(len(FOUND)))
def test_weight_and_mean_are_those_of_the_package(seed):
    assert ours(data_set(seed)) == pytest.approx(FOUND[seed], abs=1e-6)
