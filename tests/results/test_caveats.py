"""What must be known before any figure stands before it, in every form."""

import json
from io import StringIO

import polars as pl
import pytest
from rich.console import Console

from affidavit import MultipleChoice
from affidavit.archive.study_directory import StudyDirectory
from affidavit.models.model import Failure, Reason
from affidavit.reading.tally import Tally
from affidavit.results.caveats import AskedCell, pending_note, trial_note
from affidavit.results.closing import as_json as closed_json
from affidavit.results.closing import as_tables, closed_run
from affidavit.results.comparison import comparison_tables
from affidavit.results.counting import groups
from affidavit.results.gate import gate
from affidavit.results.page.study_page import content, make_page
from affidavit.results.study_results import StudyResults
from affidavit.results.text_forms import as_csv_files, as_json, as_latex, as_markdown
from affidavit.running.study_run import Ended
from affidavit.study.crossing import Cell
from affidavit.study.files import load
from support.literal_shares import literal_share, same
from support.written_study import Hasty, append, here, plan_of_frozen, questions, tables, written

PENDING = (
    "30 of 40 questions are pending: figures are over what was asked so far, the first questions of the files, "
    "which is no sample."
)


def _number(question) -> int:
    return int(question.item.id[1:])


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """Forty questions, of which the first ten were asked."""
    return written(
        tmp_path_factory.mktemp("stopped"),
        tables(),
        {"quiz": questions(40)},
        lambda question: "<answer>B</answer>" if _number(question) < 10 else None,
    )


@pytest.mark.slow
def test_that_questions_are_pending_is_said_first(stopped):
    results = StudyResults(StudyDirectory(stopped))
    report = results.report()
    assert report.warnings == [PENDING]
    assert as_json(report)["notes"][0] == PENDING
    for text in (as_markdown(report), as_latex(report)):
        assert text.index("30 of 40 questions are pending") < text.index("How many outputs follow the format?")
    assert all(PENDING in row for row in as_csv_files(report)["tables.csv"].splitlines()[1:])
    found, page = make_page(StudyDirectory(stopped))
    assert found.warnings == [PENDING]
    assert page.decode().index(PENDING) < page.decode().index('<dl class="answers">')
    side = results.side("stopped", {})
    (table,) = comparison_tables(side, side)
    assert table.notes[0].startswith("30 of 40 questions of stopped are pending: ")


SAMPLES, NONE = "every item was asked, but not in all its samples", "no item was asked yet"


def asked(model: str, at: int, sample: int, way: str) -> bool:
    """Which questions were asked, of two models, six items and three samples."""
    return {
        "further samples": sample == 0,
        "another model": model == "alpha",
        "samples of another model": model == "alpha" or sample == 0,
        "both": model == "alpha" and sample == 0,
        "first of one": model == "alpha" or at < 2 or (at == 2 and sample == 0),
        "with a hole": at in (0, 1, 3),
        "all three": at < 2 if model == "alpha" else False,
    }[way]


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("further samples", f"24 of 36 questions are pending: {SAMPLES}."),
        ("another model", f"18 of 36 questions are pending (18 of beta): {NONE}."),
        ("samples of another model", f"12 of 36 questions are pending (12 of beta): {SAMPLES}."),
        ("both", f"30 of 36 questions are pending. 12 of alpha: {SAMPLES}. 18 of beta: {NONE}."),
        ("first of one", f"11 of 36 questions are pending (11 of beta): {PENDING.partition(': ')[2]}"),
        (
            "with a hole",
            "18 of 36 questions are pending: figures are over what was asked so far, not all items, which is no sample.",
        ),
        (
            "all three",
            f"30 of 36 questions are pending. 12 of alpha: {PENDING.partition(': ')[2]} 18 of beta: {NONE}.",
        ),
    ],
)
def test_whose_questions_are_pending_is_said_and_what_figures_are_over(tmp_path, way, said):
    """That what was asked is no sample is said where it is: not of a model whose items were all asked."""
    study = tables(models=("alpha", "beta"), decoding={"samples": 3})

    def answer(question):
        return "<answer>B</answer>" if asked(question.model, _number(question), question.sample, way) else None

    results = StudyResults(StudyDirectory(written(tmp_path, study, {"quiz": questions(6)}, answer)))
    assert results.warnings == [said]
    alpha = results.side("it", {"model": "alpha"})
    assert (pending_note(alpha.asked) == []) == (
        way in ("another model", "samples of another model", "first of one")
    )


