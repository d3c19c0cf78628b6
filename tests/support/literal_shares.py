"""The interval of a share, step by step as ruling S1 words it, over a list of clusters."""

from collections.abc import Sequence
from math import sqrt

from affidavit.statistics.estimate import Estimate

Z = 1.959963984540054
Cluster = tuple[int, int]
"""Successes and observations."""


def wilson_of(p: float, n: float) -> tuple[float, float]:
    middle = (p + Z**2 / (2 * n)) / (1 + Z**2 / n)
    reach = Z / (1 + Z**2 / n) * sqrt(p * (1 - p) / n + Z**2 / (4 * n**2))
    return middle - reach, middle + reach


def effective_size(clusters: Sequence[Cluster]) -> float:
    n, size = sum(n for _, n in clusters), sum(n for _, n in clusters) / len(clusters)
    more = [*clusters, (size, size), (0, size)]
    total = sum(n for _, n in more)
    p = sum(s for s, _ in more) / total
    error = len(more) / (len(more) - 1) * sum((s - p * n) ** 2 for s, n in more) / total**2
    return n / max(1.0, error / (p * (1 - p) / total))


def literal_share(clusters: Sequence[Cluster]) -> Estimate:
    """Value and interval; clusters without an observation say nothing."""
    seen = [cluster for cluster in clusters if cluster[1]]
    n = sum(size for _, size in seen)
    p = sum(successes for successes, _ in seen) / n
    if all(size == 1 for _, size in seen):
        return Estimate(p, *wilson_of(p, n), n, "Wilson 95%")
    low, high = wilson_of(p, effective_size(seen))
    low = min(low, wilson_of(1.0, effective_size([(size, size) for _, size in seen]))[0])
    high = max(high, wilson_of(0.0, effective_size([(0, size) for _, size in seen]))[1])
    return Estimate(p, low, high, n, f"Wilson 95% at the effective size, {len(seen):,} clusters", len(seen))


def same(found: Estimate, expected: Estimate) -> bool:
    """Whether they agree but for rounding."""
    near = all(
        abs(one - other) < 1e-9
        for one, other in ((found.value, expected.value), (found.low, expected.low), (found.high, expected.high))
    )
    return near and (found.n, found.clusters, found.method) == (expected.n, expected.clusters, expected.method)
