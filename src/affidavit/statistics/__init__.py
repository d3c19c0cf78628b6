"""Numbers become estimates: a value, its interval, its n and its method."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from affidavit.statistics.agreement import alpha, exact_agreement, mean_absolute_difference, weighted_kappa
    from affidavit.statistics.differences import Significance, difference_of_clusters, mcnemar, sign_flip_test
    from affidavit.statistics.estimate import Estimate
    from affidavit.statistics.means import (
        cluster_mean,
        clustered_standard_error,
        clustered_t_mean,
        mean_of_clusters,
    )
    from affidavit.statistics.multiplicity import benjamini_hochberg, holm
    from affidavit.statistics.power import (
        clusters_needed,
        detectable_difference,
        detectable_mean,
        detectable_paired_difference,
        observations_needed,
        pairs_needed,
    )
    from affidavit.statistics.repeated_samples import (
        AtK,
        Majority,
        MajorityAtK,
        majority,
        majority_at_k,
        pass_at_k,
        yield_at_k,
    )
    from affidavit.statistics.shares import Bounds, Shares, bounds_of_share, wilson, wilson_shares

_HOME = {
    "agreement": ("alpha", "exact_agreement", "mean_absolute_difference", "weighted_kappa"),
    "differences": ("Significance", "difference_of_clusters", "mcnemar", "sign_flip_test"),
    "estimate": ("Estimate",),
    "means": ("cluster_mean", "clustered_standard_error", "clustered_t_mean", "mean_of_clusters"),
    "multiplicity": ("benjamini_hochberg", "holm"),
    "power": (
        "clusters_needed", "detectable_difference", "detectable_mean", "detectable_paired_difference",
        "observations_needed", "pairs_needed",
    ),
    "repeated_samples": (
        "AtK", "Majority", "MajorityAtK", "majority", "majority_at_k", "pass_at_k", "yield_at_k",
    ),
    "shares": ("Bounds", "Shares", "bounds_of_share", "wilson", "wilson_shares"),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "AtK", "Bounds", "Estimate", "Majority", "MajorityAtK", "Shares", "Significance", "alpha",
    "benjamini_hochberg", "bounds_of_share", "cluster_mean", "clustered_standard_error", "clustered_t_mean",
    "clusters_needed", "detectable_difference", "detectable_mean", "detectable_paired_difference",
    "difference_of_clusters", "exact_agreement", "holm", "majority", "majority_at_k", "mcnemar",
    "mean_absolute_difference", "mean_of_clusters", "observations_needed", "pairs_needed", "pass_at_k",
    "sign_flip_test", "weighted_kappa", "wilson", "wilson_shares", "yield_at_k",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'affidavit.statistics' has no attribute {name!r}")
    value: object = getattr(import_module(f"affidavit.statistics.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
