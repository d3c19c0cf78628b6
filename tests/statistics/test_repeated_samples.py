"""Several samples of each item (ruling M7): every subset of them, enumerated."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from affidavit.statistics.repeated_samples import majority, majority_at_k, pass_at_k, yield_at_k
from affidavit.statistics.shares import wilson
from support.laws import few


def at_least_one(right, samples, k):
    subsets = list(combinations([True] * right + [False] * (samples - right), k))
    return sum(map(any, subsets)) / len(subsets)


@pytest.mark.slow
@few
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=6), st.integers(1, 4))
def test_pass_at_k_counts_all_subsets(items, k):
    """Ruling M7."""
    right, samples = [min(item) for item in items], [max(item) for item in items]
    kept = [(c, n) for c, n in zip(right, samples, strict=True) if n >= k]
    if not kept:
        with pytest.raises(ValueError, match="no item has so many samples"):
            pass_at_k(right, samples, k=k)
        return
    found = pass_at_k(right, samples, k=k)
    assert found.estimate.value == pytest.approx(np.mean([at_least_one(c, n, k) for c, n in kept]))
    assert (found.estimate.n, found.left_out, found.k) == (len(kept), len(items) - len(kept), k)
    assert found.estimate.low <= found.estimate.value <= found.estimate.high


def test_pass_is_over_compliant_samples_and_yield_over_all():
    """Ruling M7: an output that is not compliant is not a success."""
    right, compliant, samples = [2, 1, 0], [2, 4, 1], [4, 4, 4]
    passed, yielded = pass_at_k(right, compliant, k=2), yield_at_k(right, samples, k=2)
    assert (passed.estimate.value, passed.estimate.n, passed.left_out) == (pytest.approx((1 + 0.5) / 2), 2, 1)
    assert (yielded.estimate.value, yielded.left_out) == (pytest.approx((5 / 6 + 0.5 + 0) / 3), 0)
    assert passed.estimate.method == (
        "pass@2 over samples with an answer, Wilson 95% over items at the effective size, 1 item with fewer left out"
    )
    assert pass_at_k([3] * 400, [900] * 400, k=500).estimate.value == pytest.approx(
        1 - comb(897, 500) / comb(900, 500)
    )


def test_the_majority_of_an_item_and_its_ties():
    """Ruling M7: ties are ties."""
    found = majority(["B", "A", "B", "C"])
    assert (found.answers, found.tied) == (("B",), False)
    assert found.share == wilson(2, 4)
    tie = majority(["C", "B", "B", "C", "A"])
    assert (tie.answers, tie.tied, tie.share.value) == (("B", "C"), True, 0.4)


@pytest.mark.slow
@few
@given(
    st.lists(st.dictionaries(st.sampled_from("ABC"), st.integers(0, 4), min_size=1), min_size=1, max_size=3),
    st.integers(3, 6),
)
def test_majority_at_k_counts_all_subsets(items, k):
    """Ruling S5: enumerated; of t leaders the right one has 1/t."""
    kept = [counts for counts in items if sum(counts.values()) >= k]
    assume(kept)
    right, tied = [], []
    for counts in kept:
        subsets = list(combinations([answer for answer, count in counts.items() for _ in range(count)], k))
        found = [majority(subset) for subset in subsets]
        right.append(np.mean([("A" in each.answers) / len(each.answers) for each in found]))
        tied.append(np.mean([each.tied for each in found]))
    found = majority_at_k(items, ["A"] * len(items), k=k)
    assert found.right.value == pytest.approx(np.mean(right), abs=1e-9)
    assert found.tied.value == pytest.approx(np.mean(tied), abs=1e-9)
    assert (found.right.n, found.left_out) == (len(kept), len(items) - len(kept))


@pytest.mark.slow
def test_majority_at_k_of_many_samples_is_a_vote_of_all():
    found = majority_at_k([{"A": 501, "B": 499}, {"A": 400, "B": 400}], ["A", "A"], k=800)
    assert 1.0 < found.right.value * 2 < 1.1
    assert majority_at_k([{"A": 501, "B": 499}], ["A"], k=1000).right.value == pytest.approx(1)
    assert majority_at_k([{"A": 400, "B": 400}], ["A"], k=800).tied.value == pytest.approx(1)
    assert majority_at_k([{"A": 400, "B": 400}], ["A"], k=800).right.value == pytest.approx(0.5)


def test_one_answer_is_no_majority():
    """Ruling S5."""
    with pytest.raises(ValueError, match="k: expected a whole number from 3"):
        majority_at_k([{"A": 2}], ["A"], k=2)
