"""The page of outputs from elsewhere says what is so of them: nothing was asked here."""

from pathlib import Path

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.results.page.content import Content
from affidavit.results.page.study_page import content
from support.kept_outputs import kept
from support.outputs_elsewhere import write_jsonl

TEXTS = ["<answer>B</answer>", "B.", None, "<answer>A</answer>"]
ROWS = [
    {"id": f"q{item}", "sample": sample, "model": "m", "raw_output": TEXTS[(item + sample) % 4], "answer": "B"}
    for item in range(4)
    for sample in range(1, 2 + item % 3)
]
"""Seven rows of four items, of which one to three each; one never arrived."""


def imported(folder: Path, rows: list[dict]) -> Content:
    kept(folder / "study", write_jsonl(folder / "rows.jsonl", rows), contract="mcqa")
    return content(StudyDirectory(folder / "study"))


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> Content:
    return imported(tmp_path_factory.mktemp("imported"), ROWS)


def test_items_may_have_different_numbers_of_rows(shown, tmp_path):
    assert "An item has 1 to 3 rows of one model under one condition." in shown.notes
    assert not any("was asked" in note for note in shown.notes)
    same = imported(tmp_path, [row for row in ROWS if row["id"] in ("q1",)])
    assert "An item has 2 rows of one model under one condition." in same.notes


def test_rows_without_an_output_are_no_outputs(shown):
    assert shown.asked.summary == "7 rows, 6 outputs made elsewhere."
