"""What is said first of a study: task by task, in sentences that a paper could carry (ruling S9)."""

from dataclasses import replace

import pytest

from affidavit.results.judging_tables import DIFFERENT_JUDGES
from affidavit.results.model_ranking import Standing, standings
from affidavit.results.page.headline import Compared, best_sentence, headline
from affidavit.results.table import Table
from affidavit.results.values import Chance, Points
from affidavit.statistics.shares import wilson
from support.command import affidavit
from support.written_study import questions, tables, written

BY = ("task", "model", "condition")
OUTCOMES = ("compliant", "non-compliant", "failed", "unread", "pending")


def rates(*shares):
    """A table of compliance with a row for each pair of compliant ones and n."""
    named = zip("abcdefgh", shares, strict=False)
    rows = tuple(("quiz", model, "free", wilson(k, n), k, n - k, 0, 0, 0) for model, (k, n) in named)
    return Table("compliance", "?", (*BY, "compliance", *OUTCOMES), rows, "")


def said(*found, compared=None):
    """The sentences of the only task, or of a judging, by what they are about."""
    summaries = headline({table.name: table for table in found}, BY, compared or Compared())
    return {answer.question: answer.answer for summary in summaries for answer in summary.answers}


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ([(9, 10), (9, 10)], "90.0% [59.6, 98.2] in all 2 rows."),
        ([(9, 10), (18, 20)], "90.0% in all 2 rows."),
        ([(5, 10), (9, 10)], "from 50.0% [23.7, 76.3] (a) to 90.0% [59.6, 98.2] (b)."),
        ([(5, 10), (9, 10), (9, 10), (5, 10)], "from 50.0% [23.7, 76.3] (a, d) to 90.0% [59.6, 98.2] (b, c)."),
        ([(9, 10), *[(5, 10)] * 7], "from 50.0% [23.7, 76.3] (7 rows) to 90.0% [59.6, 98.2] (a)."),
        ([(9, 10), (8, 8)], "90.0% [59.6, 98.2] n=10 (a); 1 row over fewer than 10 items is only in the table."),
        ([(9, 10), *[(1, 9)] * 7],
         "90.0% [59.6, 98.2] n=10 (a); 7 rows over fewer than 10 items are only in the table."),
        ([(8, 9), (7, 8)], "no figure is over 10 items or more; see the table."),
        ([(8, 10)], "80.0% [49.0, 94.3] n=10."),
    ],
)  # fmt: skip
def test_a_range_names_no_equal_row_before_another_and_nothing_below_ten_items(shares, words):
    assert said(rates(*shares))["Format"] == f"Compliance: {words}"


@pytest.mark.parametrize(("shares", "words"), [([(9, 9)], "All 9 outputs follow the format."),
                                               ([(1, 1)], "The only output follows the format.")])  # fmt: skip
def test_where_every_output_follows_the_format_that_is_all_that_is_said(shares, words):
    assert said(rates(*shares)) == {"Format": words}


def test_of_several_tasks_each_has_its_own_sentences_in_the_order_of_the_study():
    table = rates((9, 10), (5, 10))
    table = replace(table, rows=tuple((task, *row[1:]) for task in ("one", "two") for row in table.rows))
    found = headline({"compliance": table}, BY, Compared(), ["two", "one"])
    assert [summary.title for summary in found] == ["two", "one"]
    assert found[0].answers == found[1].answers
    pooled = headline({"compliance": table}, BY, Compared(), ["elsewhere"])
    assert [summary.title for summary in pooled] == ["one", "two"]


# --- which model is the best ---


def pairs(*rows):
    """A table of every two models, with what each test came to."""
    return Table("models compared", "?", ("task", "condition", "model", "other model", "in words"),
                 tuple(("quiz", "free", *row) for row in rows), "")  # fmt: skip


SAME = "not distinguishable at this n; a true difference of 9.0 points would be found in 80 % of such studies"


