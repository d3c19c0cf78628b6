"""Of imported outputs: what their source scored, beside what the contract says (ruling I5)."""

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.results.page.study_page import content
from affidavit.results.source_scores import NAME
from affidavit.results.study_results import StudyResults
from support.kept_outputs import kept
from support.outputs_elsewhere import write_jsonl


def row(number, text, *, right, answer="B", **more):
    said = {"source_scorer": "match", "source_correct": right}
    return {"id": f"q{number}", "raw_output": text, "model": "m", "answer": answer, **said, **more}


def imported(folder, rows):
    kept(folder / "study", write_jsonl(folder / "rows.jsonl", rows), contract="mcqa")
    return StudyDirectory(folder / "study")


def scores(folder, rows):
    tables = {table.name: table for table in StudyResults(imported(folder, rows)).report().tables}
    return tables.get(NAME)


GOOD, BAD, BARE = "<answer>B</answer>", "<answer>A</answer>", "B"


def test_both_scores_stand_beside_each_other_with_their_difference(tmp_path):
    rows = [row(n, BARE if n < 12 else GOOD, right=True) for n in range(20)]
    table = scores(tmp_path, rows)
    assert table is not None
    found = dict(zip(table.columns, table.rows[0], strict=True))
    assert str(found["right by the source"]) == "100.0% [83.9, 100.0] n=20"
    assert str(found["yield"]) == "40.0% [21.9, 61.3] n=20"
    assert (found["difference"].estimate.value, found["in words"]) == (-0.6, "lower")
    assert table.notes == ("The source's word is that of: match.",)
    (section,) = content(StudyDirectory(tmp_path / "study")).sections
    said = section.summary.answers[0].answer
    assert said.endswith("n=20 by the contract, which is lower (−60.0 points [−78.1, −34.2] n=20).")
    assert section.tables[0].table.columns[2:4] == ("right by the source", "yield")


@pytest.mark.parametrize(
    "rows",
    [
        [{"id": "q1", "raw_output": GOOD, "answer": "B"}],
        [row(1, GOOD, right=None)],
        [row(1, GOOD, right="true")],
        [row(1, GOOD, right=True, source_word_about="item")],
        [{"id": "q1", "raw_output": GOOD, "answer": "B", "metadata": {"source_correct": True}}],
    ],
)
def test_where_the_source_has_no_word_on_an_output_there_is_no_score(tmp_path, rows):
    assert scores(tmp_path, rows) is None


def test_without_a_right_answer_there_is_no_difference(tmp_path):
    table = scores(tmp_path, [row(n, GOOD, right=True, answer=None) for n in range(12)])
    assert table is not None
    found = dict(zip(table.columns, table.rows[0], strict=True))
    assert (found["difference"], found["in words"]) == (None, "no right answer is known")


def test_a_source_whose_figures_are_over_few_items_is_no_headline(tmp_path):
    """Ruling S9."""
    (section,) = content(imported(tmp_path, [row(n, GOOD, right=False) for n in range(9)])).sections
    assert section.summary.answers[0].answer == "No figure of the source is over 10 items or more; see the table."