def test_a_sentence_names_five_cells_and_counts_the_others():
    cells = [AskedCell(("quiz", f"m{n}", "free\n"), 9, 9, 9) for n in range(8)]
    (said,) = pending_note([*cells, AskedCell(("quiz", "n", "firm"), 9)])
    assert said.startswith("72 of 81 questions are pending (9 of m0 · free\\u000a, 9 of m1 · free")
    assert said.endswith(", 27 of 3 more): no item was asked yet.")


@pytest.mark.slow
def test_the_report_says_it_before_its_tables(stopped):
    shown = " ".join(here("report", stopped, "--format", "text").stdout.decode().split())
    assert shown.index(PENDING) < shown.index("How many outputs")
    assert json.loads(here("report", stopped, "--format", "json").stdout)["notes"][0] == PENDING
    assert PENDING in " ".join(here("report", stopped).stdout.decode().split())


@pytest.mark.parametrize("by", [("task", "model", "condition"), ("model", "sample"), ("model", "metadata.part")])
def test_bounds_count_pending_questions_whose_right_answer_is_known(tmp_path, by):
    """Ruling S6: bounds assume nothing, not even that what was not asked yet would have gone the same way."""
    items = [{**item, "metadata": {"part": "one"}} for item in questions(12)]
    del items[11]["answer"]

    def answer(question):
        asked = _number(question) < 4 or (_number(question) == 4 and question.sample == 0)
        return "<answer>B</answer>" if asked else None

    study = tables(decoding={"samples": 2})
    results = StudyResults(StudyDirectory(written(tmp_path, study, {"quiz": items}, answer)), by)
    found = [group.bounds() for group in groups(results.records)]
    assert sum(each.if_wrong.value * each.if_wrong.n for each in found) == pytest.approx(9)
    assert sum(each.if_wrong.n for each in found) == 22, "11 items have a right answer, and are asked twice"
    assert all(each.if_right.value == 1 and each.if_right.n == each.if_wrong.n for each in found)
    alone = "sample" in by
    assert all((each.if_wrong.clusters or each.if_wrong.n) == 11 for each in found), "items, asked or not"
    together = [[(2, 2)] * 4 + [(1, 2)] + [(0, 2)] * 6]
    items_of = [[(1, 1)] * n + [(0, 1)] * (11 - n) for n in (5, 4)] if alone else together
    for each, expected in zip(found, items_of, strict=True):
        assert same(each.if_wrong, literal_share(expected))


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """48 items, 44 with a right answer, asked once of five times: of the first, 9 are wrong and 5 failed."""
    items = [{**item, "metadata": {"part": f"p{at % 6}"}} for at, item in enumerate(questions(48))]
    for item in items[44:]:
        del item["answer"]

    def answer(question):
        if question.sample:
            return None
        at = _number(question)
        return Failure(Reason.TIMEOUT) if at in range(9, 14) else f"<answer>{'A' if at < 9 else 'B'}</answer>"

    study = tables(decoding={"samples": 5})
    return written(tmp_path_factory.mktemp("grown"), study, {"quiz": items}, answer)


