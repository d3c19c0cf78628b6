"""What ppi-python makes of data sets; runs in the environment of ppi-python, and knows nothing of ours.

    python read_by_ppi.py < data.json > found.json

A data set is a list of three: labels, the judge's values where there are labels, and its values where there are none.
"""

import json
import sys

import numpy as np


def weight(labels: np.ndarray, judged: np.ndarray, others: np.ndarray) -> float:
    """λ as the package finds it on its way to the mean."""
    from ppi_py.ppi import _calc_lam_glm  # noqa: PLC0415 - not in the environment of tests

    columns = [each.reshape(-1, 1) for each in (labels, judged, others)]
    # What is taken off moves no covariance.
    return float(_calc_lam_glm(*columns, np.eye(1), coord=None, clip=True, optim_mode="overall"))


def main() -> None:
    from ppi_py.ppi import ppi_mean_pointestimate  # noqa: PLC0415 - not in the environment of tests

    found = []
    for data in json.load(sys.stdin):
        labels, judged, others = map(np.array, data)
        found.append(
            [weight(labels, judged, others), float(ppi_mean_pointestimate(labels, judged, others).item())]
        )
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
