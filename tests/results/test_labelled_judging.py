"""Judges' figures with labels: over the outputs that were listed, judged or not, and by the clusters that were named."""

import pytest

from affidavit.results.corrected_tables import judge_tables
from affidavit.results.labelled_judging import JUDGES
from support.labelled_by_hand import QUESTIONS, labelled

GOOD = lambda _target, question: question % 3 > 0  # noqa: E731
KIND = lambda _target, question: question % 3 > 0 or question % 6 == 0  # noqa: E731


def passes(judging, target="able"):
    (found,) = [
        each
        for each in judging.groups(("target",), pooled=False)
        if each.names[-1] == target and each.measure.name == "PASS"
    ]
    return found


def test_an_output_after_the_draw_is_in_no_figure_of_a_row():
    judging = labelled(KIND, GOOD, drawn=lambda _target, _question: True, listed=40)
    found = passes(judging)
    assert found.found.outputs == 40
    assert found.naive is not None
    assert found.naive.n == 40
    assert found.naive.value == sum(KIND("able", at) for at in range(40)) / 40
    (table, *_) = judge_tables(judging)
    assert any("40 outputs are not on the list" in note for note in table.notes)


def test_an_output_without_a_valid_judgement_is_in_the_figures_of_people():
    """Bad outputs are judged less often: without them people would seem to say PASS more often than they do."""
    judging = labelled(
        KIND,
        GOOD,
        valid=lambda target, at: GOOD(target, at) or at % 4 == 0,
        drawn=lambda _target, at: at < QUESTIONS - 6,
    )
    found = passes(judging)
    assert found.naive is not None
    assert found.found.alone is not None
    assert found.naive.n < found.found.outputs == QUESTIONS
    assert found.found.not_judged == QUESTIONS - found.naive.n
    assert found.found.alone.value == pytest.approx(2 / 3, abs=0.02)
    (table, *_) = judge_tables(judging)
    assert any(note.startswith("Not judged: outputs without a valid judgement") for note in table.notes)
    assert table.column("not judged")[0] == found.found.not_judged
    assert table.columns[: len(JUDGES)] == JUDGES


def test_named_clusters_reach_the_corrected_figure():
    """Every second question is labelled: of fifteen passages, all fifteen."""
    plain, clustered = (passes(labelled(KIND, GOOD, cluster=name)) for name in ("q{}".format, _passage))
    assert plain.found.estimate is not None
    assert clustered.found.estimate is not None
    assert (plain.found.estimate.clusters, clustered.found.estimate.clusters) == (None, 15)


def _passage(question):
    return f"passage {question % 15}"


def test_labels_in_fewer_than_ten_clusters_give_no_figure_and_the_row_says_so():
    found = passes(labelled(KIND, GOOD, cluster=lambda at: f"passage {at % 5}"))
    assert found.found.why_not == "30 labels in 5 clusters: fewer than 10"
    assert found.found.alone is None


def test_few_labels_of_a_kind_and_sums_of_shares_are_noted():
    (table, *_) = judge_tables(labelled(KIND, lambda _target, at: at > 1))
    notes = " ".join(table.notes)
    assert "Fewer than 5 labels say yes, or say no: PASS, j, free, cross_judge, able (1 of 30)" in notes
    assert "need not add up to 100 %" in notes
    assert "Without Rogan-Gladen" in notes


def test_another_grouping_is_said_not_to_reach_them():
    judging = labelled(KIND, GOOD)
    notes = [next(iter(judge_tables(judging, by))).notes[-1] for by in (("model",), ("paradigm",))]
    assert "does not reach them" not in notes[0]
    assert "does not reach them" in notes[1]
