"""The page of outputs from elsewhere says what is so of them: nothing was asked here."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.number import number
from affidavit.results.page.content import Content
from affidavit.results.page.html import page
from affidavit.results.page.study_page import content
from affidavit.results.page.text import Piece
from affidavit.results.study_results import StudyResults
from support.kept_outputs import kept
from support.outputs_elsewhere import write_jsonl

TEXTS = ["<answer>B</answer>", "B.", None, "<answer>A</answer>"]
ROWS = [
    {"id": f"q{item}", "sample": sample, "model": "m", "raw_output": TEXTS[(item + sample) % 4], "answer": "B"}
    for item in range(4)
    for sample in range(1, 2 + item % 3)
]
"""Seven rows of four items, of which one to three each; one never arrived."""


def imported(folder: Path, rows: list[dict], contract: str = "mcqa") -> Content:
    kept(folder / "study", write_jsonl(folder / "rows.jsonl", rows), contract=contract)
    return content(StudyDirectory(folder / "study"))


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> Content:
    return imported(tmp_path_factory.mktemp("imported"), ROWS)


def words(shown: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in shown)


def test_what_is_left_of_a_row_is_no_question(tmp_path):
    rows = [
        {"id": "q1", "raw_output": "B.", "answer": "B", "subject": "art", "prompt": None},
        {"id": "q2", "raw_output": "B!", "answer": "B", "prompt": "Which?"},
    ]
    samples = {sample.where["item id"]: sample for sample in imported(tmp_path, rows).samples}
    assert words(samples["q1"].question) == ""
    assert words(samples["q1"].row) == "answer: B\nsubject: art"
    assert words(samples["q2"].question) == "Which?"
    assert words(samples["q2"].row) == "answer: B"


def test_the_right_number_is_shown_also_where_a_whole_solution_is_known(tmp_path):
    rows = [
        {"id": "q1", "raw_output": "<answer>10</answer>", "answer": "2 * 536 = 1072\n#### 1,072"},
        {"id": "q2", "raw_output": "It is 7.", "answer": 7},
        {"id": "q3", "raw_output": "It is 8.", "answer": None},
    ]
    samples = imported(tmp_path, rows, contract="number").samples
    right = {sample.where["item id"]: sample.where.get("right answer") for sample in samples}
    assert right == {"q1": "1072", "q2": "7", "q3": None}


def test_parameters_are_written_as_in_a_study_file(tmp_path):
    made = imported(tmp_path, [{"id": "q1", "raw_output": "7", "answer": 7}], contract="number")
    (tasks,) = (table for table in made.asked.tables if table.name == "tasks")
    said = str(tasks.rows[0][tasks.columns.index("parameters")])
    assert said == 'decimal = ".", marker = "", sign = true, thousands = ",", tolerance = "0", unit = ""'
    assert tomllib.loads(f"parameters = {{ {said} }}")["parameters"] == number.params


@pytest.mark.slow
def test_nothing_is_said_of_requests_and_servers_that_nobody_knows(shown):
    made = page(shown)
    assert "Other fields of the row" in made
    assert "<summary>Question</summary>" not in made
    assert "A key is a digest of the names of the output, so" in made
    (models,) = (table for table in shown.asked.tables if table.name == "models")
    assert (models.columns, models.rows) == (("model",), (("m",),))


@pytest.mark.slow
def test_items_may_have_different_numbers_of_rows(shown, tmp_path):
    assert "An item has 1 to 3 rows of one model under one condition." in shown.notes
    assert not any("was asked" in note for note in shown.notes)
    same = imported(tmp_path, [row for row in ROWS if row["id"] in ("q1",)])
    assert "An item has 2 rows of one model under one condition." in same.notes


def test_rows_without_an_output_are_no_outputs(shown):
    assert shown.asked.summary == "7 rows, 6 outputs made elsewhere."


@pytest.mark.parametrize(
    ("said", "warned"),
    [
        ([True, True, True], []),
        ([False, True, True], ["1 text is not verbatim: its log has what a filter or a transform left of it."]),
        (
            [False, False, True],
            ["2 texts are not verbatim: their logs have what a filter or a transform left of them."],
        ),
    ],
)
def test_texts_that_are_not_verbatim_are_told_before_any_figure(tmp_path, said, warned):
    """Ruling I1; what a row says somewhere inside of other fields is nothing of the kind."""
    like = {"metadata": {"verbatim": False, "text": '"verbatim":false'}}
    rows = [
        {"id": f"q{n}", "raw_output": "B.", "answer": "B", "verbatim": each, **like} for n, each in enumerate(said)
    ]
    kept(tmp_path / "study", write_jsonl(tmp_path / "rows.jsonl", rows), contract="mcqa")
    assert StudyResults(StudyDirectory(tmp_path / "study")).warnings == warned