@pytest.mark.parametrize(
    ("rows", "unbeaten", "words"),
    [
        ([("a", "b", "higher")], ("b",), "b: higher than the other model in accuracy over all outputs"),
        ([("a", "b", SAME)], ("a", "b"), "None is named: a and b are not distinguishable at this n"),
        ([("a", "b", "lower"), ("a", "c", "lower"), ("b", "c", SAME)], ("a",), "a: higher than each other model"),
        ([("a", "b", "lower"), ("a", "c", SAME), ("b", "c", SAME)], ("a", "c"),
         "None is named: a and c are not distinguishable at this n"),
        ([("a", "b", "lower"), ("a", "c", SAME), ("b", "c", "lower")], ("a",),
         "a: higher than 1 of 2 others in accuracy over all outputs, not distinguishable from the rest at this n"),
        ([(x, y, SAME) for x, y in ("ab", "ac", "ad", "bc", "bd", "cd")], tuple("abcd"),
         "None is named: no two of the 4 models are distinguishable at this n"),
    ],
)  # fmt: skip
def test_a_best_model_is_named_only_by_the_tests_of_all_pairs(rows, unbeaten, words):
    """Ruling S9."""
    standing = standings(pairs(*rows))["quiz"]
    assert standing.unbeaten == unbeaten
    assert best_sentence(standing).startswith(words)
    assert f"Holm over {len(rows)} pair" in best_sentence(standing)
    assert said(rates((9, 10)), compared=Compared(pairs(*rows)))["Best model"] == best_sentence(standing)


def test_a_long_list_of_models_that_are_not_distinguishable_is_counted():
    several = tuple(f"m{number}" for number in range(9))
    standing = Standing("free", (*several, "z"), several, {}, 45)
    assert best_sentence(standing).startswith("None is named: the 9 models that no other exceeds are not")


def test_models_that_were_not_compared_are_not_passed_over():
    compared = Compared(not_ranked="Not tested.")
    assert said(rates((9, 10), (5, 10)), compared=compared)["Best model"] == "Not tested."
    assert "Best model" not in said(rates((9, 10)), compared=compared)


# --- what a condition does ---


def against(*words, measure="compliance"):
    rows = tuple(("quiz", model, measure, each) for model, each in zip("abcdef", words, strict=False))
    return Table("comparison", "?", ("task", "model", "measure", "in words"), rows, "")


@pytest.mark.parametrize(
    ("controls", "words"),
    [
        ({}, None),
        ({"firm − free": against(SAME, SAME)},
         "No difference from the control is distinguishable at this n (2 comparisons in this task)."),
        ({"firm − free": against("higher", SAME)}, "firm against free: compliance higher in 1 of 2 models."),
        ({"firm − free": against("higher")}, "firm against free: compliance higher."),
        ({"firm − free": against("higher", "lower", "lower", measure="yield")},
         "firm against free: accuracy over all outputs higher in 1 of 3 models and lower in 2 of 3 models."),
        ({f"c{number} − free": against("lower") for number in range(5)},
         "c0 against free: compliance lower. c1 against free: compliance lower. c2 against free: compliance lower. "
         "2 more conditions in the table of differences."),
    ],
)  # fmt: skip
def test_differences_are_counted_by_direction(controls, words):
    assert said(rates((9, 10)), compared=Compared(controls=controls)).get("Conditions") == words


# --- what else a task has ---


def test_why_outputs_are_not_compliant_or_missing():
    rows = (("quiz", "small", "free", wilson(9, 10), 9, 1, 1, 1, 1),)
    table = Table("compliance", "?", (*BY, "compliance", *OUTCOMES), rows, "")
    assert said(table)["Not compliant"] == (
        "1 of 10 outputs did not follow the format: 1 unspecified. 1 question failed. "
        "1 output could not be read: the contract raised an error. 1 question pending."
    )


def test_of_letters_that_are_preferred_alike_none_is_named_before_the_others():
    """Ruling S9."""
    columns = (*BY, "letter", "share", "against the key", "p (Holm)")

    def row(model, ahead, p=0.001):
        share = wilson(30, 40)
        return ("quiz", model, "free", "A", share, Points(replace(share, value=ahead)), Chance(p))

    def preferred(*rows):
        return said(rates((9, 10)), Table("letters", "?", columns, rows, "")).get("Letters", "")

    alike = preferred(row("a", 0.5), row("b", 0.5), row("c", 0.2))
    assert "a, free chooses A" in alike
    assert "b, free chooses A" in alike
    assert alike.endswith(" So does 1 more row of the table.")
    assert preferred(row("a", 0.5), row("b", 0.2), row("c", 0.2)).endswith(" So do 2 more rows of the table.")
    assert not preferred(row("a", -0.5), row("b", 0.5, p=0.5))


