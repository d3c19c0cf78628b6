"""Many comparisons: worked examples, laws, and scipy's own adjustment."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from affidavit.statistics.multiplicity import benjamini_hochberg, holm
from support.laws import few


def test_adjusted_p_values_of_the_worked_examples():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    # Benjamini and Hochberg (1995): of 15, Bonferroni's way finds three and theirs four.
    p_values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719]
    p_values += [0.6528, 0.7590, 1.0]
    assert (holm(p_values) <= 0.05).sum() == 3
    assert (benjamini_hochberg(p_values) <= 0.05).sum() == 4


@few
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_adjusting_only_raises_keeps_the_order_and_is_blind_to_position(p_values, random):
    strict, lenient = holm(p_values), benjamini_hochberg(p_values)
    assert (strict >= lenient - 1e-12).all()
    assert (lenient >= np.array(p_values) - 1e-12).all()
    assert (strict <= 1).all()
    assert lenient == pytest.approx(false_discovery_control(p_values))
    order = list(range(len(p_values)))
    random.shuffle(order)
    for adjust, adjusted in ((holm, strict), (benjamini_hochberg, lenient)):
        assert (np.diff(adjusted[np.argsort(p_values)]) >= 0).all()
        assert adjust([p_values[each] for each in order]) == pytest.approx(adjusted[order])
