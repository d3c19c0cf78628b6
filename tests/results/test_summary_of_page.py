"""The table that a reader looks at first: its rows, its order, its axes, and how much of it is seen at once."""

from itertools import product

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.results.judged_summary import RELIABILITY, TARGETS, overall_range, reliability, target_summary
from affidavit.results.judging_tables import OWN
from affidavit.results.page import chart_rows
from affidavit.results.page.asked_texts import asked_texts
from affidavit.results.page.cells import cell, same_names
from affidavit.results.page.content import Section
from affidavit.results.page.differences import compared
from affidavit.results.page.headline import Compared, Summary
from affidavit.results.page.multiples import Multiple, small_multiples
from affidavit.results.page.ranges import any_known, figures
from affidavit.results.page.setup_section import setup
from affidavit.results.page.shown_summary import FIRST_ROWS, MOST_ROWS, legend, shown_sections, shown_summary
from affidavit.results.page.study_facts import asked_of
from affidavit.results.page.study_page import content
from affidavit.results.page.summaries import sections
from affidavit.results.page.summary_table import FORMAT, SHARES, SummaryTable, is_trivial, task_summary
from affidavit.results.page.svg import Drawing
from affidavit.results.page.templates import TEMPLATES, breakable
from affidavit.results.page.text_page import text_page
from affidavit.results.page.verification import commands, digests, notes
from affidavit.results.study_order import StudyOrder
from affidavit.results.study_results import StudyResults
from affidavit.results.table import Table
from affidavit.statistics.shares import wilson
from support.page_studies import judged_study
from support.written_study import questions, tables, written

BY = ("task", "model", "condition")
COUNTS = ("compliant", "non-compliant", "unread", "failed", "pending")


def measured(models=("small", "large"), conditions=("free", "firm"), tasks=("quiz",)):
    """Tables of compliance and accuracy, with different figures in every row."""
    names = list(product(tasks, models, conditions))
    compliance = tuple(
        (*name, wilson(at % 20, 20), at % 20, 20 - at % 20, 0, 0, 0) for at, name in enumerate(names, 1)
    )
    accuracy = tuple((*name, wilson(at % 9, 10), wilson(at % 9, 20)) for at, name in enumerate(names, 1))
    chance = tuple((*name, 0.25) for name in names)
    found = (
        Table("compliance", "?", (*BY, "compliance", *COUNTS), compliance, "of all tasks"),
        Table("accuracy", "?", (*BY, "accuracy over compliant", "yield"), accuracy, ""),
        Table("chance", "?", (*BY, "chance level"), chance, ""),
    )
    return {table.name: table for table in found}


ORDER = StudyOrder(models=("small", "large"), conditions=("firm", "free"), controls={"firm": "free"})


def test_rows_are_grouped_by_condition_control_first_and_in_the_order_of_the_study():
    summary = task_summary(measured(), "quiz", BY, ORDER)
    assert [row[:2] for row in summary.table.rows] == [
        ("free", "small"), ("free", "large"), ("firm", "small"), ("firm", "large")
    ]  # fmt: skip
    assert summary.table.columns == ("condition", "model", FORMAT, "accuracy over compliant", "yield")
    assert (summary.group, summary.axes) == ("condition", dict.fromkeys(summary.table.columns[2:], SHARES))
    assert summary.marks["accuracy over compliant"] == [0.25] * 4
    assert summary.table.foot == "80 planned = 10 compliant + 70 non-compliant + 0 unread + 0 failed + 0 pending"


def test_of_several_tasks_a_table_has_the_rows_of_its_own():
    summary = task_summary(measured(tasks=("a", "b")), "b", BY, StudyOrder())
    assert len(summary.table.rows) == 4
    assert str(summary.table.rows[0][2]) == str(wilson(8, 20))


def test_a_task_of_which_every_output_follows_the_format_and_nothing_else_is_known_is_trivial():
    whole = {
        "compliance": Table(
            "compliance", "?", (*BY, "compliance", *COUNTS), (("t", "m", "c", wilson(6, 6), 6, 0, 0, 0, 0),), ""
        )
    }
    assert is_trivial(task_summary(whole, "t", BY, StudyOrder()))
    assert not is_trivial(task_summary(measured(), "quiz", BY, StudyOrder()))


@pytest.mark.parametrize(("models", "seen", "folded"), [(3, 6, 0), (20, 40, 0), (21, FIRST_ROWS, 42 - FIRST_ROWS)])
def test_of_a_long_table_the_first_rows_are_seen_at_once(models, seen, folded):
    summary = task_summary(measured([f"m{number:02}" for number in range(models)]), "quiz", BY, ORDER)
    shown = shown_summary(summary)
    counts = [sum(len(part.rows) for part in parts) for parts in (shown.parts, shown.folded)]
    assert counts == [seen, folded]
    assert shown.has_marks


