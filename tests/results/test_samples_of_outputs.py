"""Samples of outputs on the page: where options were shown in another order, the right one is named by its text."""

from pathlib import Path

import pytest

from support.command import affidavit
from support.studies import fine
from support.written_study import questions, tables, written


@pytest.mark.slow
def test_the_right_option_is_named_where_options_were_shuffled(tmp_path: Path):
    design = tables()
    design["tasks"]["quiz"]["option_order"] = "shuffle"
    rows = [{**row, "options": ["Nile", "Congo", "Niger", "Tigris"], "answer": "A"} for row in questions(5)]
    directory = written(tmp_path, design, {"quiz": rows}, lambda question: "Nile, I think.")
    assert fine(affidavit("report", directory), 0)
    assert " as it was shown: Nile</strong>" in (directory / "report.html").read_text()
