"""Numbers become estimates: a value, its interval, its n and its method."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from affidavit.statistics.agreement import alpha, exact_agreement, mean_absolute_difference, weighted_kappa
    from affidavit.statistics.corrected_means import (
        Correction,
        corrected_difference,
        corrected_mean,
        labels_for_width,
        people_alone,
    )
    from affidavit.statistics.corrected_shares import JudgedLabels, rogan_gladen
    from affidavit.statistics.differences import (
        PairedDifference,
        Significance,
        mcnemar,
        sign_flip_test,
        tango,
    )
    from affidavit.statistics.disagreement import Disagreement, ItemPairs, excess_disagreement
    from affidavit.statistics.estimate import Estimate
    from affidavit.statistics.item_means import mean_difference, mean_share, t_test
    from affidavit.statistics.means import (
        cluster_mean,
        clustered_standard_error,
        clustered_t_mean,
        mean_of_clusters,
    )
    from affidavit.statistics.multiplicity import Verdict, benjamini_hochberg, family, holm, holm_steps
    from affidavit.statistics.power import (
        clusters_needed,
        detectable_by_mcnemar,
        detectable_difference,
        detectable_mean,
        detectable_paired_difference,
        mcnemar_power,
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
    from affidavit.statistics.shares import (
        Bounds,
        ClusterSums,
        Shares,
        bounds,
        bounds_of_share,
        share,
        wilson,
        wilson_shares,
    )

_HOME = {
    "agreement": ("alpha", "exact_agreement", "mean_absolute_difference", "weighted_kappa"),
    "corrected_means": (
        "Correction", "corrected_difference", "corrected_mean", "labels_for_width", "people_alone",
    ),
    "differences": (
        "PairedDifference", "Significance", "mcnemar", "sign_flip_test", "tango",
    ),
    "estimate": ("Estimate",),
    "means": ("cluster_mean", "clustered_standard_error", "clustered_t_mean", "mean_of_clusters"),
    "multiplicity": ("Verdict", "benjamini_hochberg", "family", "holm", "holm_steps"),
    "disagreement": ("Disagreement", "ItemPairs", "excess_disagreement"),
    "item_means": ("mean_difference", "mean_share", "t_test"),
    "power": (
        "clusters_needed", "detectable_by_mcnemar", "detectable_difference", "detectable_mean",
        "detectable_paired_difference", "mcnemar_power", "observations_needed", "pairs_needed",
    ),
    "repeated_samples": (
        "AtK", "Majority", "MajorityAtK", "majority", "majority_at_k", "pass_at_k", "yield_at_k",
    ),
    "corrected_shares": ("JudgedLabels", "rogan_gladen"),
    "shares": (
        "Bounds", "ClusterSums", "Shares", "bounds", "bounds_of_share", "share", "wilson", "wilson_shares",
    ),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "AtK", "Bounds", "ClusterSums", "Correction", "Disagreement", "Estimate", "ItemPairs", "JudgedLabels",
    "Majority", "MajorityAtK", "PairedDifference", "Shares", "Significance", "Verdict", "alpha",
    "benjamini_hochberg", "bounds", "bounds_of_share", "cluster_mean", "clustered_standard_error",
    "clustered_t_mean", "clusters_needed", "corrected_difference", "corrected_mean",
    "detectable_by_mcnemar", "detectable_difference", "detectable_mean", "detectable_paired_difference",
    "exact_agreement", "excess_disagreement", "family", "holm", "holm_steps", "labels_for_width",
    "majority", "majority_at_k", "mcnemar", "mcnemar_power", "mean_absolute_difference", "mean_difference",
    "mean_of_clusters", "mean_share", "observations_needed", "pairs_needed", "pass_at_k", "people_alone",
    "rogan_gladen", "share", "sign_flip_test", "t_test", "tango", "weighted_kappa", "wilson",
    "wilson_shares", "yield_at_k",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'affidavit.statistics' has no attribute {name!r}")
    value: object = getattr(import_module(f"affidavit.statistics.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