@pytest.mark.slow
def test_a_pending_sample_belongs_to_its_item(grown):
    """Rulings S1 and S6: no share is over more clusters than there are items."""
    report = StudyResults(StudyDirectory(grown)).report()
    (accuracy,), (failures,) = (
        [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        for name in ("accuracy", "failures")
        for table in report.tables
        if table.name == name
    )
    assert str(accuracy["if missing right"]) == "95.9% [89.8, 98.4] n=220 (44 clusters)"
    assert same(accuracy["if missing right"], literal_share([(4, 5)] * 9 + [(5, 5)] * 35))
    assert same(accuracy["if missing wrong"], literal_share([(1, 5)] * 30 + [(0, 5)] * 14))
    assert str(failures["share of planned"]) == "2.1% [0.5, 8.0] n=240 (48 clusters)"
    assert same(failures["share of planned"], literal_share([(1, 5)] * 5 + [(0, 5)] * 43))


def test_a_pending_sample_belongs_to_the_cluster_of_its_item(grown):
    """Ruling S8: and the same in a part of the study that a gate is about."""
    results = StudyResults(StudyDirectory(grown), cluster="metadata.part")
    (group,) = groups(results.records.part(pl.col("model") == "m"))
    assert group.share_of_planned("failed").clusters == 6
    assert group.share_of_planned("failed").n == 240
    right = [sum(at % 6 == part for at in range(14, 44)) for part in range(6)]
    sizes = [5 * sum(at % 6 == part for at in range(44)) for part in range(6)]
    assert same(group.bounds().if_wrong, literal_share(list(zip(right, sizes, strict=True))))
    checks = gate(results, {"max_failed": 0.5}, on_interval=False).checks
    assert [(each.measure, each.found.clusters, each.held) for each in checks] == [
        ("pending", 6, False),
        ("failed", 6, True),
    ]
    assert same(checks[0].found, literal_share([(32, 40)] * 6))


def rows_of(report, name):
    """The rows of a table by their headings."""
    (table,) = (each for each in report.tables if each.name == name)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


@pytest.fixture(scope="module", params=[Failure(Reason.SERVER_ERROR), None])
def half(tmp_path_factory, request):
    """Twenty items, asked twice of each of two models; of beta, all failed, or nothing was asked yet."""
    return written(
        tmp_path_factory.mktemp("half"),
        tables(models=("alpha", "beta"), decoding={"samples": 2}, conditions={"free": {}}),
        {"quiz": questions(20)},
        lambda question: "<answer>B</answer>" if question.model == "alpha" else request.param,
    ), "all 40 questions are pending" if request.param is None else "all 40 questions failed"


NOTHING, EVERYTHING = "0.0% [0.0, 16.8] n=40 (20 clusters)", "100.0% [83.2, 100.0] n=40 (20 clusters)"


@pytest.mark.slow
def test_where_nothing_arrived_there_are_bounds_and_it_is_said_why_there_is_no_figure(half):
    """Rulings M6 and S6: bounds assume nothing, and stand always."""
    directory, why = half
    _, beta = rows_of(StudyResults(StudyDirectory(directory)).report(), "accuracy")
    assert (beta["accuracy over compliant"], beta["yield"]) == (None, None)
    assert [str(beta[name]) for name in ("if missing wrong", "if missing right")] == [NOTHING, EVERYTHING]
    (section,) = content(StudyDirectory(directory)).sections
    answers = {each.question: each.answer for each in section.summary.answers}
    assert answers["No figure"] == f"beta: {why}."
    assert answers["Accuracy"].endswith("(alpha).")


@pytest.mark.slow
def test_the_end_of_a_run_has_bounds_where_nothing_arrived(half):
    directory, why = half
    study = StudyDirectory(directory)
    tallies = {
        cell: Tally(**counts)
        for cell, counts in (
            (Cell("quiz", "alpha", "free"), {"compliant": 40, "right": 40, "compared": 40, "keyed": 40}),
            (Cell("quiz", "beta", "free"), {"pending" if "pending" in why else "failed": 40}),
        )
    }
    for samples in (1, 2):
        ended = Ended(study.path, {"quiz": "mcqa/1"}, tallies, samples=samples)
        run = closed_run(ended, {"quiz": MultipleChoice()}, with_tasks=True)
        _, beta = closed_json(run)["cells"]
        assert [(each["value"], each["n"]) for each in beta["accuracy_bounds"]] == [(0.0, 40), (1.0, 40)]
        console = Console(file=StringIO(), width=200)
        console.print(as_tables(run))
        shown = console.file.getvalue()
        assert f"beta, free, no figure: {why}" in shown
        assert f"wrong {NOTHING}, if all were right {EVERYTHING}" in shown


@pytest.mark.slow
def test_a_study_of_which_nothing_arrived_has_bounds_and_a_page(tmp_path):
    failed = Failure(Reason.TIMEOUT)
    directory = StudyDirectory(written(tmp_path, tables(), {"quiz": questions(10)}, lambda question: failed))
    (row,) = rows_of(StudyResults(directory).report(), "accuracy")
    assert str(row["if missing wrong"]) == "0.0% [0.0, 27.8] n=10"
    found, page = make_page(directory)
    assert found.sections[0].summary.answers[-1].answer == "m: all 10 questions failed."
    assert b"all 10 questions failed" in page


@pytest.mark.slow
def test_items_that_are_pending_are_left_out_of_pass_at_k_and_counted(tmp_path):
    """Ruling S11: nothing is silently left out, neither what was not asked nor what was asked too few times."""
    items = questions(12)
    del items[11]["answer"]

    def answer(question):
        return "<answer>B</answer>" if _number(question) < 4 + 3 * (question.sample == 0) else None

    directory = written(tmp_path, tables(decoding={"samples": 2}), {"quiz": items}, answer)
    (row,) = rows_of(StudyResults(StudyDirectory(directory)).report(), "repeated samples")
    assert (row["items"], row["left out"]) == (4, 7), "11 items have a right answer"


TRIAL = "A trial: the first 2 items of each task."


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    """The first two of six items, sealed, in a directory of any name: what is frozen says that it is a trial."""
    folder = tmp_path_factory.mktemp("trial")
    whole = written(folder, tables(), {"quiz": questions(6)}, lambda question: "<answer>B</answer>")
    directory = folder / "any name"
    directory.mkdir()
    plan = plan_of_frozen(StudyDirectory(directory), load(folder / "study.toml").limited(2), Hasty())
    append(directory, plan, lambda question: "<answer>B</answer>")
    return whole, directory


@pytest.mark.slow
def test_a_trial_says_that_it_is_one(trial):
    whole, directory = map(StudyDirectory, trial)
    assert (whole.frozen().trial, directory.frozen().trial) == (None, 2)
    assert "trial" not in json.loads((whole.path / "study.json").read_text()), "no study has another digest"
    results = StudyResults(directory)
    report = results.report()
    assert report.title == "trial: results (a trial)"
    assert report.warnings == [TRIAL] == as_json(report)["notes"][:1]
    assert TRIAL in as_markdown(report)
    assert f"% {TRIAL}" in as_latex(report)
    assert all(TRIAL in row for row in as_csv_files(report)["tables.csv"].splitlines()[1:])
    side, other = results.side("small", {}), StudyResults(whole).side("whole", {})
    assert comparison_tables(other, side)[0].notes[0] == "small is a trial: the first 2 items of each task."
    assert gate(results, {"min_compliance": 0.1}, on_interval=False).notes[0] == TRIAL


@pytest.mark.slow
def test_the_page_of_a_trial_says_so_in_its_title_and_first_sentence(trial):
    found, page = make_page(StudyDirectory(trial[1]))
    assert found.asked.summary.startswith(TRIAL)
    assert found.warnings == [TRIAL]
    assert "<title>trial: results (a trial)</title>" in page.decode()
    assert "(a trial)" not in make_page(StudyDirectory(trial[0]))[1].decode()


def test_nothing_is_said_of_a_study_that_is_finished(tmp_path):
    assert pending_note([AskedCell(("quiz", "m", "free"), 3)]) == trial_note(None) == []
    directory = written(tmp_path, tables(), {"quiz": questions(3)}, lambda question: "<answer>B</answer>")
    assert StudyResults(StudyDirectory(directory)).report().warnings == []
