"""The example notebook, run by a real kernel: `make docs` keeps what its cells gave, a test compares it.

What differs between two runs of the same code is not kept: times, and versions of Python.
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook.ipynb"
LONGEST = 600
"""Seconds for one cell, on a busy machine."""


def read() -> nbformat.NotebookNode:
    """The notebook as it is kept."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    return notebook


def executed(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A copy whose cells were run anew, in order, by a kernel of its own beside the notebook."""
    fresh = nbformat.from_dict({**notebook, "cells": [_bare(cell) for cell in notebook.cells]})
    resources = {"metadata": {"path": str(NOTEBOOK.parent)}}
    NotebookClient(
        fresh, timeout=LONGEST, kernel_name="python3", resources=resources, record_timing=False
    ).execute()
    fresh.metadata = notebook.metadata
    return fresh


def _bare(cell: nbformat.NotebookNode) -> dict:
    return {**cell, "execution_count": None, "outputs": []} if cell.cell_type == "code" else dict(cell)


if __name__ == "__main__":
    nbformat.write(executed(read()), NOTEBOOK)
    sys.stdout.write(f"wrote {NOTEBOOK}\n")
