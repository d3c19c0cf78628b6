"""One corrected figure: over which outputs, from which labels, and why there may be none."""

from math import inf

import pytest
from msgspec.structs import replace

from affidavit.archive.record import Label, QuestionIdentity, Response
from affidavit.json_values import digest
from affidavit.judging.label_draws import LabelDraw, Stratum
from affidavit.results.corrected_figures import NOT_DRAWN, Measured, corrected, within
from affidavit.results.label_set import LabelSet
from affidavit.statistics import Estimate, JudgedLabels, corrected_mean, rogan_gladen

QUESTION = QuestionIdentity("0" * 64, "s", "t", "q", "m", "c", 0, "b" * 64, None)
KEYS = [digest(at) for at in range(80)]


def labels_of(said: dict[str, bool], drawn: list[str], *, listed: int = 80) -> LabelSet:
    """A study of eighty outputs, the first `listed` of which were there when some were drawn."""
    draws = ()
    if drawn:
        stratum = Stratum((), listed, tuple(drawn))
        draws = (
            LabelDraw(
                "correct",
                None,
                ("t",),
                (),
                len(drawn),
                1,
                len(drawn),
                "2026-01-31",
                listed,
                "0" * 64,
                80,
                (stratum,),
            ),
        )
    found = LabelSet(draws)
    for key in KEYS:
        subject = replace(QUESTION, key=key)
        found.add(Response(subject, "x", "text/1", {}, protocol_compliant=True, fields={}))
    for key, value in said.items():
        found.add(Label(key, "correct", value, "anna", "2026-01-31", "0" * 64))
    return found


def figure(labels: LabelSet, values=None):
    measured = [Measured(key, key, float(at % 2) if values is None else values[at]) for at, key in enumerate(KEYS)]
    return corrected(measured, labels.of("correct"), lambda _key, value: float(value), scale=(0.0, 1.0))


SAID = {key: at % 4 != 0 for at, key in enumerate(KEYS[:40])}


def test_it_is_the_figure_of_the_formula_over_drawn_labels():
    found = figure(labels_of(SAID, KEYS[:40]))
    plain = corrected_mean(
        [at % 2 for at in range(80)], [float(SAID[key]) if key in SAID else None for key in KEYS]
    )
    assert found.correction is not None
    assert (found.estimate, found.weight) == (plain.estimate, plain.weight)
    assert (found.outputs, found.labels, found.why_not) == (80, 40, None)
    among_yes, among_no = JudgedLabels(20, 30), JudgedLabels(10, 10)
    assert found.second == rogan_gladen(40, 80, among_yes=among_yes, among_no=among_no)


@pytest.mark.parametrize(
    ("said", "drawn", "why"),
    [
        (SAID, [], NOT_DRAWN),
        ({}, [], "no labels"),
        (dict.fromkeys(KEYS[:29], True), KEYS[:40], "29 labels: fewer than 30"),
        (dict.fromkeys(KEYS[40:], True), KEYS[:40], "0 labels: fewer than 30"),
    ],
)
def test_where_there_is_none_it_says_why(said, drawn, why):
    found = figure(labels_of(said, drawn))
    assert found.why_not == why
    assert found.correction is found.alone is found.second is found.weight is found.estimate is None


def test_outputs_that_came_after_the_draw_are_not_in_it():
    assert figure(labels_of(SAID, KEYS[:40], listed=60)).outputs == 60


def test_an_output_that_was_not_judged_is_in_the_figure():
    values = [None if at % 5 == 0 else float(at % 2) for at in range(80)]
    found, whole = figure(labels_of(SAID, KEYS[:40]), values=values), figure(labels_of(SAID, KEYS[:40]))
    assert (found.outputs, found.not_judged, found.labels) == (80, 16, 40)
    assert found.alone == whole.alone, "people alone need no judge"
    assert found.second is not None
    assert found.second.n == 64


def test_what_was_drawn_adds_up():
    labels = labels_of(dict.fromkeys(KEYS[:33], True), KEYS[:40])
    assert labels.of("correct").coverage == "correct: 40 drawn = 33 labelled + 7 not labelled"
    assert labels.of("correct").later([*KEYS, "another"]) == 1


@pytest.mark.parametrize(("yes", "few"), [(0, 0), (4, 4), (5, None), (36, 4)])
def test_few_labels_of_one_kind_are_told(yes, few):
    said = {key: at < yes for at, key in enumerate(KEYS[:40])}
    assert figure(labels_of(said, KEYS[:40])).few == few


def test_where_there_is_no_second_reading_it_says_why():
    one_kind = figure(labels_of(dict.fromkeys(KEYS[:40], True), KEYS[:40]))
    assert one_kind.why_no_second == "labels of one kind only"
    halves = figure(labels_of(SAID, KEYS[:40]), values=[0.5] * 80)
    assert halves.why_no_second == "more than yes and no is said of an output"
    assert figure(labels_of(SAID, KEYS[:40])).why_no_second is None


def test_an_instrument_of_more_than_yes_and_no_has_no_second_reading():
    assert figure(labels_of(SAID, KEYS[:40]), values=[0.5] * 80).second is None


def test_labels_that_were_corrected_count_by_the_last():
    labels = labels_of(SAID, KEYS[:40])
    labels.add(Label(KEYS[0], "correct", True, "anna", "2026-02-01", "0" * 64))
    assert labels.said("correct")[KEYS[0]] == {"anna": True}
    assert labels.corrections["correct"] == 1


def test_labels_that_stand_before_their_draw_are_somebodys_choice():
    labels = labels_of(SAID, KEYS[:40])
    labels.draws = (replace(labels.draws[0], drawn_after=85),)
    own = labels.of("correct")
    assert (len(own.labelled), own.labelled_before) == (35, sorted(KEYS[:5]))
    assert own.label_of(KEYS[0], float) is None
    assert own.mean_of_all(KEYS[0], float) == float(SAID[KEYS[0]])


def test_of_several_raters_their_mean_is_the_label():
    labels = labels_of(SAID, KEYS[:40])
    labels.add(Label(KEYS[1], "correct", False, "ben", "2026-02-01", "0" * 64))
    assert labels.of("correct").label_of(KEYS[1], float) == 0.5
    assert labels.of("correct").label_of(KEYS[50], float) is None


@pytest.mark.parametrize(
    ("given_", "shown"),
    [
        ((0.5, 0.2, 0.8), (0.5, 0.2, 0.8)),
        ((0.1, -0.2, 0.4), (0.1, 0.0, 0.4)),
        ((1.02, 0.9, 1.14), (1.0, 0.9, 1.0)),
        ((1.2, 1.1, 1.3), (1.2, 1.1, 1.3)),
        ((0.5, -inf, inf), (0.5, -inf, inf)),
    ],
)
def test_nothing_is_shown_beyond_the_scale_unless_nothing_would_be_left(given_, shown):
    value, low, high = given_
    found = within(Estimate(value, low, high, 40, "t"), (0.0, 1.0))
    assert (found.value, found.low, found.high) == shown
