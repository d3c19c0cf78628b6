"""The example notebook runs from top to bottom in a real kernel, and shows what it gives."""

import json
import tempfile
from pathlib import Path

import pytest

from support.write_notebook import NOTEBOOK, executed, read


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.slow
# Of the kernel's client: which loop waits for it, and how its messages travel over loopback.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
def test_it_gives_what_it_shows():
    kept = read()
    for shown, given in zip(code_cells(kept), code_cells(executed(kept)), strict=True):
        assert given.outputs == shown.outputs, f"{shown.source}\nrun `make docs` if this is as it should be"


@pytest.mark.slow
def test_what_is_kept_was_run_in_order_and_without_an_error():
    cells = code_cells(read())
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert all(cell.outputs for cell in cells), "a cell that shows nothing teaches nothing"
    assert {output.output_type for cell in cells for output in cell.outputs} <= {"execute_result", "stream"}


def test_tables_are_shown_as_tables_and_for_a_paper():
    shown = json.dumps(read().cells)
    assert "<table" in shown
    assert "toprule" in shown


def test_it_names_no_place_of_the_machine_that_ran_it():
    places = (tempfile.gettempdir(), str(Path.home()), "/home/", "site-packages", "://")
    assert not [place for place in places if place in NOTEBOOK.read_text()]
