"""Clusters above the item (ruling S8): passages, subjects, templates; intervals are over these, and never over two tasks."""

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import UsageError
from affidavit.results.comparison import pair_sides
from affidavit.results.counting import ITEM, groups
from affidavit.results.gate import Baseline, gate
from affidavit.results.study_results import StudyResults
from affidavit.statistics.means import mean_by_cluster
from support.literal_shares import literal_share, same
from support.written_study import questions, tables, written


def items(count: int, per_passage: int) -> list[dict]:
    return [
        {**item, "metadata": {"passage": f"p{number // per_passage}"}}
        for number, item in enumerate(questions(count))
    ]


@pytest.fixture
def directory(tmp_path):
    """Twelve passages of three questions under two samples; whole passages are right or wrong."""

    def answer(question) -> str:
        number = int(question.item.id[1:])
        return f"<answer>{'B' if (number // 3) % 4 else 'A'}</answer>"

    study = tables(decoding={"samples": 2})
    return written(tmp_path, study, {"quiz": items(36, 3)}, answer)


@pytest.mark.slow
def test_an_interval_over_passages_is_that_of_their_sums(directory):
    results = StudyResults(StudyDirectory(directory), cluster="metadata.passage")
    (group,) = groups(results.records)
    found = group.share("right", "compared")
    assert same(found, literal_share([(6 if number % 4 else 0, 6) for number in range(12)]))
    (by_items,) = groups(StudyResults(StudyDirectory(directory)).records)
    assert by_items.clusters is None
    assert found.low < by_items.share("right", "compared").low, "passages that agree are less certain than items"
    assert (found.n, found.clusters, found.value) == (72, 12, 0.75)


@pytest.mark.slow
def test_macro_averages_count_every_cluster_alike(directory):
    report = StudyResults(StudyDirectory(directory), cluster="metadata.passage").report()
    (table,) = [table for table in report.tables if table.name == "macro averages"]
    assert table.columns == ("task", "model", "condition", "measure", "over outputs", "over clusters")
    rows = {row[3]: row[4:] for row in table.rows}
    assert rows.keys() == {"compliance", "accuracy over compliant", "yield"}
    macro, expected = rows["yield"][1], mean_by_cluster(enumerate([0.0] * 3 + [1.0] * 9))
    assert (macro.value, macro.n, macro.low, macro.high) == (0.75, 12, expected.low, 1.0), (
        "cut to what a share can be"
    )
    assert rows["compliance"][1].method == "all 12 are equal: no interval"
    assert report.facts["clusters"] == "metadata.passage"
    assert table.foot.startswith("72 planned = 72 compliant")


def test_no_cluster_holds_items_of_two_tasks(tmp_path):
    tasks = {name: {"contract": "mcqa", "items": f"{name}.jsonl"} for name in ("quiz", "other")}
    study = tables(tasks=tasks)
    both = {"quiz": items(6, 3), "other": items(6, 3)}
    directory = written(tmp_path, study, both, lambda question: "<answer>B</answer>")
    results = StudyResults(StudyDirectory(directory), ["model"], cluster="metadata.passage")
    (group,) = groups(results.records)
    assert group.share("right", "compared").clusters == 4


NO_PASSAGE = (
    "quiz: 20 items have no metadata.passage; each is a cluster of its own, in intervals and in macro averages."
)


@pytest.fixture
def some_lack_it(tmp_path):
    """Five passages of four questions, and twenty questions of no passage; one is called as clusters might be."""
    rows = [*items(20, 4), *questions(40)[20:]]
    rows[0]["metadata"]["passage"] = 'item ["quiz","q20"]'

    def answer(question) -> str:
        return f"<answer>{'B' if int(question.item.id[1:]) % 3 else 'A'}</answer>"

    return written(tmp_path, tables(decoding={"samples": 2}), {"quiz": rows}, answer)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("by", "clusters"),
    [(["task", "model", "condition"], [26]), (["model", "metadata.passage"], [20, 1, 1, 1, 1, 1, 1])],
)
def test_an_item_without_the_metadata_is_a_cluster_of_its_own(some_lack_it, by, clusters):
    """Ruling S8: nothing says that they belong together."""
    results = StudyResults(StudyDirectory(some_lack_it), by, cluster="metadata.passage")
    found = groups(results.records)
    assert [sum(group.units.values()) for group in found] == clusters
    assert [group.macro("right", "compared").n for group in found] == clusters
    report = results.report()
    assert NO_PASSAGE in report.notes
    assert report.facts["clusters"] == "metadata.passage"


@pytest.mark.slow
def test_compare_and_gate_say_which_items_have_no_cluster(some_lack_it):
    results = StudyResults(StudyDirectory(some_lack_it), cluster="metadata.passage")
    side = results.side("study", {})
    paired = pair_sides(side, side, cluster="metadata.passage")
    assert paired.rows[0].difference.size == 26
    assert paired.notes[0] == NO_PASSAGE
    result = gate(results, {"min_compliance": 0.5}, on_interval=False, baseline=Baseline(side, 0.02))
    assert result.notes.count(NO_PASSAGE) == 1
    assert not results.cluster_notes({"task": "other"})


@pytest.mark.parametrize("cluster", ["passage", "item_id", "metadata.nothing"])
def test_what_is_no_cluster_is_refused(directory, cluster):
    with pytest.raises(UsageError):
        StudyResults(StudyDirectory(directory), cluster=cluster)


def test_items_are_clusters_unless_others_are_named(directory):
    assert StudyResults(StudyDirectory(directory)).records.cluster == ITEM
