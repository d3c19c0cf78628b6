"""Differences between targets after correction: signs, kinds of figures, and what is said of orders and ties."""

from affidavit.results.corrected_differences import difference_tables
from affidavit.results.values import Points
from affidavit.results.words import in_cell
from support.labelled_by_hand import labelled

BLIND = lambda _target, question: question % 4 > 0  # noqa: E731
"""A judge to whom both targets are alike."""


def truth(target, question):
    return question % 10 < (9 if target == "able" else 2)


def differences(judge):
    (table,) = difference_tables(labelled(judge, truth))
    return table


def test_a_judge_that_has_two_targets_level_has_ordered_nothing():
    table = differences(BLIND)
    said = table.notes[0]
    assert "PASS by j: the judge has able and weak level; corrected it is able before weak." in said
    assert "The judge orders no pair of targets." in said
    assert table.column("in words") == ["lower"]


def test_an_order_that_people_turn_round_is_counted_once():
    said = differences(lambda target, at: not truth(target, at)).notes[0]
    assert "the judge has weak before able; corrected it is able before weak." in said
    assert (
        "The judge orders 1 pair; the corrected figures tell 1 of them apart, 0 the same way round and 1" in said
    )


def test_an_order_that_people_keep():
    said = differences(truth).notes[0]
    assert "the judge has able before weak; and so it is when corrected." in said
    assert "1 the same way round and 0 the other way round." in said


def test_a_difference_of_shares_as_it_stands_is_in_points_like_the_corrected_one():
    table = differences(truth)
    (naive,), (found,) = table.column("uncorrected difference"), table.column("difference")
    assert isinstance(naive, Points)
    assert isinstance(found, Points)
    assert in_cell(naive) == "−70.0 points n=120, no interval"
    assert in_cell(differences(BLIND).column("uncorrected difference")[0]) == "0.0 points n=120, no interval"
