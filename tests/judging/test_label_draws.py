"""Draws of outputs for people: by chance, by the seed, larger ones hold smaller ones."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.errors import UsageError
from affidavit.json_values import digest
from affidavit.judging.label_draws import (
    Drawable,
    LabelDraw,
    draw_number,
    drawn_strata,
    last_draw,
    refuse_other_design,
    shared_before,
    sheets,
)

OUTPUTS = [Drawable(digest(at), "t", "abc"[min(at % 7, 2)], "xy"[at % 2]) for at in range(140)]
sizes = st.integers(0, 140)
strata = st.sampled_from([(), ("model",), ("model", "condition"), ("task",)])


def drawn(n, by=(), seed=7, about="verdict", outputs=OUTPUTS):
    return drawn_strata(outputs, seed=seed, about=about, by=by, n=n)


def keys(found):
    return {key for stratum in found for key in stratum.outputs}


@given(sizes, strata)
def test_so_many_are_drawn_each_once_from_the_stratum_where_it_belongs(n, by):
    found = drawn(n, by)
    assert len(keys(found)) == sum(len(each.outputs) for each in found) == n
    of = {output.key: output.stratum(by) for output in OUTPUTS}
    assert all(of[key] == each.names for each in found for key in each.outputs)
    assert Counter(of.values()) == {each.names: each.size for each in found}


@pytest.mark.slow
@given(sizes, sizes, strata)
def test_a_larger_draw_holds_the_smaller_one(one, other, by):
    small, large = sorted((one, other))
    assert keys(drawn(small, by)) <= keys(drawn(large, by))


@pytest.mark.slow
@given(sizes, strata, st.randoms(use_true_random=False))
def test_the_order_of_outputs_decides_nothing(n, by, random):
    mixed = list(OUTPUTS)
    random.shuffle(mixed)
    assert drawn(n, by, outputs=mixed) == drawn(n, by)


@given(sizes, strata)
def test_strata_get_as_many_as_any_other_as_far_as_they_have_them(n, by):
    taken = [(len(each.outputs), each.size) for each in drawn(n, by)]
    most = max((count for count, _ in taken), default=0)
    assert all(count >= most - 1 or count == size for count, size in taken)


@pytest.mark.slow
def test_every_output_is_drawn_as_often_as_any_other():
    """Over many seeds, 20 of 140: each in a seventh of them, give or take five standard errors."""
    counts = Counter(key for seed in range(700) for key in keys(drawn(20, seed=seed)))
    expected, error = 100, (700 * (1 / 7) * (6 / 7)) ** 0.5
    assert len(counts) == 140
    assert all(abs(count - expected) < 5 * error for count in counts.values())


@pytest.mark.parametrize("changed", [{"seed": 8}, {"about": "correct"}])
def test_another_seed_or_question_draws_others(changed):
    assert keys(drawn(20)) != keys(drawn(20, **changed))


# --- sheets ---


def a_draw(n=40, raters=3, shared=10, by=(), **changed):
    fields = {
        "about": "verdict", "ends": None, "tasks": ("t",), "by": by, "n": n, "raters": raters, "shared": shared,
        "date": "2026-01-31", "records": 140, "list_sha256": "0" * 64, "drawn_after": 140, "strata": drawn(n, by), **changed,
    }  # fmt: skip
    return LabelDraw(**fields)


@pytest.mark.slow
@given(st.integers(1, 60), st.integers(1, 5), st.integers(0, 60))
def test_shared_outputs_are_given_to_all_raters_and_every_other_to_one(n, raters, shared):
    draw = a_draw(n, raters, min(shared, n))
    lists = sheets(draw, draw.outputs, seed=7)
    counts = Counter(key for each in lists for key in each)
    assert counts.keys() == set(draw.outputs)
    if raters > 1:
        assert sorted(counts.values()) == [1] * (n - draw.shared) + [raters] * draw.shared
    assert max(map(len, lists)) - min(map(len, lists)) <= 1


def test_each_rater_has_an_order_of_their_own():
    one, other, _ = sheets(a_draw(), a_draw().outputs, seed=7)
    shared = set(one) & set(other)
    assert [key for key in one if key in shared] != [key for key in other if key in shared]


def test_the_last_draw_of_a_question_counts():
    small, large, another = a_draw(20), a_draw(40), a_draw(about="correct")
    assert last_draw([small, another, large], "verdict") == large
    assert last_draw([small], "correct") is None


def test_a_further_draw_has_a_number_and_counts_what_all_raters_were_given_before():
    draws = [a_draw(20, shared=4), a_draw(40, shared=10), a_draw(50, about="correct")]
    assert [draw_number(draws, "verdict", n) for n in (20, 40, 60)] == [1, 2, 3]
    assert [shared_before(draws, "verdict", n) for n in (20, 40, 60)] == [0, 4, 14]
    # Whoever labels alone shares nothing, and of 10 new outputs no 30 were given away.
    assert shared_before([a_draw(20, raters=1, shared=20), a_draw(30, shared=30)], "verdict", 40) == 10


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"by": ("model",)}, "--by"),
        ({"tasks": ("t", "u")}, "--task"),
        ({"ends": (0.0, 1.0)}, "--scale"),
        ({"n": 39}, "-n"),
    ],
)
def test_a_further_draw_of_another_design_is_refused_by_name(changed, where):
    with pytest.raises(UsageError, match=f"^{where}: expected"):
        refuse_other_design(a_draw(), a_draw(**changed))
