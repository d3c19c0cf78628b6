"""One figure has one interval, wherever it stands: in Python, JSON, CSV, Markdown, a terminal and on the page (S1, S11).

Over all tables of studies in which nearly every table has rows. A figure that another way of showing it had made
anew, with another seed, level or rounding, would be another text or another number.
"""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import html5lib
import pytest

import affidavit as public
from affidavit.results.table import Table
from affidavit.results.text_forms import escaped
from affidavit.results.values import estimate_of
from affidavit.results.words import in_cell
from support.golden_files import GOLDEN
from support.studies import fine
from support.written_study import here

STUDIES = ("mixed", "planned", "imported", "own")


@pytest.fixture(scope="module", params=STUDIES)
def directory(request, tmp_path_factory) -> Path:
    return shutil.copytree(GOLDEN / "studies" / request.param, tmp_path_factory.mktemp(request.param) / "study")


@pytest.fixture(scope="module")
def made(directory) -> dict[str, Table]:
    return dict(public.open_study(directory).results())


def figures(table: Table) -> Counter[str]:
    """The figures with an interval, in words, and how often each stands there."""
    return Counter(
        in_cell(value)
        for row in table.rows
        for value in row
        if (estimate := estimate_of(value)) is not None and estimate.fields()["low"] is not None
    )


def check(text: str, expected: Counter[str], where: str) -> None:
    """The text has these figures, each so often, and no other interval."""
    text = " ".join(text.split())
    for figure, times in expected.items():
        # No figure is taken for the end of a longer one.
        alone = rf"(?<![\d.+−]){re.escape(figure)}(?!\d)"
        assert len(re.findall(alone, text)) == times, (where, figure)
    intervals = re.findall(r"\[[−+]?[\d.]+, [−+]?[\d.]+\]", text)
    assert len(intervals) == expected.total(), where


@pytest.mark.slow
def test_there_is_something_to_hold(made):
    assert sum(figures(table).total() for table in made.values()) >= 1


@pytest.mark.slow
def test_json_has_the_figures_of_python(directory, made):
    shown = json.loads(here("report", directory, "--format", "json").stdout)["tables"]
    assert shown.keys() == made.keys()
    for name, table in made.items():
        for row, values in zip(shown[name]["rows"], table.rows, strict=True):
            for column, value in zip(table.columns, values, strict=True):
                if (estimate := estimate_of(value)) is not None:
                    assert row[column] == estimate.fields(), (name, column)


@pytest.mark.slow
def test_csv_has_the_figures_of_python(directory, made, tmp_path):
    assert fine(here("report", directory, "--format", "csv", "--out", tmp_path / "tables"), 0)
    assert (
        here("report", directory, "--format", "csv").stdout.decode()
        == public.open_study(directory).results().to_csv()
    )
    for name, table in made.items():
        frame = table.to_polars()
        file = (tmp_path / "tables" / f"{re.sub('[^a-z0-9]+', '-', name.lower())}.csv").read_text()
        head, *_ = file.splitlines()
        assert head.count("_low") == sum(column.endswith("_low") for column in frame.columns)


@pytest.mark.slow
def test_a_terminal_shows_the_figures_of_python(directory, made, monkeypatch):
    monkeypatch.setenv("COLUMNS", "2000")
    text = here("report", directory, "--format", "text").stdout.decode()
    for table, after in zip(made.values(), [*list(made.values())[1:], None], strict=True):
        section = text[text.index(table.question) : None if after is None else text.index(after.question)]
        check(section, figures(table), f"{table.name} in a terminal")


@pytest.mark.slow
def test_markdown_has_the_figures_of_python(directory, made):
    text = here("report", directory, "--format", "md").stdout.decode()
    for table in made.values():
        (section,) = [part for part in text.split("\n## ") if part.startswith(f"{escaped(table.question)}\n")]
        check(re.sub(r"\\(.)", r"\1", section), figures(table), f"{table.name} in Markdown")


@pytest.mark.slow
def test_the_page_shows_the_figures_of_python(directory, made, tmp_path):
    page = html5lib.parse(
        public.open_study(directory).write_page(tmp_path / "page.html").read_text(), namespaceHTMLElements=False
    )
    sections = {each.get("id"): each for each in page.iter("section")}
    for name, table in made.items():
        anchor = "".join(each if each.isalnum() else "-" for each in name if each.isascii())
        (body,) = sections[f"table-{anchor}"].iter("tbody") if table.rows else [[]]
        cells = [" ".join(" ".join(cell.itertext()).split()) for row in body for cell in row]
        check(" | ".join(cells), figures(table), f"{name} on the page")