def test_all_tables_of_a_page_have_so_many_rows_together_and_sentences_stay():
    table = task_summary(measured([f"m{number}" for number in range(100)]), "quiz", BY, ORDER)
    found = shown_sections([Section(Summary(f"t{number}", []), [table]) for number in range(3)])
    assert [len(section.tables) for section in found] == [1, 1, 0]
    assert found[1].tables[0].left_out == 400 - MOST_ROWS
    assert [label for label, _ in legend(found)] == [
        "format compliance", "accuracy over answers", "accuracy over all outputs"
    ]  # fmt: skip


def test_a_lone_row_goes_by_its_model_and_what_is_the_same_is_said_once():
    table = Table("t", "", ("condition", "model", "share"), (("base", "m", wilson(1, 2)),), "")
    shown = shown_summary(SummaryTable(table, ("condition", "model"), "", {"share": SHARES}))
    assert (shown.names, shown.same) == (["model"], "condition base")
    two = Table("t", "", ("condition", "model", "share"), (*table.rows, ("base", "n", None)), "")
    assert same_names(two, ("condition", "model")) == {"condition": "base"}
    figure = (
        shown_summary(SummaryTable(two, ("condition", "model"), "", {"share": SHARES})).parts[0].rows[1].figures[0]
    )
    assert (figure.cell, figure.strip) == (cell(None), None)
    assert any_known(figures(two, "share", ("model",)))
    assert not any_known(figures(two, "condition", ("model",)))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a_b=c", "a_<wbr>b=<wbr>c"),
        ('<i a="x/y">', "&lt;i a=<wbr>&#34;x/<wbr>y&#34;&gt;"),
        ("plain", "plain"),
        ("a__b", "a__<wbr>b"),
        ("end_", "end_"),
    ],
)
def test_a_long_name_may_be_broken_after_its_separators_and_is_escaped(name, shown):
    assert str(breakable(name)) == shown
    assert TEMPLATES.from_string("{{ name | breakable }}").render(name=name) == shown


def test_conditions_of_one_model_are_rows_and_not_groups_of_one():
    shown = shown_summary(task_summary(measured(["m"]), "quiz", BY, ORDER))
    assert (shown.names, shown.same) == (["condition"], "model m")
    assert [[part.name, [row.names[0][1].main for row in part.rows]] for part in shown.parts] == [
        ["", ["free", "firm"]]
    ]


def test_small_multiples_stand_beside_each_other_as_far_as_there_is_room():
    panels = [
        Multiple(chart_rows.Label(f"m{number}", f"m{number}"), [(wilson(1, 2), True), None]) for number in range(5)
    ]
    heights = []
    for width in (720, 304):
        drawing = Drawing("letters", width)
        small_multiples(drawing, ["A", "B"], panels, 1.0)
        heights.append(drawing.height)
    assert heights[1] > heights[0] > 0


@pytest.mark.slow
def test_a_judged_study_leads_with_scores_then_the_judges_then_their_own_outputs(tmp_path):
    results = StudyResults(StudyDirectory(judged_study(tmp_path / "judged")))
    report = results.report()
    first, *_ = sections(results, report, Compared())
    assert first.summary.title == "Judging"
    names = [each.table.name for each in first.tables]
    assert names[:2] == [TARGETS, RELIABILITY]
    own = reliability(report.tables, OWN)
    assert (own is None) == (f"{RELIABILITY}{OWN}" not in names)
    figures_of_judges = results.judging_figures()
    assert figures_of_judges is not None
    low, high = overall_range(figures_of_judges)
    assert f"mean overall score ({low:g} to {high:g})" in first.tables[0].table.columns
    assert len(target_summary(figures_of_judges).rows) <= len(first.tables[0].table.rows)


@pytest.mark.slow
def test_what_is_gathered_for_a_page_is_of_one_study(tmp_path):
    directory = StudyDirectory(
        written(
            tmp_path, tables(models=("a", "b")), {"quiz": questions(12)}, lambda question: "<answer>B</answer>"
        )
    )
    results = StudyResults(directory)
    assert [table.name for table in setup(results).tables][:2] == ["models", "requests"]
    assert asked_of(results).counts == "24 of 24 questions"
    found = compared(results)
    assert found.models is not None
    assert len(found.models.rows) == 1
    assert "affidavit verify out" in dict(commands(results, "out", include_self=False)).values()
    assert dict(digests(results))["seal.json"] == results.seal.sha256
    assert any("Accuracy over answers" in note for note in notes(results, with_accuracy=True))
    row = {
        "task": "quiz",
        "item_id": "q0",
        "model": "a",
        "condition": "base",
        "sample": 0,
        "key": "0",
        "right_letter": "B",
    }
    asked = asked_texts(results, [row])(row)
    assert (asked.right, asked.prompt) == ("B", ""), "a prompt whose key is another is not said to have been sent"
    assert asked.question.startswith("[q0]")
    assert text_page(content(directory)) is not None