# --- a judging ---


def judged(name, column, shares):
    """A table with a row for each judge."""
    rows = tuple(
        (judge, "free", "cross_judge", wilson(k, n)) for judge, (k, n) in zip("abcdefgh", shares, strict=False)
    )
    return Table(name, "?", ("judge", "judging condition", "method", column), rows, "")


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ([(5, 10), (9, 10)], "from 50.0% [23.7, 76.3] (a) to 90.0% [59.6, 98.2] (b)."),
        ([(9, 9), (8, 8)], "no figure is over 10 {} or more; see the table."),
    ],
)
def test_judges_have_ranges_of_their_own(shares, words):
    answers = said(rates((9, 10)), judged("judges", "share valid", shares), judged("quotes", "fabricated", shares))
    assert answers["Judges"] == f"Share of valid evaluations: {words.format('outputs')}"
    assert answers["Quotes"].endswith(f": {words.format('evaluations')}")


@pytest.mark.parametrize(
    ("others", "own", "words"),
    [
        ([], [12], "Judges were given only their own outputs, none of others: see the tables of own outputs."),
        ([0], [12], "Judges were given only their own outputs, none of others: see the tables of own outputs."),
        ([12], [12], "No judgement of another model's output has arrived yet."),
        ([12], [], "No judgement of another model's output has arrived yet."),
    ],
)
def test_that_judges_had_only_their_own_outputs_is_said(others, own, words):
    columns = ("judge", "judging condition", "method", "planned", "share valid")
    found = [
        Table(name, "?", columns, tuple(("j", "free", method, planned, None) for planned in counts), "")
        for name, method, counts in (("judges", "cross_judge", others), ("judges, own outputs", "self_judge", own))
        if counts or name == "judges"
    ]
    assert said(rates((9, 10)), *found)["Judges"] == words


@pytest.mark.parametrize(
    ("notes", "differ"),
    [
        ((), False),
        (("These are the judges' own figures.",), False),
        ((f"{DIFFERENT_JUDGES}: y by a; z by b.",), True),
        (
            ("These are the judges' own figures.", f"{DIFFERENT_JUDGES}, never by themselves: y by a; z by b."),
            True,
        ),
    ],
)
def test_that_targets_have_different_judges_is_said_where_they_do_and_not_for_another_note(notes, differ):
    rows = tuple((target, "A", wilson(k, 20)) for target, k in (("y", 9), ("z", 12)))
    targets = Table("targets", "?", ("target", "variant", "mean overall score"), rows, "", notes)
    scores = said(rates((9, 10)), judged("judges", "share valid", [(20, 20)]), targets)["Scores"]
    assert ("they are scored by different judges" in scores) is differ


# --- whole studies ---


@pytest.mark.slow
def test_a_headline_crosses_no_tasks_and_says_what_is_certain(tmp_path):
    design = tables(models=("weak", "strong"))
    design["tasks"]["tiny"] = {"contract": "mcqa", "items": "tiny.jsonl"}

    def answer(question):
        right = question.model == "strong" or int(question.item.id[1:]) % 3 == 0
        return f"<answer>{'B' if right else 'A'}</answer>"

    directory = written(tmp_path, design, {"quiz": questions(40), "tiny": questions(3)}, answer)
    lines = affidavit("report", directory).stdout.decode().splitlines()
    quiz, tiny = lines.index("quiz"), lines.index("tiny")
    assert quiz < tiny
    best = "  Best model: strong: higher than the other model in accuracy over all outputs"
    assert lines[quiz + 1].startswith(best)
    assert not any("Best model" in line for line in lines[tiny:])
    assert lines[tiny + 1] == "  Accuracy: Over all outputs: no figure is over 10 items or more; see the table."


@pytest.mark.slow
def test_a_letter_that_is_preferred_is_a_headline(tmp_path):
    rows = [{**row, "answer": "ABCD"[number % 4]} for number, row in enumerate(questions(40))]
    directory = written(tmp_path, tables(), {"quiz": rows}, lambda question: "<answer>C</answer>")
    assert (
        "chooses C in 100.0% [91.2, 100.0] n=40 of its answers" in affidavit("report", directory).stdout.decode()
    )
