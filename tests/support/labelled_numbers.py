"""Random data sets of a judge's values and people's labels, each from a seed of its own; and our figures of them."""

import numpy as np

from affidavit.statistics import corrected_mean

Numbers = tuple[list[float], list[float], list[float]]
"""Labels, the judge's values beside them, and its values without labels."""


def data_set(seed: int) -> Numbers:
    """Scores or yes and no, of a judge who knows more or less, or nothing."""
    random = np.random.default_rng([20_261_119, seed])
    labelled, others = int(random.integers(30, 200)), int(random.integers(30, 2_000))
    knows, kind = random.uniform(-0.3, 1.2), random.uniform(-0.2, 0.2)
    truth = random.random(labelled + others)
    judged = np.clip(knows * truth + (1 - knows) * random.random(labelled + others) + kind, 0, 1)
    if seed % 2:
        truth, judged = (truth > 0.4).astype(float), (judged > 0.5).astype(float)
    return truth[:labelled].tolist(), judged[:labelled].tolist(), judged[labelled:].tolist()


def ours(data: Numbers) -> tuple[float, float]:
    """λ and the mean."""
    labels, judged, others = data
    found = corrected_mean([*judged, *others], [*labels, *[None] * len(others)])
    return found.weight, found.estimate.value
