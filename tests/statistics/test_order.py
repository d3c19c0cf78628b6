"""The same records give the same digits in whichever order they came."""

import random as randomly

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.statistics import (
    ClusterSums,
    ItemPairs,
    PairedDifference,
    alpha,
    cluster_mean,
    clustered_standard_error,
    clustered_t_mean,
    exact_agreement,
    excess_disagreement,
    family,
    majority,
    majority_at_k,
    mean_absolute_difference,
    mean_difference,
    mean_of_clusters,
    mean_share,
    pass_at_k,
    share,
    sign_flip_test,
    t_test,
    weighted_kappa,
    yield_at_k,
)
from affidavit.statistics.means import mean_by_cluster
from affidavit.statistics.self_preference import JudgedScore, self_preference
from support.laws import few

NUMBERS = [0.1, 0.2, 0.3, 0.7, 1 / 3, 2 / 3, 1e-9, 0.0, 1.0]


def columns(rows):
    return [list(column) for column in zip(*rows, strict=True)]


def clustered(rows):
    """Each row is two numbers and the name of a cluster, which units of any two rows may share."""
    return {"clusters": [name for _, _, name in rows], "seed": 3}


def ratings(rows):
    return [[one, other] for one, other, _ in rows]


def right(rows):
    """Counts of three samples, item by item."""
    return [int(3 * one) for one, _, _ in rows], [3] * len(rows)


BLIND = {
    "cluster_mean": lambda rows: cluster_mean(((name, one) for one, _, name in rows), seed=3),
    "mean_by_cluster": lambda rows: mean_by_cluster((name, one) for one, _, name in rows),
    "mean_of_clusters": lambda rows: mean_of_clusters(columns(rows)[0], [2] * len(rows), seed=3),
    "clustered_standard_error": lambda rows: clustered_standard_error(columns(rows)[0], [2] * len(rows)),
    "clustered_t_mean": lambda rows: clustered_t_mean(columns(rows)[0], [2] * len(rows)),
    "exact_agreement": lambda rows: exact_agreement(ratings(rows)),
    "mean_absolute_difference": lambda rows: mean_absolute_difference(ratings(rows), **clustered(rows)),
    "weighted_kappa": lambda rows: weighted_kappa(ratings(rows), weights="linear", **clustered(rows)),
    "alpha": lambda rows: alpha(ratings(rows), **clustered(rows)),
    "alpha, interval": lambda rows: alpha(ratings(rows), level="interval", **clustered(rows)),
    "share": lambda rows: share(ClusterSums.of(zip(*right(rows), strict=True))),
    "mean_share": lambda rows: mean_share(columns(rows)[0]),
    "mean_difference": lambda rows: mean_difference([one - other for one, other, _ in rows]),
    "t_test": lambda rows: t_test([one - other for one, other, _ in rows], [1] * len(rows)),
    "sign_flip_test": lambda rows: sign_flip_test([one - other for one, other, _ in rows], seed=3),
    "pass_at_k": lambda rows: pass_at_k(*right(rows), k=2),
    "yield_at_k": lambda rows: yield_at_k(*right(rows), k=2),
    "majority": lambda rows: majority(name for _, _, name in rows),
    "majority_at_k": lambda rows: majority_at_k(
        [{name: 2, "x": int(3 * one)} for one, _, name in rows] + [{"x": 3}], ["x"] * (len(rows) + 1), k=3
    ),
    "excess_disagreement": lambda rows: excess_disagreement(
        {ItemPairs(9, int(9 * one), 3, int(3 * other)): 2 for one, other, _ in rows}
    ),
    "PairedDifference.of_means": lambda rows: PairedDifference.of_means(
        *columns(rows)[:2], scale=1, clusters=[name for _, _, name in rows]
    ).estimate(),
    "family": lambda rows: family([PairedDifference.of_means(*columns(rows)[:2], scale=1)], seed=3),
    "self_preference": lambda rows: self_preference(
        [
            JudgedScore(judge, (name, at), name, 3 * one + other * (judge == "a"), judge == "ab"[round(one)])
            for one, other, name in rows for judge, at in (("a", one), ("b", one), ("c", one))
        ]
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", BLIND)
@few
@given(
    rows=st.lists(
        st.tuples(st.sampled_from(NUMBERS), st.sampled_from(NUMBERS), st.sampled_from("pqrs")),
        min_size=10, max_size=24,
    ),
    random=st.randoms(use_true_random=False),
)  # fmt: skip
def test_the_order_of_records_changes_no_digit(name, rows, random):
    figure = BLIND[name]
    try:
        found = figure(rows)
    except ValueError as refused:
        with pytest.raises(ValueError, match=str(refused)[:20]):
            figure(rows[::-1])
        return
    for _ in range(4):
        random.shuffle(rows)
        assert figure(rows) == found


def test_forty_orders_of_equal_clusters_are_one():
    """Sums of tenths split equal clusters into kinds by the order of their addends."""
    values = [(cluster, value) for cluster in range(12) for value in (0.1, 0.2, 0.3, 0.7, cluster % 3 / 10)]
    random, found = randomly.Random(0), set()  # noqa: S311 - an order, no secret
    for _ in range(40):
        random.shuffle(values)
        found.add(cluster_mean(values, seed=0))
    assert len(found) == 1
