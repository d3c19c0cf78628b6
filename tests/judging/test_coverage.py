"""Which evaluations of a set are missing and which are there twice, by name (ruling J9)."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.contracts.evaluation import NAMES, Asked
from affidavit.judging.coverage import LISTED, Coverage


def asked(*names: str, repeat: str | None = None) -> Asked:
    return Asked(dict(zip(NAMES, names, strict=False)), repeat=repeat)


def covered(*rows: Asked) -> Coverage:
    coverage = Coverage()
    for row in rows:
        coverage.add(row, evaluated=True)
    return coverage


def test_a_full_cross_misses_nothing():
    rows = [asked(*names) for names in product("JK", ("Q1", "Q2"), "AB", "ST", ("o",))]
    found = covered(*rows).fields()
    assert (found["planned"], found["missing"], found["double"]) == (16, 0, 0)
    assert (found["missing_listed"], found["double_listed"]) == ([], [])


def test_every_judge_has_holes_of_its_own():
    found = covered(asked("J", "Q1", "A", "T", "o"), asked("K", "Q2", "A", "T", "o")).fields()
    assert found["missing_listed"] == [
        {"judge_model": "J", "question_id": "Q2", "prompt_variant": "A", "target_model": "T"},
        {"judge_model": "K", "question_id": "Q1", "prompt_variant": "A", "target_model": "T"},
    ]


def test_two_outputs_or_repeats_of_a_cell_are_no_doubles():
    rows = [asked("J", "Q1", "A", "T", output, repeat=repeat) for output in "op" for repeat in "12"]
    assert covered(*rows).fields()["double"] == 0
    found = covered(*rows, rows[1]).fields()
    named = {"judge_model": "J", "question_id": "Q1", "prompt_variant": "A", "target_model": "T", "output_id": "o"}
    assert found["double_listed"] == [{**named, "repeat": "2", "times": 2}]


def test_an_answer_that_never_came_is_missing_and_its_names_are_planned():
    coverage = covered(asked("J", "Q1", "A", "T", "o"))
    coverage.add(asked("J", "Q2", "A", "T", "o"), evaluated=False)
    found = coverage.fields()
    assert (found["evaluations"], found["planned"], found["missing"]) == (1, 2, 1)
    assert found["missing_listed"][0]["question_id"] == "Q2"


def test_what_does_not_say_what_it_is_about_is_counted_and_left_out():
    coverage = covered(asked("J", "Q1"), Asked())
    assert not coverage.known
    assert coverage.fields()["unidentified"] == 2
    assert coverage.text() == "coverage: 0 of 2 evaluations say which output they are about"


def test_lists_are_bounded_and_say_how_many_others_there_are():
    rows = [asked("J", f"Q{number:02}", "A", "T", "o") for number in range(30)]
    coverage = covered(*rows, *rows, asked("J", "Q00", "B\x1b", "T", "o"))
    found, text = coverage.fields(), coverage.text()
    assert (found["double"], len(found["double_listed"])) == (30, LISTED)
    assert (found["missing"], len(found["missing_listed"])) == (29, LISTED)
    assert text.count(": 2 times") == LISTED
    assert text.count("    and 10 others") == text.count("    and 9 others") == 1
    assert "variant B\\u001b" in text
    assert "\x1b" not in text


names = st.tuples(*[st.sampled_from("ab")] * 5)


@pytest.mark.slow
@given(st.lists(st.tuples(names, st.booleans())))
def test_counts_are_those_of_a_plain_count(rows):
    coverage = Coverage()
    for each, evaluated in rows:
        coverage.add(asked(*each), evaluated=evaluated)
    there = [each for each, evaluated in rows if evaluated]
    cells = set(product(*({each[place] for each, _ in rows} for place in range(4))))
    found = coverage.fields()
    assert found["planned"] == len(cells) if rows else found["planned"] == 0
    assert found["missing"] == len(cells - {each[:4] for each in there}) if rows else not found["missing"]
    assert found["double"] == len({each for each in there if there.count(each) > 1})
