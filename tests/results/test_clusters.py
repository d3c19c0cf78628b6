"""Clusters above the item (ruling S8): passages, subjects, templates; intervals are over these, and never over two tasks."""

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import UsageError
from affidavit.results.counting import ITEM, groups
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


def test_an_interval_over_passages_is_that_of_their_sums(directory):
    results = StudyResults(StudyDirectory(directory), cluster="metadata.passage")
    (group,) = groups(results.records)
    found = group.share("right", "compared")
    assert same(found, literal_share([(6 if number % 4 else 0, 6) for number in range(12)]))
    (by_items,) = groups(StudyResults(StudyDirectory(directory)).records)
    assert by_items.clusters is None
    assert found.low < by_items.share("right", "compared").low, "passages that agree are less certain than items"
    assert (found.n, found.clusters, found.value) == (72, 12, 0.75)


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


@pytest.mark.parametrize("cluster", ["passage", "item_id", "metadata.nothing"])
def test_what_is_no_cluster_is_refused(directory, cluster):
    with pytest.raises(UsageError):
        StudyResults(StudyDirectory(directory), cluster=cluster)


def test_items_are_clusters_unless_others_are_named(directory):
    assert StudyResults(StudyDirectory(directory)).records.cluster == ITEM
