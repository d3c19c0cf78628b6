"""The sentence below a judging's summary: how much was labelled, and what moves the most."""

from affidavit.results.people_sentence import said_by_people
from support.labelled_by_hand import labelled


def test_the_figure_that_moves_the_most_is_named_with_the_accounting():
    judging = labelled(lambda _target, _at: True, lambda target, at: at % 10 < (9 if target == "able" else 2))
    first, second = said_by_people(judging)
    assert first.startswith("These are the judges' own figures. People labelled 60 of 120 outputs for verdict: ")
    assert "of weak is" in first
    assert first.endswith(("in place of 100.0%.", "in place of 0.0%."))
    assert second == "verdict: 60 drawn = 60 labelled + 0 not labelled"


def test_where_nothing_moves_or_there_is_too_little_it_says_so():
    good = lambda _target, at: at % 3 > 0  # noqa: E731
    (same, _) = said_by_people(labelled(good, good))
    assert same.endswith("the interval of no corrected figure excludes the judges' own.")
    (few, _) = said_by_people(labelled(good, good, drawn=lambda _target, at: at < 10))
    assert few.endswith("too few for a corrected figure.")
