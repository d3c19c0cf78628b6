"""The documentation cannot drift: its examples run, its headings are complete, its help is generated."""

import doctest
import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import get_args

import msgspec
import pytest

import affidavit
from affidavit.contracts.deviation import Deviation
from affidavit.contracts.evaluation import EvidenceKind
from affidavit.contracts.finding import Code, Flag
from affidavit.contracts.game24 import INSTRUCTION, Method, Reason
from affidavit.models import model
from affidavit.models.model import PERMANENT
from affidavit.models.registry import PROVIDERS
from affidavit.models.settings import SettingsTable
from affidavit.reading.rows import _OF_RECORDS
from affidavit.study.check import parse_study
from affidavit.study.study_file import Study
from support import write_commands_page
from support.command import silent_command
from support.pages import ROOT, steps, transcripts

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
ENUMS = {
    "Deviations": Deviation,
    "Extraction methods": Method,
    "Reasons": Reason,
    "Flags": Flag,
    "Findings": Code,
    "Evidence kinds": EvidenceKind,
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_run(page):
    assert doctest.testfile(str(page), module_relative=False).failed == 0


# These need a server, and have tests of their own.
SHOWN = [page for page in PAGES if transcripts(page) and page.name not in ("tutorial.md", "judging.md")]


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.name)
def test_transcripts_are_real(page, tmp_path):
    """Files that a page shows with `cat` are made from what it shows; all other commands really run."""
    for name, content in re.findall(r"whole of `(.+?)`:\n\n```python\n(.*?)^```$", page.read_text(), re.M | re.S):
        (tmp_path / name).write_text(content)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    columns = "80" if page.name == "README.md" else "100"
    environment = {**os.environ, "PATH": silent_command(tmp_path / "bin"), "COLUMNS": columns}
    for block in transcripts(page):
        for command, shown in steps(block):
            if command.startswith("cat ") and not (tmp_path / command[4:]).exists():
                (tmp_path / command[4:]).write_text(shown)
                continue
            done = subprocess.run(
                ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )
            assert done.stdout + done.stderr == shown, command


def test_tables_on_the_front_page_fit_into_a_terminal():
    """As the command prints them at eighty columns; rows of data and the drawing of the rooms are no tables."""
    blocks = re.findall(r"^```(?:console)?\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    lines = [
        line for block in blocks for line in block.splitlines() if not line.startswith("{") and "─" not in line
    ]
    assert any("[15.5, 37.6]" in line for line in lines), "the demo is there"
    assert [line for line in lines if len(line) > 80] == []


def test_studies_on_the_pages_are_studies():
    blocks = [
        block for page in PAGES for block in re.findall(r"^```toml\n(.*?)^```$", page.read_text(), re.M | re.S)
    ]
    assert blocks
    for block in blocks:
        parse_study(block, where="a page")


def keys_of_a_study() -> dict[str, set[str]]:
    """The keys of each table of a study file, by the structs that read it."""
    tables = {each.name: each.type for each in msgspec.structs.fields(Study)}
    found = {}
    for name, kind in tables.items():
        kinds = [
            part for part in (kind, *get_args(kind)) if isinstance(part, type) and issubclass(part, SettingsTable)
        ]
        assert len(kinds) == 1, name
        found[name] = set(kinds[0].__struct_fields__)
    providers = {key for provider in PROVIDERS.values() for key in provider.__struct_fields__}
    found["models"] = (found["models"] - {"provider"}) | providers
    return found


def keys_on(page: Path, table: str) -> set[str]:
    """The keys that the studies of a page give a table, and those that its text names as code."""
    blocks = re.findall(r"^```toml\n(.*?)^```$", page.read_text(), re.M | re.S)
    given = [tomllib.loads(block).get(table, {}) for block in blocks]
    by_name = table in ("models", "tasks", "conditions")
    keys = {key for each in given for inner in (each.values() if by_name else [each]) for key in inner}
    return keys | set(re.findall(r"`(\w+)(?: = [^`]+)?`", page.read_text()))


@pytest.mark.parametrize("table", keys_of_a_study())
def test_every_key_of_a_study_is_documented(table):
    """`[judging]` on its own page, all others on that of studies."""
    page = ROOT / "docs" / ("judging.md" if table == "judging" else "studies.md")
    assert keys_of_a_study()[table] - keys_on(page, table) == set()


def test_every_field_of_a_record_is_documented():
    page = (ROOT / "docs" / "running.md").read_text() + (ROOT / "docs" / "judging.md").read_text()
    named = set(re.findall(r"`(\w+)`", page))
    assert set(_OF_RECORDS) - named == set()


def test_every_reason_for_a_failure_is_told_with_what_is_done_about_it():
    page = (ROOT / "docs" / "running.md").read_text()
    rows = re.findall(r"^\| (`.+?) \|.*\| (yes|with `--retry-failed`) \|$", page, re.MULTILINE)
    told = {name: again for names, again in rows for name in re.findall("`(.+?)`", names)}
    assert told == {each.value: "with `--retry-failed`" if each in PERMANENT else "yes" for each in model.Reason}


def test_every_name_of_a_closed_list_has_its_heading():
    sections = re.split(r"^### (.+)$", (ROOT / "docs" / "contracts.md").read_text(), flags=re.MULTILINE)
    by_title = dict(zip(sections[1::2], sections[2::2], strict=True))
    for title, names in ENUMS.items():
        text = re.split(r"^## ", by_title[title], flags=re.MULTILINE)[0]
        assert re.findall(r"^#### `(.+)`$", text, re.MULTILINE) == [name.value for name in names], title


def test_the_command_reference_is_what_the_commands_say():
    assert write_commands_page.PAGE.read_text() == write_commands_page.page(), "run `make docs`"


def test_the_map_names_every_room():
    design = (ROOT / "docs" / "design.md").read_text()
    for path in (ROOT / "src" / "affidavit").iterdir():
        if not path.name.startswith("__") and (path.suffix == ".py" or (path / "__init__.py").exists()):
            assert f"`{path.name}{'/' if path.is_dir() else ''}`" in design, path.name


def test_every_public_name_is_documented_and_leads_somewhere():
    pages = "\n".join(page.read_text() for page in PAGES)
    for name in affidavit.__all__:
        assert getattr(affidavit, name) is not None
        assert re.search(rf"\b{name}\b", pages), name
    assert set(affidavit.__all__) <= set(dir(affidavit))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = affidavit.nothing


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_within_the_project_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text()):
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        assert path.exists(), target
        assert not anchor or anchor in anchors(path), target


def test_the_instruction_in_the_rulings_is_the_one_that_is_given():
    text = " ".join((ROOT / "docs" / "rulings.md").read_text().split())
    assert INSTRUCTION in text


@pytest.mark.parametrize("name", ["constraints.txt", "Makefile", "pyproject.toml"])
def test_nothing_is_fetched_from_a_named_place(name):
    """Packages come by name, from wherever the machine is set up to get them."""
    assert "://" not in (ROOT / name).read_text()
