"""ppi-python, from PyPI, on random data: λ and the corrected mean are the same as ours (ruling S10).

Outside CI: `make interop` makes the environment and runs this file. With `AFFIDAVIT_GOLDEN=write` what the package
finds of the first data sets is kept anew.
"""

import json
import subprocess

import pytest

from support.golden_files import golden
from support.labelled_numbers import data_set, ours
from support.pages import ROOT

PYTHON = ROOT / ".venv-interop" / "ppi" / "bin" / "python"
DATA_SETS, KEPT = 200, 20


def test_the_package_finds_the_same_weight_and_mean():
    data = [data_set(seed) for seed in range(DATA_SETS)]
    script = ROOT / "tests" / "support" / "read_by_ppi.py"
    done = subprocess.run([PYTHON, script], input=json.dumps(data).encode(), capture_output=True, check=True)
    theirs = json.loads(done.stdout)
    assert len(theirs) == DATA_SETS
    for each, found in zip(data, theirs, strict=True):
        assert ours(each) == pytest.approx(found, abs=1e-6)
    weights = [weight for weight, _ in theirs]
    assert min(weights) == 0, "a judge of no use is among them"
    assert max(weights) > 0.9
    kept = "".join(f"{json.dumps([round(number, 12) for number in found])}\n" for found in theirs[:KEPT])
    assert golden("found_by_ppi.jsonl", kept) == kept
