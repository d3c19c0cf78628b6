"""Scores are made again as means over items; whatever has no points is in none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.exchange.logged_output import LoggedOutput, SourceWord
from affidavit.exchange.recounts import MeanOfItems, mean_of_items


def output(
    item: str, points: float | None, *, scorer: str = "a", model: str = "m", about_item: bool = False
) -> LoggedOutput:
    word = SourceWord(scorer=scorer, points=points, about_item=about_item)
    return LoggedOutput(place="", item_id=item, model=model, raw_output="", words=[word])


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([0.0, 0.5, 1.0, None]))))
def test_the_mean_is_that_of_a_literal_count(rows):
    mean = MeanOfItems("a")
    for item, points in rows:
        mean.add(output(item, points))
    items = {item: [points for each, points in rows if each == item and points is not None] for item, _ in rows}
    means = [sum(points) / len(points) for points in items.values() if points]
    assert mean.value() == (pytest.approx(sum(means) / len(means)) if means else None)


def test_other_scorers_and_other_models_have_no_part():
    mean = mean_of_items("a", "m")()
    for each in (output("x", 1.0), output("x", 0.0, scorer="b"), output("x", 0.0, model="n")):
        mean.add(each)
    assert mean.value() == 1.0


def test_a_word_about_an_item_counts_once():
    mean = MeanOfItems("a")
    for item, points in (("x", 1.0), ("x", 1.0), ("x", 1.0), ("y", 0.0)):
        mean.add(output(item, points, about_item=True))
    assert mean.value() == 0.5
